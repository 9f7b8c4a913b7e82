/* A writer is killed at random moments.  Everything that it was told is stored is there, whole, and the next
 * writer continues. */
#include "check.h"
#include "sample_records.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 25, MOST_REPORTS = 12 };

/* In the child: goes on after what is stored, and reports each number once it is committed. */
static void write_for_ever(const char *directory, int report) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   rkb_run_identity_t identity = sample_identity();
   int64_t last = 0;
   int status = rkb_archive_resume(directory, &identity, &archive, &err);
   if (status == RKB_OK)
      status = rkb_archive_last_candidate(archive, &last, &err);
   while (status == RKB_OK) {
      last++;
      status = sample_put(archive, last, &err);
      if (status == RKB_OK && write(report, &last, sizeof last) != sizeof last)
         break;
   }
   _exit(1);
}

static pid_t kill_a_writer(const char *directory, int64_t *acknowledged) {
   int ends[2];
   int reports = rand() % MOST_REPORTS, outcome;
   int64_t number;
   pid_t child;
   assert_int_equal(pipe(ends), 0);
   child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      close(ends[0]);
      write_for_ever(directory, ends[1]);
   }
   close(ends[1]);
   /* It is writing the next one, or is about to begin, when it is killed. */
   while (reports-- > 0 && read(ends[0], &number, sizeof number) == sizeof number)
      *acknowledged = number;
   kill(child, SIGKILL);
   assert_int_equal(waitpid(child, &outcome, 0), child);
   assert_true(WIFSIGNALED(outcome)); /* it did not fail by itself */
   while (read(ends[0], &number, sizeof number) == sizeof number)
      *acknowledged = number;
   close(ends[0]);
   return child;
}

static void check_integrity(const char *directory) {
   sqlite3 *database = NULL;
   sqlite3_stmt *statement = NULL;
   char *path = rkb_run_path_archive(directory);
   assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
   assert_int_equal(sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, NULL), SQLITE_OK);
   assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
   assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
   sqlite3_finalize(statement);
   sqlite3_close(database);
   free(path);
}

static void check_whole(rkb_archive_t *archive, int64_t number) {
   rkb_error_t err;
   rkb_candidate_record_t *loaded = NULL;
   sample_candidate_t sample;
   sample_candidate(&sample, number);
   assert_ok(rkb_archive_load_candidate(archive, number, &loaded, &err));
   assert_string_equal(loaded->source, sample.source);
   assert_int_equal(loaded->verdict_count, SAMPLE_VERDICTS);
   assert_int_equal(loaded->measurement_count, SAMPLE_MEASUREMENTS);
   rkb_candidate_record_free(loaded);
}

static void finished_means_committed(void **state) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   rkb_archive_t *archive = NULL;
   int64_t acknowledged = 0;
   char *directory = sample_directory("kill");
   (void)state;
   srand(20);
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   rkb_archive_close(archive);
   for (int round = 0; round < ROUNDS; round++) {
      int64_t stored = 0, before = acknowledged;
      pid_t killed = kill_a_writer(directory, &acknowledged);
      assert_ok(rkb_archive_resume(directory, &identity, &archive, &err));
      assert_ok(rkb_archive_last_candidate(archive, &stored, &err));
      /* The commit may have happened and its report not. */
      assert_in_range(stored, acknowledged, acknowledged + 1);
      if (acknowledged > before)
         assert_int_equal(rkb_archive_previous_writer(archive), killed);
      for (int64_t number = before + 1; number <= stored; number++)
         check_whole(archive, number);
      acknowledged = stored;
      rkb_archive_close(archive);
      check_integrity(directory);
   }
   assert_true(acknowledged > 0);
   sample_remove(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(finished_means_committed)};
   return RUN_TESTS(tests);
}
