/* Prints the result of a run.  Only the main thread. */
#include "cli/shared/run_result.h"

#include <inttypes.h>
#include <math.h>
#include "base/json.h"
#include "base/units.h"
#include "cli/shared/run_archive.h"

static const char *ending_name(uint32_t ending) {
   switch (ending) {
   case RKB_ENDED_DONE:
      return "done";
   case RKB_ENDED_LIMIT:
      return "limit";
   case RKB_ENDED_STUCK:
      return "stuck";
   case RKB_ENDED_WALL:
      return "wall";
   case RKB_ENDED_COST:
      return "cost";
   case RKB_ENDED_INTERRUPTED:
      return "interrupted";
   default:
      return "";
   }
}

bool rkb_run_result_resumable(const rkb_run_result_t *outcome) {
   return outcome->ending == RKB_ENDED_WALL || outcome->ending == RKB_ENDED_COST ||
          outcome->ending == RKB_ENDED_INTERRUPTED;
}

int rkb_run_result_exit(const rkb_run_result_t *outcome) {
   if (outcome->ending == RKB_ENDED_INTERRUPTED)
      return RKB_EXIT_INTERRUPTED;
   return outcome->best > 0 && outcome->verified_by_execution ? RKB_EXIT_OK : RKB_EXIT_NOTHING;
}

static void print_best(const rkb_run_result_t *outcome, const char *objective) {
   if (outcome->best == 0) {
      printf("%s\n", outcome->accepted > 0
                        ? "candidates were accepted, but none has the objective's measurement"
                     : outcome->candidates > 0 ? "no candidate was accepted"
                                               : "no candidate was proposed; 'rkb report' says why");
      return;
   }
   printf("best: candidate %" PRId64, outcome->best);
   if (outcome->has_objective)
      printf(", %s = %.6g", objective, outcome->objective);
   if (outcome->has_objective && isfinite(outcome->first_objective)) {
      double gain = outcome->first_objective / outcome->objective;
      if (gain >= 1.005)
         printf(", a gain of x%.2f over the best first candidate (%.6g)", gain, outcome->first_objective);
      else
         printf("; the best first candidate is as good (%.6g)", outcome->first_objective);
   }
   printf("%s\n", outcome->verified_by_execution ? "" : "; not verified by execution");
   if (outcome->has_objective && outcome->least > 0)
      printf("the least that it can be is %.6g; the best is x%.2f of it\n", outcome->least, outcome->objective / outcome->least);
}

void rkb_print_outcome(const rkb_run_result_t *outcome, const char *objective, const char *directory) {
   const uint64_t finished = outcome->accepted + outcome->suspect + outcome->unknown + outcome->rejected;
   char time[32], since[96] = "";
   rkb_format_duration((uint64_t)(outcome->seconds * 1e9), time, sizeof time);
   if (outcome->earlier_seconds > 0) {
      char now[32];
      rkb_format_duration((uint64_t)((outcome->seconds - outcome->earlier_seconds) * 1e9), now, sizeof now);
      snprintf(since, sizeof since, " (%s since it was resumed)", now);
   }
   print_best(outcome, objective);
   printf("%" PRIu64 " candidates in %s%s: %" PRIu64 " accepted, %" PRIu64 " suspect, %" PRIu64
          " unknown, %" PRIu64 " rejected",
          outcome->candidates, time, since, outcome->accepted, outcome->suspect, outcome->unknown,
          outcome->rejected);
   if (finished < outcome->candidates)
      printf(", %" PRIu64 " not finished", outcome->candidates - finished);
   printf("; %" PRIu64 " duplicates besides\n", outcome->duplicates);
   printf("ended: %s\n", outcome->reason);
   printf("run: %s\n", directory);
}

void rkb_print_secret(const rkb_secret_t *secret) {
   char text[RKB_HASH_TEXT];
   rkb_secret_write(secret, text);
   printf("secret: %s\n", text);
}

void rkb_print_next_steps(const rkb_run_result_t *outcome, const char *directory) {
   if (rkb_run_result_resumable(outcome))
      fprintf(stderr, "continue with: rkb-run --resume %s\n", directory);
   fprintf(stderr, "what happened: rkb report %s\n", directory);
   if (outcome->best > 0)
      fprintf(stderr, "the kernel: rkb best %s --out best.cu; all about it: rkb show %s %" PRId64 "\n",
              directory, directory, outcome->best);
}

int rkb_print_outcome_json(const rkb_run_result_t *outcome, const char *objective, const char *directory) {
   char secret[RKB_HASH_TEXT];
   rkb_secret_write(&outcome->secret, secret);
   json_t *counts =
      json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "candidates", (json_int_t)outcome->candidates,
                "duplicates", (json_int_t)outcome->duplicates, "accepted", (json_int_t)outcome->accepted,
                "suspect", (json_int_t)outcome->suspect, "unknown", (json_int_t)outcome->unknown, "rejected",
                (json_int_t)outcome->rejected, "told", (json_int_t)outcome->told);
   return rkb_print_json(json_pack(
      "{s:s, s:s, s:b, s:o, s:s, s:o, s:o, s:o, s:b, s:o, s:f, s:f, s:s, s:s}", "ending",
      ending_name(outcome->ending), "reason", outcome->reason, "resumable", rkb_run_result_resumable(outcome),
      "best", outcome->best ? json_integer(outcome->best) : json_null(), "objective", objective, "value",
      outcome->has_objective ? rkb_json_number(outcome->objective) : json_null(), "first_value",
      isfinite(outcome->first_objective) ? json_real(outcome->first_objective) : json_null(),
      "least", outcome->least > 0 ? json_real(outcome->least) : json_null(),
      "verified_by_execution", outcome->verified_by_execution, "counts", counts, "seconds", outcome->seconds,
      "earlier_seconds", outcome->earlier_seconds, "run", directory, "secret", secret));
}
