/* A labelled corpus: kernels of which it is known whether they are right.  A table (tab-separated, its first line names the columns)
 * lists them:
 *
 *   file       the kernel, relative to the table
 *   label      right or wrong
 *   task       a shipped task's name, or a directory
 *   direction  forward or backward
 *   kind       what is wrong, for the table of kinds: memory, race, value, ...; optional
 *   part       tuned or kept: whether a judge may have been tuned with it; optional, else kept
 *
 * Lines that begin with '#' are comments.  One thread. */
#ifndef RKB_CLI_JUDGE_LABELLED_CORPUS_H
#define RKB_CLI_JUDGE_LABELLED_CORPUS_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>
#include "base/hash.h"

typedef struct rkb_labelled_kernel {
   char *path; /* absolute */
   char *task, *direction, *kind;
   bool wrong, kept;
   char hash[RKB_HASH_TEXT]; /* hash of its text: a candidate's source_hash */
} rkb_labelled_kernel_t;

typedef struct rkb_labelled_corpus {
   rkb_labelled_kernel_t *list; /* sorted by task and direction, and within them in the table's order */
   uint32_t count;
} rkb_labelled_corpus_t;

/* Reads the table at path, or the table of the folder at path (labelled_folder.h), and every kernel that it names.  If a text occurs twice for one task
 * and direction, this is an error, because one of the two would not be judged.  RKB_ERR_INVALID with "path:line: ..." otherwise. */
int rkb_labelled_corpus_read(const char *path, rkb_labelled_corpus_t *corpus, rkb_error_t *err);
void rkb_labelled_corpus_free(rkb_labelled_corpus_t *corpus);
/* Keeps count kernels, chosen by the hash of seed and text.  The same seed keeps the same kernels, whatever
 * their order. */
void rkb_labelled_corpus_sample(rkb_labelled_corpus_t *corpus, uint32_t count, uint64_t seed);
/* If the table assigns no kernel to a part, gives every second kernel of each label to the part that tunes,
 * by the hash of seed and text. */
void rkb_labelled_corpus_divide(rkb_labelled_corpus_t *corpus, uint64_t seed);
/* One of its parts.  The caller frees its list; the kernels in it are borrowed. */
rkb_labelled_corpus_t rkb_labelled_corpus_part(const rkb_labelled_corpus_t *corpus, bool kept);
/* The kernel with that text under that task and direction, or NULL.  task: only the name, without a
 * directory. */
const rkb_labelled_kernel_t *rkb_labelled_corpus_find(const rkb_labelled_corpus_t *corpus, const char *task,
                                                      const char *direction, const char *hash);

#endif
