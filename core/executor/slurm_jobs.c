/* Follows the jobs of an array (slurm_jobs.h).  Loop thread only. */
#include "executor/slurm_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

enum { MAX_LOG_TAIL = 1000 };

static const rkb_executor_events_t *events_of(const rkb_slurm_jobs_t *jobs) {
   return &jobs->options->events;
}

void rkb_slurm_jobs_init(rkb_slurm_jobs_t *jobs, const rkb_executor_options_t *options) {
   char hash[RKB_HASH_TEXT];
   rkb_hash_text(options->directory, strlen(options->directory), hash);
   *jobs = (rkb_slurm_jobs_t){.options = options,
                              .list = rkb_allocate(options->count, sizeof *jobs->list),
                              .name = rkb_format("rkb-%.16s", hash)};
}

void rkb_slurm_jobs_release(rkb_slurm_jobs_t *jobs) {
   free(jobs->name);
   free(jobs->list);
}

/* The jobs' logs ------------------------------------------------------------------------------------------------- */

static char *path_log(const rkb_slurm_jobs_t *jobs, uint32_t job) {
   return rkb_format("%s/jobs/%u-%u.log", jobs->options->directory, job / RKB_SLURM_CHUNK,
                     job % RKB_SLURM_CHUNK);
}

/* Reads the last line that the job wrote. */
static void read_last_line(const rkb_slurm_jobs_t *jobs, uint32_t job, char out[MAX_LOG_TAIL + 1]) {
   char *path = path_log(jobs, job), *line;
   FILE *file = fopen(path, "rb");
   size_t length = 0;
   if (file && fseek(file, -MAX_LOG_TAIL, SEEK_END) != 0)
      rewind(file);
   if (file)
      length = fread(out, 1, MAX_LOG_TAIL, file);
   if (file)
      fclose(file);
   while (length > 0 && (out[length - 1] == '\n' || out[length - 1] == '\r'))
      length--;
   out[length] = '\0';
   line = strrchr(out, '\n');
   if (line)
      memmove(out, line + 1, strlen(line + 1) + 1);
   free(path);
}

/* What the queue says ---------------------------------------------------------------------------------------------- */

static void tell_end(rkb_slurm_jobs_t *jobs, uint32_t number, uint32_t kind, int code, const char *text) {
   rkb_slurm_job_t *job = &jobs->list[number];
   char where[RKB_SLURM_MAX_WHERE];
   const rkb_job_end_t end = {.kind = kind, .exit_code = code, .where = where, .text = text};
   snprintf(where, sizeof where, "%s", job->where[0] ? job->where : "Slurm");
   *job = (rkb_slurm_job_t){.array = job->array, .stuck = job->stuck, .removed = job->removed};
   jobs->changed = true;
   events_of(jobs)->ended(events_of(jobs)->argument, number, &end);
}

/* Reports a job's exit.  rkb-run ends with 0 or 1 when the run has ended, and with 2 or 3 when it cannot run.  Any other exit code comes from srun or a
 * signal. */
static void tell_exit(rkb_slurm_jobs_t *jobs, uint32_t number, const rkb_slurm_row_t *row) {
   const int code = row->exit_code > 255 ? row->exit_code >> 8 : row->exit_code;
   const bool own = strcmp(row->word, "OUT_OF_MEMORY") == 0 || code == 0 || code == 2 || code == 3 ||
                    code == 126 || code == 127;
   char line[MAX_LOG_TAIL + 1], text[MAX_LOG_TAIL + 100];
   read_last_line(jobs, number, line);
   snprintf(text, sizeof text, "%s%s%s", line, line[0] ? "; Slurm: " : "Slurm: ", row->word);
   tell_end(jobs, number, own ? RKB_JOB_EXITED : RKB_JOB_LOST, code, text);
}

static void tell_held(rkb_slurm_jobs_t *jobs, rkb_slurm_job_t *job) {
   char text[400];
   if (job->told_held)
      return;
   job->told_held = true;
   snprintf(text, sizeof text,
            "Slurm holds job %llu_%u (%s): scontrol release %llu_%u lets it run, scancel removes it",
            (unsigned long long)job->row.array, job->row.index, job->row.reason,
            (unsigned long long)job->row.array, job->row.index);
   events_of(jobs)->trouble(events_of(jobs)->argument, text);
}

static void began(rkb_slurm_jobs_t *jobs, uint32_t number) {
   rkb_slurm_job_t *job = &jobs->list[number];
   char where[RKB_SLURM_MAX_WHERE];
   snprintf(where, sizeof where, "%s, Slurm's job %llu_%u", job->row.node, (unsigned long long)job->row.array,
            job->row.index);
   if (job->phase == RKB_SLURM_RUNNING && strcmp(where, job->where) == 0)
      return;
   job->phase = RKB_SLURM_RUNNING;
   memcpy(job->where, where, sizeof where);
   jobs->changed = true;
   events_of(jobs)->began(events_of(jobs)->argument, number, where);
}

static bool is_active(uint32_t state) {
   return state == RKB_SLURM_WAITS || state == RKB_SLURM_RUNS || state == RKB_SLURM_HELD;
}

