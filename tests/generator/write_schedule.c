/* Writes the kernel of a task's suited schedule, or of another start's, with other decisions.
 * usage: write_schedule TASK DIRECTION [start=NAME] LAUNCH.DECISION=VALUE...   (LAUNCH: a number, or * for all; VALUE: a number or a word; the
 * decision map is the launch's mapping, and stores names a value of the graph that the launch stores besides; the word totals instead: launches over
 * scores add up matrices where they may)
 * The target has the rates of an H200 through mma.sync alone.  A word device=PROFILE (h200, or a file) takes all that this device profile says,
 * as a pipeline for this device does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "generator/decisions/launch_decisions.h"
#include "generator/generator.h"
#include "generator/kernel/kernel_text.h"
#include "generator/start/online_start.h"
#include "generator/start/start_schedules.h"
#include "named_target.h"

static const rkb_target_t no_device = {
   .multiprocessors = 132, .shared_bytes = 227 << 10, .tensor = {0, 2361, 2361, 393, 4723, 4723, 787}};

static int64_t value_of(uint32_t decision, const char *text) {
   for (const int64_t *v = rkb_decision_values(decision); *v >= 0; v++) {
      const char *word = rkb_decision_word(decision, *v);
      if (word && strcmp(word, text) == 0)
         return *v;
   }
   return strtoll(text, NULL, 10);
}

/* A launch stores one more value, of the node that has this name. */
static bool store(const rkb_graph_t *graph, rkb_launch_t *launch, const char *name) {
   for (uint32_t n = 0; n < graph->node_count && launch->root_count < RKB_MAX_LAUNCH_NODES; n++)
      if (strcmp(graph->nodes[n].name, name) == 0) {
         launch->roots[launch->root_count++] = n;
         return true;
      }
   return false;
}

/* False: it names no launch or no decision. */
static bool decide(const rkb_graph_t *graph, rkb_schedule_t *schedule, char *text) {
   char *name = strchr(text, '.'), *value = strchr(text, '=');
   bool found = false;
   if (!name || !value)
      return false;
   *name++ = *value++ = '\0';
   if (strcmp(name, "stores") == 0)
      return strtoul(text, NULL, 10) < schedule->count && store(graph, &schedule->launches[strtoul(text, NULL, 10)], value);
   for (uint32_t l = 0; l < schedule->count; l++)
      for (uint32_t m = RKB_MAP_ELEMENT; m < RKB_MAPPINGS; m++)
         if ((*text == '*' || strtoul(text, NULL, 10) == l) && strcmp(name, "map") == 0 &&
             strcmp(rkb_mapping_name(m), value) == 0) {
            schedule->launches[l].mapping = m;
            found = true;
         }
   for (uint32_t l = 0; l < schedule->count; l++)
      for (uint32_t d = 0; d < RKB_DECISIONS; d++)
         if ((*text == '*' || strtoul(text, NULL, 10) == l) && strcmp(rkb_decision_name(d), name) == 0) {
            schedule->launches[l].decisions[d] = value_of(d, value);
            found = true;
         }
   return found;
}

/* The start that an argument "start=NAME" names; RKB_STARTS: it is no such argument. */
static enum rkb_start named_start(const char *text) {
   enum rkb_start start = RKB_START_SUITED;
   const bool names = text && strncmp(text, "start=", 6) == 0;
   while (start < RKB_STARTS && !(names && strcmp(text + 6, rkb_start_name(start)) == 0))
      start++;
   return start;
}

int main(int argc, char **argv) {
   rkb_problems_t problems;
   rkb_error_t err = {0};
   rkb_graph_t *graph = NULL;
   char *text = NULL;
   rkb_problems_init(&problems);
   rkb_task_t *task = argc > 2 ? rkb_task_load(argv[1], argv[2], 0, &problems) : NULL;
   rkb_problems_free(&problems);
   rkb_schedule_t *schedule = calloc(1, sizeof *schedule);
   if (!task || rkb_graph_open(task, &graph, &err) != RKB_OK)
      return 2;
   rkb_target_t target = no_device;
   for (int a = 3; a < argc; a++)
      if (strncmp(argv[a], "device=", 7) == 0 &&
          !named_target(argv[a] + 7, rkb_task_info(task)->precision, &target)) {
         fprintf(stderr, "no device profile is named %s\n", argv[a] + 7);
         return 2;
      }
   const enum rkb_start start = named_start(argv[3]);
   rkb_schedule_start(graph, &target, start < RKB_STARTS ? start : RKB_START_SUITED, schedule);
   for (int a = start < RKB_STARTS ? 4 : 3; a < argc; a++)
      if (strcmp(argv[a], "totals") == 0)
         for (uint32_t l = 0; l < schedule->count; l++)
            rkb_online_join_totals(graph, &target, schedule, l);
      else if (strncmp(argv[a], "device=", 7) != 0 && !decide(graph, schedule, argv[a])) {
         fprintf(stderr, "%s names no decision of a launch\n", argv[a]);
         return 2;
      }
   const bool good = rkb_kernel_write(graph, schedule, target.shared_bytes, &text, &err) == RKB_OK;
   if (good)
      fputs(text, stdout);
   else
      fprintf(stderr, "refused: %s\n", err.message);
   free(text);
   free(schedule);
   rkb_graph_close(graph);
   rkb_task_free(task);
   return good ? 0 : 1;
}
