/* The runs and sweeps in a folder (shown_runs.h). */
#include "cli/serve/shown_runs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/folder_names.h"
#include "base/memory.h"
#include "sweep/sweep_plan.h"

enum { DEPTH = 4, MOST_ENTRIES = 20000 }; /* a sweep's runs lie up to three folders below it */

typedef struct look {
   shown_run_t *run;
   uint64_t sum;
   uint32_t entries;
   bool found;
} look_t;

/* Counts a file of an archive.  An empty file does not count, because SQLite makes an empty log when a reader
 * opens the archive. */
static void look_at(look_t *look, const char *path) {
   struct stat state;
   if (stat(path, &state) != 0 || !S_ISREG(state.st_mode) || !state.st_size)
      return;
   const uint64_t words[] = {(uint64_t)state.st_size, (uint64_t)state.st_mtim.tv_sec, (uint64_t)state.st_mtim.tv_nsec};
   for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      look->sum = (look->sum ^ words[i]) * UINT64_C(0x100000001b3) + (look->sum >> 29);
   look->found = true;
   if (state.st_mtim.tv_sec > look->run->changed_s)
      look->run->changed_s = state.st_mtim.tv_sec;
}

static int is_shown_name(const struct dirent *entry) {
   return entry->d_name[0] != '.';
}

static void look_below(look_t *look, const char *directory, int depth) {
   static const char *const files[] = {"run.sqlite", "run.sqlite-wal", "sweep.json"};
   struct dirent **entries = NULL;
   for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
      char *path = rkb_format("%s/%s", directory, files[i]);
      look_at(look, path);
      free(path);
   }
   /* A folder that is a run is not searched further, because it has no runs below it. */
   const int count = depth > 0 && (!look->found || look->run->sweep) ? scandir(directory, &entries, is_shown_name, alphasort) : 0;
   for (int i = 0; i < count; i++) {
      const bool folder = entries[i]->d_type == DT_DIR;
      if (folder && look->entries++ < MOST_ENTRIES) {
         char *path = rkb_format("%s/%s", directory, entries[i]->d_name);
         look_below(look, path, depth - 1);
         free(path);
      }
      free(entries[i]);
   }
   free(entries);
}

static void add(shown_runs_t *runs, const char *name, const char *directory) {
   char *archive = rkb_format("%s/run.sqlite", directory);
   struct stat state;
   const bool is_run = stat(archive, &state) == 0 && S_ISREG(state.st_mode), sweep = !is_run && rkb_is_sweep(directory);
   free(archive);
   if (!is_run && !sweep)
      return;
   if (runs->count == SHOWN_MOST_RUNS) {
      runs->cut = true;
      return;
   }
   runs->list = rkb_grow(runs->list, runs->count + 1, sizeof *runs->list);
   shown_run_t *run = &runs->list[runs->count++];
   *run = (shown_run_t){.name = rkb_duplicate(name), .directory = rkb_duplicate(directory), .sweep = sweep};
   look_t look = {.run = run, .sum = UINT64_C(0xcbf29ce484222325)};
   look_below(&look, directory, sweep ? DEPTH : 0);
   snprintf(run->stamp, sizeof run->stamp, "%016llx", (unsigned long long)look.sum);
}

static int last_changed_first(const void *left, const void *right) {
   const shown_run_t *a = left, *b = right;
   return a->changed_s != b->changed_s ? (a->changed_s < b->changed_s) - (a->changed_s > b->changed_s) : strcmp(a->name, b->name);
}

void shown_runs_scan(const char *folder, shown_runs_t *runs) {
   *runs = (shown_runs_t){.list = NULL};
   add(runs, "this", folder);
   char **names = rkb_folder_names(folder, NULL);
   for (char **name = names; name && *name; name++) {
      char *directory = rkb_format("%s/%s", folder, *name);
      if (strcmp(*name, "this") != 0 || !runs->count)
         add(runs, *name, directory);
      free(directory);
   }
   rkb_folder_names_free(names);
   if (runs->count)
      qsort(runs->list, runs->count, sizeof *runs->list, last_changed_first);
}

void shown_runs_free(shown_runs_t *runs) {
   for (uint32_t i = 0; i < runs->count; i++) {
      free(runs->list[i].name);
      free(runs->list[i].directory);
   }
   free(runs->list);
   *runs = (shown_runs_t){.list = NULL};
}

const shown_run_t *shown_runs_find(const shown_runs_t *runs, const char *name) {
   for (uint32_t i = 0; i < runs->count; i++)
      if (strcmp(runs->list[i].name, name) == 0)
         return &runs->list[i];
   return NULL;
}
