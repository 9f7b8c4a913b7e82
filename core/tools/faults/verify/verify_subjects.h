/* The subjects that rkb-bench-verify checks, and their results.  One thread. */
#ifndef RKB_TOOLS_FAULTS_VERIFY_VERIFY_SUBJECTS_H
#define RKB_TOOLS_FAULTS_VERIFY_VERIFY_SUBJECTS_H

#include "tools/faults/corpus/labels.h"

enum { VERIFY_MOST_JOBS = 64, VERIFY_MOST_PLUGIN_PATHS = 16 };
#define VERIFY_CRASH "crash" /* the standing of a subject that ended the process which checked it */
#define VERIFY_RESULTS_BYTES ((size_t)8 << 20)

typedef struct settings {
   const char *tasks, *bases, *labels, *results, *pipeline, *misses, *except, *only;
   const char *plugin_paths[VERIFY_MOST_PLUGIN_PATHS + 1]; /* NULL after the last */
   uint32_t jobs, sample;
   bool kernels, every_tune;
} settings_t;

typedef struct subject { /* one thing to check */
   char id[256];
   const char *task, *direction, *text, *hash;
   char tune[256];
   uint64_t rank;
   const fault_t *fault; /* NULL: a correct kernel */
   const label_t *label;
   char standing[16], reason[48];
   double seconds;
   bool done;
} subject_t;

typedef struct bench {
   settings_t settings;
   corpus_t corpus;
   labels_t labels;
   char (*hashes)[RKB_HASH_TEXT]; /* of correct kernels */
   subject_t *list;
   uint32_t count, room;
} bench_t;

/* Chooses the labelled faults of the corpus, or its correct kernels with one setting or all.  If a sample is asked for, takes only a sample.  Takes no
 * subject that the list settings.except names, or that the list settings.only does not name.  RKB_ERR_INVALID: there are none, or the list names something
 * else. */
int subjects_choose(bench_t *b, rkb_error_t *err);
/* Marks the subjects whose texts have a line in the results' file as done.  Without a file, none is done. */
int subjects_read_results(bench_t *b, rkb_error_t *err);

#endif
