/* Counts verdicts against labels (judge_tally.h). */
#include "cli/judge/judge_tally.h"

#include <math.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "cli/judge/calibration.h"

struct rkb_judge_tally {
   const rkb_labelled_corpus_t *corpus;
   rkb_judge_t judges[RKB_JUDGES];
   uint32_t count;
   /* By kernel of the corpus: bit masks of the judges that were asked and of those that rejected it. */
   uint32_t *asked, *rejected;
   char *followed;          /* a judge's name, or NULL */
   rkb_judge_word_t *words; /* the followed judge's verdicts, by kernel */
};

rkb_judge_tally_t *rkb_judge_tally_new(const rkb_labelled_corpus_t *corpus) {
   rkb_judge_tally_t *tally = rkb_allocate(1, sizeof *tally);
   tally->corpus = corpus;
   tally->asked = rkb_allocate(corpus->count, sizeof *tally->asked);
   tally->rejected = rkb_allocate(corpus->count, sizeof *tally->rejected);
   return tally;
}

void rkb_judge_tally_free(rkb_judge_tally_t *tally) {
   for (uint32_t i = 0; tally && i < tally->count; i++) {
      free(tally->judges[i].name);
      free(tally->judges[i].seconds);
   }
   for (uint32_t i = 0; tally && tally->words && i < tally->corpus->count; i++)
      free(tally->words[i].message);
   if (tally) {
      free(tally->asked);
      free(tally->rejected);
      free(tally->followed);
      free(tally->words);
   }
   free(tally);
}

void rkb_judge_tally_follow(rkb_judge_tally_t *tally, const char *judge) {
   tally->followed = rkb_duplicate(judge);
   tally->words = rkb_allocate(tally->corpus->count, sizeof *tally->words);
}

const rkb_judge_word_t *rkb_judge_tally_word(const rkb_judge_tally_t *tally, uint32_t kernel) {
   return &tally->words[kernel];
}

static int judge_named(rkb_judge_tally_t *tally, const char *name, uint32_t *index, rkb_error_t *err) {
   for (*index = 0; *index < tally->count; ++*index)
      if (strcmp(tally->judges[*index].name, name) == 0)
         return RKB_OK;
   if (tally->count == RKB_JUDGES)
      return rkb_fail(err, RKB_ERR_LIMIT, "more than %d verifiers gave verdicts", RKB_JUDGES);
   tally->judges[tally->count++].name = rkb_duplicate(name);
   return RKB_OK;
}

static void count_verdict(rkb_judge_counts_t *counts, bool wrong, const char *standing) {
   const bool reject = strcmp(standing, RKB_REJECT) == 0, accept = strcmp(standing, RKB_ACCEPT) == 0;
   if (wrong)
      ++*(reject ? &counts->wrong_rejected : accept ? &counts->wrong_accepted : &counts->wrong_undecided);
   else
      ++*(reject ? &counts->right_rejected : accept ? &counts->right_accepted : &counts->right_undecided);
}

static int add_verdict(rkb_judge_tally_t *tally, uint32_t kernel, const rkb_verdict_record_t *verdict,
                       rkb_error_t *err) {
   const rkb_labelled_kernel_t *labelled = &tally->corpus->list[kernel];
   uint32_t index;
   int status = judge_named(tally, verdict->stage, &index, err);
   if (status != RKB_OK)
      return status;
   rkb_judge_t *judge = &tally->judges[index];
   count_verdict(&judge->counts[labelled->kept], labelled->wrong, verdict->standing);
   tally->asked[kernel] |= 1u << index;
   const bool rejected = strcmp(verdict->standing, RKB_REJECT) == 0;
   if (rejected)
      tally->rejected[kernel] |= 1u << index;
   if (tally->followed && strcmp(tally->followed, verdict->stage) == 0) {
      free(tally->words[kernel].message);
      tally->words[kernel] =
         (rkb_judge_word_t){.asked = true,
                            .rejected = rejected,
                            .message = rkb_duplicate(verdict->message ? verdict->message : "")};
   }
   if (verdict->seconds >= 0) {
      judge->seconds = rkb_grow(judge->seconds, judge->second_count + 1, sizeof *judge->seconds);
      judge->seconds[judge->second_count++] = verdict->seconds;
   }
   return RKB_OK;
}

