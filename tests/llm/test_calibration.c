/* What a judge is worth, counted from verdicts: each against what it judges, and not at all where nothing is known. */
#include "llm_fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cli/judge/calibration.h"

typedef struct heard {
   const char *judge, *said;     /* "compile", ...; accept, reject or unknown */
   const char *built;            /* standing of the build; NULL: none was tried */
   const char *machine, *reason; /* NULL: it was not executed */
   bool shadow;                  /* of the machine */
} heard_t;

static const heard_t HEARD[] = {
   /* The compile judge is set against the build alone. */
   {"compile", "reject", "reject", NULL, NULL, false},                   /* right */
   {"compile", "reject", "accept", "reject", "numeric.mismatch", false}, /* a false alarm: it compiles */
   {"compile", "accept", "accept", "unknown", "unsupported.x", false}, /* right, whatever the machine says */
   {"compile", "accept", "reject", NULL, NULL, false},                 /* missed */
   {"compile", "unknown", "accept", "accept", "", false},              /* abstained */
   {"compile", "reject", NULL, NULL, NULL, false},                     /* nothing known */
   /* Memory: races and barriers count; wrong numbers were found with memory in order. */
   {"memory", "reject", "accept", "reject", "memory.out_of_bounds", false},
   {"memory", "reject", "accept", "reject", "race.shared", true},
   {"memory", "accept", "accept", "reject", "sync.barrier", false},
   {"memory", "accept", "accept", "reject", "numeric.mismatch", false},
   {"memory", "reject", "accept", "accept", "", false},
   {"memory", "reject", "accept", "unknown", "unsupported.x", false}, /* the machine does not know: missing */
   {"memory", "accept", "reject", NULL, NULL, false},                 /* never executed: missing */
   /* Numbers: what stops at memory says nothing about them. */
   {"numbers", "reject", "accept", "reject", "numeric.precision", false},
   {"numbers", "reject", "accept", "reject", "memory.misaligned", false},
   {"numbers", "accept", "accept", "reject", "output.unwritten", false},
   {"numbers", "accept", "accept", "accept", "", true},
   {"numbers", "accept", "accept", "unknown", "limit.budget", false},
   {"numbers", "unknown", "accept", "unknown", "limit.budget", false},
};

/* By stage: right alarms, false alarms, rightly passed, missed, abstained, missing. */
static const rkb_judge_record_t EXPECTED[] = {
   {"judge_compile", 1, 1, 1, 1, 1, 1, 0.06},
   {"judge_memory", 2, 1, 1, 1, 0, 2, 0.07},
   {"judge_numbers", 1, 0, 1, 1, 0, 3, 0.06},
};

static void execute(sqlite3 *database, const char *fmt, ...) {
   char sql[1024], *message = NULL;
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(sql, sizeof sql, fmt, ap);
   va_end(ap);
   if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
      fail_msg("%s: %s", sql, message);
}

static void add_verdict(sqlite3 *database, int candidate, const char *stage, const char *standing,
                        const char *reason, const char *evidence, bool shadow, bool executes) {
   execute(
      database,
      "INSERT INTO verdict (candidate, stage, position, standing, reason, message, evidence, shadow, executes, "
      "reproducible, attempts) VALUES (%d, '%s', 1, '%s', '%s', '', '%s', %d, %d, 1, 1)",
      candidate, stage, standing, reason, evidence, shadow, executes);
}

static void write_verdicts(const char *directory) {
   char *path = rkb_run_path_archive(directory), stage[32], evidence[64];
   sqlite3 *database = NULL;
   assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
   for (int i = 0; i < (int)(sizeof HEARD / sizeof HEARD[0]); i++) {
      const heard_t *heard = &HEARD[i];
      snprintf(stage, sizeof stage, "judge_%s", heard->judge);
      snprintf(evidence, sizeof evidence, "{\"judge\":\"%s\"}", heard->judge);
      add_verdict(database, i + 1, stage, heard->said, "", evidence, true, false);
      if (heard->built)
         add_verdict(database, i + 1, "build", heard->built, "", "", false, false);
      if (heard->machine)
         add_verdict(database, i + 1, "machine", heard->machine, heard->reason, "", heard->shadow, true);
      execute(
         database,
         "INSERT INTO call (request, child, stage, model, state, reserved_usd, worth_usd, started_ms) VALUES "
         "(%d, 0, '%s', 'm', 'finished', 0, 0.01, 0)",
         i, stage);
   }
   sqlite3_close(database);
   free(path);
}

static int compare(void *argument, const rkb_judge_record_t *judge) {
   int *seen = argument;
   const rkb_judge_record_t *expected = &EXPECTED[(*seen)++];
   assert_string_equal(judge->stage, expected->stage);
   if (judge->both_reject != expected->both_reject ||
       judge->only_judge_rejects != expected->only_judge_rejects ||
       judge->both_accept != expected->both_accept ||
       judge->only_machine_rejects != expected->only_machine_rejects ||
       judge->abstained != expected->abstained || judge->missing != expected->missing)
      fail_msg("%s: %lld %lld %lld %lld, %lld abstained, %lld missing", judge->stage,
               (long long)judge->both_reject, (long long)judge->only_judge_rejects,
               (long long)judge->both_accept, (long long)judge->only_machine_rejects,
               (long long)judge->abstained, (long long)judge->missing);
   assert_true(fabs(judge->worth_usd - expected->worth_usd) < 1e-12);
   return RKB_OK;
}

static void each_is_set_against_what_it_judges(void **state) {
   service_t service;
   rkb_archive_t *archive = NULL;
   rkb_error_t err = {0};
   int seen = 0;
   (void)state;
   service_open(&service, "m: {provider: command, command: [cat]}\n", -1, NULL);
   service_close(&service);
   write_verdicts(service.directory);
   assert_int_equal(rkb_archive_resume(service.directory, NULL, &archive, &err), RKB_OK);
   assert_int_equal(rkb_archive_each_judge(archive, compare, &seen, &err), RKB_OK);
   rkb_archive_close(archive);
   assert_int_equal(seen, 3);
   service_remove(&service);
}

/* Wilson's interval, against values computed by hand from his formula with z = 1.96. */
static void intervals_are_wilsons(void **state) {
   static const rkb_share_t CASES[] = {
      {8, 10, 0.8, 0.4902, 0.9433},
      {0, 1, 0, 0, 0.7935},
      {1, 1, 1, 0.2065, 1},
      {5, 10, 0.5, 0.2366, 0.7634},
      {82, 100, 0.82, 0.7333, 0.8830},
   };
   (void)state;
   for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
      rkb_share_t share = rkb_share_of(CASES[i].hits, CASES[i].n);
      if (fabs(share.value - CASES[i].value) > 1e-12 || fabs(share.low - CASES[i].low) > 1e-4 ||
          fabs(share.high - CASES[i].high) > 1e-4)
         fail_msg("%d of %d: %f [%f, %f]", (int)share.hits, (int)share.n, share.value, share.low, share.high);
   }
   assert_true(isnan(rkb_share_of(0, 0).value));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_set_against_what_it_judges),
                                      cmocka_unit_test(intervals_are_wilsons)};
   return RUN_TESTS(tests);
}
