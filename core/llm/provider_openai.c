/* OpenAI chat completions, every server with the same protocol (vLLM, SGLang, Ollama, llama.cpp, OpenRouter, DeepSeek), and the
 * deployments of Azure OpenAI, which differ in address and key alone.
 * Sources: OpenAI API reference, 'Create chat completion' and 'The chat completion chunk object'; Azure OpenAI REST API reference,
 * 'Chat completions' and 'Authentication'. */
#include <string.h>
#include "llm/provider.h"

static json_t *message(const char *role, const char *text) {
   return json_pack("{s:s, s:s}", "role", role, "content", text);
}

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   json_t *messages = json_array();
   int64_t most = rkb_question_output(model, question);
   double temperature = rkb_question_temperature(model, question);
   if (question->system && question->system[0])
      json_array_append_new(messages, message("system", question->system));
   json_array_append_new(messages, message("user", question->user));
   json_t *root =
      json_pack("{s:s, s:o, s:b}", "model", model->face.model, "messages", messages, "stream", model->stream);
   /* OpenAI's own models need max_completion_tokens, which limits reasoning too.  Compatible servers know
    * max_tokens. */
   bool own = model->provider == &rkb_provider_azure || strstr(model->base_url, "api.openai.com") != NULL;
   if (most > 0)
      json_object_set_new(root, own ? "max_completion_tokens" : "max_tokens", json_integer(most));
   if (temperature >= 0)
      json_object_set_new(root, "temperature", json_real(temperature));
   if (model->reasoning_effort)
      json_object_set_new(root, "reasoning_effort", json_string(model->reasoning_effort));
   if (model->stream)
      json_object_set_new(root, "stream_options", json_pack("{s:b}", "include_usage", true));
   return root;
}

static void path(const rkb_model_t *model, rkb_text_t *out) {
   (void)model;
   rkb_text_add(out, "/chat/completions");
}

void rkb_openai_presence(const rkb_model_t *model, bool by_name, rkb_text_t *out) {
   rkb_text_format(out, "/models%s%s", by_name ? "/" : "", by_name ? model->face.model : "");
}

void rkb_openai_headers(const rkb_provider_request_t *request, rkb_text_t *out) {
   if (request->key)
      rkb_text_format(out, "Authorization: Bearer %s\n", request->key);
}

static void read_usage(rkb_reply_t *reply, const json_t *usage) {
   if (!json_is_object(usage))
      return;
   rkb_json_count_of(usage, "prompt_tokens", &reply->input_tokens);
   rkb_json_count_of(usage, "completion_tokens", &reply->output_tokens);
   rkb_json_count_of(usage, "prompt_cache_hit_tokens", &reply->cached_tokens); /* DeepSeek */
   rkb_json_count_of(json_object_get(usage, "prompt_tokens_details"), "cached_tokens", &reply->cached_tokens);
   rkb_json_count_of(json_object_get(usage, "completion_tokens_details"), "reasoning_tokens",
                     &reply->reasoning_tokens);
}

/* Some servers report the usage so far with every chunk.  When the reply has ended, the last report covers the whole reply. */
static void close_usage(rkb_reply_t *reply) {
   reply->usage_final = reply->finished && reply->input_tokens >= 0 && reply->output_tokens >= 0;
}

static void read_choice(rkb_reply_t *reply, const json_t *choice, const char *member) {
   const json_t *said = json_object_get(choice, member);
   const char *reason = rkb_json_text_of(choice, "finish_reason"),
              *refusal = rkb_json_text_of(said, "refusal");
   rkb_text_add(&reply->text, rkb_json_text_of(said, "content"));
   if (refusal[0]) {
      reply->refused = true;
      rkb_text_add(&reply->refusal, refusal);
   }
   if (!reason[0])
      return;
   /* The reply is not complete: DeepSeek may run out of machines while it answers, and OpenRouter's upstream
    * may break off. */
   if (strcmp(reason, "insufficient_system_resource") == 0 || strcmp(reason, "error") == 0) {
      reply->failed = true;
      rkb_text_format(&reply->trouble, "the provider broke off: %s", reason);
      return;
   }
   reply->finished = true;
   reply->truncated |= strcmp(reason, "length") == 0;
   reply->filtered |= strcmp(reason, "content_filter") == 0;
}

static bool read_error(rkb_reply_t *reply, const json_t *root) {
   const json_t *error = json_object_get(root, "error");
   if (!error || json_is_null(error))
      return false;
   reply->failed = true;
   rkb_text_add(&reply->trouble,
                json_is_string(error) ? json_string_value(error) : rkb_json_text_of(error, "message"));
   return true;
}

static void event(rkb_reply_t *reply, const char *type, const char *data, size_t bytes) {
   rkb_error_t err = {0};
   (void)type;
   if (strcmp(data, "[DONE]") == 0) {
      reply->finished = true;
      close_usage(reply);
      return;
   }
   json_t *root = rkb_json_parse(data, bytes, &err);
   if (!json_is_object(root)) {
      reply->unreadable = true;
      rkb_text_format(&reply->trouble, "an event is not a JSON object: %.200s", err.message);
   } else if (!read_error(reply, root)) {
      const json_t *choices = json_object_get(root, "choices");
      for (size_t i = 0; i < json_array_size(choices); i++)
         if (!json_integer_value(json_object_get(json_array_get(choices, i), "index")))
            read_choice(reply, json_array_get(choices, i), "delta");
      read_usage(reply, json_object_get(root, "usage"));
      close_usage(reply);
   }
   json_decref(root);
}

static void whole(rkb_reply_t *reply, const json_t *root) {
   const json_t *choices = json_object_get(root, "choices");
   if (read_error(reply, root))
      return;
   if (!json_array_size(choices)) {
      reply->unreadable = true;
      rkb_text_add(&reply->trouble, "the reply has no choices");
      return;
   }
   read_choice(reply, json_array_get(choices, 0), "message");
   read_usage(reply, json_object_get(root, "usage"));
   reply->finished |= !reply->failed;
   close_usage(reply);
}

const rkb_provider_t rkb_provider_openai = {.name = "openai",
                                            .base_url = "https://api.openai.com/v1",
                                            .takes_key = true,
                                            .body = body,
                                            .path = path,
                                            .presence = rkb_openai_presence,
                                            .lists_models = true,
                                            .headers = rkb_openai_headers,
                                            .event = event,
                                            .whole = whole};

/* The key of an Azure resource has its own header.  A token of Microsoft Entra ID, which is a JSON Web Token
 * ("eyJ": '{"' in base64), is sent as a bearer token. */
static void azure_headers(const rkb_provider_request_t *request, rkb_text_t *out) {
   if (request->key && strncmp(request->key, "eyJ", 3) == 0)
      rkb_openai_headers(request, out);
   else if (request->key)
      rkb_text_format(out, "api-key: %s\n", request->key);
}

const rkb_provider_t rkb_provider_azure = {.name = "azure",
                                           .address = RKB_ADDRESS_GIVEN,
                                           .takes_key = true,
                                           .body = body,
                                           .path = path,
                                           .headers = azure_headers,
                                           .event = event,
                                           .whole = whole};