/* "judge_memory.confidence" belongs to the judge "judge_memory". */
static void add_confidence(rkb_judge_tally_t *tally, bool wrong,
                           const rkb_measurement_record_t *measurement) {
   static const char suffix[] = ".confidence";
   const size_t length = strlen(measurement->name), tail = sizeof suffix - 1;
   if (measurement->case_name || length <= tail || strcmp(measurement->name + length - tail, suffix) != 0 ||
       !(measurement->value >= 0 && measurement->value <= 1))
      return;
   for (uint32_t i = 0; i < tally->count; i++) {
      rkb_judge_t *judge = &tally->judges[i];
      if (strlen(judge->name) != length - tail || strncmp(judge->name, measurement->name, length - tail) != 0)
         continue;
      int bin = (int)(measurement->value * RKB_CONFIDENCE_BINS);
      bin = bin < RKB_CONFIDENCE_BINS ? bin : RKB_CONFIDENCE_BINS - 1;
      judge->bins[bin].kernels++;
      judge->bins[bin].right += !wrong;
   }
}

static int add_candidate(rkb_judge_tally_t *tally, const rkb_candidate_record_t *candidate,
                         rkb_error_t *err) {
   const rkb_labelled_kernel_t *labelled =
      rkb_labelled_corpus_find(tally->corpus, candidate->task, candidate->direction, candidate->source_hash);
   int status = RKB_OK;
   if (!labelled)
      return RKB_OK;
   const uint32_t kernel = (uint32_t)(labelled - tally->corpus->list);
   if (tally->asked[kernel])
      return RKB_OK; /* the same text occurs again */
   for (uint32_t i = 0; i < candidate->verdict_count && status == RKB_OK; i++)
      status = add_verdict(tally, kernel, &candidate->verdicts[i], err);
   for (uint32_t i = 0; i < candidate->measurement_count && status == RKB_OK; i++)
      add_confidence(tally, labelled->wrong, &candidate->measurements[i]);
   return status;
}

static int add_worth(void *argument, const rkb_judge_record_t *record) {
   rkb_judge_tally_t *tally = argument;
   for (uint32_t i = 0; i < tally->count; i++)
      if (strcmp(tally->judges[i].name, record->stage) == 0)
         tally->judges[i].worth_usd += record->worth_usd;
   return RKB_OK;
}

int rkb_judge_tally_add(rkb_judge_tally_t *tally, rkb_archive_t *archive, rkb_error_t *err) {
   int64_t *numbers = NULL;
   uint32_t count = 0;
   int status = rkb_archive_candidates(archive, 0, 0, &numbers, &count, err);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++) {
      rkb_candidate_record_t *candidate = NULL;
      status = rkb_archive_load_candidate(archive, numbers[i], &candidate, err);
      if (status == RKB_OK)
         status = add_candidate(tally, candidate, err);
      rkb_candidate_record_free(candidate);
   }
   free(numbers);
   return status == RKB_OK ? rkb_archive_each_judge(archive, add_worth, tally, err) : status;
}

/* Figures ---------------------------------------------------------------------------------------------------------------- */

static json_t *number_or_null(double value) {
   return isfinite(value) ? json_real(value) : json_null();
}

static json_t *share_json(int64_t hits, int64_t n) {
   const rkb_share_t share = rkb_share_of(hits, n);
   return json_pack("{s:I, s:I, s:o, s:o, s:o}", "hits", (json_int_t)hits, "of", (json_int_t)n, "value",
                    number_or_null(share.value), "low", number_or_null(share.low), "high",
                    number_or_null(share.high));
}

static json_t *counts_json(const rkb_judge_counts_t *c) {
   const int64_t alarms = c->wrong_rejected + c->right_rejected;
   const int64_t wrong = c->wrong_rejected + c->wrong_accepted + c->wrong_undecided;
   const int64_t right = c->right_rejected + c->right_accepted + c->right_undecided;
   /* The harmonic mean of precision and recall.  Without an alarm or without a wrong kernel it is not
    * defined. */
   const double f1 = alarms && wrong ? 2.0 * (double)c->wrong_rejected / (double)(alarms + wrong) : NAN;
   return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "wrong", (json_int_t)wrong, "right",
                    (json_int_t)right, "undecided", (json_int_t)(c->wrong_undecided + c->right_undecided),
                    "precision", share_json(c->wrong_rejected, alarms), "recall",
                    share_json(c->wrong_rejected, wrong), "refused", share_json(c->right_rejected, right),
                    "f1", number_or_null(f1));
}

static int by_value(const void *a, const void *b) {
   const double left = *(const double *)a, right = *(const double *)b;
   return left < right ? -1 : left > right;
}

static double quantile(const rkb_judge_t *judge, double share) {
   if (!judge->second_count)
      return NAN;
   double *sorted = rkb_allocate(judge->second_count, sizeof *sorted);
   memcpy(sorted, judge->seconds, judge->second_count * sizeof *sorted);
   qsort(sorted, judge->second_count, sizeof *sorted, by_value);
   const double value = sorted[(uint32_t)(share * (judge->second_count - 1) + 0.5)];
   free(sorted);
   return value;
}

