/* The process that writes an archive keeps rows in memory.  Whatever it has written in between, its queries
 * return what a reader gets from the file, and two queries return the same rows, not copies. */
#include "check.h"
#include "sample_records.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "archive/shared_rows.h"

enum { REQUESTS = 48, IN_FLIGHT = 5, FAR = 1000 };

static const char *const standings[] = {"accept", "suspect", "unknown", "reject"};
static const char *const operators[] = {"tune", "edit", "cross"};

static int64_t first_of(int64_t request) {
   return 3 + 2 * request;
}

/* Two candidates of a request, each with one of seven sources; some without an objective, many with equal ones. */
static void put_two(rkb_archive_t *archive, uint32_t section, int64_t number, int64_t first, uint32_t state) {
   rkb_error_t err;
   sample_candidate_t samples[2];
   const rkb_candidate_record_t *candidates[] = {&samples[0].record, &samples[1].record};
   rkb_request_record_t request = sample_request(number, state);
   request.section = section;
   for (uint32_t i = 0; i < 2; i++) {
      const int64_t n = first + i;
      rkb_candidate_record_t *record = &samples[i].record;
      sample_candidate(&samples[i], n);
      snprintf(samples[i].source, sizeof samples[i].source, "source %lld", (long long)(n * n % 7));
      snprintf(samples[i].source_hash, sizeof samples[i].source_hash, "hash of source %lld",
               (long long)(n * n % 7));
      record->section = section;
      record->request = number;
      record->child = i;
      record->operator_id = operators[n % 3];
      record->standing = samples[i].verdicts[2].standing = standings[n * 5 % 11 % 4];
      record->has_objective = n % 6 != 0;
      record->objective = (double)(n * 7 % 5);
   }
   assert_ok(rkb_archive_put_screened(archive, &request, candidates, 2, &err));
}

static void assert_same_text(const char *a, const char *b) {
   assert_true((!a && !b) || (a && b && strcmp(a, b) == 0));
}

static void assert_same_row(const rkb_archive_row_t *a, const rkb_archive_row_t *b) {
   assert_int_equal(a->number, b->number);
   assert_same_text(a->source, b->source);
   assert_same_text(a->source_hash, b->source_hash);
   assert_same_text(a->tune, b->tune);
   assert_same_text(a->operator_id, b->operator_id);
   assert_same_text(a->note, b->note);
   assert_same_text(a->standing, b->standing);
   assert_same_text(a->reason, b->reason);
   assert_same_text(a->message, b->message);
   assert_same_text(a->evidence, b->evidence);
   assert_true(a->has_objective == b->has_objective && a->objective == b->objective);
}

/* Returns how many rows the query gave. */
static uint32_t compare_query(rkb_archive_t *archive, rkb_archive_t *file, int64_t horizon,
                              const rkb_archive_query_t *query) {
   rkb_error_t err;
   rkb_archive_rows_t *ours = NULL, *theirs = NULL;
   assert_ok(rkb_archive_query(archive, horizon, query, &ours, &err));
   assert_ok(rkb_archive_query(file, horizon, query, &theirs, &err));
   const uint32_t count = rkb_archive_rows_count(ours);
   if (count != rkb_archive_rows_count(theirs))
      fail_msg("horizon %lld, order %u, limit %u: %u rows, and %u in the file", (long long)horizon,
               query->order, query->limit, count, rkb_archive_rows_count(theirs));
   for (uint32_t i = 0; i < count; i++)
      assert_same_row(rkb_archive_rows_at(ours, i), rkb_archive_rows_at(theirs, i));
   rkb_archive_rows_free(ours);
   rkb_archive_rows_free(theirs);
   return count;
}

static uint32_t compare_all(rkb_archive_t *archive, rkb_archive_t *file, int64_t horizon) {
   static const uint32_t limits[] = {1, 3, 4096};
   uint32_t seen = 0;
   for (uint32_t i = 0; i < 2 * 3; i++) {
      rkb_archive_query_t query = {.size = sizeof query, .order = i % 2, .limit = limits[i / 2]};
      seen += compare_query(archive, file, horizon, &query);
      query.standing = "accept";
      seen += compare_query(archive, file, horizon, &query);
      query.operator_id = "edit";
      seen += compare_query(archive, file, horizon, &query);
      query.standing = NULL;
      query.source_hash = "hash of source 4";
      seen += compare_query(archive, file, horizon, &query);
      query.operator_id = NULL;
      seen += compare_query(archive, file, horizon, &query);
      query.source_hash = "hash of no source";
      seen += compare_query(archive, file, horizon, &query);
      query.source_hash = NULL;
      query.parent = 4;
      seen += compare_query(archive, file, horizon, &query);
   }
   return seen;
}

