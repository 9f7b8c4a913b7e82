/* Who may open an archive: one writer, the same run, a version that is known; and the steps between versions. */
#include "check.h"
#include "sample_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "archive/schema.h"

static void create(const char *directory, rkb_archive_t **archive) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   assert_ok(rkb_archive_create(directory, &identity, archive, &err));
}

static void second_writer_is_refused(void **state) {
   rkb_error_t err;
   rkb_archive_t *first = NULL, *second = NULL;
   char *directory = sample_directory("lock"), expected[64];
   int outcome = 0;
   (void)state;
   create(directory, &first);
   snprintf(expected, sizeof expected, "written by process %ld", (long)getpid());
   if (fork() == 0) {
      int status = rkb_archive_resume(directory, NULL, &second, &err);
      _exit(status == RKB_ERR_UNAVAILABLE && strstr(err.message, expected) ? 0 : 1);
   }
   wait(&outcome);
   assert_int_equal(outcome, 0);
   assert_int_equal(rkb_archive_create(directory, &(rkb_run_identity_t){.name = "x"}, &second, &err),
                    RKB_ERR_UNAVAILABLE);
   assert_ok(rkb_archive_open(directory, &second, &err)); /* readers need no lock */
   rkb_archive_close(second);
   rkb_archive_close(first);
   assert_ok(rkb_archive_resume(directory, NULL, &second, &err));
   assert_int_equal(rkb_archive_previous_writer(second), 0);
   rkb_archive_close(second);
   sample_remove(directory);
}

static void stale_lock_is_recognised(void **state) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   char *directory = sample_directory("stale"), *lock = rkb_run_path_lock(directory);
   FILE *file;
   (void)state;
   create(directory, &archive);
   rkb_archive_close(archive);
   /* The pid of a living process that is no writer: pids are given out again. */
   file = fopen(lock, "w");
   fprintf(file, "%ld\n", (long)getppid());
   fclose(file);
   assert_ok(rkb_archive_resume(directory, NULL, &archive, &err));
   assert_int_equal(rkb_archive_previous_writer(archive), getppid());
   rkb_archive_close(archive);
   free(lock);
   sample_remove(directory);
}

typedef struct identity_case {
   void (*change)(rkb_run_identity_t *identity);
   const char *message;
} identity_case_t;

static const rkb_run_plugin_t changed_plugins[] = {
   {"tune", "0.1", "/b/tune.so", "33333333333333333333333333333333"},
   {"lint", "0.1", "/b/lint.so", "11111111111111111111111111111111"}};

static void change_seed(rkb_run_identity_t *identity) {
   identity->seed = 2;
}
static void change_pipeline(rkb_run_identity_t *identity) {
   identity->pipeline_hash = "other";
}
static void change_abi(rkb_run_identity_t *identity) {
   identity->abi_minor = 9;
}
static void change_plugin(rkb_run_identity_t *identity) {
   identity->plugins = changed_plugins;
}
static void drop_plugin(rkb_run_identity_t *identity) {
   identity->plugin_count = 1;
}
static void reorder_plugins(rkb_run_identity_t *identity) {
   static rkb_run_plugin_t swapped[2];
   swapped[0] = identity->plugins[1];
   swapped[1] = identity->plugins[0];
   swapped[0].path = "/elsewhere/tune.so";
   identity->plugins = swapped;
}

static void another_run_is_refused(void **state) {
   static const identity_case_t cases[] = {
      {change_seed, "the seed was 18446744073709551615 when the run began and is 2 now"},
      {change_pipeline, "the pipeline was"},
      {change_abi, "the plugin interface's version was 0.1 when the run began and is 0.9 now"},
      {change_plugin, "plugin tune has changed since the run began (/b/tune.so)"},
      {drop_plugin, "the run began with plugin tune, which is not loaded now"},
      {reorder_plugins, NULL},
   };
   rkb_archive_t *archive = NULL;
   char *directory = sample_directory("identity");
   (void)state;
   create(directory, &archive);
   rkb_archive_close(archive);
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_error_t err = {.message = ""};
      rkb_run_identity_t identity = sample_identity();
      cases[i].change(&identity);
      archive = NULL;
      int status = rkb_archive_resume(directory, &identity, &archive, &err);
      rkb_archive_close(archive);
      assert_int_equal(status, cases[i].message ? RKB_ERR_INVALID : RKB_OK);
      if (cases[i].message && !strstr(err.message, cases[i].message))
         fail_msg("wanted '%s', got '%s'", cases[i].message, err.message);
   }
   sample_remove(directory);
}

