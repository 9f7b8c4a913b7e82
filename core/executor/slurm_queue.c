/* Reads and writes Slurm's texts (slurm_queue.h).  The words of states are those of squeue(1) of Slurm 22.05, "JOB STATE CODES". */
#include "executor/slurm_queue.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "executor/shell_words.h"

/* Columns of fixed widths, because a column may be empty. */
enum { NAME = 48, INDEX = 12, ARRAY = 16, STATE = 24, EXIT_CODE = 12, NODE = 64, REASON = 64 };
const char rkb_slurm_format[] =
   "Name:48,ArrayTaskID:12,ArrayJobID:16,State:24,exit_code:12,NodeList:64,Reason:64";

enum { MAX_JOB = 1000000 };

/* Copies a column without the blanks around it, and moves *at past it.  out has width + 1 bytes. */
static void take_column(const char **at, const char *end, size_t width, char *out) {
   size_t length = (size_t)(end - *at) < width ? (size_t)(end - *at) : width;
   const char *from = *at;
   *at += length;
   while (length > 0 && isspace((unsigned char)from[length - 1]))
      length--;
   while (length > 0 && isspace((unsigned char)*from)) {
      from++;
      length--;
   }
   memcpy(out, from, length);
   out[length] = '\0';
}

static bool read_number(const char *text, uint64_t most, uint64_t *number) {
   char *end;
   if (!isdigit((unsigned char)text[0]))
      return false;
   *number = strtoull(text, &end, 10);
   return *end == '\0' && *number <= most;
}

static uint32_t state_of(const char *word, const char *reason) {
   static const struct {
      const char *word;
      uint32_t state;
   } states[] = {{"RUNNING", RKB_SLURM_RUNS},      {"COMPLETING", RKB_SLURM_RUNS},
                 {"STAGE_OUT", RKB_SLURM_RUNS},    {"SIGNALING", RKB_SLURM_RUNS},
                 {"SUSPENDED", RKB_SLURM_RUNS},    {"STOPPED", RKB_SLURM_RUNS},
                 {"RESIZING", RKB_SLURM_RUNS},     {"COMPLETED", RKB_SLURM_EXITED},
                 {"FAILED", RKB_SLURM_EXITED},     {"OUT_OF_MEMORY", RKB_SLURM_EXITED},
                 {"CANCELLED", RKB_SLURM_REMOVED}, {"REVOKED", RKB_SLURM_REMOVED},
                 {"BOOT_FAIL", RKB_SLURM_ENDED},   {"DEADLINE", RKB_SLURM_ENDED},
                 {"NODE_FAIL", RKB_SLURM_ENDED},   {"PREEMPTED", RKB_SLURM_ENDED},
                 {"TIMEOUT", RKB_SLURM_ENDED},     {"SPECIAL_EXIT", RKB_SLURM_STUCK},
                 {"REQUEUE_HOLD", RKB_SLURM_STUCK}};
   for (size_t i = 0; i < sizeof states / sizeof *states; i++)
      if (strcmp(word, states[i].word) == 0)
         return states[i].state;
   /* After a failed launch Slurm holds the job until somebody releases it.  This happens when a controller is killed after a launch, before it saves its
    * state: it launches the job again, and the node refuses a second copy (seen with 22.05). */
   if (strstr(reason, "launch failed") || strstr(reason, "launch_failed"))
      return RKB_SLURM_STUCK;
   return strstr(reason, "Held") || strstr(reason, "held") ? RKB_SLURM_HELD : RKB_SLURM_WAITS;
}

/* Reads the chunk's number from "NAME-CHUNK". */
static bool read_name(const char *text, const char *name, uint64_t *chunk) {
   size_t length = strlen(name);
   return strncmp(text, name, length) == 0 && text[length] == '-' &&
          read_number(text + length + 1, MAX_JOB / RKB_SLURM_CHUNK, chunk);
}

static bool read_index(const char *text, uint64_t *index) {
   *index = RKB_SLURM_NO_INDEX;
   return strcmp(text, "N/A") == 0 || read_number(text, RKB_SLURM_CHUNK - 1, index);
}

static bool read_row(const char *at, const char *end, const char *name, rkb_slurm_row_t *row) {
   char own[NAME + 1], index[INDEX + 1], array[ARRAY + 1], code[EXIT_CODE + 1];
   uint64_t chunk, element, number, status;
   take_column(&at, end, NAME, own);
   take_column(&at, end, INDEX, index);
   take_column(&at, end, ARRAY, array);
   take_column(&at, end, STATE, row->word);
   take_column(&at, end, EXIT_CODE, code);
   take_column(&at, end, NODE, row->node);
   take_column(&at, end, REASON, row->reason);
   if (!read_name(own, name, &chunk) || !read_index(index, &element) ||
       !read_number(array, UINT32_MAX, &number) || !row->word[0])
      return false;
   row->chunk = (uint32_t)chunk;
   row->index = (uint32_t)element;
   row->array = number;
   row->state = state_of(row->word, row->reason);
   row->exit_code = read_number(code, UINT16_MAX, &status) ? (int)status : -1;
   return true;
}

bool rkb_slurm_next_row(const char **text, const char *name, rkb_slurm_row_t *row) {
   while (**text) {
      const char *at = *text, *end = strchr(at, '\n');
      *text = end ? end + 1 : at + strlen(at);
      if (read_row(at, end ? end : *text, name, row))
         return true;
   }
   return false;
}

void rkb_slurm_elements(rkb_text_t *text, const bool *wanted, uint32_t count) {
   bool any = false;
   for (uint32_t i = 0; i < count; i++) {
      uint32_t last = i;
      if (!wanted[i])
         continue;
      while (last + 1 < count && wanted[last + 1])
         last++;
      rkb_text_format(text, last > i ? "%s%u-%u" : "%s%u", any ? "," : "", i, last);
      any = true;
      i = last;
   }
}

void rkb_slurm_script(rkb_text_t *text, const char *const *command, bool numbered, uint32_t first) {
   rkb_text_add(
      text,
      "#!/bin/sh\n"
      "# srun takes no number of cores from sbatch since Slurm 22.05.\n"
      "exec srun --ntasks=1 --input=none ${SLURM_CPUS_PER_TASK:+\"--cpus-per-task=$SLURM_CPUS_PER_TASK\"} ");
   rkb_shell_words(text, command);
   if (numbered)
      rkb_text_format(text, " \"$((SLURM_ARRAY_TASK_ID + %u))\"", first);
   rkb_text_add(text, "\n");
}
