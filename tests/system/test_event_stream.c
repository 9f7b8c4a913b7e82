/* Each stream is parsed whole, byte by byte, and cut in two at every place: the events must be the same. */
#include "check.h"
#include "system/event_stream.h"

#include <stdlib.h>
#include <string.h>

static void write_event(void *out, const rkb_http_event_t *event) {
   assert_int_equal(strlen(event->data) <= event->data_bytes, 1);
   rkb_text_format(out, "[%s|%s|%s]", event->type, event->data, event->id);
}

/* Feeds the pieces [0, cut) and [cut, length), or single bytes when cut is over length. */
static void parse(const char *bytes, size_t length, size_t cut, rkb_text_t *out) {
   rkb_event_stream_t stream;
   rkb_event_stream_init(&stream, 1 << 16, write_event, out);
   if (cut <= length) {
      assert_int_equal(rkb_event_stream_feed(&stream, bytes, cut), RKB_OK);
      assert_int_equal(rkb_event_stream_feed(&stream, bytes + cut, length - cut), RKB_OK);
   } else {
      for (size_t i = 0; i < length; i++)
         assert_int_equal(rkb_event_stream_feed(&stream, bytes + i, 1), RKB_OK);
   }
   if (rkb_event_stream_is_partial(&stream))
      rkb_text_add(out, "...");
   rkb_event_stream_free(&stream);
}

static const struct {
   const char *bytes, *events;
} cases[] = {
   {"", ""},
   {"data: one\n\n", "[message|one|]"},
   {"data: one\r\n\r\ndata: two\r\n\r\n", "[message|one|][message|two|]"},
   {"data: one\r\rdata: two\r\r", "[message|one|][message|two|]"},
   {"data: one\n\r\n", "[message|one|]"},
   {"data: a\ndata: b\ndata\ndata:\n\n", "[message|a\nb\n\n|]"},
   {"data:no space\n\ndata:  two spaces\n\n", "[message|no space|][message| two spaces|]"},
   {"event: delta\ndata: {\"a\": 1}\n\ndata: plain\n\n", "[delta|{\"a\": 1}|][message|plain|]"},
   {"id: 7\ndata: x\n\ndata: y\n\nid\ndata: z\n\n", "[message|x|7][message|y|7][message|z|]"},
   {": a comment\n\n: another\ndata: x\n\n", "[message|x|]"},
   {"event: no data\n\ndata: x\n\n", "[message|x|]"},
   {"retry: 100\nunknown: x\n data: x\nDATA: x\n\n", ""},
   {"data: [DONE]\n\n", "[message|[DONE]|]"},
   {"data: cut off", "..."},
   {"data: whole line\n", "..."},
   {"\xef\xbb\xbf"
    "data: after a mark\n\n",
    "[message|after a mark|]"},
   {"data: \xef\xbb\xbfinside\n\n", "[message|\xef\xbb\xbfinside|]"},
   {"data: \xc3\xa9 \xff \xe2\x82\n\n", "[message|\xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd|]"},
   {"\n\n\n", ""},
   {"data: a:b:c\n\n", "[message|a:b:c|]"},
   {":\n:\n\n", ""},
   {"data:\n\n", "[message||]"},
};

static void streams_give_their_events_however_they_are_cut(void **state) {
   (void)state;
   rkb_text_t out;
   rkb_text_init(&out, 1 << 16);
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      size_t length = strlen(cases[i].bytes);
      for (size_t cut = 0; cut <= length + 1; cut++) {
         rkb_text_clear(&out);
         parse(cases[i].bytes, length, cut, &out);
         assert_string_equal(rkb_text_get(&out), cases[i].events);
      }
   }
   rkb_text_free(&out);
}

static void nul_bytes_stay_in_data_and_not_in_ids(void **state) {
   (void)state;
   rkb_text_t out;
   rkb_text_init(&out, 1 << 16);
   static const char bytes[] = "id: a\0b\ndata: x\n\n";
   parse(bytes, sizeof bytes - 1, 0, &out);
   assert_string_equal(rkb_text_get(&out), "[message|x|]");
   rkb_text_free(&out);
}

static void check_limit(const char *unit, size_t limit, unsigned repeats, int expected) {
   rkb_text_t out;
   rkb_event_stream_t stream;
   int status = RKB_OK;
   rkb_text_init(&out, 1 << 20);
   rkb_event_stream_init(&stream, limit, write_event, &out);
   for (unsigned i = 0; status == RKB_OK && i < repeats; i++)
      status = rkb_event_stream_feed(&stream, unit, strlen(unit));
   assert_int_equal(status, expected);
   rkb_event_stream_free(&stream);
   rkb_text_free(&out);
}

static void events_and_lines_have_a_ceiling(void **state) {
   (void)state;
   check_limit("x", 100, 100, RKB_OK);
   check_limit("x", 100, 101, RKB_ERR_LIMIT); /* one endless line */
   check_limit("data: 123456789\n", 100, 10, RKB_OK);
   check_limit("data: 123456789\n", 100, 11, RKB_ERR_LIMIT); /* one endless event */
   check_limit("data: 123456789\n\n", 100, 1000, RKB_OK);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(streams_give_their_events_however_they_are_cut),
                                      cmocka_unit_test(nul_bytes_stay_in_data_and_not_in_ids),
                                      cmocka_unit_test(events_and_lines_have_a_ceiling)};
   return RUN_TESTS(tests);
}
