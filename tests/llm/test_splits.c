/* Each protocol's streams, cut in two at every position and into single bytes.  The reply is the same, even
 * where the cut is in the middle of a character, a number or a line's end. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "llm/provider.h"
#include "system/event_stream.h"

#define MOST_BYTES 65536

typedef struct reading {
   const rkb_provider_t *provider;
   rkb_reply_t reply;
} reading_t;

static void on_event(void *argument, const rkb_http_event_t *event) {
   reading_t *reading = argument;
   reading->provider->event(&reading->reply, event->type, event->data, event->data_bytes);
}

/* A piece of first bytes, then pieces of step bytes. */
static reading_t read_stream(const rkb_provider_t *provider, const char *bytes, size_t length, size_t first,
                             size_t step) {
   reading_t reading = {.provider = provider};
   rkb_event_stream_t stream;
   rkb_reply_init(&reading.reply);
   rkb_event_stream_init(&stream, MOST_BYTES, on_event, &reading);
   assert_int_equal(rkb_event_stream_feed(&stream, bytes, first), RKB_OK);
   for (size_t at = first; at < length; at += step)
      assert_int_equal(rkb_event_stream_feed(&stream, bytes + at, length - at < step ? length - at : step),
                       RKB_OK);
   assert_false(rkb_event_stream_is_partial(&stream));
   rkb_event_stream_free(&stream);
   return reading;
}

static void expect_same(const rkb_reply_t *a, const rkb_reply_t *b) {
   assert_string_equal(rkb_text_get(&a->text), rkb_text_get(&b->text));
   assert_string_equal(rkb_text_get(&a->refusal), rkb_text_get(&b->refusal));
   assert_int_equal(a->input_tokens, b->input_tokens);
   assert_int_equal(a->cached_tokens, b->cached_tokens);
   assert_int_equal(a->output_tokens, b->output_tokens);
   assert_int_equal(a->reasoning_tokens, b->reasoning_tokens);
   assert_int_equal(a->usage_final, b->usage_final);
   assert_int_equal(a->finished, b->finished);
   assert_int_equal(a->truncated, b->truncated);
   assert_int_equal(a->refused, b->refused);
   assert_int_equal(a->filtered, b->filtered);
   assert_false(a->failed || b->failed || a->unreadable || b->unreadable);
}

static void cut_everywhere(const rkb_provider_t *provider, const char *module, const char *kind,
                           bool returns) {
   static char bytes[2 * MOST_BYTES];
   char command[512];
   size_t length = 0;
   snprintf(command, sizeof command, "python3 -B '%s/tests/llm/server/stream_bytes.py' %s %s%s",
            RKB_SOURCE_DIR, module, kind, returns ? " | sed 's/$/\\r/'" : "");
   FILE *stream = popen(command, "r");
   assert_non_null(stream);
   length = fread(bytes, 1, MOST_BYTES, stream);
   assert_int_equal(pclose(stream), 0);
   assert_in_range(length, 100, MOST_BYTES - 1);
   reading_t whole = read_stream(provider, bytes, length, length, length), cut;
   assert_true(whole.reply.finished && whole.reply.usage_final);
   assert_true(whole.reply.text.length || whole.reply.refusal.length);
   for (size_t i = 1; i < length; i++) {
      cut = read_stream(provider, bytes, length, i, length);
      expect_same(&whole.reply, &cut.reply);
      rkb_reply_free(&cut.reply);
   }
   for (size_t step = 1; step < 4; step++) {
      cut = read_stream(provider, bytes, length, 0, step);
      expect_same(&whole.reply, &cut.reply);
      rkb_reply_free(&cut.reply);
   }
   rkb_reply_free(&whole.reply);
}

static void every_stream_is_read_alike(void **state) {
   static const struct {
      const rkb_provider_t *provider;
      const char *module;
   } PROTOCOLS[] = {{&rkb_provider_openai, "openai_chat"},
                    {&rkb_provider_anthropic, "anthropic_messages"},
                    {&rkb_provider_gemini, "gemini"},
                    {&rkb_provider_openai_responses, "openai_responses"}};
   static const char *const KINDS[] = {"plain", "truncated", "refused", "filtered"};
   (void)state;
   for (size_t i = 0; i < sizeof PROTOCOLS / sizeof PROTOCOLS[0]; i++)
      for (size_t j = 0; j < sizeof KINDS / sizeof KINDS[0]; j++)
         for (int returns = 0; returns < (j ? 1 : 2); returns++)
            cut_everywhere(PROTOCOLS[i].provider, PROTOCOLS[i].module, KINDS[j], returns);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_stream_is_read_alike)};
   return RUN_TESTS(tests);
}
