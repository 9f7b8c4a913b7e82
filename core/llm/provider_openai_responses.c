/* OpenAI responses.  Source: OpenAI API reference, 'Responses' and 'Streaming events'.  Requests ask the provider to store nothing. */
#include <string.h>
#include "llm/provider.h"

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   int64_t most = rkb_question_output(model, question);
   double temperature = rkb_question_temperature(model, question);
   json_t *root = json_pack("{s:s, s:s, s:b, s:b}", "model", model->face.model, "input", question->user,
                            "stream", model->stream, "store", false);
   if (question->system && question->system[0])
      json_object_set_new(root, "instructions", json_string(question->system));
   if (most > 0)
      json_object_set_new(root, "max_output_tokens", json_integer(most));
   if (temperature >= 0)
      json_object_set_new(root, "temperature", json_real(temperature));
   if (model->reasoning_effort)
      json_object_set_new(root, "reasoning", json_pack("{s:s}", "effort", model->reasoning_effort));
   return root;
}

static void path(const rkb_model_t *model, rkb_text_t *out) {
   (void)model;
   rkb_text_add(out, "/responses");
}

static void read_usage(rkb_reply_t *reply, const json_t *usage) {
   if (!json_is_object(usage))
      return;
   rkb_json_count_of(usage, "input_tokens", &reply->input_tokens);
   rkb_json_count_of(usage, "output_tokens", &reply->output_tokens);
   rkb_json_count_of(json_object_get(usage, "input_tokens_details"), "cached_tokens", &reply->cached_tokens);
   rkb_json_count_of(json_object_get(usage, "output_tokens_details"), "reasoning_tokens",
                     &reply->reasoning_tokens);
   reply->usage_final = reply->input_tokens >= 0 && reply->output_tokens >= 0;
}

static void read_output(rkb_reply_t *reply, const json_t *output, bool text_too) {
   for (size_t i = 0; i < json_array_size(output); i++) {
      const json_t *content = json_object_get(json_array_get(output, i), "content");
      for (size_t j = 0; j < json_array_size(content); j++) {
         const json_t *part = json_array_get(content, j);
         if (strcmp(rkb_json_text_of(part, "type"), "output_text") == 0 && text_too)
            rkb_text_add(&reply->text, rkb_json_text_of(part, "text"));
         if (strcmp(rkb_json_text_of(part, "type"), "refusal") == 0) {
            reply->refused = true;
            rkb_text_add(&reply->refusal, rkb_json_text_of(part, "refusal"));
         }
      }
   }
}

static void read_response(rkb_reply_t *reply, const json_t *response, bool text_too) {
   const char *status = rkb_json_text_of(response, "status");
   const char *why = rkb_json_text_of(json_object_get(response, "incomplete_details"), "reason");
   const json_t *error = json_object_get(response, "error");
   read_output(reply, json_object_get(response, "output"), text_too);
   read_usage(reply, json_object_get(response, "usage"));
   if (json_is_object(error) || strcmp(status, "failed") == 0) {
      reply->failed = true;
      rkb_text_add(&reply->trouble, rkb_json_text_of(error, "message"));
   }
   reply->finished = strcmp(status, "completed") == 0 || strcmp(status, "incomplete") == 0;
   reply->truncated |= strcmp(why, "max_output_tokens") == 0;
   reply->filtered |= strcmp(why, "content_filter") == 0;
}

static void event(rkb_reply_t *reply, const char *type, const char *data, size_t bytes) {
   rkb_error_t err = {0};
   json_t *root = rkb_json_parse(data, bytes, &err);
   const char *kind = rkb_json_text_of(root, "type");
   (void)type;
   if (!json_is_object(root)) {
      reply->unreadable = true;
      rkb_text_format(&reply->trouble, "an event is not a JSON object: %.200s", err.message);
   } else if (strcmp(kind, "response.output_text.delta") == 0) {
      rkb_text_add(&reply->text, rkb_json_text_of(root, "delta"));
   } else if (strcmp(kind, "response.completed") == 0 || strcmp(kind, "response.incomplete") == 0 ||
              strcmp(kind, "response.failed") == 0) {
      read_response(reply, json_object_get(root, "response"), false);
   } else if (strcmp(kind, "error") == 0) {
      reply->failed = true;
      rkb_text_add(&reply->trouble, rkb_json_text_of(root, "message"));
   }
   json_decref(root);
}

static void whole(rkb_reply_t *reply, const json_t *root) {
   read_response(reply, root, true);
   if (!reply->finished && !reply->failed) {
      reply->unreadable = true;
      rkb_text_add(&reply->trouble, "the reply has no status");
   }
}

const rkb_provider_t rkb_provider_openai_responses = {.name = "openai-responses",
                                                      .base_url = "https://api.openai.com/v1",
                                                      .takes_key = true,
                                                      .body = body,
                                                      .path = path,
                                                      .presence = rkb_openai_presence,
                                                      .lists_models = true,
                                                      .headers = rkb_openai_headers,
                                                      .event = event,
                                                      .whole = whole};
