/* A build as bytes, for a process that holds no compiler. */
#ifndef RKB_KERNEL_BUILD_RECORD_H
#define RKB_KERNEL_BUILD_RECORD_H

#include "kernel/kernel.h"
#include "kernel/byte_record.h"

void rkb_build_write(const rkb_build_t *build, rkb_text_t *out);
/* Reads a build; free it with rkb_build_free.  NULL when the bytes are no build.  Numbers are not checked,
 * because this program wrote them. */
rkb_build_t *rkb_build_read(record_reader_t *in);

#endif
