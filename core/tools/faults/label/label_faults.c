/* rkb-label-faults: decides for every entry of the fault corpus whether it really is a fault, without the checking machine.
 *
 * A fault whose machine code and plans equal those of its kernel is equivalent.  Otherwise it runs on a GPU: on all check cases and some drawn ones, the
 * smallest first, on several input families, in plain memory and then between guard pages.  An error of the driver, a damaged canary, a run that does not
 * end, or an output outside the task's bounds makes it a fault.  Where nothing is seen, it is still a fault if its operator gives an argument, or if a tool
 * of compute-sanitizer reports an error that the correct kernel does not have.  Else it stays unlabelled.  If the oracle finds a correct kernel wrong, the
 * program names the kernel and labels none of its faults.
 *
 * Inputs and answers are made once, by all cores, before anything runs.  Rows are appended as they are made,
 * so a run that was cut short can go on; at the end the table is sorted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/usage.h"
#include "tools/faults/label/labelling.h"

typedef struct settings {
   const char *tasks, *bases, *out, *cache;
   const char *arguments; /* a file, or NULL */
   const char *remark;    /* where and when the labels were made */
   bool sanitize;
} settings_t;

/* Reads lines of id, label and argument, for faults that no oracle saw. */
static int apply_arguments(const char *path, labels_t *labels, rkb_error_t *err) {
   char *text = NULL, *rest, *line;
   size_t length;
   int status = path ? rkb_file_read(path, 1 << 20, &text, &length, err) : RKB_OK;
   rest = text;
   while (status == RKB_OK && rest && (line = strsep(&rest, "\n")) != NULL) {
      const char *id = strsep(&line, "\t"), *name = strsep(&line, "\t");
      for (uint32_t i = 0; name && id[0] != '#' && i < labels->count; i++) {
         label_t *label = &labels->list[i];
         if (strcmp(label->id, id) != 0 || strcmp(label->name, "unlabelled") != 0)
            continue;
         snprintf(label->name, sizeof label->name, "%s", name);
         snprintf(label->oracle, sizeof label->oracle, "argument");
      }
   }
   free(text);
   return status;
}

/* Writes the table, without rows of faults that the corpus no longer has. */
static int finish(labelling_t *l, const settings_t *s, rkb_error_t *err) {
   labels_t current = {0};
   for (uint32_t i = 0; i < l->corpus.fault_count; i++) {
      const label_t *label = labels_find(&l->known, l->corpus.faults[i].id, l->corpus.faults[i].hash);
      if (label)
         labels_put(&current, label);
   }
   int status = apply_arguments(s->arguments, &current, err);
   if (status == RKB_OK)
      status = labels_write(s->out, &current, s->remark, err);
   labels_free(&current);
   return status;
}

static void print_counts(labelling_t *l) {
   static const char *const names[] = {"fault", "equivalent", "unbuildable", "unlabelled"};
   uint32_t counts[4] = {0};
   for (uint32_t i = 0; i < l->known.count; i++)
      for (uint32_t n = 0; n < 4; n++)
         counts[n] += strcmp(l->known.list[i].name, names[n]) == 0;
   printf("[%3.0f s] %u of %u labelled: %u fault, %u equivalent, %u unbuildable, %u unlabelled\n",
          labelling_seconds(l), l->known.count, l->corpus.fault_count, counts[0], counts[1], counts[2],
          counts[3]);
   fflush(stdout);
}

/* Runs the passes that were asked for, and prints how long each took. */
static int label_all(labelling_t *l, bool sanitize, rkb_error_t *err) {
   int status = l->no_device ? RKB_OK : subjects_make_trials(&l->subjects, l->jobs, err);
   printf("[%3.0f s] inputs and answers of %u tasks and directions\n", labelling_seconds(l),
          l->subjects.count);
   fflush(stdout);
   if (status == RKB_OK)
      status = labelling_check_originals(l, err);
   printf("[%3.0f s] %u kernels as they are\n", labelling_seconds(l), l->corpus.kernel_count);
   fflush(stdout);
   if (status == RKB_OK)
      status = labelling_run(l, err);
   print_counts(l);
   if (status == RKB_OK && sanitize && !l->no_device) {
      if (sanitizer_there())
         status = labelling_sanitize(l, err);
      else
         printf("compute-sanitizer is not there\n");
      print_counts(l);
   }
   return status;
}

