/* The passes of labelling a corpus, each spread over threads of its own: the kernels as they are, the faults on
 * the GPU, what is left under compute-sanitizer.  A pass ends early at the deadline; what it did not reach has no
 * label and is done by a later call. */
#ifndef RKB_TOOLS_FAULTS_LABEL_LABELLING_H
#define RKB_TOOLS_FAULTS_LABEL_LABELLING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include "corpus/labels.h"
#include "label/device_run.h"
#include "label/sanitizer.h"

typedef struct original { /* what a kernel's faults are compared with */
   char ptx[RKB_HASH_TEXT];
   char plans[MOST_CASES][RKB_HASH_TEXT];
   bool wrong; /* the oracle says that the kernel itself is wrong: it says nothing of its faults */
   bool asked[SANITIZER_TOOLS], reported[SANITIZER_TOOLS]; /* the tool complains about the kernel itself */
} original_t;

typedef struct labelling {
   corpus_t corpus;
   subjects_t subjects;
   labels_t known;
   original_t *originals;
   rkb_compilers_t *compilers;
   rkb_device_t *device;
   FILE *out;        /* rows are appended as they are made; NULL: nowhere */
   const char *only; /* ids that contain one of these words, which commas separate; or NULL */
   uint32_t jobs;
   double until;   /* seconds since start after which nothing new is begun */
   bool no_device; /* only what needs no GPU: arguments, equal code, what does not build */
   double start;
   atomic_uint next, failed;
   pthread_mutex_t mutex; /* of what follows, out and known */
   uint32_t made;
   char first_error[512];
   char greeting[1024];         /* of the first GPU worker */
   pthread_mutex_t tools_mutex; /* of originals' asked and reported */
} labelling_t;

double labelling_seconds(const labelling_t *l); /* since start */
/* Kernels as they are: their code's identity, and that the oracle finds nothing wrong with them. */
int labelling_check_originals(labelling_t *l, rkb_error_t *err);
int labelling_run(labelling_t *l, rkb_error_t *err);
/* The tools over what is unlabelled and of a kind that they can see. */
int labelling_sanitize(labelling_t *l, rkb_error_t *err);

#endif
