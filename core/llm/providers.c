/* The list of providers, and functions over their tables: choices for messages, and the URL (provider.h).
 * Constant; any thread. */
#include "llm/provider.h"

#include <string.h>

const rkb_provider_t *const rkb_providers[] = {
   &rkb_provider_openai,           &rkb_provider_anthropic, &rkb_provider_gemini,
   &rkb_provider_openai_responses, &rkb_provider_azure,     &rkb_provider_bedrock,
   &rkb_provider_embeddings,       &rkb_provider_command,   NULL};

const char *rkb_provider_choices(void) {
   return "openai, anthropic, gemini, openai-responses, azure, bedrock, openai-embeddings or command";
}

void rkb_provider_url(const rkb_model_t *model, rkb_text_t *out) {
   const char *query = strchrnul(model->base_url, '?');
   rkb_text_append(out, model->base_url, (size_t)(query - model->base_url));
   model->provider->path(model, out);
   if (*query)
      rkb_text_format(out, "%c%s", strchr(rkb_text_get(out), '?') ? '&' : '?', query + 1);
}