static bool read_settings(labelling_t *l, settings_t *s, int count, char **arguments) {
   for (int i = 1; i < count; i++) {
      const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
      if (strcmp(name, "--no-device") == 0 || strcmp(name, "--sanitize") == 0) {
         *(name[2] == 'n' ? &l->no_device : &s->sanitize) = true;
         continue;
      }
      if (!value)
         return false;
      i++;
      if (strcmp(name, "--tasks") == 0)
         s->tasks = value;
      else if (strcmp(name, "--bases") == 0)
         s->bases = value;
      else if (strcmp(name, "--out") == 0)
         s->out = value;
      else if (strcmp(name, "--cache") == 0)
         s->cache = value;
      else if (strcmp(name, "--arguments") == 0)
         s->arguments = value;
      else if (strcmp(name, "--remark") == 0)
         s->remark = value;
      else if (strcmp(name, "--only") == 0)
         l->only = value;
      else if (strcmp(name, "--jobs") == 0)
         l->jobs = (uint32_t)strtoul(value, NULL, 10);
      else if (strcmp(name, "--until") == 0)
         l->until = strtod(value, NULL);
      else
         return false;
   }
   return s->tasks && s->out && l->jobs > 0;
}

static int open_labelling(labelling_t *l, const settings_t *s, rkb_error_t *err) {
   rkb_compilers_config_t config = {.processes = l->jobs, .cache_directory = s->cache};
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   l->device = rkb_device_load("h200", &problems);
   int status =
      l->device ? corpus_open(s->tasks, s->bases, &l->corpus, err) : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   if (status == RKB_OK)
      status = labels_read(s->out, &l->known, err);
   if (status == RKB_OK)
      status = subjects_open(&l->corpus, s->tasks, &l->subjects, err);
   if (status == RKB_OK)
      status = rkb_compilers_open(&config, &l->compilers, err);
   l->originals = rkb_allocate(l->corpus.kernel_count, sizeof *l->originals);
   if (status == RKB_OK && (l->out = fopen(s->out, "a")) == NULL)
      status = rkb_fail(err, RKB_ERR_IO, "cannot write %s", s->out);
   return status;
}

static void close_labelling(labelling_t *l) {
   if (l->out)
      fclose(l->out);
   rkb_compilers_close(l->compilers);
   subjects_close(&l->subjects);
   labels_free(&l->known);
   corpus_close(&l->corpus);
   rkb_device_free(l->device);
   free(l->originals);
   pthread_mutex_destroy(&l->mutex);
   pthread_mutex_destroy(&l->tools_mutex);
}

int main(int count, char **arguments) {
   static labelling_t l;
   settings_t settings = {.cache = "", .remark = "Nothing was said on where and when."};
   rkb_error_t err = {0};
   l.jobs = 16;
   l.until = 1e9;
   l.start = labelling_seconds(&l);
   pthread_mutex_init(&l.mutex, NULL);
   pthread_mutex_init(&l.tools_mutex, NULL);
   if (!read_settings(&l, &settings, count, arguments))
      return rkb_usage(
         count, arguments, -1,
         "usage: rkb-label-faults --tasks DIR [--bases DIR] --out labels.tsv [--jobs N] [--cache DIR] [--only WORD,...]\n"
         "                        [--arguments FILE] [--remark TEXT] [--until SECONDS] [--sanitize] [--no-device]\n"
         "Labels the faults of the corpus that have no label yet, on a GPU.\n");
   int status = open_labelling(&l, &settings, &err);
   if (status == RKB_OK)
      status = label_all(&l, settings.sanitize, &err);
   if (status == RKB_OK)
      status = finish(&l, &settings, &err);
   if (l.first_error[0])
      fprintf(stderr, "%u not labelled; the first: %s\n", atomic_load(&l.failed), l.first_error);
   if (status != RKB_OK)
      fprintf(stderr, "%s\n", err.message);
   close_labelling(&l);
   return status != RKB_OK || l.first_error[0] ? 3 : 0;
}
