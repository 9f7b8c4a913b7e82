/* A text with its tokens and its manifest (kernel.h).  Owns all three.  Made on one thread, read on any. */
#include "kernel/manifest.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

rkb_source_t *rkb_source_read(const char *text) {
   rkb_source_t *source = rkb_allocate(1, sizeof *source);
   source->text = rkb_duplicate(text);
   source->bytes = strlen(text);
   rkb_problems_init(&source->problems);
   source->tokens = rkb_tokens_new(source->text, source->bytes);
   source->manifest = manifest_from_tokens("candidate.cu", source->text, source->tokens, &source->problems);
   return source;
}

rkb_source_t *rkb_source_ref(rkb_source_t *source) {
   __atomic_fetch_add(&source->more_holders, 1, __ATOMIC_RELAXED);
   return source;
}

void rkb_source_free(rkb_source_t *source) {
   if (!source || __atomic_fetch_sub(&source->more_holders, 1, __ATOMIC_ACQ_REL) != 0)
      return;
   rkb_manifest_free(source->manifest);
   rkb_tokens_free(source->tokens);
   rkb_problems_free(&source->problems);
   free((char *)source->text);
   free(source);
}
