/* Candidates (candidate.h). */
#include "stage/candidate.h"

#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "base/json.h"
#include "base/memory.h"
#include "stage/item.h"
#include "kernel/kernel.h"

rkb_candidate_t *rkb_candidate_new(const rkb_pipeline_t *pipeline, struct rkb_source_cache *sources,
                                   rkb_item_t *made) {
   rkb_candidate_t *candidate = rkb_allocate(1, sizeof *candidate);
   candidate->results = rkb_allocate(pipeline->entry_count, sizeof *candidate->results);
   candidate->made = made;
   candidate->sources = sources;
   candidate->source = rkb_item_text(made, "source");
   pthread_mutex_init(&candidate->notes_lock, NULL);
   return candidate;
}

void rkb_candidate_settle(rkb_candidate_t *candidate) {
   if (candidate->pinned)
      return;
   rkb_plan_cache_free(candidate->plans);
   candidate->plans = NULL;
   rkb_build_free(candidate->build);
   candidate->build = NULL;
   rkb_source_free(candidate->read);
   candidate->read = NULL;
   while (candidate->notes) {
      rkb_note_t *note = candidate->notes;
      candidate->notes = note->next;
      free(note->key);
      free(note->data);
      free(note);
   }
}

void rkb_candidate_forget(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate) {
   if (candidate->pinned)
      return;
   for (uint32_t i = 0; candidate->results && i < pipeline->entry_count; i++) {
      rkb_stage_result_t *result = &candidate->results[i];
      rkb_item_unref(result->verdict);
      for (uint32_t j = 0; j < result->measurement_count; j++)
         rkb_item_unref(result->measurements[j]);
      free(result->measurements);
   }
   free(candidate->results);
   candidate->results = NULL;
}

void rkb_candidate_free(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate) {
   if (!candidate || candidate->pinned)
      return;
   rkb_candidate_settle(candidate);
   rkb_candidate_forget(pipeline, candidate);
   rkb_item_unref(candidate->item);
   rkb_item_unref(candidate->made);
   pthread_mutex_destroy(&candidate->notes_lock);
   free(candidate->parents);
   free(candidate->tune_space);
   free(candidate->tune);
   free(candidate);
}

const rkb_source_t *rkb_candidate_read(rkb_candidate_t *candidate) {
   pthread_mutex_lock(&candidate->notes_lock);
   if (!candidate->read)
      candidate->read = candidate->sources ? rkb_source_cache_take(candidate->sources, candidate->source)
                                           : rkb_source_read(candidate->source);
   const rkb_source_t *read = candidate->read;
   pthread_mutex_unlock(&candidate->notes_lock);
   return read;
}

/* The whole assignment in canonical form.  If the manifest does not parse, this is the given object in canonical form, so that two
 * such candidates still differ. */
static char *whole_tune(const rkb_manifest_t *manifest, const char *given) {
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   char *text = NULL;
   int64_t *values = manifest ? rkb_allocate(manifest->tune_count + 1, sizeof *values) : NULL;
   if (values && rkb_tune_resolve(manifest, given, values, &finding, &err) == RKB_OK && !finding.reason[0])
      text = rkb_tune_canonical(manifest, values);
   free(values);
   if (!text) {
      json_t *value = rkb_json_parse(given, strlen(given), &err);
      text = value ? rkb_json_canonical(value) : rkb_duplicate(given);
      json_decref(value);
   }
   return text;
}

/* A pipeline without a task has texts that are no kernels, so no manifest is read. */
void rkb_candidate_find_tune_space(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate) {
   const rkb_source_t *read = pipeline->task ? rkb_candidate_read(candidate) : NULL;
   candidate->tune_space = read && read->manifest ? rkb_tune_choices(read->manifest) : rkb_duplicate("{}");
   if (!candidate->tune_space)
      rkb_end_without_memory(0);
}

static void hash_pair(const char *first, const char *second, char out[RKB_HASH_TEXT]) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   rkb_hasher_add_text(hasher, first);
   rkb_hasher_add_text(hasher, second);
   rkb_hasher_finish(hasher, out);
}

void rkb_candidate_identify(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate) {
   char tokens[RKB_HASH_TEXT];
   const char *given = rkb_item_json(candidate->made, "tune");
   size_t bytes = strlen(candidate->source);
   if (!given)
      given = "{}";
   /* Without a task the texts are no kernels, and there is no manifest to look for. */
   const rkb_source_t *read = pipeline->task ? rkb_candidate_read(candidate) : NULL;
   candidate->tune = read ? whole_tune(read->manifest, given) : rkb_duplicate(given);
   if (!candidate->tune)
      rkb_end_without_memory(0);
   rkb_candidate_find_tune_space(pipeline, candidate);
   rkb_hash_text(candidate->source, bytes, candidate->source_hash);
   if (read && rkb_source_is_text(read, NULL))
      rkb_source_hash(read, tokens);
   else /* the compiler may refuse a text for bytes in a comment, so such a text is no duplicate of one without those bytes */
      memcpy(tokens, candidate->source_hash, sizeof tokens);
   hash_pair(candidate->source_hash, candidate->tune, candidate->hash);
   hash_pair(tokens, candidate->tune, candidate->token_hash);
}

