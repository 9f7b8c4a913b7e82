/* The labels of the corpus: tests/faults/labels.tsv, one fault a line, tabs between the columns, '#' begins a
 * remark. One thread at a time. */
#ifndef RKB_TOOLS_FAULTS_CORPUS_LABELS_H
#define RKB_TOOLS_FAULTS_CORPUS_LABELS_H

#include "corpus/corpus.h"

/* fault: wrong, and something saw it or an argument holds.  equivalent: the same machine code and plans as
 * the kernel it was made from.  unbuildable: does not compile or has no plan.  unlabelled: nothing saw a
 * fault and no argument holds; counted nowhere. */
typedef struct label {
   char id[192];
   char hash[RKB_HASH_TEXT];
   char name[16]; /* fault, equivalent, unbuildable, unlabelled */
   char kind[12]; /* value, memory, race, barrier */
   char set[12];  /* tuned, kept_out */
   /* construction, device, same_code, compiler, memcheck, racecheck, synccheck, initcheck; "-" or none_saw: unlabelled */
   char oracle[24];
   char found[96];    /* numeric.mismatch, cuda_error_<number>, canary, late, the tool's words, "-" */
   char the_case[96]; /* where it was seen, or "-" */
   char family[48];
   uint64_t seed;
   char reasons[320]; /* permitted codes, separated by spaces */
} label_t;

typedef struct labels {
   label_t *list;
   uint32_t count, room;
} labels_t;

int labels_read(const char *path, labels_t *labels, rkb_error_t *err); /* a missing file gives none */
const label_t *labels_find(const labels_t *labels, const char *id, const char *hash);
void labels_put(labels_t *labels, const label_t *label); /* in place of one of that id and hash */
/* Sorted by id, with a head that says what the columns are and the remark (a sentence on where and when),
 * whole. */
int labels_write(const char *path, labels_t *labels, const char *remark, rkb_error_t *err);
void labels_line(const label_t *label, char *out, size_t size);
void labels_free(labels_t *labels);
/* A row for a fault with everything but what an oracle says. */
label_t label_of(const fault_t *fault);

#endif
