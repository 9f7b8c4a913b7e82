/* Enumerates the corpus.  Owns its texts; one thread while it is made. */
#include "tools/faults/corpus/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/memory.h"

enum { MOST_SOURCE = 1 << 20, OPERATORS_KEPT_OUT = 3 };

static uint64_t hash_of(const char *text) {
   return rkb_hash64(text, strlen(text), 0);
}

bool corpus_operator_kept_out(const operator_t *o) {
   uint32_t before = 0; /* how many operators' names have a lower hash */
   for (uint32_t i = 0; i < fault_operators_tried; i++)
      before += hash_of(fault_operators[i].name) < hash_of(o->name);
   return o >= fault_operators + fault_operators_tried || before < OPERATORS_KEPT_OUT;
}

static int add_kernel(corpus_t *corpus, const char *task, const char *direction, const char *folder,
                      const char *name, rkb_error_t *err) {
   size_t length;
   char id[512];
   if (corpus->kernel_count == corpus->kernel_room) {
      uint32_t room = corpus->kernel_room ? 2 * corpus->kernel_room : 64;
      corpus->kernels = rkb_grow(corpus->kernels, room, sizeof *corpus->kernels);
      corpus->kernel_room = room;
   }
   kernel_file_t *kernel = &corpus->kernels[corpus->kernel_count];
   *kernel = (kernel_file_t){rkb_duplicate(task),
                             rkb_duplicate(direction),
                             rkb_duplicate(name),
                             rkb_format("%s/%s.cu", folder, name),
                             NULL,
                             false};
   corpus->kernel_count++;
   for (uint32_t n = 0; n + 1 < corpus->kernel_count; n++)
      if (strcmp(corpus->kernels[n].task, task) == 0 &&
          strcmp(corpus->kernels[n].direction, direction) == 0 && strcmp(corpus->kernels[n].name, name) == 0)
         return rkb_fail(err, RKB_ERR_INVALID, "%s and %s: faults are told apart by task, direction and name",
                         corpus->kernels[n].path, kernel->path);
   snprintf(id, sizeof id, "%s/%s/%s", task, direction, name);
   kernel->kept_out = hash_of(id) % 3 == 0;
   return rkb_file_read(kernel->path, MOST_SOURCE, &kernel->text, &length, err);
}

/* Adds the kernels below root.  pattern: where the kernels of a task and direction lie. */
static int add_kernels(corpus_t *corpus, const char *root, const char *pattern, rkb_error_t *err) {
   static const char *const directions[] = {"backward", "forward"};
   char **tasks = rkb_folder_names(root, NULL), folder[4096];
   int status = RKB_OK;
   for (char **task = tasks; task && *task; task++)
      for (uint32_t d = 0; d < 2; d++) {
         snprintf(folder, sizeof folder, "%s/%s/%s%s", root, *task, pattern, directions[d]);
         char **names = rkb_folder_names(folder, ".cu");
         for (char **name = names; name && *name && status == RKB_OK; name++) {
            (*name)[strlen(*name) - strlen(".cu")] = '\0';
            status = add_kernel(corpus, *task, directions[d], folder, *name, err);
         }
         rkb_folder_names_free(names);
      }
   rkb_folder_names_free(tasks);
   return status;
}

static void add_dim_value(source_t *source, const rkb_named_int_t *named) {
   uint32_t d = 0, v = 0;
   while (d < source->dim_count && strcmp(source->dims[d].name, named->name) != 0)
      d++;
   if (d == MOST_DIMS)
      return;
   checked_dim_t *dim = &source->dims[d];
   if (d == source->dim_count) {
      *dim = (checked_dim_t){.name = named->name};
      source->dim_count++;
   }
   while (v < dim->count && dim->values[v] != named->value)
      v++;
   if (v == dim->count && v < MOST_VALUES)
      dim->values[dim->count++] = named->value;
}

static void add_dims(source_t *source, const rkb_task_t *task) {
   const rkb_case_t *c;
   uint32_t i = 0;
   for (; (c = rkb_task_case(task, RKB_CASE_CHECK, i)) != NULL; i++)
      for (uint32_t d = 0; d < c->dim_count; d++) {
         add_dim_value(source, &c->dims[d]);
         if (i < MOST_CHECK_CASES && d < MOST_DIMS)
            source->cases[i][d] = c->dims[d].value;
      }
   source->case_count = i < MOST_CHECK_CASES ? i : MOST_CHECK_CASES;
}

static bool is_known(const corpus_t *corpus, const char *hash) {
   for (uint32_t i = 0; i < corpus->fault_count; i++)
      if (strcmp(corpus->faults[i].hash, hash) == 0)
         return true;
   return false;
}

