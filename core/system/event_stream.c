/* The parser of text/event-stream.  Owns the line and the event that are being read. */
#include "system/event_stream.h"

#include <string.h>

#include "base/utf8.h"

#define MARK "\xef\xbb\xbf"        /* byte order mark, dropped at the beginning */
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void rkb_event_stream_init(rkb_event_stream_t *stream, size_t limit,
                           void (*event)(void *arg, const rkb_http_event_t *event), void *arg) {
   *stream = (rkb_event_stream_t){.event = event, .arg = arg};
   rkb_text_init(&stream->line, limit);
   rkb_text_init(&stream->data, limit);
   rkb_text_init(&stream->type, limit);
   rkb_text_init(&stream->id, limit);
}

void rkb_event_stream_free(rkb_event_stream_t *stream) {
   rkb_text_free(&stream->line);
   rkb_text_free(&stream->data);
   rkb_text_free(&stream->type);
   rkb_text_free(&stream->id);
}

static void append_utf8(rkb_text_t *text, const char *bytes, size_t length) {
   while (length) {
      size_t good = 0, character;
      while (good < length && (character = rkb_utf8_character(bytes + good, length - good)) != 0)
         good += character;
      rkb_text_append(text, bytes, good);
      if (good < length) {
         rkb_text_add(text, REPLACEMENT);
         good++;
      }
      bytes += good;
      length -= good;
   }
}

/* An empty line ends an event: passes on what was gathered, unless it has no data. */
static void dispatch(rkb_event_stream_t *stream) {
   if (stream->data.length > 0) {
      stream->data.data[--stream->data.length] = '\0'; /* the line feed behind the last line */
      const rkb_http_event_t event = {.type = stream->type.length ? rkb_text_get(&stream->type) : "message",
                                      .data = rkb_text_get(&stream->data),
                                      .data_bytes = stream->data.length,
                                      .id = rkb_text_get(&stream->id)};
      stream->event(stream->arg, &event);
   }
   rkb_text_clear(&stream->data);
   rkb_text_clear(&stream->type);
}

static bool is_field(const char *line, size_t length, const char *name) {
   return length == strlen(name) && memcmp(line, name, length) == 0;
}

/* "name: value", "name:value", "name", or a comment that begins with ':'. */
static void take_line(rkb_event_stream_t *stream) {
   const char *line = rkb_text_get(&stream->line);
   size_t length = stream->line.length;
   if (!stream->started && length >= 3 && memcmp(line, MARK, 3) == 0) {
      line += 3;
      length -= 3;
   }
   stream->started = true;
   if (length == 0) {
      dispatch(stream);
      return;
   }
   const char *colon = memchr(line, ':', length);
   size_t name = colon ? (size_t)(colon - line) : length;
   size_t skip = name < length ? name + 1 : length;
   skip += skip < length && line[skip] == ' ';
   const char *value = line + skip;
   size_t bytes = length - skip;
   if (is_field(line, name, "data")) {
      append_utf8(&stream->data, value, bytes);
      rkb_text_add(&stream->data, "\n");
   } else if (is_field(line, name, "event")) {
      rkb_text_clear(&stream->type);
      append_utf8(&stream->type, value, bytes);
   } else if (is_field(line, name, "id") && !memchr(value, '\0', bytes)) {
      rkb_text_clear(&stream->id);
      append_utf8(&stream->id, value, bytes);
   }
}

/* Finds the end of the line in one pass.  Two searches, one for each line end, would scan the rest again for every line. */
static size_t until_line_end(const char *bytes, size_t length) {
   size_t end = 0;
   while (end < length && bytes[end] != '\n' && bytes[end] != '\r')
      end++;
   return end;
}

int rkb_event_stream_feed(rkb_event_stream_t *stream, const char *bytes, size_t length) {
   while (length) {
      if (stream->after_return) {
         stream->after_return = false;
         if (*bytes == '\n') {
            bytes++;
            length--;
            continue;
         }
      }
      size_t end = until_line_end(bytes, length);
      rkb_text_append(&stream->line, bytes, end);
      if (stream->line.cut)
         return RKB_ERR_LIMIT;
      if (end == length)
         return RKB_OK;
      stream->after_return = bytes[end] == '\r';
      take_line(stream);
      if (stream->data.cut || stream->type.cut || stream->id.cut)
         return RKB_ERR_LIMIT;
      rkb_text_clear(&stream->line);
      bytes += end + 1;
      length -= end + 1;
   }
   return RKB_OK;
}

bool rkb_event_stream_is_partial(const rkb_event_stream_t *stream) {
   return stream->line.length > 0 || stream->data.length > 0;
}
