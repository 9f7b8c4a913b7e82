/* rkb.mutator.schedule emits no child whose schedule alone needs as long as the best candidate takes, and learns from the times of
 * candidates that were left unchecked. */
#include "fake.h"
#include <rkb/ext/schedule.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARENT "/* a parent; the double of the generator ignores its text */\n"
#define BEST_US 100.0
#define GUESSED_US 140.0

static const void *(*host_extension)(const rkb_host_t *host, const char *id);
static double least_us;  /* of each child */
static uint32_t changes; /* that were asked for */

static int change(const rkb_host_t *host, rkb_random_t *stream, const char *source, uint32_t limit, char **changed, char *note,
                  size_t note_size, rkb_error_t *err) {
   (void)host, (void)stream, (void)source, (void)limit, (void)err;
   snprintf(note, note_size, "change %u", ++changes);
   *changed = strdup("a child\n");
   return RKB_OK;
}

static int least(const rkb_host_t *host, const char *source, double *seconds, rkb_error_t *err) {
   (void)host, (void)err;
   assert_string_equal(source, "a child\n");
   *seconds = 1e-6 * least_us;
   return RKB_OK;
}

static void free_text(char *text) {
   free(text);
}

static double tried_us[4]; /* as the model was given them */
static uint32_t tried_count;

static int acquire(const rkb_host_t *host, rkb_random_t *stream, const char *source, uint32_t limit, uint32_t slot, const rkb_schedule_tried_t *tried,
                   uint32_t count, char **changed, int64_t *base, char *note, size_t note_size, rkb_error_t *err) {
   (void)host, (void)stream, (void)source, (void)limit, (void)slot, (void)changed, (void)base, (void)note, (void)note_size, (void)err;
   for (tried_count = 0; tried_count < count && tried_count < 4; tried_count++)
      tried_us[tried_count] = tried[tried_count].microseconds;
   return RKB_OK;
}

static const rkb_schedule_api_t SCHEDULE = {
   .size = sizeof SCHEDULE, .change = change, .least = least, .acquire = acquire, .free_text = free_text};

static bool measurement(const rkb_host_t *host, rkb_job_t job, int64_t candidate, const char *name, double *value, char *unit, size_t unit_size) {
   (void)host, (void)job, (void)candidate, (void)unit, (void)unit_size;
   const bool guessed = strcmp(name, "guess.predicted_us") == 0;
   *value = guessed ? GUESSED_US : BEST_US;
   return guessed || strcmp(name, "model.predicted_us") == 0;
}

static int64_t horizon(const rkb_host_t *host, rkb_job_t job, int64_t *window) {
   (void)host, (void)job;
   *window = 16;
   return -1;
}

static const void *extension(const rkb_host_t *host, const char *id) {
   static rkb_archive_api_t archive;
   if (strcmp(id, RKB_EXT_SCHEDULE) == 0)
      return &SCHEDULE;
   if (strcmp(id, RKB_EXT_ARCHIVE) != 0)
      return host_extension(host, id);
   archive = *(const rkb_archive_api_t *)host_extension(host, id);
   archive.measurement = measurement;
   archive.horizon = horizon;
   return &archive;
}

/* How many children a request gets whose schedules alone need so long. */
static uint32_t children(double microseconds, const char *time) {
   const char *const settings[] = {"crossover=0", "forecast=0", "steps=0", time, NULL};
   fake_t fake;
   fake_open(&fake, "mutator/schedule");
   host_extension = fake.host.get_extension;
   fake.host.get_extension = extension;
   fake_start(&fake, settings);
   fake.rows[fake.row_count++] = (rkb_archive_row_t){
      .number = 1, .source = PARENT, .source_hash = "", .tune = "{}", .standing = RKB_ACCEPT, .objective = BEST_US, .has_objective = true};
   least_us = microseconds;
   changes = 0;
   assert_int_equal(fake_run_parent(&fake, 1, NULL, PARENT, "{}"), RKB_OK);
   const uint32_t count = fake.emitted_count;
   fake_close(&fake);
   return count;
}

static void bound(void **state) {
   (void)state;
   assert_int_equal(children(0.99 * BEST_US, NULL), 1);
   assert_int_equal(changes, 1);
   assert_int_equal(children(1.01 * BEST_US, NULL), 0);
   assert_int_equal(changes, 4); /* each dropped */
   assert_int_equal(children(7 * BEST_US, NULL), 0);
   assert_int_equal(children(7 * BEST_US, "time="), 1);
}

static rkb_archive_row_t row_of(int64_t number, const char *standing, const char *reason) {
   return (rkb_archive_row_t){.number = number, .source = PARENT, .source_hash = "", .tune = "{}", .standing = standing, .reason = reason};
}

static void list_tried(const char *guess) {
   const char *const settings[] = {"crossover=0", "forecast=1", "steps=0", guess, NULL};
   fake_t fake;
   fake_open(&fake, "mutator/schedule");
   host_extension = fake.host.get_extension;
   fake.host.get_extension = extension;
   fake_start(&fake, settings);
   fake.rows[fake.row_count++] = (rkb_archive_row_t){
      .number = 1, .source = PARENT, .source_hash = "", .tune = "{}", .standing = RKB_ACCEPT, .objective = BEST_US, .has_objective = true};
   fake.rows[fake.row_count++] = row_of(2, RKB_UNKNOWN, "search.slower");
   fake.rows[fake.row_count++] = row_of(3, RKB_UNKNOWN, "limit.budget");
   fake.rows[fake.row_count++] = row_of(4, RKB_REJECT, "numeric.mismatch");
   assert_int_equal(fake_run_parent(&fake, 1, NULL, PARENT, "{}"), RKB_OK);
   fake_close(&fake);
   assert_int_equal(tried_count, 4);
}

static void unchecked_candidates_have_their_time(void **state) {
   (void)state;
   list_tried(NULL);
   assert_true(tried_us[0] == BEST_US && tried_us[1] == GUESSED_US);
   assert_true(isinf(tried_us[2]) && isinf(tried_us[3])); /* checked, and of no use */
   list_tried("guess=");
   assert_true(tried_us[0] == BEST_US && isinf(tried_us[1]));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(bound), cmocka_unit_test(unchecked_candidates_have_their_time)};
   return RUN_TESTS(tests);
}
