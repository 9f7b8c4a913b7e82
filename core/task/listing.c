/* Builds the table of tasks.  Holds one loaded task at a time.  Any thread. */
#include "task/listing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder_names.h"
#include "base/memory.h"
#include "base/yaml.h"
#include "task/task.h"

#define MOST_CASES 4096u

static char *dims_text(rkb_arena_t *arena, const rkb_task_t *task, const rkb_case_t *the_case) {
   rkb_text_t text;
   rkb_text_init(&text, 4096);
   for (uint32_t i = 0; i < rkb_task_dim_count(task); ++i) {
      const char *domain = NULL, *name = rkb_task_dim(task, i, &domain);
      bool is_real = false;
      int64_t value = 0;
      double real = 0;
      if (rkb_case_lookup(task, the_case, name, &is_real, &value, &real))
         rkb_text_format(&text, "%s%s=%lld", text.length ? " " : "", name, (long long)value);
   }
   char *copy = rkb_arena_text(arena, rkb_text_get(&text), text.length);
   rkb_text_free(&text);
   return copy;
}

static int add_case(rkb_listing_t *listing, const rkb_task_t *task, const rkb_case_t *the_case,
                    const rkb_peaks_t *target, rkb_error_t *err) {
   if (listing->count == listing->room) {
      uint32_t room = listing->room ? listing->room * 2 : 64;
      if (room > MOST_CASES)
         return rkb_fail(err, RKB_ERR_LIMIT, "more than %u bench cases", listing->count);
      listing->cases = rkb_grow(listing->cases, room, sizeof *listing->cases);
      listing->room = room;
   }
   const rkb_task_info_t *info = rkb_task_info(task);
   rkb_listed_case_t *listed = &listing->cases[listing->count];
   listed->task = rkb_arena_format(listing->arena, "%s", info->name);
   listed->direction = rkb_arena_format(listing->arena, "%s", info->direction);
   listed->name = rkb_arena_format(listing->arena, "%s", the_case->name);
   listed->dims = dims_text(listing->arena, task, the_case);
   listed->operations = the_case->operations;
   listed->bytes = the_case->bytes;
   listed->precision = rkb_arena_format(listing->arena, "%s", info->precision);
   listed->group = "";
   listed->least_s =
      rkb_least_time(the_case->operations, the_case->bytes, target, listed->precision, &listed->memory_bound);
   ++listing->count;
   return RKB_OK;
}

/* Adds all directions of one task.  The first is found by loading the task without naming one. */
static int add_task(rkb_listing_t *listing, const char *folder, const rkb_peaks_t *target,
                    rkb_problems_t *problems, rkb_error_t *err) {
   int status = RKB_OK;
   rkb_task_t *task = rkb_task_load(folder, NULL, 0, problems);
   for (uint32_t d = 0; task && status == RKB_OK; ++d) {
      for (uint32_t c = 0; status == RKB_OK; ++c) {
         const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_BENCH, c);
         if (the_case == NULL)
            break;
         status = add_case(listing, task, the_case, target, err);
      }
      const char *const *directions = rkb_task_directions(task);
      rkb_task_t *next =
         directions[d] && directions[d + 1] ? rkb_task_load(folder, directions[d + 1], 0, problems) : NULL;
      rkb_task_free(task);
      task = next;
   }
   rkb_task_free(task);
   return status;
}

/* Gives each case its group's name, and its group's number as place. */
static void group_case(rkb_listed_case_t *listed, const rkb_yaml_t *groups) {
   listed->group = "others";
   listed->place = groups->count;
   for (uint32_t i = 0; i < groups->count; i++)
      for (uint32_t j = 0; j < groups->items[i]->count; j++)
         if (strcmp(groups->items[i]->items[j]->text, listed->task) == 0) {
            listed->group = groups->keys[i]->text;
            listed->place = i;
            return;
         }
}

static int by_place(const void *left, const void *right) {
   const rkb_listed_case_t *a = left, *b = right;
   return (a->place > b->place) - (a->place < b->place);
}

/* Adds a problem for every task of a group that is not in the folder. */
static bool check_groups(const rkb_yaml_t *groups, const char *directory, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   if (!rkb_yaml_expect(groups, RKB_YAML_MAP, "groups.yaml", problems))
      return false;
   for (uint32_t i = 0; i < groups->count; i++) {
      if (!rkb_yaml_expect(groups->items[i], RKB_YAML_LIST, groups->keys[i]->text, problems))
         continue;
      for (uint32_t j = 0; j < groups->items[i]->count; j++) {
         const rkb_yaml_t *name = groups->items[i]->items[j];
         const char *text = "";
         if (!rkb_yaml_scalar(name, "a task", &text, problems))
            continue;
         char *folder = rkb_path_join(directory, text);
         if (!rkb_task_exists(folder))
            rkb_problem(problems, name->place, "there is no task %s beside groups.yaml", text);
         free(folder);
      }
   }
   return problems->errors == before;
}