void rkb_candidate_refresh(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate, uint64_t entries) {
   const char *standing = rkb_candidate_standing(pipeline, candidate, entries, NULL);
   const char *shown = candidate->item ? rkb_item_text(candidate->item, "standing") : NULL;
   if (shown && strcmp(shown, standing) == 0)
      return;
   rkb_item_t *item = rkb_item_overlay(candidate->made);
   bool ok =
      rkb_item_set_text(item, "standing", standing) == RKB_OK &&
      (!candidate->number || rkb_item_set_int(item, "number", candidate->number) == RKB_OK) &&
      rkb_item_set_text(item, "operator",
                        candidate->operator_entry ? candidate->operator_entry->node.id : "") == RKB_OK &&
      rkb_item_set_json(item, "tune", candidate->tune) == RKB_OK;
   if (!ok)
      rkb_end_without_memory(0); /* cannot fail: items have held each of these values before */
   rkb_item_unref(candidate->item);
   candidate->item = item;
}

uint32_t rkb_standing_rank(const char *standing) {
   static const char *const names[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_UNKNOWN, "none"};
   for (uint32_t i = 0; i < 4; i++)
      if (strcmp(names[i], standing) == 0)
         return i;
   return 4;
}

/* Whether no execution can clear the suspicion: it was found without executing the candidate (lint), or it is about where and when
 * threads run. */
static bool stays_suspect(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                          const rkb_item_t *verdict) {
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      if (candidate->results[i].verdict == verdict && !(pipeline->entries[i].node.flags & RKB_STAGE_EXECUTES))
         return true;
   return strncmp(rkb_item_text(verdict, "reason"), "environment.", 12) == 0;
}

/* The worst verdict decides, with one exception: a verifier that executes the candidate replaces an earlier unknown, and an earlier
 * suspect that execution can clear. */
const char *rkb_candidate_standing(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                                   uint64_t entries, const rkb_item_t **decided) {
   static const uint32_t badness[] = {0, 1, 2, 0, 3}; /* by rank */
   const rkb_item_t *deciding = NULL;
   const char *standing = "none";
   for (uint32_t i = 0; i < pipeline->entry_count; i++) {
      const rkb_stage_result_t *result = &candidate->results[i];
      if (!(entries & (1ull << i)) || !result->verdict || result->shadow)
         continue;
      const char *found = rkb_item_text(result->verdict, "standing");
      uint32_t old = rkb_standing_rank(standing), new = rkb_standing_rank(found);
      bool last_word = (pipeline->entries[i].node.flags & RKB_STAGE_EXECUTES) &&
                       ((old == 1 && !stays_suspect(pipeline, candidate, deciding)) || old == 2);
      if (!deciding || last_word || badness[new] > badness[old]) {
         standing = found;
         deciding = result->verdict;
      }
   }
   if (decided)
      *decided = deciding;
   return standing;
}

bool rkb_candidate_passed(const rkb_candidate_t *candidate, uint64_t entries) {
   return !(candidate->blocking & entries) && !candidate->duplicate_of;
}

rkb_item_t *rkb_verdict_new(const char *standing, const char *reason, const char *message) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_VERDICT);
   if (rkb_item_set_text(item, "standing", standing) == RKB_OK &&
       rkb_item_set_text(item, "reason", reason) == RKB_OK &&
       rkb_item_set_text(item, "message", message) == RKB_OK)
      return item;
   rkb_item_unref(item);
   return NULL;
}

const char *rkb_tool_reason(int status) {
   switch (status) {
   case RKB_ERR_INVALID:
      return "tool.invalid";
   case RKB_ERR_NOMEM:
      return "tool.memory";
   case RKB_ERR_TIMEOUT:
   case RKB_ERR_CANCELLED:
      return "tool.timeout";
   case RKB_ERR_UNAVAILABLE:
      return "tool.unavailable";
   case RKB_ERR_IO:
      return "tool.io";
   case RKB_ERR_CONTRACT:
      return "tool.contract";
   case RKB_ERR_LIMIT:
      return "tool.limit";
   default:
      return "tool.failed";
   }
}
