/* rkb tasks' figures: the least time, and every shipped task in every direction.  One thread. */
#include "check.h"
#include "task/listing.h"

#include <glob.h>
#include <math.h>
#include <string.h>

static const rkb_peaks_t target = {
   .name = "plain", .bytes_per_s = 1e12, .operations_per_s = 1e13, .launch_floor_s = 2e-6};

static void least_time_is_the_longer_of_two_plus_the_floor(void **state) {
   (void)state;
   bool memory_bound = false;
   assert_true(fabs(rkb_least_time(1e6, 1e7, &target, "fp32", &memory_bound) - 12e-6) < 1e-12);
   assert_true(memory_bound);
   assert_true(fabs(rkb_least_time(1e9, 1e7, &target, "fp32", &memory_bound) - 102e-6) < 1e-12);
   assert_false(memory_bound);
   rkb_peaks_t tensor = target;
   tensor.half_per_s = 1e14;
   assert_true(fabs(rkb_least_time(1e9, 1e7, &tensor, "bf16", &memory_bound) - 12e-6) < 1e-12);
   assert_true(memory_bound);
   assert_true(fabs(rkb_least_time(1e9, 1e7, &tensor, "fp8", &memory_bound) - 102e-6) <
               1e-12); /* not known */
}

static const rkb_listed_case_t *find(const rkb_listing_t *listing, const char *task, const char *direction) {
   for (uint32_t i = 0; i < listing->count; i++)
      if (strcmp(listing->cases[i].task, task) == 0 && strcmp(listing->cases[i].direction, direction) == 0)
         return &listing->cases[i];
   return NULL;
}

/* Arithmetic of attention's causal case over that of the case without a mask. */
static double causal_share(const rkb_listing_t *listing, const char *direction, const char *name) {
   double whole = 0, masked = 0;
   for (uint32_t i = 0; i < listing->count; i++) {
      const rkb_listed_case_t *c = &listing->cases[i];
      if (strcmp(c->task, "attention") != 0 || strcmp(c->direction, direction) != 0 ||
          strncmp(c->name, name, strlen(name)) != 0)
         continue;
      *(strcmp(c->name + strlen(name), "_causal") == 0 ? &masked : &whole) = c->operations;
   }
   assert_true(whole > 0 && masked > 0);
   return masked / whole;
}

static void every_shipped_task_is_listed_in_every_direction(void **state) {
   (void)state;
   rkb_listing_t listing;
   rkb_problems_t problems;
   rkb_error_t err = {0};
   rkb_problems_init(&problems);
   assert_int_equal(rkb_listing_load(RKB_SOURCE_DIR "/tasks", &target, &listing, &problems, &err), RKB_OK);
   assert_int_equal(problems.errors, 0);
   const rkb_listed_case_t *norm = find(&listing, "llama_rmsnorm", "forward");
   assert_non_null(norm);
   assert_string_equal(norm->name, "bench/published");
   assert_string_equal(norm->dims, "B=16 T=1024 D=4096");
   /* x read and y written, 16 x 1024 x 4096 floats each, and the weight */
   assert_true(norm->bytes == 2.0 * 4 * 16 * 1024 * 4096 + 4 * 4096);
   assert_true(norm->memory_bound);
   assert_non_null(find(&listing, "llama_rmsnorm", "backward"));
   assert_non_null(find(&listing, "adamw_step", "forward"));
   assert_null(find(&listing, "adamw_step", "backward"));
   /* Of T x T scores a causal mask leaves T (T + 1) / 2, in both directions. */
   assert_true(fabs(causal_share(&listing, "forward", "bench/head_64") - 2049.0 / 4096) < 1e-3);
   assert_true(fabs(causal_share(&listing, "backward", "bench/head_128") - 2049.0 / 4096) < 2e-3);
   uint32_t tasks = 0;
   for (uint32_t i = 0; i < listing.count; i++) {
      tasks += i == 0 || strcmp(listing.cases[i].task, listing.cases[i - 1].task) != 0;
      const bool same_group = i > 0 && strcmp(listing.cases[i - 1].group, listing.cases[i].group) == 0;
      assert_true(!same_group || strcmp(listing.cases[i - 1].task, listing.cases[i].task) <= 0);
      assert_string_not_equal(listing.cases[i].group,
                              "others"); /* tasks/groups.yaml names every shipped task */
      assert_int_equal(listing.cases[i].place, i);
      assert_true(listing.cases[i].operations >= 0 && listing.cases[i].bytes > 0 &&
                  listing.cases[i].least_s > target.launch_floor_s);
   }
   glob_t folders;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tasks/*/task.yaml", 0, NULL, &folders), 0);
   assert_int_equal(tasks, folders.gl_pathc);
   globfree(&folders);
   rkb_text_t text;
   rkb_text_init(&text, 1 << 20);
   rkb_listing_write(&listing, &target, &text);
   assert_non_null(strstr(rkb_text_get(&text), "llama_rmsnorm            forward   published"));
   assert_non_null(strstr(rkb_text_get(&text), "\n-- attention\nattention "));
   rkb_text_free(&text);
   json_t *json = rkb_listing_json(&listing, &target);
   assert_int_equal(json_array_size(json_object_get(json, "cases")), listing.count);
   json_decref(json);
   rkb_listing_free(&listing);
   rkb_problems_free(&problems);
}

static void a_folder_that_is_not_there_is_an_error(void **state) {
   (void)state;
   rkb_listing_t listing;
   rkb_problems_t problems;
   rkb_error_t err = {0};
   rkb_problems_init(&problems);
   assert_int_equal(rkb_listing_load("/nowhere/tasks", &target, &listing, &problems, &err), RKB_ERR_IO);
   assert_non_null(strstr(err.message, "/nowhere/tasks"));
   rkb_listing_free(&listing);
   rkb_problems_free(&problems);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_time_is_the_longer_of_two_plus_the_floor),
      cmocka_unit_test(every_shipped_task_is_listed_in_every_direction),
      cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
   };
   return RUN_TESTS(tests);
}
