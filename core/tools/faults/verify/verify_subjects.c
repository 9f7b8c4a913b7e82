/* See verify_subjects.h. */
#include "tools/faults/verify/verify_subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"

static void add(bench_t *b, const subject_t *subject) {
   if (b->count == b->room) {
      uint32_t room = b->room ? 2 * b->room : 1024;
      b->list = rkb_grow(b->list, room, sizeof *b->list);
      b->room = room;
   }
   b->list[b->count++] = *subject;
}

/* Writes setting number index of the grid, as JSON and as the end of an id; false past the last. */
static bool setting_at(const rkb_manifest_t *manifest, uint64_t index, subject_t *subject,
                       const kernel_file_t *kernel) {
   size_t json = 0, id = 0;
   json += (size_t)snprintf(subject->tune, sizeof subject->tune, "{");
   id += (size_t)snprintf(subject->id, sizeof subject->id, "%s/%s/%s", kernel->task, kernel->direction,
                          kernel->name);
   for (uint32_t i = 0; i < manifest->tune_count; i++) {
      const uint32_t count = manifest->tune[i].choice_count;
      const long long value = manifest->tune[i].choices[index % count];
      index /= count;
      json += (size_t)snprintf(subject->tune + json, sizeof subject->tune - json, "%s\"%s\": %lld",
                               i ? ", " : "", manifest->tune[i].name, value);
      id += (size_t)snprintf(subject->id + id, sizeof subject->id - id, "%c%s=%lld", i ? ',' : '/',
                             manifest->tune[i].name, value);
      if (json + 2 >= sizeof subject->tune || id >= sizeof subject->id)
         return false;
   }
   snprintf(subject->tune + json, sizeof subject->tune - json, "}");
   return index == 0;
}

/* Adds every setting of the kernel's grid. */
static int add_tunes(bench_t *b, const kernel_file_t *kernel, subject_t *subject, rkb_error_t *err) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse(kernel->path, kernel->text, strlen(kernel->text), &problems);
   int status = manifest ? RKB_OK : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   for (uint64_t i = 0; status == RKB_OK && setting_at(manifest, i, subject, kernel); i++) {
      subject->rank = rkb_hash64(subject->id, strlen(subject->id), 1);
      add(b, subject);
   }
   rkb_manifest_free(manifest);
   return status;
}

static int list_all(bench_t *b, rkb_error_t *err) {
   int status = RKB_OK;
   if (b->settings.kernels) {
      b->hashes = rkb_allocate(b->corpus.kernel_count, sizeof *b->hashes);
      for (uint32_t i = 0; i < b->corpus.kernel_count && status == RKB_OK; i++) {
         const kernel_file_t *k = &b->corpus.kernels[i];
         subject_t subject = {
            .task = k->task, .direction = k->direction, .text = k->text, .hash = b->hashes[i], .tune = "{}"};
         rkb_hash_text(k->text, strlen(k->text), b->hashes[i]);
         snprintf(subject.id, sizeof subject.id, "%s/%s/%s", k->task, k->direction, k->name);
         if (b->settings.every_tune)
            status = add_tunes(b, k, &subject, err);
         else
            add(b, &subject);
      }
      return status;
   }
   for (uint32_t i = 0; i < b->corpus.fault_count && status == RKB_OK; i++) {
      const fault_t *fault = &b->corpus.faults[i];
      const kernel_file_t *k = &b->corpus.kernels[fault->kernel];
      const label_t *label = labels_find(&b->labels, fault->id, fault->hash);
      subject_t subject = {.task = k->task,
                           .direction = k->direction,
                           .text = fault->text,
                           .hash = fault->hash,
                           .tune = "{}",
                           .fault = fault,
                           .label = label,
                           .rank = rkb_hash64(fault->id, strlen(fault->id), 1)};
      if (!label || strcmp(label->name, "fault") != 0)
         continue;
      snprintf(subject.id, sizeof subject.id, "%s", fault->id);
      add(b, &subject);
   }
   return status;
}

static int by_rank(const void *x, const void *y) {
   const subject_t *a = x, *b = y;
   return (a->rank > b->rank) - (a->rank < b->rank);
}

static subject_t *find(bench_t *b, const char *id) {
   for (uint32_t i = 0; i < b->count; i++)
      if (strcmp(b->list[i].id, id) == 0)
         return &b->list[i];
   return NULL;
}

/* Removes from b->list the subjects that the file of --except names, an id on each line; or all subjects that the file of --only does not name. */
static int leave_out(bench_t *b, rkb_error_t *err) {
   const char *const path = b->settings.only ? b->settings.only : b->settings.except;
   char *text = NULL, *rest, *line;
   size_t length;
   uint32_t kept = 0;
   if (!path)
      return RKB_OK;
   int status = rkb_file_read(path, VERIFY_RESULTS_BYTES, &text, &length, err);
   rest = text;
   while (status == RKB_OK && (line = strsep(&rest, "\n")) != NULL) {
      if (!line[0] || line[0] == '#')
         continue;
      subject_t *subject = find(b, line);
      if (!subject)
         status = rkb_fail(err, RKB_ERR_INVALID, "%s: there is no '%s'", path, line);
      else if (!b->settings.only)
         *subject = b->list[--b->count];
      else if (subject >= b->list + kept) { /* the file does not name it a second time */
         const subject_t named = *subject;
         *subject = b->list[kept];
         b->list[kept++] = named;
      }
   }
   if (b->settings.only)
      b->count = kept;
   free(text);
   return status;
}

int subjects_choose(bench_t *b, rkb_error_t *err) {
   const uint32_t sample = b->settings.sample;
   int status = list_all(b, err);
   if (status == RKB_OK)
      status = leave_out(b, err);
   if (status == RKB_OK && (sample || b->settings.every_tune)) {
      qsort(b->list, b->count, sizeof *b->list, by_rank);
      b->count = sample && sample < b->count ? sample : b->count;
   }
   return status == RKB_OK && !b->count ? rkb_fail(err, RKB_ERR_INVALID, "no fault is labelled") : status;
}

/* Reads lines of id, hash, standing, reason and seconds.  Skips lines of other texts. */
int subjects_read_results(bench_t *b, rkb_error_t *err) {
   char *text = NULL, *rest, *line, id[256], hash[RKB_HASH_TEXT], standing[16], reason[48];
   size_t length;
   double seconds;
   if (!rkb_path_exists(b->settings.results))
      return RKB_OK;
   int status = rkb_file_read(b->settings.results, VERIFY_RESULTS_BYTES, &text, &length, err);
   rest = text;
   while (status == RKB_OK && (line = strsep(&rest, "\n")) != NULL) {
      if (sscanf(line, "%255[^\t]\t%64s\t%15s\t%47s\t%lf", id, hash, standing, reason, &seconds) != 5)
         continue;
      subject_t *subject = find(b, id);
      if (!subject || strcmp(subject->hash, hash) != 0)
         continue;
      subject->done = true;
      subject->seconds = seconds;
      snprintf(subject->standing, sizeof subject->standing, "%s", standing);
      snprintf(subject->reason, sizeof subject->reason, "%s", reason);
   }
   free(text);
   return status;
}
