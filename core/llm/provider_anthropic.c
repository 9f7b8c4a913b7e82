/* Anthropic messages.  Source: Anthropic API reference, 'Messages', 'Streaming messages', 'Errors',
 * 'Versions'.  Two versions are used: 2026-10-21, which accepts no temperature; and 2023-06-01, which accepts
 * one and which other servers of this protocol support. */
#include <string.h>
#include "llm/provider.h"

/* Thinking budgets for the efforts that other protocols name.  Each budget leaves room for the answer. */
static int64_t thinking_budget(const char *effort, int64_t most) {
   int64_t share = strcmp(effort, "low") == 0      ? most / 8
                   : strcmp(effort, "medium") == 0 ? most / 4
                                                   : most / 2;
   return share < 1024 ? 1024 : share; /* the protocol's minimum */
}

/* Models up to Claude 4.5 take a budget.  Later models choose the budget themselves and take an effort. */
static bool takes_budget(const char *model) {
   static const char *const parts[] = {"claude-3", "-4-0", "-4-1", "-4-2", "-4-5", NULL};
   for (const char *const *part = parts; *part; part++)
      if (strstr(model, *part))
         return true;
   return false;
}

static void ask_to_think(json_t *root, const rkb_model_t *model, int64_t most) {
   if (takes_budget(model->face.model)) {
      json_object_set_new(root, "thinking",
                          json_pack("{s:s, s:I}", "type", "enabled", "budget_tokens",
                                    (json_int_t)thinking_budget(model->reasoning_effort, most)));
      return;
   }
   json_object_set_new(root, "thinking", json_pack("{s:s}", "type", "adaptive"));
   json_object_set_new(root, "output_config", json_pack("{s:s}", "effort", model->reasoning_effort));
}

static bool thinks(const rkb_model_t *model, const rkb_llm_question_t *question) {
   return model->reasoning_effort && strcmp(model->reasoning_effort, "none") != 0 &&
          rkb_question_output(model, question) > 2048;
}

/* The protocol rejects a request that has both a temperature and thinking. */
static bool sends_temperature(const rkb_model_t *model, const rkb_llm_question_t *question) {
   return !thinks(model, question) && rkb_question_temperature(model, question) >= 0;
}

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   int64_t most = rkb_question_output(model, question);
   json_t *root =
      json_pack("{s:s, s:I, s:b, s:[{s:s, s:s}]}", "model", model->face.model, "max_tokens", (json_int_t)most,
                "stream", model->stream, "messages", "role", "user", "content", question->user);
   if (question->system && question->system[0])
      json_object_set_new(root, "system", json_string(question->system));
   if (thinks(model, question))
      ask_to_think(root, model, most);
   else if (sends_temperature(model, question))
      json_object_set_new(root, "temperature", json_real(rkb_question_temperature(model, question)));
   return root;
}

static void path(const rkb_model_t *model, rkb_text_t *out) {
   (void)model;
   rkb_text_add(out, "/v1/messages");
}

static void presence(const rkb_model_t *model, bool by_name, rkb_text_t *out) {
   (void)by_name;
   rkb_text_format(out, "/v1/models/%s", model->face.model);
}

static void headers(const rkb_provider_request_t *request, rkb_text_t *out) {
   const bool newest = strcmp(request->model->base_url, rkb_provider_anthropic.base_url) == 0 &&
                       !sends_temperature(request->model, request->question);
   rkb_text_format(out, "anthropic-version: %s\n", newest ? "2026-10-21" : "2023-06-01");
   if (request->key)
      rkb_text_format(out, "x-api-key: %s\n", request->key);
}

/* Input tokens are reported in three parts: not cached, written to the cache, read from the cache.  Their sum is the input. */
static void read_usage(rkb_reply_t *reply, const json_t *usage) {
   int64_t plain = -1, written = 0, cached = 0;
   rkb_json_count_of(usage, "input_tokens", &plain);
   rkb_json_count_of(usage, "cache_creation_input_tokens", &written);
   rkb_json_count_of(usage, "cache_read_input_tokens", &cached);
   rkb_json_count_of(usage, "output_tokens", &reply->output_tokens);
   rkb_json_count_of(json_object_get(usage, "output_tokens_details"), "thinking_tokens",
                     &reply->reasoning_tokens);
   /* A later report repeats the parts of the first report, or leaves some of them out; then the first report counts. */
   if (plain >= 0 && plain + written + cached >= reply->input_tokens) {
      reply->input_tokens = plain + written + cached;
      reply->cached_tokens = cached;
   }
}

static void read_stop(rkb_reply_t *reply, const char *reason) {
   reply->truncated |=
      strcmp(reason, "max_tokens") == 0 || strcmp(reason, "model_context_window_exceeded") == 0;
   reply->refused |= strcmp(reason, "refusal") == 0;
}

static void read_error(rkb_reply_t *reply, const json_t *root) {
   reply->failed = true;
   rkb_text_add(&reply->trouble, rkb_json_text_of(json_object_get(root, "error"), "message"));
}

static void event(rkb_reply_t *reply, const char *type, const char *data, size_t bytes) {
   rkb_error_t err = {0};
   json_t *root = rkb_json_parse(data, bytes, &err);
   const char *kind = rkb_json_text_of(root, "type");
   (void)type; /* the data contains the type too */
   if (!json_is_object(root)) {
      reply->unreadable = true;
      rkb_text_format(&reply->trouble, "an event is not a JSON object: %.200s", err.message);
   } else if (strcmp(kind, "message_start") == 0) {
      read_usage(reply, json_object_get(json_object_get(root, "message"), "usage"));
   } else if (strcmp(kind, "content_block_delta") == 0) {
      const json_t *delta = json_object_get(root, "delta");
      if (strcmp(rkb_json_text_of(delta, "type"), "text_delta") == 0) /* thinking is not part of the answer */
         rkb_text_add(&reply->text, rkb_json_text_of(delta, "text"));
   } else if (strcmp(kind, "message_delta") == 0) {
      read_usage(reply, json_object_get(root, "usage"));
      read_stop(reply, rkb_json_text_of(json_object_get(root, "delta"), "stop_reason"));
      reply->usage_final = reply->input_tokens >= 0 && reply->output_tokens >= 0;
   } else if (strcmp(kind, "message_stop") == 0) {
      reply->finished = true;
   } else if (strcmp(kind, "error") == 0) {
      read_error(reply, root);
   }
   json_decref(root);
}

static void whole(rkb_reply_t *reply, const json_t *root) {
   const json_t *content = json_object_get(root, "content");
   if (strcmp(rkb_json_text_of(root, "type"), "error") == 0) {
      read_error(reply, root);
      return;
   }
   if (!json_is_array(content)) {
      reply->unreadable = true;
      rkb_text_add(&reply->trouble, "the reply has no content");
      return;
   }
   for (size_t i = 0; i < json_array_size(content); i++)
      if (strcmp(rkb_json_text_of(json_array_get(content, i), "type"), "text") == 0)
         rkb_text_add(&reply->text, rkb_json_text_of(json_array_get(content, i), "text"));
   read_usage(reply, json_object_get(root, "usage"));
   read_stop(reply, rkb_json_text_of(root, "stop_reason"));
   reply->usage_final = reply->input_tokens >= 0 && reply->output_tokens >= 0;
   reply->finished = true;
}

const rkb_provider_t rkb_provider_anthropic = {.name = "anthropic",
                                               .base_url = "https://api.anthropic.com",
                                               .takes_key = true,
                                               .body = body,
                                               .path = path,
                                               .presence = presence,
                                               .headers = headers,
                                               .event = event,
                                               .whole = whole};