static void add_fault(corpus_t *corpus, uint32_t kernel, const operator_t *o, const source_t *source,
                      const site_t *site, uint32_t number) {
   const kernel_file_t *file = &corpus->kernels[kernel];
   fault_t fault = {
      .operator_of = o, .kernel = kernel, .kept_out = file->kept_out || corpus_operator_kept_out(o)};
   if (corpus->fault_count == corpus->fault_room) {
      uint32_t room = corpus->fault_room ? 2 * corpus->fault_room : 1024;
      corpus->faults = rkb_grow(corpus->faults, room, sizeof *corpus->faults);
      corpus->fault_room = room;
   }
   fault.text = site_apply(source, site, &fault.bytes);
   rkb_hash_text(fault.text, fault.bytes, fault.hash);
   if (is_known(corpus, fault.hash) ||
       (fault.bytes == source->bytes && memcmp(fault.text, source->text, fault.bytes) == 0)) {
      free(fault.text);
      return;
   }
   fault.where = site->where ? rkb_duplicate(site->where) : NULL;
   fault.id = rkb_format("%s/%s/%s/%s/%u", o->name, file->task, file->direction, file->name, number);
   corpus->faults[corpus->fault_count++] = fault;
}

typedef struct ranked {
   uint64_t rank;
   uint32_t site;
} ranked_t;

static int by_rank(const void *a, const void *b) {
   const ranked_t *left = a, *right = b;
   return (left->rank > right->rank) - (left->rank < right->rank);
}

static int by_site(const void *a, const void *b) {
   const ranked_t *left = a, *right = b;
   return (left->site > right->site) - (left->site < right->site);
}

static int apply_operator(corpus_t *corpus, uint32_t kernel, const operator_t *o, const source_t *source,
                          rkb_error_t *err) {
   sites_t sites = {0};
   int status = RKB_OK;
   o->find(source, &sites);
   ranked_t *ranked = rkb_allocate(sites.count + 1, sizeof *ranked);
   if (sites.failed)
      status = rkb_fail(err, RKB_ERR_LIMIT, "%s: too many edits at one site", o->name);
   for (uint32_t i = 0; i < sites.count && status == RKB_OK; i++) {
      char id[512];
      snprintf(id, sizeof id, "%s/%s/%s/%s/%u", o->name, corpus->kernels[kernel].task,
               corpus->kernels[kernel].direction, corpus->kernels[kernel].name, i);
      ranked[i] = (ranked_t){hash_of(id), i};
   }
   if (status == RKB_OK) {
      uint32_t most = o->most ? o->most : USUAL_SITES, taken = sites.count < most ? sites.count : most;
      qsort(ranked, sites.count, sizeof *ranked, by_rank);
      qsort(ranked, taken, sizeof *ranked, by_site);
      for (uint32_t i = 0; i < taken; i++)
         add_fault(corpus, kernel, o, source, &sites.list[ranked[i].site], ranked[i].site);
   }
   free(ranked);
   sites_free(&sites);
   return status;
}

static int add_faults(corpus_t *corpus, const char *tasks, uint32_t kernel, rkb_error_t *err) {
   const kernel_file_t *file = &corpus->kernels[kernel];
   char folder[4096];
   source_t source;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   snprintf(folder, sizeof folder, "%s/%s", tasks, file->task);
   rkb_task_t *task = rkb_task_load(folder, file->direction, 0, &problems);
   int status = task ? RKB_OK : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   if (status != RKB_OK)
      return status;
   char *text = rkb_duplicate(file->text);
   source_open(text, strlen(text), &source);
   add_dims(&source, task);
   for (uint32_t o = 0; o < fault_operator_count && status == RKB_OK; o++)
      status = apply_operator(corpus, kernel, &fault_operators[o], &source, err);
   source_close(&source);
   rkb_task_free(task);
   return status;
}

int corpus_open(const char *tasks, const char *bases, corpus_t *corpus, rkb_error_t *err) {
   *corpus = (corpus_t){0};
   int status = add_kernels(corpus, tasks, "seeds/", err);
   if (status == RKB_OK && bases)
      status = add_kernels(corpus, bases, "", err);
   for (uint32_t i = 0; i < corpus->kernel_count && status == RKB_OK; i++)
      status = add_faults(corpus, tasks, i, err);
   if (status == RKB_OK && !corpus->fault_count)
      status = rkb_fail(err, RKB_ERR_INVALID, "%s holds no task with seed kernels", tasks);
   if (status != RKB_OK)
      corpus_close(corpus);
   return status;
}

void corpus_close(corpus_t *corpus) {
   for (uint32_t i = 0; i < corpus->fault_count; i++) {
      free(corpus->faults[i].id);
      free(corpus->faults[i].where);
      free(corpus->faults[i].text);
   }
   for (uint32_t i = 0; i < corpus->kernel_count; i++) {
      kernel_file_t *k = &corpus->kernels[i];
      free(k->task);
      free(k->direction);
      free(k->name);
      free(k->path);
      free(k->text);
   }
   free(corpus->faults);
   free(corpus->kernels);
   *corpus = (corpus_t){0};
}