static rkb_archive_t *new_archive(const char *directory, rkb_archive_t **file) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   const rkb_run_identity_t identity = sample_identity();
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   assert_ok(rkb_archive_open(directory, file, &err));
   put_two(archive, RKB_SECTION_PROPOSE, 0, 1, RKB_REQUEST_FINISHED);
   return archive;
}

/* Asks for requests in order and finishes them as a run does; with a query of every kind after each. */
static void the_same_as_the_file(void **state) {
   rkb_error_t err;
   rkb_archive_t *file = NULL;
   char *directory = sample_directory("shared");
   rkb_archive_t *archive = new_archive(directory, &file);
   uint32_t seen = 0;
   (void)state;
   for (int64_t n = 0; n < REQUESTS + IN_FLIGHT; n++) {
      if (n < REQUESTS) {
         const rkb_request_record_t asked = sample_request(n, RKB_REQUEST_OPEN);
         assert_ok(rkb_archive_put_ask(archive, &asked, "hash", &err));
         put_two(archive, RKB_SECTION_SEARCH, n, first_of(n),
                 n % 3 ? RKB_REQUEST_SCREENED : RKB_REQUEST_FINISHED);
      }
      if (n >= IN_FLIGHT && (n - IN_FLIGHT) % 3)
         assert_ok(rkb_archive_set_request_state(archive, RKB_SECTION_SEARCH, n - IN_FLIGHT,
                                                 RKB_REQUEST_FINISHED, &err));
      seen += compare_all(archive, file, -1);
      seen += compare_all(archive, file, n - IN_FLIGHT);
      seen += compare_all(archive, file, n / 2 - IN_FLIGHT);
      seen += compare_all(archive, file, FAR);
   }
   assert_true(seen > 10000);
   rkb_archive_close(file);
   rkb_archive_close(archive);
   sample_remove(directory);
}

static void rows_are_not_copied(void **state) {
   rkb_error_t err;
   rkb_archive_t *file = NULL;
   char *directory = sample_directory("copied");
   rkb_archive_t *archive = new_archive(directory, &file);
   const rkb_archive_query_t all = {.size = sizeof all, .limit = 4096};
   rkb_archive_rows_t *early = NULL, *late = NULL;
   (void)state;
   assert_ok(rkb_archive_query(archive, -1, &all, &early, &err));
   for (int64_t n = 0; n < 4 * REQUESTS; n++) {
      put_two(archive, RKB_SECTION_SEARCH, n, first_of(n), RKB_REQUEST_FINISHED);
      rkb_archive_rows_free(late);
      assert_ok(rkb_archive_query(archive, n, &all, &late, &err));
   }
   assert_int_equal(rkb_archive_rows_count(early), 2);
   assert_int_equal(rkb_archive_rows_count(late), 2 + 8 * REQUESTS);
   for (uint32_t i = 0; i < 2; i++)
      assert_ptr_equal(rkb_archive_rows_at(early, i), rkb_archive_rows_at(late, i));
   rkb_archive_rows_free(early);
   rkb_archive_rows_free(late);
   rkb_archive_close(file);
   rkb_archive_close(archive);
   sample_remove(directory);
}

typedef struct reading {
   rkb_archive_t *archive;
   _Atomic int64_t told; /* the last request whose results may be seen */
   atomic_int wrong;
} reading_t;

