/* rkb.verifier.slower leaves a candidate unchecked only if it is predicted slower than each of so many accepted ones. */
#include "fake.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOT_PREDICTED (-1.0)

static const void *(*host_extension)(const rkb_host_t *host, const char *id);
static double own_us;          /* predicted of the candidate */
static const double *known_us; /* predicted of the accepted ones, the best first */
static rkb_archive_query_t asked;

static const void *note_get(const rkb_host_t *host, rkb_job_t job, const char *key, size_t *bytes) {
   (void)host, (void)job;
   assert_string_equal(key, "model.predicted_us/1");
   *bytes = sizeof own_us;
   return own_us == NOT_PREDICTED ? NULL : &own_us;
}

static int (*query_rows)(const rkb_host_t *, rkb_job_t, const rkb_archive_query_t *, rkb_archive_rows_t **,
                         rkb_error_t *);

static int query(const rkb_host_t *host, rkb_job_t job, const rkb_archive_query_t *given,
                 rkb_archive_rows_t **rows, rkb_error_t *err) {
   asked = *given;
   return query_rows(host, job, given, rows, err);
}

static bool measurement(const rkb_host_t *host, rkb_job_t job, int64_t candidate, const char *name,
                        double *value, char *detail, size_t detail_size) {
   (void)host, (void)job, (void)detail, (void)detail_size;
   *value = known_us[candidate - 1];
   return strcmp(name, "guess.predicted_us") == 0 && *value != NOT_PREDICTED;
}

static const void *extension(const rkb_host_t *host, const char *id) {
   static rkb_archive_api_t archive;
   static rkb_kernel_api_t kernel;
   if (strcmp(id, RKB_EXT_KERNEL) == 0) {
      kernel = *(const rkb_kernel_api_t *)host_extension(host, id);
      kernel.note_get = note_get;
      return &kernel;
   }
   if (strcmp(id, RKB_EXT_ARCHIVE) != 0)
      return host_extension(host, id);
   archive = *(const rkb_archive_api_t *)host_extension(host, id);
   query_rows = archive.query;
   archive.query = query;
   archive.measurement = measurement;
   return &archive;
}

/* Whether a candidate of this time is left unchecked. */
static bool is_left(double us, const double *known, uint32_t count, const char *within) {
   const char *const settings[] = {"rank=3", within, NULL};
   fake_t fake;
   fake_open(&fake, "verifier/slower");
   host_extension = fake.host.get_extension;
   fake.host.get_extension = extension;
   fake_start(&fake, settings);
   for (uint32_t i = 0; i < count; i++)
      fake.rows[fake.row_count++] = (rkb_archive_row_t){.number = i + 1,
                                                        .source = "",
                                                        .source_hash = "",
                                                        .tune = "{}",
                                                        .standing = RKB_ACCEPT,
                                                        .objective = i + 1,
                                                        .has_objective = true};
   own_us = us;
   known_us = known;
   asked = (rkb_archive_query_t){.size = 0};
   rkb_item_t *candidate = fake_candidate(&fake, 9, "", "{}");
   assert_int_equal(fake_run(&fake, candidate), RKB_OK);
   assert_int_equal(fake.emitted_count, 1);
   const bool left = strcmp(fake_text(&fake, 0, "standing"), RKB_UNKNOWN) == 0;
   assert_string_equal(fake_text(&fake, 0, "reason"), left ? "search.slower" : "");
   assert_true(left || strcmp(fake_text(&fake, 0, "standing"), RKB_ACCEPT) == 0);
   fake_drop(candidate);
   fake_close(&fake);
   return left;
}

static void slower_than_each(void **state) {
   (void)state;
   const double known[] = {10, 12, 11};
   assert_true(is_left(12.1, known, 3, NULL));
   assert_false(is_left(12, known, 3, NULL));
   assert_false(is_left(5, known, 3, NULL));
   assert_false(is_left(12.1, known, 3, "within=0.05"));
   assert_true(is_left(13, known, 3, "within=0.05"));
}

/* With `equal`, a candidate that has the time of an accepted one is left unchecked, also while too few are known. */
static void as_fast_as_one(void **state) {
   (void)state;
   const double known[] = {10, 12, 11};
   assert_true(is_left(11, known, 3, "equal=true"));
   assert_true(is_left(12, known, 2, "equal=true"));
   assert_false(is_left(11.001, known, 3, "equal=true"));
   assert_false(is_left(9.999, known, 3, "equal=true"));
   assert_false(is_left(11, known, 3, "equal=false"));
}

static void only_accepted_by_the_objective(void **state) {
   (void)state;
   const double known[] = {10, 12, 11};
   is_left(12, known, 3, NULL);
   assert_string_equal(asked.standing, RKB_ACCEPT);
   assert_int_equal(asked.order, RKB_ARCHIVE_BY_OBJECTIVE);
   assert_int_equal(asked.limit, 6); /* some may lack a time */
}

static void too_little_is_known(void **state) {
   (void)state;
   const double known[] = {10, 12}, lacking[] = {10, NOT_PREDICTED, 11};
   assert_false(is_left(100, known, 2, NULL));
   assert_false(is_left(100, lacking, 3, NULL));
   assert_false(is_left(NOT_PREDICTED, known, 2, NULL));
}

static void one_without_a_time_is_passed_over(void **state) {
   (void)state;
   const double known[] = {10, NOT_PREDICTED, 11, 12, 50};
   assert_true(is_left(12.1, known, 5, NULL));
   assert_false(is_left(12, known, 5, NULL));
}

static void no_time_is_no_reason(void **state) {
   (void)state;
   const double known[] = {10, 12, 11};
   assert_false(is_left(NOT_PREDICTED, known, 3, NULL));
   assert_false(is_left(INFINITY, known, 3, NULL));
   assert_false(is_left(NAN, known, 3, NULL));
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(slower_than_each),
      cmocka_unit_test(as_fast_as_one),
      cmocka_unit_test(only_accepted_by_the_objective),
      cmocka_unit_test(too_little_is_known),
      cmocka_unit_test(one_without_a_time_is_passed_over),
      cmocka_unit_test(no_time_is_no_reason),
   };
   return RUN_TESTS(tests);
}
