/* OpenAI embeddings: a text in, numbers out.  Source: OpenAI API reference, 'Embeddings'; vLLM, llama.cpp and Ollama serve the same below /v1.  The
 * reply's text is the vector as a JSON array and a line end, so that the archive, the cache and cassettes keep it like any other. */
#include <math.h>
#include <stdlib.h>
#include "llm/provider.h"

#define MOST_NUMBERS 16384

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   return json_pack("{s:s, s:s, s:s}", "model", model->face.model, "input", question->user, "encoding_format", "float");
}

static void path(const rkb_model_t *model, rkb_text_t *out) {
   (void)model;
   rkb_text_add(out, "/embeddings");
}

static bool is_vector(const json_t *vector) {
   const json_t *number;
   size_t index;
   json_array_foreach(vector, index, number) {
      if (!json_is_number(number) || !isfinite(json_number_value(number)))
         return false;
   }
   return json_array_size(vector) > 0 && json_array_size(vector) <= MOST_NUMBERS;
}

static void whole(rkb_reply_t *reply, const json_t *root) {
   const json_t *vector = json_object_get(json_array_get(json_object_get(root, "data"), 0), "embedding");
   char *text = is_vector(vector) ? rkb_json_canonical(vector) : NULL;
   if (text) {
      rkb_text_format(&reply->text, "%s\n", text);
      rkb_json_count_of(json_object_get(root, "usage"), "prompt_tokens", &reply->input_tokens);
      reply->finished = true;
   } else {
      reply->unreadable = true;
      rkb_text_add(&reply->trouble, "the reply has no embedding");
   }
   reply->usage_final = reply->input_tokens >= 0;
   if (reply->usage_final)
      reply->output_tokens = 0;
   free(text);
}

static void event(rkb_reply_t *reply, const char *type, const char *data, size_t bytes) {
   (void)type;
   (void)data;
   (void)bytes;
   reply->unreadable = true;
   rkb_text_add(&reply->trouble, "embeddings come whole, and this one is a stream");
}

const rkb_provider_t rkb_provider_embeddings = {.name = "openai-embeddings",
                                                .base_url = "https://api.openai.com/v1",
                                                .takes_key = true,
                                                .whole_only = true,
                                                .plain_effort = true,
                                                .no_output = true,
                                                .body = body,
                                                .path = path,
                                                .presence = rkb_openai_presence,
                                                .lists_models = true,
                                                .headers = rkb_openai_headers,
                                                .event = event,
                                                .whole = whole};