/* Asks as workers do, until the last request was told: for all rows, the best, and those of one source. */
static void *read_on(void *argument) {
   reading_t *reading = argument;
   int64_t told;
   do {
      rkb_error_t err;
      told = atomic_load(&reading->told);
      for (uint32_t i = 0; i < 3; i++) {
         const rkb_archive_query_t query = {.size = sizeof query,
                                            .order = i == 1,
                                            .limit = 4096,
                                            .source_hash = i == 2 ? "hash of source 4" : NULL};
         rkb_archive_rows_t *rows = NULL;
         if (rkb_archive_query(reading->archive, told, &query, &rows, &err) != RKB_OK) {
            atomic_fetch_add(&reading->wrong, 1);
            continue;
         }
         const int64_t count = rkb_archive_rows_count(rows), all = 2 + 2 * (told + 1);
         for (uint32_t row = 0; row < count; row++)
            if (strncmp(rkb_archive_rows_at(rows, row)->source, "source ", 7) != 0 ||
                rkb_archive_rows_at(rows, row)->number > all)
               atomic_fetch_add(&reading->wrong, 1);
         if (i == 0 && count != all)
            atomic_fetch_add(&reading->wrong, 1);
         rkb_archive_rows_free(rows);
      }
   } while (told < REQUESTS - 1);
   return NULL;
}

static void threads_share_rows_while_others_are_written(void **state) {
   rkb_archive_t *file = NULL;
   char *directory = sample_directory("threads");
   reading_t reading = {.archive = new_archive(directory, &file), .told = -1};
   pthread_t threads[4];
   (void)state;
   for (int i = 0; i < 4; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, read_on, &reading), 0);
   for (int64_t n = 0; n < REQUESTS; n++) {
      put_two(reading.archive, RKB_SECTION_SEARCH, n, first_of(n), RKB_REQUEST_FINISHED);
      atomic_store(&reading.told, n);
   }
   for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
   assert_int_equal(atomic_load(&reading.wrong), 0);
   rkb_archive_close(file);
   rkb_archive_close(reading.archive);
   sample_remove(directory);
}

/* No run writes to a finished request; one that does is seen all the same. */
static void a_late_result_is_seen(void **state) {
   rkb_error_t err;
   rkb_archive_t *file = NULL;
   char *directory = sample_directory("late");
   rkb_archive_t *archive = new_archive(directory, &file);
   const rkb_result_record_t result = {
      .candidate = 1, .standing = "reject", .reason = "race.shared", .has_objective = true, .objective = 0.5};
   (void)state;
   put_two(archive, RKB_SECTION_SEARCH, 0, first_of(0), RKB_REQUEST_FINISHED);
   compare_all(archive, file, 0);
   assert_ok(rkb_archive_put_result(archive, &result, &err));
   compare_all(archive, file, 0);
   put_two(archive, RKB_SECTION_PROPOSE, 1, first_of(1), RKB_REQUEST_FINISHED);
   compare_all(archive, file, 0);
   rkb_archive_close(file);
   rkb_archive_close(archive);
   sample_remove(directory);
}

/* Without room the rows that are here stay, and no query is told that these are all. */
static void memory_is_bounded(void **state) {
   rkb_shared_rows_t *shared = rkb_shared_rows_new((size_t)1 << 20);
   const rkb_archive_query_t all = {.size = sizeof all, .limit = 4096};
   const rkb_archive_row_t **list = NULL;
   rkb_archive_row_t row = {.source_hash = "hash", .operator_id = "tune", .standing = "accept"};
   int64_t last = 0, request = -1;
   uint32_t count = 0;
   bool fits = true;
   (void)state;
   while (fits && rkb_shared_rows_begin(shared, ++request, &last)) {
      row.number = request + 1;
      fits = rkb_shared_rows_add(shared, request, &row);
      rkb_shared_rows_end(shared, fits, request);
   }
   assert_false(fits);
   assert_in_range(request, 1000, 20000);
   assert_true(rkb_arena_used(rkb_shared_rows_arena(shared)) <= (size_t)1 << 20);
   assert_false(rkb_shared_rows_begin(shared, request, &last));
   assert_false(rkb_shared_rows_find(shared, request, &all, &list, &count));
   assert_true(rkb_shared_rows_find(shared, request - 1, &all, &list, &count));
   assert_int_equal(count, request < 4096 ? request : 4096);
   free(list);
   rkb_shared_rows_free(shared);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_as_the_file), cmocka_unit_test(rows_are_not_copied),
      cmocka_unit_test(threads_share_rows_while_others_are_written), cmocka_unit_test(a_late_result_is_seen),
      cmocka_unit_test(memory_is_bounded)};
   return RUN_TESTS(tests);
}
