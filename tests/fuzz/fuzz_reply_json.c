/* Reply readers of every protocol: the first byte picks one, and whether the rest is a whole reply or a
 * stream, whose lines are events. */
#include <stdlib.h>
#include <string.h>
#include "llm/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   const rkb_provider_t *const providers[] = {&rkb_provider_openai, &rkb_provider_anthropic,
                                              &rkb_provider_gemini, &rkb_provider_openai_responses,
                                              &rkb_provider_embeddings, &rkb_provider_azure,
                                              &rkb_provider_bedrock, &rkb_provider_embeddings};
   if (!size)
      return 0;
   const rkb_provider_t *provider = providers[(data[0] >> 1) & 7];
   char *text = strndup((const char *)data + 1, size - 1);
   rkb_reply_t reply;
   rkb_reply_init(&reply);
   if ((data[0] & 1) || !provider->event)
      rkb_reply_whole(&reply, provider, text, strlen(text));
   else
      for (char *line = text, *next; line; line = next) {
         next = strchr(line, '\n');
         if (next)
            *next++ = '\0';
         if (!reply.unreadable && !reply.failed) /* as http_exchange.c does */
            provider->event(&reply, "message", line, strlen(line));
      }
   if (reply.unreadable && !reply.trouble.length)
      abort();
   if (reply.usage_final && reply.input_tokens < 0)
      abort();
   text[0] = '\0'; /* the loop above cut it up */
   rkb_reply_trouble(&reply, text, strlen(text));
   rkb_reply_free(&reply);
   free(text);
   return 0;
}
