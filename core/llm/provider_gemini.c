/* Google Gemini, generateContent and streamGenerateContent.  Source: Gemini API reference, 'Generating
 * content'. */
#include <string.h>
#include "llm/provider.h"

/* Gemini 2.5 takes a number of tokens (-1: the model chooses); later models take a level. */
static json_t *thinking(const rkb_model_t *model, int64_t most) {
   const char *effort = model->reasoning_effort;
   if (strncmp(model->face.model, "gemini-2", 8) != 0)
      return json_pack("{s:s}", "thinkingLevel", effort);
   json_int_t share = strcmp(effort, "low") == 0      ? most / 8
                      : strcmp(effort, "medium") == 0 ? most / 4
                                                      : most / 2;
   return json_pack("{s:I}", "thinkingBudget", most > 0 ? share : -1);
}

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   int64_t most = rkb_question_output(model, question);
   double temperature = rkb_question_temperature(model, question);
   json_t *settings = json_object();
   json_t *root =
      json_pack("{s:[{s:s, s:[{s:s}]}]}", "contents", "role", "user", "parts", "text", question->user);
   if (question->system && question->system[0])
      json_object_set_new(root, "systemInstruction",
                          json_pack("{s:[{s:s}]}", "parts", "text", question->system));
   if (most > 0)
      json_object_set_new(settings, "maxOutputTokens", json_integer(most));
   if (temperature >= 0)
      json_object_set_new(settings, "temperature", json_real(temperature));
   if (model->reasoning_effort)
      json_object_set_new(settings, "thinkingConfig", thinking(model, most));
   json_object_set_new(root, "generationConfig", settings);
   return root;
}

static void path(const rkb_model_t *model, rkb_text_t *out) {
   rkb_text_format(out, "/v1beta/models/%s:%s", model->face.model,
                   model->stream ? "streamGenerateContent?alt=sse" : "generateContent");
}

static void presence(const rkb_model_t *model, bool by_name, rkb_text_t *out) {
   (void)by_name;
   rkb_text_format(out, "/v1beta/models/%s", model->face.model);
}

static void headers(const rkb_provider_request_t *request, rkb_text_t *out) {
   if (request->key)
      rkb_text_format(out, "x-goog-api-key: %s\n", request->key);
}

static void read_usage(rkb_reply_t *reply, const json_t *usage) {
   int64_t answer = -1, thoughts = -1;
   if (!json_is_object(usage))
      return;
   rkb_json_count_of(usage, "promptTokenCount", &reply->input_tokens);
   rkb_json_count_of(usage, "cachedContentTokenCount", &reply->cached_tokens);
   rkb_json_count_of(usage, "candidatesTokenCount", &answer);
   rkb_json_count_of(usage, "thoughtsTokenCount", &thoughts);
   if (answer >= 0 || thoughts >= 0) { /* thoughts are billed as output but reported separately */
      thoughts = thoughts > 0 ? thoughts : 0;
      reply->output_tokens = (answer > 0 ? answer : 0) + thoughts;
      reply->reasoning_tokens = thoughts;
   }
}

static void whole(rkb_reply_t *reply, const json_t *root) {
   const json_t *candidate = json_array_get(json_object_get(root, "candidates"), 0);
   const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
   const char *reason = rkb_json_text_of(candidate, "finishReason");
   const char *blocked = rkb_json_text_of(json_object_get(root, "promptFeedback"), "blockReason");
   if (json_object_get(root, "error")) {
      reply->failed = true;
      rkb_text_add(&reply->trouble, rkb_json_text_of(json_object_get(root, "error"), "message"));
      return;
   }
   for (size_t i = 0; i < json_array_size(parts); i++)
      if (!json_is_true(json_object_get(json_array_get(parts, i), "thought")))
         rkb_text_add(&reply->text, rkb_json_text_of(json_array_get(parts, i), "text"));
   read_usage(reply, json_object_get(root, "usageMetadata"));
   if (reason[0] || blocked[0]) {
      static const char *const filters[] = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                                            "SPII",   "LANGUAGE",   NULL};
      reply->finished = true;
      reply->truncated |= strcmp(reason, "MAX_TOKENS") == 0;
      reply->filtered |= blocked[0] != '\0';
      for (const char *const *filter = filters; *filter; filter++)
         reply->filtered |= strcmp(reason, *filter) == 0;
      reply->usage_final = reply->input_tokens >= 0 && (reply->output_tokens >= 0 || blocked[0]);
   } else if (!candidate && !json_is_object(json_object_get(root, "usageMetadata"))) {
      reply->unreadable = true;
      rkb_text_add(&reply->trouble, "the reply has no candidates");
   }
}

static void event(rkb_reply_t *reply, const char *type, const char *data, size_t bytes) {
   rkb_error_t err = {0};
   json_t *root = rkb_json_parse(data, bytes, &err);
   (void)type;
   if (json_is_object(root)) {
      whole(reply, root);
   } else {
      reply->unreadable = true;
      rkb_text_format(&reply->trouble, "an event is not a JSON object: %.200s", err.message);
   }
   json_decref(root);
}

const rkb_provider_t rkb_provider_gemini = {.name = "gemini",
                                            .base_url = "https://generativelanguage.googleapis.com",
                                            .takes_key = true,
                                            .body = body,
                                            .path = path,
                                            .presence = presence,
                                            .headers = headers,
                                            .event = event,
                                            .whole = whole};