/* Whether squeue's answer has a row of the array. */
static bool knows_array(rkb_slurm_jobs_t *jobs, const char *answer, uint64_t array) {
   rkb_slurm_row_t row;
   if (jobs->looked_for == array)
      return jobs->found;
   jobs->looked_for = array;
   jobs->found = false;
   while (!jobs->found && rkb_slurm_next_row(&answer, jobs->name, &row))
      jobs->found = row.array == array;
   return jobs->found;
}

/* Decides what happened to a job that is no longer in the answer.  If the answer knows the array, the element was removed while it waited: such an element
 * leaves no row, but its array stays known for a while.  If it does not know the array, the controller was killed before it saved its state. */
static void follow_missing(rkb_slurm_jobs_t *jobs, uint32_t number, const char *answer) {
   const bool removed =
      jobs->list[number].phase != RKB_SLURM_RUNNING && knows_array(jobs, answer, jobs->list[number].array);
   tell_end(jobs, number, removed ? RKB_JOB_REMOVED : RKB_JOB_LOST, 0,
            removed ? "it left the queue" : "Slurm knows the job no more");
}

/* Notes that the element must leave the queue.  Later rows of the element say nothing about the job. */
static void mark_stuck(rkb_slurm_job_t *job) {
   job->stuck = true;
   job->removed = job->row.array;
   job->array = job->row.array + 1;
}

/* Finds the state of one started job from the present queue. */
static void follow(rkb_slurm_jobs_t *jobs, uint32_t number, const char *answer) {
   rkb_slurm_job_t *job = &jobs->list[number];
   const rkb_slurm_row_t row = job->row;
   if (job->phase == RKB_SLURM_WANTED && !(job->seen && is_active(row.state)))
      return; /* if a job of an earlier process has ended, its archive shows the result, not this row */
   if (!job->seen) {
      follow_missing(jobs, number, answer);
      return;
   }
   job->array = row.array;
   switch (row.state) {
   case RKB_SLURM_RUNS:
      began(jobs, number);
      break;
   case RKB_SLURM_HELD:
      tell_held(jobs, job);
      job->phase = RKB_SLURM_WAITING;
      break;
   case RKB_SLURM_STUCK:
      mark_stuck(job);
      tell_end(jobs, number, RKB_JOB_LOST, 0, row.reason[0] ? row.reason : row.word);
      break;
   case RKB_SLURM_WAITS:
      jobs->changed = jobs->changed || job->phase == RKB_SLURM_RUNNING;
      job->phase = RKB_SLURM_WAITING;
      break;
   case RKB_SLURM_EXITED:
      tell_exit(jobs, number, &row);
      break;
   case RKB_SLURM_REMOVED:
      tell_end(jobs, number, RKB_JOB_REMOVED, 0, row.word);
      break;
   default:
      tell_end(jobs, number, RKB_JOB_LOST, 0, row.word);
   }
}

void rkb_slurm_jobs_follow(rkb_slurm_jobs_t *jobs, const char *answer) {
   const char *text = answer;
   rkb_slurm_row_t row;
   jobs->looked_for = 0;
   for (uint32_t i = 0; i < jobs->options->count; i++)
      jobs->list[i].seen = false;
   while (rkb_slurm_next_row(&text, jobs->name, &row)) {
      const uint64_t number = (uint64_t)row.chunk * RKB_SLURM_CHUNK + row.index;
      rkb_slurm_job_t *job =
         row.index != RKB_SLURM_NO_INDEX && number < jobs->options->count ? &jobs->list[number] : NULL;
      if (!job || row.array < job->array || (job->seen && row.array < job->row.array))
         continue;
      job->row = row;
      job->seen = true;
   }
   for (uint32_t i = 0; i < jobs->options->count; i++)
      if (jobs->list[i].phase != RKB_SLURM_IDLE)
         follow(jobs, i, answer);
      else if (jobs->list[i].seen && jobs->list[i].row.state == RKB_SLURM_STUCK)
         mark_stuck(&jobs->list[i]); /* the element of a cell that has ended would stay in the queue */
}

bool rkb_slurm_jobs_any(const rkb_slurm_jobs_t *jobs, uint32_t phase) {
   for (uint32_t i = 0; i < jobs->options->count; i++)
      if (jobs->list[i].phase == phase)
         return true;
   return false;
}

void rkb_slurm_jobs_remove(rkb_slurm_jobs_t *jobs, uint32_t phase, const char *text) {
   for (uint32_t i = 0; i < jobs->options->count; i++)
      if (phase ? jobs->list[i].phase == phase : jobs->list[i].phase != RKB_SLURM_IDLE)
         tell_end(jobs, i, RKB_JOB_REMOVED, 0, text);
}

void rkb_slurm_jobs_handed(rkb_slurm_jobs_t *jobs, uint32_t chunk, uint64_t array) {
   for (uint32_t i = chunk * RKB_SLURM_CHUNK; i < jobs->options->count && i / RKB_SLURM_CHUNK == chunk; i++)
      if (jobs->list[i].phase == RKB_SLURM_WANTED) {
         jobs->list[i].phase = RKB_SLURM_HANDED;
         jobs->list[i].array = array;
      }
   jobs->changed = true;
}
