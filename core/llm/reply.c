/* Reads replies, and the numbers of a question that every protocol sends (provider.h).  Any thread. */
#include "llm/provider.h"

#include <string.h>
#include "base/units.h"

void rkb_reply_init(rkb_reply_t *reply) {
   *reply =
      (rkb_reply_t){.input_tokens = -1, .cached_tokens = -1, .output_tokens = -1, .reasoning_tokens = -1};
   rkb_text_init(&reply->text, RKB_ARCHIVE_MAX_REPLY);
   rkb_text_init(&reply->refusal, 64u << 10);
   rkb_text_init(&reply->trouble, 64u << 10); /* ask.c shortens it after it has removed keys */
}

void rkb_reply_free(rkb_reply_t *reply) {
   rkb_text_free(&reply->text);
   rkb_text_free(&reply->refusal);
   rkb_text_free(&reply->trouble);
}

const char *rkb_json_text_of(const json_t *object, const char *key) {
   const char *text = json_string_value(json_object_get(object, key));
   return text ? text : "";
}

/* No real reply has this many tokens, and sums of a few such counts stay far from overflowing. */
#define MOST_TOKENS (INT64_C(1) << 40)

void rkb_json_count_of(const json_t *object, const char *key, int64_t *value) {
   const json_t *found = json_object_get(object, key);
   if (json_is_integer(found) && json_integer_value(found) >= 0)
      *value = json_integer_value(found) < MOST_TOKENS ? json_integer_value(found) : MOST_TOKENS;
}

int64_t rkb_question_output(const rkb_model_t *model, const rkb_llm_question_t *question) {
   int64_t most = model->face.most_output_tokens, asked = question->most_output_tokens;
   return asked > 0 && (!most || asked < most) ? asked : most;
}

double rkb_question_temperature(const rkb_model_t *model, const rkb_llm_question_t *question) {
   return question->temperature >= 0 ? question->temperature : model->temperature;
}

void rkb_reply_whole(rkb_reply_t *reply, const rkb_provider_t *provider, const char *body, size_t bytes) {
   rkb_error_t err = {0};
   json_t *root = rkb_json_parse(body, bytes, &err);
   if (!json_is_object(root)) {
      reply->unreadable = true;
      rkb_text_format(&reply->trouble, "the reply is not a JSON object: %.200s", err.message);
   } else {
      provider->whole(reply, root);
   }
   json_decref(root);
}

/* google.rpc.RetryInfo among an error's details: {"retryDelay": "0.5s"}; Gemini sends no Retry-After. */
static uint64_t retry_delay(const json_t *error) {
   const json_t *details = json_object_get(error, "details");
   double seconds = 0;
   for (size_t i = 0; i < json_array_size(details); i++) {
      const char *delay = rkb_json_text_of(json_array_get(details, i), "retryDelay");
      char number[32] = "";
      size_t length = strspn(delay, "0123456789.");
      if (length && length < sizeof number && strcmp(delay + length, "s") == 0)
         memcpy(number, delay, length);
      if (number[0] && rkb_parse_real(number, &seconds) && seconds > 0 && seconds < 1e6)
         return (uint64_t)(seconds * 1e9);
   }
   return 0;
}

void rkb_reply_trouble(rkb_reply_t *reply, const char *body, size_t bytes) {
   rkb_error_t err = {0};
   json_t *root = rkb_json_parse(body ? body : "", bytes, &err);
   const json_t *first =
      json_is_array(root) ? json_array_get(root, 0) : root; /* Gemini wraps its errors in a list */
   const json_t *error = json_object_get(first, "error");
   const char *message =
      json_is_string(error) ? json_string_value(error) : rkb_json_text_of(error, "message");
   if (!error && json_is_object(first)) /* vLLM and SGLang: {"object": "error", "message": ...} */
      message = rkb_json_text_of(first, "message");
   reply->retry_after_ns = retry_delay(error);
   rkb_text_add(&reply->trouble, message[0] ? message : body ? body : "");
   json_decref(root);
}
