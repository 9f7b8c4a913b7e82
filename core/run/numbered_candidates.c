/* Candidates by number, and duplicates among them (numbered_candidates.h). */
#include "run/numbered_candidates.h"

#include <stdlib.h>
#include "base/memory.h"

void rkb_numbered_open(rkb_numbered_t *numbered) {
   numbered->by_tokens = rkb_digest_set_new();
   numbered->by_build = rkb_digest_set_new();
}

void rkb_numbered_close(rkb_numbered_t *numbered, const rkb_pipeline_t *pipeline) {
   for (uint64_t i = 0; i < numbered->count; i++)
      rkb_candidate_free(pipeline, numbered->list[i]);
   free(numbered->list);
   rkb_digest_set_free(numbered->by_tokens);
   rkb_digest_set_free(numbered->by_build);
}

rkb_candidate_t *rkb_numbered_get(const rkb_numbered_t *numbered, int64_t number) {
   return number >= 1 && (uint64_t)number <= numbered->count ? numbered->list[number - 1] : NULL;
}

void rkb_numbered_add(rkb_numbered_t *numbered, rkb_candidate_t *candidate) {
   if (numbered->count == numbered->room) {
      uint64_t room = numbered->room ? numbered->room * 2 : 256;
      numbered->list = rkb_grow(numbered->list, room, sizeof *numbered->list);
      numbered->room = room;
   }
   numbered->list[numbered->count++] = candidate;
   candidate->number = (int64_t)numbered->count;
}

void rkb_numbered_compare_text(rkb_numbered_t *numbered, rkb_candidate_t *candidate, bool decided_before) {
   int64_t first = rkb_identity_claim(numbered->by_tokens, candidate->token_hash, "", candidate->number);
   if (first > 0 && !decided_before)
      candidate->duplicate_of = first;
   if (candidate->duplicate_of)
      numbered->duplicates++;
}

void rkb_numbered_compare_build(rkb_numbered_t *numbered, bool waits) {
   rkb_candidate_t *candidate = numbered->list[numbered->next_build++];
   if (!candidate->ptx_hash[0] || !candidate->plan_hash[0] || candidate->duplicate_of)
      return;
   int64_t first =
      rkb_identity_claim(numbered->by_build, candidate->ptx_hash, candidate->plan_hash, candidate->number);
   if (first > 0 && waits) {
      candidate->duplicate_of = first;
      numbered->duplicates++;
   }
}
