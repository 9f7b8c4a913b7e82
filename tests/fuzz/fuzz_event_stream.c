/* Any bytes as an event stream, whole and cut where the first byte says: the events must be the same, and
 * valid UTF-8. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "system/event_stream.h"

static void add(void *out, const rkb_http_event_t *event) {
   if (event->data[event->data_bytes] != '\0')
      abort();
   for (size_t i = 0; i < event->data_bytes;) {
      size_t bytes = rkb_utf8_character(event->data + i, event->data_bytes - i);
      if (bytes == 0)
         abort();
      i += bytes;
   }
   rkb_text_add(out, event->type);
   rkb_text_append(out, "\0", 1);
   rkb_text_append(out, event->data, event->data_bytes);
   rkb_text_append(out, "\0", 1);
   rkb_text_add(out, event->id);
   rkb_text_append(out, "\0", 1);
}

static int parse(const char *bytes, size_t length, size_t step, rkb_text_t *out) {
   rkb_event_stream_t stream;
   int status = RKB_OK;
   rkb_event_stream_init(&stream, 300, add, out);
   for (size_t at = 0; status == RKB_OK && at < length; at += step)
      status = rkb_event_stream_feed(&stream, bytes + at, length - at < step ? length - at : step);
   rkb_event_stream_free(&stream);
   return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_text_t whole, cut;
   if (size < 2)
      return 0;
   rkb_text_init(&whole, 1 << 22);
   rkb_text_init(&cut, 1 << 22);
   int first = parse((const char *)data + 1, size - 1, size, &whole);
   int second = parse((const char *)data + 1, size - 1, data[0] % 16 + 1u, &cut);
   if (first != second || whole.length != cut.length ||
       (whole.length && memcmp(whole.data, cut.data, whole.length) != 0))
      abort();
   rkb_text_free(&whole);
   rkb_text_free(&cut);
   return 0;
}