static void wrong_files_are_refused(void **state) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   rkb_connection_t *connection = NULL;
   rkb_run_identity_t identity = sample_identity();
   char *directory = sample_directory("wrong"), *path = rkb_run_path_archive(directory);
   FILE *file;
   (void)state;
   assert_int_equal(rkb_archive_open(directory, &archive, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "holds no run"));
   assert_int_equal(rkb_archive_resume(directory, NULL, &archive, &err), RKB_ERR_INVALID);
   file = fopen(path, "w");
   for (int i = 0; i < 500; i++)
      fprintf(file, "no database %d\n", i);
   fclose(file);
   assert_int_equal(rkb_archive_open(directory, &archive, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_archive_resume(directory, NULL, &archive, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_archive_create(directory, &identity, &archive, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "holds a run already"));
   unlink(path);
   assert_ok(rkb_connection_open(path, RKB_CONNECTION_CREATE, &connection, &err));
   assert_ok(rkb_connection_execute(connection, "CREATE TABLE cake(slices)", &err));
   rkb_connection_close(connection);
   assert_int_equal(rkb_archive_open(directory, &archive, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "no archive of rkb"));
   assert_int_equal(rkb_archive_resume(directory, NULL, &archive, &err), RKB_ERR_INVALID);
   free(path);
   sample_remove(directory);
}

static void newer_version_is_refused(void **state) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   rkb_connection_t *connection = NULL;
   char *directory = sample_directory("newer"), *path = rkb_run_path_archive(directory);
   (void)state;
   create(directory, &archive);
   rkb_archive_close(archive);
   assert_ok(rkb_connection_open(path, RKB_CONNECTION_WRITE, &connection, &err));
   assert_ok(rkb_connection_execute(connection, "PRAGMA user_version = 77", &err));
   rkb_connection_close(connection);
   assert_int_equal(rkb_archive_open(directory, &archive, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "schema version 77"));
   assert_int_equal(rkb_archive_resume(directory, NULL, &archive, &err), RKB_ERR_INVALID);
   free(path);
   sample_remove(directory);
}

/* Version 2 had these tables and columns, and other identities: it is read, and its run is not gone on with. */
static void older_identities_are_read_and_not_resumed(void **state) {
   static const struct {
      int version;
      const char *resuming, *reading; /* reading NULL: it works */
   } cases[] = {{2, "identities are XXH3-128", NULL},
                {1, "identities are XXH3-128", "reads versions 2 to 3"}};
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_error_t err;
      rkb_archive_t *archive = NULL;
      rkb_archive_counts_t counts;
      rkb_run_identity_t identity = sample_identity();
      char *directory = sample_directory("older"), *path = rkb_run_path_archive(directory), stamp[64];
      create(directory, &archive);
      char *function = rkb_archive_get_fact(archive, "hash_function");
      assert_string_equal(function, "SHA-256");
      free(function);
      assert_ok(sample_put(archive, 1, &err));
      rkb_archive_close(archive);
      rkb_connection_t *connection = NULL;
      snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d", cases[i].version);
      assert_ok(rkb_connection_open(path, RKB_CONNECTION_WRITE, &connection, &err));
      assert_ok(rkb_connection_execute(connection, "DELETE FROM fact WHERE key = 'hash_function'", &err));
      assert_ok(rkb_connection_execute(connection, stamp, &err));
      rkb_connection_close(connection);
      assert_int_equal(rkb_archive_resume(directory, &identity, &archive, &err), RKB_ERR_INVALID);
      assert_non_null(strstr(err.message, cases[i].resuming));
      if (cases[i].reading) {
         assert_int_equal(rkb_archive_open(directory, &archive, &err), RKB_ERR_INVALID);
         assert_non_null(strstr(err.message, cases[i].reading));
      } else {
         assert_ok(rkb_archive_open(directory, &archive, &err));
         assert_ok(rkb_archive_count(archive, &counts, &err));
         assert_int_equal(counts.candidates, 1);
         assert_null(rkb_archive_get_fact(archive, "hash_function"));
         rkb_archive_close(archive);
      }
      free(path);
      sample_remove(directory);
   }
}

