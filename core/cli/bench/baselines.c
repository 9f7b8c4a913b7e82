/* Runs two Python processes that prepare PyTorch's variants and time them on request.  The processes are part
 * of rkb and hold no code or data of a candidate.  Owns the processes; they end with it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/bench/bench.h"
#include "task/python.h"

/* The time limit includes: starting PyTorch; choosing for all of a task's cases, max-autotune among them,
 * each within RKB_PREPARE_SECONDS; loading the choices; timing them. */
#define START_SECONDS 120
#define CHOOSE_SECONDS 3600
#define PREPARE_SECONDS 900
#define TIME_SECONDS 600

struct rkb_baselines {
   rkb_pipe_process_t processes[RKB_BENCH_PROCESSES];
   char torch[128];
};

static uint64_t deadline_in(uint64_t seconds) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return ((uint64_t)now.tv_sec + seconds) * 1000000000u + (uint64_t)now.tv_nsec;
}

static int say(rkb_pipe_process_t *peer, const json_t *request, rkb_error_t *err) {
   char *text = json_dumps(request, JSON_COMPACT);
   int status = text ? RKB_OK : rkb_fail_memory(err, 0);
   if (status == RKB_OK &&
       (rkb_pipe_process_send(peer, text, strlen(text), deadline_in(10), NULL, NULL) != RKB_TRANSFERRED ||
        rkb_pipe_process_send(peer, "\n", 1, deadline_in(10), NULL, NULL) != RKB_TRANSFERRED))
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "the process that times PyTorch has ended");
   free(text);
   return status;
}

/* Reads one line, which says whether the request succeeded. */
static int hear(rkb_pipe_process_t *peer, uint64_t seconds, rkb_error_t *err) {
   char line[4096];
   size_t length = 0;
   uint64_t deadline = deadline_in(seconds);
   do {
      enum rkb_transfer end = rkb_pipe_process_receive(peer, line + length, 1, deadline, NULL, NULL);
      if (end != RKB_TRANSFERRED)
         return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                         end == RKB_TRANSFER_LATE ? "the process that times PyTorch did not answer in time"
                                                  : "the process that times PyTorch has ended");
   } while (line[length++] != '\n' && length < sizeof line);
   json_t *answer = rkb_json_parse(line, length, err);
   const char *error = json_string_value(json_object_get(answer, "error"));
   int status = answer ? RKB_OK : RKB_ERR_UNAVAILABLE;
   if (error)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "PyTorch: %s", error);
   json_decref(answer);
   return status;
}

static int start(rkb_baselines_t *b, const char *python, const char *out, rkb_error_t *err) {
   char *script = rkb_find_program("baseline/baseline.py"), *library = rkb_find_program("librkb-timing.so"),
        *self = rkb_find_program("rkb"), *records = rkb_path_join(out, "baselines");
   int status = script && library && self && records
                   ? RKB_OK
                   : rkb_fail(err, RKB_ERR_UNAVAILABLE,
                              "baseline.py or librkb-timing.so is not installed beside this program");
   const char *const command[] = {python,  script,  "--rkb", self,      "--library",
                                  library, "--out", records, "--serve", NULL};
   for (uint32_t i = 0; i < RKB_BENCH_PROCESSES && status == RKB_OK; i++)
      status =
         rkb_pipe_process_start(&b->processes[i], command, (const char *const *)environ, STDERR_FILENO, err);
   for (uint32_t i = 0; i < RKB_BENCH_PROCESSES && status == RKB_OK; i++)
      status = hear(&b->processes[i], START_SECONDS, err);
   free(script);
   free(library);
   free(self);
   free(records);
   return status;
}

int rkb_baselines_open(const char *out, rkb_baselines_t **baselines, rkb_error_t *err) {
   const char *python = rkb_python_find();
   rkb_baselines_t *b = rkb_allocate(1, sizeof *b);
   *baselines = NULL;
   for (uint32_t i = 0; i < RKB_BENCH_PROCESSES; i++)
      b->processes[i] = (rkb_pipe_process_t){.in = -1, .out = -1};
   int status = RKB_OK;
   if (!rkb_python_ask(python, "import torch; print(torch.__version__ if torch.cuda.is_available() else '')",
                       b->torch, sizeof b->torch) ||
       !b->torch[0])
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s has no PyTorch that finds a GPU", python);
   if (status == RKB_OK)
      status = start(b, python, out, err);
   if (status != RKB_OK) {
      rkb_baselines_close(b);
      return status;
   }
   *baselines = b;
   return RKB_OK;
}

void rkb_baselines_close(rkb_baselines_t *b) {
   if (!b)
      return;
   for (uint32_t i = 0; i < RKB_BENCH_PROCESSES; i++)
      rkb_pipe_process_kill(&b->processes[i], NULL);
   free(b);
}

const char *rkb_baselines_torch(const rkb_baselines_t *b) {
   return b->torch;
}

/* Writes "a,b" as ["a", "b"]. */
static json_t *list_of(const char *text) {
   json_t *list = json_array();
   for (size_t length; *text; text += length + (text[length] == ',')) {
      length = strcspn(text, ",");
      if (length)
         json_array_append_new(list, json_stringn(text, length));
   }
   return list;
}

static json_t *request_for(const char *what, const rkb_bench_work_t *work, const char *variants) {
   return json_pack("{s:s, s:s, s:s, s:o}", "do", what, "directory", work->directory, "direction",
                    work->direction, "variants", list_of(variants));
}

int rkb_baselines_choose(rkb_baselines_t *b, const rkb_bench_work_t *work, const char *variants,
                         rkb_error_t *err) {
   json_t *request = request_for("choose", work, variants);
   int status = say(&b->processes[0], request, err);
   if (status == RKB_OK)
      status = hear(&b->processes[0], CHOOSE_SECONDS, err);
   json_decref(request);
   return status;
}

int rkb_baselines_prepare(rkb_baselines_t *b, const rkb_bench_work_t *work, const char *variants,
                          rkb_error_t *err) {
   int status = RKB_OK, heard = RKB_OK;
   json_t *request = request_for("prepare", work, variants);
   for (uint32_t i = 0; i < RKB_BENCH_PROCESSES && status == RKB_OK; i++)
      status = say(&b->processes[i], request, err);
   /* Reads both answers, even if one of them is a failure, so that no answer is left for the next request. */
   for (uint32_t i = 0; i < RKB_BENCH_PROCESSES && status == RKB_OK; i++) {
      rkb_error_t why;
      if (hear(&b->processes[i], PREPARE_SECONDS, &why) != RKB_OK) {
         heard = why.status;
         *err = why;
      }
   }
   json_decref(request);
   return status == RKB_OK ? heard : status;
}

int rkb_baselines_time(rkb_baselines_t *b, uint32_t process, rkb_error_t *err) {
   json_t *request = json_pack("{s:s}", "do", "time");
   int status = say(&b->processes[process], request, err);
   if (status == RKB_OK)
      status = hear(&b->processes[process], TIME_SECONDS, err);
   json_decref(request);
   return status;
}
