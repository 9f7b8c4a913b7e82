/* Amazon Bedrock's Converse.  Sources: Amazon Bedrock API reference, 'Converse'; Amazon Bedrock user guide, 'Use an Amazon Bedrock API
 * key'.  Its streams are frames of a binary format of Amazon's own, so replies come whole. */
#include <string.h>
#include "llm/aws_signature.h"
#include "llm/provider.h"

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   int64_t most = rkb_question_output(model, question);
   double temperature = rkb_question_temperature(model, question);
   json_t *settings = json_object();
   json_t *root = json_pack("{s:[{s:s, s:[{s:s}]}]}", "messages", "role", "user", "content", "text", question->user);
   if (question->system && question->system[0])
      json_object_set_new(root, "system", json_pack("[{s:s}]", "text", question->system));
   if (most > 0)
      json_object_set_new(settings, "maxTokens", json_integer(most));
   if (temperature >= 0)
      json_object_set_new(settings, "temperature", json_real(temperature));
   json_object_set_new(root, "inferenceConfig", settings);
   return root;
}

static void path(const rkb_model_t *model, rkb_text_t *out) {
   rkb_text_add(out, "/model/");
   rkb_aws_escape(model->face.model, false, out);
   rkb_text_add(out, "/converse");
}

/* A key with a colon is a pair of access keys, optionally followed by a session's token; it signs the
 * request.  Any other key is a key of Bedrock itself. */
static void headers(const rkb_provider_request_t *request, rkb_text_t *out) {
   if (request->key && strchr(request->key, ':'))
      rkb_aws_sign(&(rkb_aws_request_t){.keys = request->key,
                                        .region = request->model->region,
                                        .service = "bedrock",
                                        .url = request->url,
                                        .body = request->body,
                                        .now = request->now},
                   out);
   else if (request->key)
      rkb_text_format(out, "Authorization: Bearer %s\n", request->key);
}

/* Input tokens are reported in three parts: not cached, read from the cache, written to it.  Their sum is the input. */
static void read_usage(rkb_reply_t *reply, const json_t *usage) {
   int64_t plain = -1, read = 0, written = 0;
   rkb_json_count_of(usage, "inputTokens", &plain);
   rkb_json_count_of(usage, "cacheReadInputTokens", &read);
   rkb_json_count_of(usage, "cacheWriteInputTokens", &written);
   rkb_json_count_of(usage, "outputTokens", &reply->output_tokens);
   if (plain >= 0) {
      reply->input_tokens = plain + read + written;
      reply->cached_tokens = read;
   }
   reply->usage_final = plain >= 0 && reply->output_tokens >= 0;
}

static void whole(rkb_reply_t *reply, const json_t *root) {
   const json_t *message = json_object_get(json_object_get(root, "output"), "message"), *content = json_object_get(message, "content");
   const char *reason = rkb_json_text_of(root, "stopReason");
   if (!json_is_array(content)) {
      reply->unreadable = true;
      rkb_text_add(&reply->trouble, "the reply has no output.message.content");
      return;
   }
   for (size_t i = 0; i < json_array_size(content); i++) /* blocks of reasoning have no text of their own */
      rkb_text_add(&reply->text, rkb_json_text_of(json_array_get(content, i), "text"));
   reply->truncated |= strcmp(reason, "max_tokens") == 0 || strcmp(reason, "model_context_window_exceeded") == 0;
   reply->filtered |= strcmp(reason, "content_filtered") == 0 || strcmp(reason, "guardrail_intervened") == 0;
   reply->finished = reason[0] != '\0';
   read_usage(reply, json_object_get(root, "usage"));
}

const rkb_provider_t rkb_provider_bedrock = {.name = "bedrock",
                                             .base_url = "https://bedrock-runtime.REGION.amazonaws.com",
                                             .address = RKB_ADDRESS_REGION,
                                             .takes_key = true,
                                             .whole_only = true,
                                             .plain_effort = true,
                                             .body = body,
                                             .path = path,
                                             .headers = headers,
                                             .whole = whole};