/* The steps are data, so other steps than the archive's own show how a file is brought forward. */
static void steps_run_once_and_whole(void **state) {
   static const char *const steps[] = {"CREATE TABLE a(x); INSERT INTO a VALUES (1)",
                                       "ALTER TABLE a ADD COLUMN y DEFAULT 5",
                                       "UPDATE a SET x = x + y; SELECT no_such_function()"};
   rkb_error_t err;
   rkb_connection_t *connection = NULL;
   char *directory = sample_directory("steps"), *path = rkb_run_path_archive(directory);
   (void)state;
   assert_ok(rkb_connection_open(path, RKB_CONNECTION_CREATE, &connection, &err));
   assert_ok(rkb_archive_migrate(connection, steps, 1, &err));
   assert_ok(rkb_archive_migrate(connection, steps, 2, &err));
   assert_ok(rkb_archive_migrate(connection, steps, 2, &err)); /* nothing left to do */
   assert_true(rkb_archive_migrate(connection, steps, 3, &err) != RKB_OK);
   assert_non_null(strstr(err.message, "no_such_function"));
   assert_int_equal(rkb_archive_migrate(connection, steps, 1, &err), RKB_ERR_INVALID); /* newer than known */
   /* The failed step left nothing behind: x is still 1, and version 2 still stands. */
   assert_ok(rkb_connection_execute(connection, "CREATE TABLE proof AS SELECT 1 FROM a WHERE x = 1 AND y = 5",
                                    &err));
   assert_ok(rkb_connection_execute(
      connection, "CREATE TRIGGER t AFTER DELETE ON proof BEGIN SELECT raise(ABORT, 'it was there'); END",
      &err));
   assert_true(rkb_connection_execute(connection, "DELETE FROM proof", &err) != RKB_OK);
   rkb_connection_close(connection);
   free(path);
   sample_remove(directory);
}

static void unwritable_directory_can_be_read(void **state) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   rkb_archive_counts_t counts;
   char *directory = sample_directory("readonly");
   int outcome = 0;
   (void)state;
   create(directory, &archive);
   assert_ok(sample_put(archive, 1, &err));
   rkb_archive_close(archive);
   assert_int_equal(chmod(directory, 0555), 0);
   if (fork() == 0) {
      bool lowered = geteuid() != 0 || seteuid(65534) == 0; /* root may write anywhere */
      int status = lowered ? rkb_archive_open(directory, &archive, &err) : RKB_ERR_INTERNAL;
      if (status == RKB_OK)
         status = rkb_archive_count(archive, &counts, &err);
      _exit(status == RKB_OK && counts.candidates == 1 ? 0 : 1);
   }
   wait(&outcome);
   assert_int_equal(chmod(directory, 0755), 0);
   assert_int_equal(outcome, 0);
   sample_remove(directory);
}

static void run_directories_do_not_collide(void **state) {
   rkb_error_t err;
   char *parent = sample_directory("runs"), *first = NULL, *second = NULL;
   (void)state;
   assert_ok(rkb_run_directory_make(parent, "a b/../c", &first, &err));
   assert_ok(rkb_run_directory_make(parent, "a b/../c", &second, &err));
   assert_string_not_equal(first, second);
   assert_non_null(strstr(first, "/a-b-..-c-"));
   rmdir(first);
   rmdir(second);
   free(first);
   free(second);
   sample_remove(parent);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(second_writer_is_refused),         cmocka_unit_test(stale_lock_is_recognised),
      cmocka_unit_test(another_run_is_refused),           cmocka_unit_test(wrong_files_are_refused),
      cmocka_unit_test(newer_version_is_refused),         cmocka_unit_test(steps_run_once_and_whole),
      cmocka_unit_test(older_identities_are_read_and_not_resumed),
      cmocka_unit_test(unwritable_directory_can_be_read), cmocka_unit_test(run_directories_do_not_collide),
   };
   return RUN_TESTS(tests);
}
