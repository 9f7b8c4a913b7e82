/* A text with its tokens and its manifest (kernel.h).  Owns both; lends the text.  Made on one thread, read on any. */
#include "kernel/manifest.h"

#include <stdlib.h>
#include <string.h>

rkb_source_t *rkb_source_read(const char *text) {
   rkb_source_t *source = calloc(1, sizeof *source);
   if (!source)
      return NULL;
   source->text = text;
   source->bytes = strlen(text);
   rkb_problems_init(&source->problems);
   source->tokens = rkb_tokens_new(text, source->bytes);
   if (!source->tokens) {
      rkb_source_free(source);
      return NULL;
   }
   source->manifest = manifest_from_tokens("candidate.cu", text, source->tokens, &source->problems);
   return source;
}

void rkb_source_free(rkb_source_t *source) {
   if (!source)
      return;
   rkb_manifest_free(source->manifest);
   rkb_tokens_free(source->tokens);
   rkb_problems_free(&source->problems);
   free(source);
}
