/* Any bytes as an item from a job's process: refused, or one that written and read again is the same. */
#include <stdlib.h>
#include <string.h>

#include "stage/item_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const rkb_item_t *item, rkb_text_t *out) {
   rkb_text_init(out, 64u << 20);
   rkb_item_write(item, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   record_reader_t in = {.data = data, .size = size};
   rkb_text_t first, second;
   rkb_item_t *item = rkb_item_read(&in);
   if (!item)
      return 0;
   write_again(item, &first);
   in = (record_reader_t){.data = (const unsigned char *)first.data, .size = first.length};
   rkb_item_t *same = rkb_item_read(&in);
   if (!same || in.at != in.size)
      abort();
   write_again(same, &second);
   if (first.length != second.length || memcmp(first.data, second.data, first.length) != 0)
      abort();
   rkb_item_unref(item);
   rkb_item_unref(same);
   rkb_text_free(&first);
   rkb_text_free(&second);
   return 0;
}
