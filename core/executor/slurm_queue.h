/* The texts that Slurm's commands take and print: squeue's output, the list of an array's elements, the batch script.  Any thread. */
#ifndef RKB_EXECUTOR_SLURM_QUEUE_H
#define RKB_EXECUTOR_SLURM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

enum {
   RKB_SLURM_CHUNK = 1000
}; /* most elements of one array: MaxArraySize is 1001 unless a site changed it */

enum rkb_slurm_state {
   RKB_SLURM_WAITS = 1, /* in the queue, also after it was requeued */
   RKB_SLURM_RUNS,
   RKB_SLURM_HELD,   /* a person or an administrator holds it */
   RKB_SLURM_STUCK,  /* Slurm could not launch it and does not try again */
   RKB_SLURM_EXITED, /* the job's program ended; row.exit_code */
   RKB_SLURM_ENDED,  /* Slurm ended it: a node failed, a time limit passed, or it was preempted without a requeue */
   RKB_SLURM_REMOVED /* scancel removed it */
};

#define RKB_SLURM_NO_INDEX UINT32_MAX /* the row stands for elements of an array that never ran */

typedef struct rkb_slurm_row {
   uint32_t chunk, index; /* job number chunk * RKB_SLURM_CHUNK + index, unless index is RKB_SLURM_NO_INDEX */
   uint64_t array;        /* Slurm's number of the array; a later one is larger */
   uint32_t state;        /* enum rkb_slurm_state */
   int exit_code;
   char node[65], word[25], reason[65]; /* word: Slurm's word for the state */
} rkb_slurm_row_t;

/* The value of squeue's option -O for rows that this file reads. */
extern const char rkb_slurm_format[];

/* Reads the row at *text and moves *text past it.  False at the end.  Skips lines that are no rows of this array.  name: the array's name, without the
 * chunk's number. */
bool rkb_slurm_next_row(const char **text, const char *name, rkb_slurm_row_t *row);

/* Appends the numbers of the wanted elements of a chunk, as "0-3,7".  wanted: a flag for each of the first `count` elements. */
void rkb_slurm_elements(rkb_text_t *text, const bool *wanted, uint32_t count);

/* Appends the script that runs command as a step.  numbered: the command's last word is the element's number, counted from `first`. */
void rkb_slurm_script(rkb_text_t *text, const char *const *command, bool numbered, uint32_t first);

#endif
