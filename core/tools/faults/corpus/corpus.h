/* The fault corpus: every operator at its sites in every seed kernel and every base kernel, as texts with
 * ids.  The same files give the same corpus.  Immutable once open; any thread. */
#ifndef RKB_TOOLS_FAULTS_CORPUS_CORPUS_H
#define RKB_TOOLS_FAULTS_CORPUS_CORPUS_H

#include "base/hash.h"
#include "tools/faults/operators/operator.h"
#include "task/task.h"

enum { USUAL_SITES = 4 }; /* most sites of one operator in one kernel; the hashes of their ids choose them */

typedef struct kernel_file {
   char *task, *direction, *name; /* name: of the file, without .cu */
   char *path;
   char *text;
   bool kept_out;
} kernel_file_t;

typedef struct fault {
   char *id; /* operator/task/direction/kernel/site */
   const operator_t *operator_of;
   uint32_t kernel; /* index into the corpus's kernels */
   char *text;
   size_t bytes;
   char hash[RKB_HASH_TEXT]; /* of the text */
   char *where;              /* see site_t; NULL: the operator does not say at which shapes the fault shows */
   bool kept_out;            /* its kernel or its operator is kept out of tuning */
} fault_t;

typedef struct corpus {
   kernel_file_t *kernels;
   uint32_t kernel_count, kernel_room;
   fault_t *faults;
   uint32_t fault_count, fault_room;
} corpus_t;

/* Opens the corpus.  tasks: a folder of task directories, whose kernels are seeds/<direction>/<name>.cu.  bases: a folder with further kernels,
 * <task>/<direction>/<name>.cu; or NULL. */
int corpus_open(const char *tasks, const char *bases, corpus_t *corpus, rkb_error_t *err);
void corpus_close(corpus_t *corpus);
/* Whether an operator is kept out of tuning: three of the first operators, and all that were added later. */
bool corpus_operator_kept_out(const operator_t *operator_of);

#endif