static json_t *bins_json(const rkb_judge_t *judge) {
   json_t *bins = json_array();
   for (int i = 0; i < RKB_CONFIDENCE_BINS; i++)
      if (judge->bins[i].kernels)
         json_array_append_new(bins,
                               json_pack("{s:f, s:f, s:I, s:o}", "from", (double)i / RKB_CONFIDENCE_BINS,
                                         "to", (double)(i + 1) / RKB_CONFIDENCE_BINS, "kernels",
                                         (json_int_t)judge->bins[i].kernels, "right",
                                         share_json(judge->bins[i].right, judge->bins[i].kernels)));
   return bins;
}

static json_t *judge_json(const rkb_judge_t *judge) {
   const rkb_judge_counts_t *tuned = &judge->counts[0], *kept = &judge->counts[1];
   const rkb_judge_counts_t all = {
      tuned->wrong_rejected + kept->wrong_rejected,   tuned->wrong_accepted + kept->wrong_accepted,
      tuned->wrong_undecided + kept->wrong_undecided, tuned->right_rejected + kept->right_rejected,
      tuned->right_accepted + kept->right_accepted,   tuned->right_undecided + kept->right_undecided};
   return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:o}", "judge", judge->name, "all",
                    counts_json(&all), "tuned", counts_json(tuned), "kept", counts_json(kept), "median_s",
                    number_or_null(quantile(judge, 0.5)), "p90_s", number_or_null(quantile(judge, 0.9)),
                    "worth_usd", judge->worth_usd, "calibration", bins_json(judge));
}

/* For each pair of judges: counts the wrong kernels about which both were asked, and which the judge of the row rejects and the judge of the column does
 * not. */
static json_t *only_json(const rkb_judge_tally_t *tally) {
   json_t *rows = json_object();
   for (uint32_t r = 0; r < tally->count; r++) {
      json_t *row = json_object();
      for (uint32_t c = 0; c < tally->count; c++) {
         const uint32_t both = 1u << r | 1u << c;
         int64_t found = 0;
         for (uint32_t k = 0; k < tally->corpus->count; k++)
            found += tally->corpus->list[k].wrong && (tally->asked[k] & both) == both &&
                     (tally->rejected[k] & both) == 1u << r;
         if (c != r)
            json_object_set_new(row, tally->judges[c].name, json_integer(found));
      }
      json_object_set_new(rows, tally->judges[r].name, row);
   }
   return rows;
}

/* Counts the wrong kernels by kind: how many there are, and how many each judge rejects of those it was asked
 * about. */
static json_t *kinds_json(const rkb_judge_tally_t *tally) {
   json_t *kinds = json_object();
   for (uint32_t k = 0; k < tally->corpus->count; k++) {
      const rkb_labelled_kernel_t *kernel = &tally->corpus->list[k];
      if (!kernel->wrong || !tally->asked[k])
         continue;
      json_t *kind = json_object_get(kinds, kernel->kind);
      if (!kind) {
         kind = json_pack("{s:i, s:{}}", "kernels", 0, "rejected");
         json_object_set_new(kinds, kernel->kind, kind);
      }
      json_integer_set(json_object_get(kind, "kernels"),
                       json_integer_value(json_object_get(kind, "kernels")) + 1);
      json_t *rejected = json_object_get(kind, "rejected");
      for (uint32_t j = 0; j < tally->count; j++) {
         json_int_t so_far = json_integer_value(json_object_get(rejected, tally->judges[j].name));
         json_object_set_new(rejected, tally->judges[j].name,
                             json_integer(so_far + (tally->rejected[k] >> j & 1)));
      }
   }
   return kinds;
}

json_t *rkb_judge_tally_json(const rkb_judge_tally_t *tally) {
   json_t *judges = json_array();
   json_int_t judged = 0, wrong = 0;
   for (uint32_t i = 0; i < tally->count; i++)
      json_array_append_new(judges, judge_json(&tally->judges[i]));
   for (uint32_t k = 0; k < tally->corpus->count; k++) {
      judged += tally->asked[k] != 0;
      wrong += tally->asked[k] != 0 && tally->corpus->list[k].wrong;
   }
   return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "kernels", (json_int_t)tally->corpus->count,
                    "judged", judged, "wrong", wrong, "right", judged - wrong, "judges", judges, "only",
                    only_json(tally), "kinds", kinds_json(tally));
}
