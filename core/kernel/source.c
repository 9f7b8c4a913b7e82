/* A text with its tokens and its manifest (kernel.h).  Owns tokens and manifest; borrows the text.  Made on
 * one thread, read on any. */
#include "kernel/manifest.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

rkb_source_t *rkb_source_read(const char *text) {
   rkb_source_t *source = rkb_allocate(1, sizeof *source);
   source->text = text;
   source->bytes = strlen(text);
   rkb_problems_init(&source->problems);
   source->tokens = rkb_tokens_new(text, source->bytes);
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
