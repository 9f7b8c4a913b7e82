/* The labels of the corpus in tests/faults/labels.tsv: one fault a line, tabs between the columns; '#' begins
 * a remark.  One thread at a time. */
#ifndef RKB_TOOLS_FAULTS_CORPUS_LABELS_H
#define RKB_TOOLS_FAULTS_CORPUS_LABELS_H

#include "tools/faults/corpus/corpus.h"

/* fault: the kernel is wrong, because an oracle saw it or because an argument shows it.  equivalent: it has the same machine code and plans as the kernel
 * it was made from.  unbuildable: it does not compile or has no plan.  unlabelled: no oracle saw a fault and no argument shows one; no statistic counts it.
 * */
typedef struct label {
   char id[192];
   char hash[RKB_HASH_TEXT];
   char name[16]; /* fault, equivalent, unbuildable, unlabelled */
   char kind[12]; /* value, memory, race, barrier */
   char set[12];  /* tuned, kept_out */
   /* construction, device, same_code, compiler, memcheck, racecheck, synccheck, initcheck; "-" or none_saw: unlabelled */
   char oracle[24];
   char found[96];    /* numeric.mismatch, cuda_error_<number>, canary, late, the tool's words, "-" */
   char the_case[96]; /* the case in which the fault was seen, or "-" */
   char family[48];
   uint64_t seed;
   char reasons[320]; /* permitted codes, separated by spaces */
} label_t;

typedef struct labels {
   label_t *list;
   uint32_t count, room;
} labels_t;

int labels_read(const char *path, labels_t *labels, rkb_error_t *err); /* a missing file gives no labels */
const label_t *labels_find(const labels_t *labels, const char *id, const char *hash);
void labels_put(labels_t *labels, const label_t *label); /* replaces the label with the same id and hash */
/* Writes all labels, sorted by id, after a head that explains the columns and the remark (a sentence on where
 * and when they were made). */
int labels_write(const char *path, labels_t *labels, const char *remark, rkb_error_t *err);
void labels_line(const label_t *label, char *out, size_t size);
void labels_free(labels_t *labels);
/* Returns a row for a fault with everything but what an oracle finds. */
label_t label_of(const fault_t *fault);

#endif
