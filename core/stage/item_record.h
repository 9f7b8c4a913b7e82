/* An item as bytes, on its way between the program and a process that runs one job of it (confined/). */
#ifndef RKB_STAGE_ITEM_RECORD_H
#define RKB_STAGE_ITEM_RECORD_H

#include "kernel/byte_record.h"
#include "stage/item.h"

/* Its type and all its values; its references are left out. */
void rkb_item_write(const rkb_item_t *item, rkb_text_t *out);
/* Reads an item back.  NULL, with `in` marked bad, when the bytes are no valid item.  The bytes are hostile input: texts must be
 * UTF-8, JSON must parse, and no value may be larger than an item takes. */
rkb_item_t *rkb_item_read(record_reader_t *in);

#endif