/* Orders the cases by the groups of the folder's groups.yaml, and keeps their order within each group. */
static void group_cases(rkb_listing_t *listing, const char *directory, rkb_problems_t *problems) {
   char *path = rkb_path_join(directory, "groups.yaml");
   const rkb_yaml_t *groups = rkb_path_exists(path) ? rkb_yaml_load(listing->arena, path, problems) : NULL;
   free(path);
   if (!groups || !check_groups(groups, directory, problems))
      return;
   for (uint32_t i = 0; i < listing->count; i++) {
      group_case(&listing->cases[i], groups);
      listing->cases[i].place = listing->cases[i].place * MOST_CASES + i;
   }
   qsort(listing->cases, listing->count, sizeof *listing->cases, by_place);
   for (uint32_t i = 0; i < listing->count; i++)
      listing->cases[i].place = i;
}

int rkb_listing_load(const char *directory, const rkb_peaks_t *target, rkb_listing_t *listing,
                     rkb_problems_t *problems, rkb_error_t *err) {
   *listing = (rkb_listing_t){.arena = rkb_arena_new(0)};
   char *own = rkb_path_join(directory, "task.yaml");
   const bool is_task = rkb_path_exists(own);
   free(own);
   if (is_task)
      return add_task(listing, directory, target, problems, err);
   char **names = rkb_folder_names(directory, NULL);
   if (!names)
      return rkb_fail(err, RKB_ERR_IO, "cannot read %s: %s", directory, strerror(errno));
   int status = RKB_OK;
   for (char **name = names; *name; name++) {
      char *folder = rkb_path_join(directory, *name), *file = rkb_path_join(folder, "task.yaml");
      if (status == RKB_OK && rkb_path_exists(file))
         status = add_task(listing, folder, target, problems, err);
      free(file);
      free(folder);
   }
   rkb_folder_names_free(names);
   group_cases(listing, directory, problems);
   return status;
}

void rkb_listing_free(rkb_listing_t *listing) {
   free(listing->cases);
   rkb_arena_free(listing->arena);
   *listing = (rkb_listing_t){0};
}

/* "3.1 G": three digits and a decimal prefix. */
static void scaled(double value, char out[16]) {
   static const char prefixes[] = " kMGTP";
   int step = 0;
   while (value >= 999.5 && step < 5) {
      value /= 1000;
      ++step;
   }
   snprintf(out, 16,
            value < 9.95 && step   ? "%.2f %c"
            : value < 99.5 && step ? "%.1f %c"
                                   : "%.0f %c",
            value, prefixes[step]);
}

void rkb_listing_write(const rkb_listing_t *listing, const rkb_peaks_t *target, rkb_text_t *out) {
   static const char row[] = "%-24s %-9s %-20s %-44s %9s %9s  %10s  %s\n";
   rkb_text_format(out, row, "task", "direction", "case", "dims", "flop", "bytes", "least us", "bound by");
   for (uint32_t i = 0; i < listing->count; ++i) {
      const rkb_listed_case_t *listed = &listing->cases[i];
      if (*listed->group && (i == 0 || strcmp(listing->cases[i - 1].group, listed->group) != 0))
         rkb_text_format(out, "-- %s\n", listed->group);
      char operations[16], bytes[16], least[32];
      scaled(listed->operations, operations);
      scaled(listed->bytes, bytes);
      snprintf(least, sizeof least, "%.1f", listed->least_s * 1e6);
      const char *slash = strchr(listed->name, '/');
      rkb_text_format(out, row, listed->task, listed->direction, slash ? slash + 1 : listed->name,
                      listed->dims, operations, bytes, least, listed->memory_bound ? "memory" : "arithmetic");
   }
   rkb_text_format(
      out,
      "least time on %s: max(bytes / %.3g TB/s, flop / rate) + %.1f us for a launch; rate in TFLOP/s: %.3g in class "
      "fp32 (three products on tensor cores), %.3g in bf16 and fp16, %.3g in fp8 and int8\n",
      target->name, target->bytes_per_s / 1e12, target->launch_floor_s * 1e6, rkb_peak_rate(target, "fp32") / 1e12,
      rkb_peak_rate(target, "bf16") / 1e12, rkb_peak_rate(target, "fp8") / 1e12);
}

json_t *rkb_listing_json(const rkb_listing_t *listing, const rkb_peaks_t *target) {
   json_t *rows = json_array();
   for (uint32_t i = 0; rows && i < listing->count; ++i) {
      const rkb_listed_case_t *listed = &listing->cases[i];
      json_t *row =
         json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:b}", "group", listed->group, "precision",
                   listed->precision, "task", listed->task, "direction", listed->direction, "case",
                   listed->name, "dims", listed->dims, "operations", listed->operations, "bytes",
                   listed->bytes, "least_s", listed->least_s, "memory_bound", listed->memory_bound);
      if (json_array_append_new(rows, row) != 0) {
         json_decref(rows);
         rows = NULL;
      }
   }
   return rows ? json_pack("{s:s, s:o}", "target", target->name, "cases", rows) : NULL;
}
