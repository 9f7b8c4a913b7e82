/* rkb.mutator.schedule emits no child whose schedule alone needs as long as the best candidate takes. */
#include "fake.h"
#include <rkb/ext/schedule.h>
#include <stdlib.h>
#include <string.h>

#define PARENT "/* the stub does not read this */\n"
#define BEST_US 100.0

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

static const rkb_schedule_api_t SCHEDULE = {.size = sizeof SCHEDULE, .change = change, .least = least, .free_text = free_text};

static bool measurement(const rkb_host_t *host, rkb_job_t job, int64_t candidate, const char *name, double *value, char *unit, size_t unit_size) {
   (void)host, (void)job, (void)candidate, (void)unit, (void)unit_size;
   *value = BEST_US;
   return strcmp(name, "model.predicted_us") == 0;
}

static const void *extension(const rkb_host_t *host, const char *id) {
   static rkb_archive_api_t archive;
   if (strcmp(id, RKB_EXT_SCHEDULE) == 0)
      return &SCHEDULE;
   if (strcmp(id, RKB_EXT_ARCHIVE) != 0)
      return host_extension(host, id);
   archive = *(const rkb_archive_api_t *)host_extension(host, id);
   archive.measurement = measurement;
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

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(bound)};
   return RUN_TESTS(tests);
}
