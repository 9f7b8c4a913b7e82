/* Labels a corpus in three passes: the correct kernels, then the faults on the GPU, then compute-sanitizer for faults that are still unlabelled.  Each
 * pass has threads of its own.  A pass ends early at the deadline, and a later call continues. */
#ifndef RKB_TOOLS_FAULTS_LABEL_LABELLING_H
#define RKB_TOOLS_FAULTS_LABEL_LABELLING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include "tools/faults/corpus/labels.h"
#include "tools/faults/label/device_run.h"
#include "tools/faults/label/sanitizer.h"

typedef struct original { /* a correct kernel, with which its faults are compared */
   char ptx[RKB_HASH_TEXT];
   char plans[MOST_CASES][RKB_HASH_TEXT];
   bool wrong; /* the oracle finds the kernel itself wrong, so nothing is known about its faults */
   /* Whether the tool was asked about the kernel itself, and whether it complains. */
   bool asked[SANITIZER_TOOLS], reported[SANITIZER_TOOLS];
} original_t;

typedef struct labelling {
   corpus_t corpus;
   subjects_t subjects;
   labels_t known;
   original_t *originals;
   rkb_compilers_t *compilers;
   rkb_device_t *device;
   FILE *out;        /* receives each row when it is made; or NULL */
   const char *only; /* take only ids that contain one of these words, separated by commas; NULL: all */
   uint32_t jobs;
   double until;   /* seconds since start after which nothing new begins */
   bool no_device; /* label only faults that need no GPU: by arguments, by equal code, and texts that do not build */
   double start;
   atomic_uint next, failed;
   pthread_mutex_t mutex; /* guards what follows, and out and known */
   uint32_t made;
   char first_error[512];
   char greeting[1024];         /* what the first GPU worker said about itself */
   pthread_mutex_t tools_mutex; /* guards asked and reported of the originals */
} labelling_t;

double labelling_seconds(const labelling_t *l); /* seconds since start */
/* Checks the correct kernels: finds the identity of their code, and makes sure that the oracle finds nothing
 * wrong with them. */
int labelling_check_originals(labelling_t *l, rkb_error_t *err);
int labelling_run(labelling_t *l, rkb_error_t *err);
/* Runs the tools over unlabelled faults of a kind that they can see. */
int labelling_sanitize(labelling_t *l, rkb_error_t *err);

#endif
