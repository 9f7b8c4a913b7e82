/* Points agree with whole evaluations: every task, direction, output and check case, on inputs as they are drawn and on the
 * probes and ties whose bounds are told by single terms; all elements at once, and runs of neighbours from all over.
 * Without RKB_LONG every second check case is left out. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "task/task.h"

#define FAMILIES 1u
#define RUN 5u
#define SAME 1e-12
#define DOUBLE_SHARE 0x1p-29 /* of a bound at the unit of fp32: the same bound at the unit of double */

typedef struct arrays {
   double *value, *hard, *stat;
   uint8_t *flags;
   uint64_t *elements, count;
} arrays_t;

static arrays_t arrays_new(uint64_t count) {
   arrays_t arrays = {malloc((count + 1) * sizeof(double)),   malloc((count + 1) * sizeof(double)),
                      malloc((count + 1) * sizeof(double)),   malloc(count + 1),
                      malloc((count + 1) * sizeof(uint64_t)), count};
   return arrays;
}

static void arrays_free(arrays_t *arrays) {
   free(arrays->value);
   free(arrays->hard);
   free(arrays->stat);
   free(arrays->flags);
   free(arrays->elements);
}

static bool same(double got, double want, double size) {
   return got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= SAME * size;
}

static void compare(const arrays_t *points, const rkb_points_t *whole, const char *where) {
   double largest = 0;
   for (uint64_t i = 0; i < whole->count; i++)
      largest = isfinite(whole->value[i]) ? fmax(largest, fabs(whole->value[i])) : largest;
   for (uint64_t i = 0; i < points->count; i++) {
      uint64_t at = points->elements[i];
      double rounding = fmax(SAME * largest, DOUBLE_SHARE * whole->hard[at]) / SAME;
      double last_place =
         0x1p-50 * largest / SAME; /* bounds are ends of intervals, whose middle was taken off */
      bool agree = same(points->value[i], whole->value[at], rounding) &&
                   same(points->hard[i], whole->hard[at], whole->hard[at] + last_place) &&
                   same(points->stat[i], whole->stat[at], whole->stat[at] + last_place) &&
                   points->flags[i] == whole->flags[at];
      if (!agree)
         fail_msg(
            "%s[%llu]: points say %.17g within %.17g and %.17g, flags %u; whole says %.17g, %.17g, %.17g, %u",
            where, (unsigned long long)at, points->value[i], points->hard[i], points->stat[i],
            points->flags[i], whole->value[at], whole->hard[at], whole->stat[at], whole->flags[at]);
   }
}

/* Every element in one call, or runs of neighbours that jump through the tensor, one call each. */
static void evaluate(const rkb_inputs_t *inputs, uint32_t tensor, bool runs, arrays_t *arrays) {
   rkb_error_t err = {0};
   uint64_t count = arrays->count, many = (count + RUN - 1) / RUN;
   for (uint64_t i = 0; i < count; i++)
      arrays->elements[i] = i;
   for (uint64_t done = 0, run = 0; done < count; run++) {
      uint64_t first = runs ? run * 7 % many * RUN : 0, left = count - done, now = runs ? RUN : count;
      if (runs && many % 7 == 0) /* 7 would not reach every run */
         first = run * RUN;
      now = now < left ? now : left;
      now = first + now > count ? count - first : now;
      for (uint64_t i = 0; i < now; i++)
         arrays->elements[done + i] = first + i;
      if (rkb_task_expect_points(inputs, tensor, arrays->elements + done, now, arrays->value + done,
                                 arrays->hard + done, arrays->stat + done, arrays->flags + done,
                                 &err) != RKB_OK)
         fail_msg("%s", err.message);
      done += now;
   }
}

static void check_family(const rkb_task_t *task, const rkb_case_t *c, const rkb_family_t *family) {
   rkb_error_t err = {0};
   rkb_expected_t *expected = NULL;
   rkb_inputs_t *inputs[3] = {NULL};
   for (int i = 0; i < 3; i++)
      assert_int_equal(rkb_task_inputs_open(task, c, family, 7, &inputs[i], &err), RKB_OK);
   if (rkb_task_expect(inputs[0], &expected, &err) != RKB_OK)
      fail_msg("%s", err.message);
   for (uint32_t t = 0; t < c->tensor_count; t++)
      for (int runs = 0; runs < 2 && c->tensors[t].role != RKB_IN; runs++) {
         char where[512];
         snprintf(where, sizeof where, "%s %s, %s, family %s, %s: %s", rkb_task_info(task)->name,
                  rkb_task_info(task)->direction, c->name, family->name, runs ? "runs" : "all at once",
                  c->tensors[t].name);
         arrays_t arrays = arrays_new(c->tensors[t].elements);
         evaluate(inputs[1 + runs], t, runs, &arrays);
         rkb_points_t whole = rkb_task_expected_points(expected, t);
         compare(&arrays, &whole, where);
         arrays_free(&arrays);
      }
   rkb_task_expected_free(expected);
   for (int i = 0; i < 3; i++)
      rkb_task_inputs_free(inputs[i]);
}

static bool telling(const rkb_family_t *family, uint32_t number) {
   return number < FAMILIES || strncmp(family->name, "probe_", 6) == 0 || strcmp(family->name, "ties") == 0;
}

static void points_agree(void **state) {
   const char *path = *state;
   for (const char *const *direction = (const char *const[]){"forward", "backward", NULL}; *direction;
        direction++) {
      rkb_problems_t problems;
      rkb_problems_init(&problems);
      rkb_task_t *task = rkb_task_load(path, *direction, 0, &problems);
      const rkb_case_t *c;
      const rkb_family_t *family;
      if (!task) /* adamw_step has no backward */
         assert_string_equal(*direction, "backward");
      for (uint32_t i = 0; task && (c = rkb_task_case(task, RKB_CASE_CHECK, i)) != NULL;
           i += rkb_long_tests() ? 1 : 4)
         for (uint32_t f = 0; (family = rkb_task_family(task, c, f)) != NULL; f++)
            if (telling(family, f))
               check_family(task, c, family);
      rkb_task_free(task);
      rkb_problems_free(&problems);
   }
}

/* argv: task directories; without, all that are shipped (in slow builds some of them). */
int main(int argc, char **argv) {
   enum { MOST = 64 };
   struct CMUnitTest tests[MOST] = {{0}};
   glob_t found = {0};
   char **paths = argv + 1;
   size_t count = (size_t)argc - 1;
   static const char file[] = "/task.yaml";
   if (argc < 2 && glob(RKB_SOURCE_DIR "/tasks/" POINTS_TASKS "/task.yaml", GLOB_BRACE, NULL, &found) == 0) {
      paths = found.gl_pathv;
      count = found.gl_pathc;
      for (size_t i = 0; i < count; i++) /* the folder */
         paths[i][strlen(paths[i]) - strlen(file)] = '\0';
   }
   count = count < MOST ? count : MOST;
   for (size_t i = 0; i < count; i++)
      tests[i] = (struct CMUnitTest){.name = paths[i], .test_func = points_agree, .initial_state = paths[i]};
   int failed = count ? _cmocka_run_group_tests("points", tests, count, NULL, NULL) : 1;
   globfree(&found);
   return failed;
}
