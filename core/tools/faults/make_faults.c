/* rkb-make-faults: lists the fault corpus, or writes it as files.  One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/usage.h"
#include "tools/faults/corpus/corpus.h"
#include "tools/faults/corpus/labels.h"

static int write_texts(const corpus_t *corpus, const char *folder, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t i = 0; i < corpus->fault_count && status == RKB_OK; i++) {
      char below[512], *path, *parent;
      snprintf(below, sizeof below, "%s.cu", corpus->faults[i].id);
      path = rkb_path_join(folder, below);
      parent = rkb_path_directory(path);
      status = rkb_make_directories(parent, err);
      if (status == RKB_OK)
         status = rkb_file_write(path, corpus->faults[i].text, corpus->faults[i].bytes, err);
      free(parent);
      free(path);
   }
   return status;
}

static bool same_kernel(const corpus_t *corpus, uint32_t a, uint32_t b) {
   const kernel_file_t *left = &corpus->kernels[corpus->faults[a].kernel];
   const kernel_file_t *right = &corpus->kernels[corpus->faults[b].kernel];
   return strcmp(corpus->faults[a].hash, corpus->faults[b].hash) == 0 &&
          strcmp(left->task, right->task) == 0 && strcmp(left->direction, right->direction) == 0;
}

/* Whether an earlier fault has the same text, because two operators can make the same text of one kernel. */
static bool stands_before(const corpus_t *corpus, uint32_t fault) {
   for (uint32_t i = 0; i < fault; i++)
      if (same_kernel(corpus, i, fault))
         return true;
   return false;
}

static void write_correct(FILE *file, const corpus_t *corpus) {
   for (uint32_t i = 0; i < corpus->kernel_count; i++) {
      const kernel_file_t *kernel = &corpus->kernels[i];
      char *path = realpath(kernel->path, NULL);
      fprintf(file, "%s\tright\t%s\t%s\t\t%s\n", path ? path : kernel->path, kernel->task, kernel->direction,
              kernel->kept_out ? "kept" : "tuned");
      free(path);
   }
}

/* Writes the table that `rkb judge` reads: the faults that are known to be wrong, and the correct kernels.  A fault labelled "equivalent" is left out: its
 * plans equal the original's in the check cases, and may differ at a bench shape. */
static int write_table(const corpus_t *corpus, const labels_t *labels, const char *folder, rkb_error_t *err) {
   char *path = rkb_path_join(folder, "corpus.tsv");
   FILE *file = fopen(path, "w");
   int status = file ? RKB_OK : rkb_fail(err, RKB_ERR_UNAVAILABLE, "%.300s cannot be written", path);
   if (file) {
      fprintf(file, "file\tlabel\ttask\tdirection\tkind\tpart\n");
      write_correct(file, corpus);
      for (uint32_t i = 0; i < corpus->fault_count; i++) {
         const fault_t *fault = &corpus->faults[i];
         const kernel_file_t *kernel = &corpus->kernels[fault->kernel];
         const label_t *label = labels_find(labels, fault->id, fault->hash);
         if (label && strcmp(label->name, "fault") == 0 && !stands_before(corpus, i))
            fprintf(file, "%s.cu\twrong\t%s\t%s\t%s\t%s\n", fault->id, kernel->task, kernel->direction,
                    label->kind, fault->kept_out ? "kept" : "tuned");
      }
      if (fclose(file) != 0)
         status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%.300s could not be written", path);
   }
   free(path);
   return status;
}

static void print_list(const corpus_t *corpus) {
   for (uint32_t i = 0; i < corpus->fault_count; i++)
      printf("%s\t%s\t%s\t%s\n", corpus->faults[i].id, corpus->faults[i].hash,
             corpus->faults[i].operator_of->reasons, corpus->faults[i].kept_out ? "kept_out" : "tuned");
}

static void print_summary(const corpus_t *corpus) {
   uint32_t kept = 0;
   for (uint32_t o = 0; o < fault_operator_count; o++) {
      uint32_t count = 0;
      for (uint32_t i = 0; i < corpus->fault_count; i++)
         count += corpus->faults[i].operator_of == &fault_operators[o];
      printf("%5u  %-26s %s%s\n", count, fault_operators[o].name, fault_operators[o].does,
             corpus_operator_kept_out(&fault_operators[o]) ? " [kept out]" : "");
   }
   for (uint32_t i = 0; i < corpus->fault_count; i++)
      kept += corpus->faults[i].kept_out;
   printf("%u faults of %u kernels by %u operators, %u of them kept out of tuning\n", corpus->fault_count,
          corpus->kernel_count, fault_operator_count, kept);
}

int main(int count, char **arguments) {
   const char *tasks = NULL, *bases = NULL, *out = NULL, *labelled = NULL;
   labels_t labels = {0};
   bool list = false, usage = false;
   corpus_t corpus;
   rkb_error_t err;
   for (int i = 1; i < count; i++) {
      bool more = i + 1 < count;
      if (strcmp(arguments[i], "--list") == 0)
         list = true;
      else if (more && strcmp(arguments[i], "--tasks") == 0)
         tasks = arguments[++i];
      else if (more && strcmp(arguments[i], "--bases") == 0)
         bases = arguments[++i];
      else if (more && strcmp(arguments[i], "--out") == 0)
         out = arguments[++i];
      else if (more && strcmp(arguments[i], "--labels") == 0)
         labelled = arguments[++i];
      else
         usage = true;
   }
   if (usage || !tasks || (labelled && !out))
      return rkb_usage(
         count, arguments, -1,
         "usage: rkb-make-faults --tasks DIR [--bases DIR] [--list] [--out DIR [--labels TSV]]\n"
         "Breaks the correct kernels of DIR in every way of the corpus: how many by operator, their names, or their texts.\n"
         "With --labels (tests/faults/labels.tsv), --out also gets corpus.tsv, which 'rkb judge' reads.\n");
   int status = corpus_open(tasks, bases, &corpus, &err);
   if (status == RKB_OK && out)
      status = write_texts(&corpus, out, &err);
   if (status == RKB_OK && labelled)
      status = labels_read(labelled, &labels, &err);
   if (status == RKB_OK && labelled)
      status = write_table(&corpus, &labels, out, &err);
   if (status == RKB_OK && list)
      print_list(&corpus);
   else if (status == RKB_OK)
      print_summary(&corpus);
   if (status != RKB_OK) {
      fprintf(stderr, "%s\n", err.message);
      return 3;
   }
   labels_free(&labels);
   corpus_close(&corpus);
   return 0;
}
