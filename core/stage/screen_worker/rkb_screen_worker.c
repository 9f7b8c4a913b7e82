/* rkb-screen-worker: builds and judges candidates for a run of another process, often on another machine
 * (stage/screen/screen_protocol.h).  It opens the run's pipeline and then serves one request after another: a compile, in a
 * compiler's process, or a job, in a fork of the server (stage/confined).  It passes the bytes of candidates on and reads none of
 * them; it holds no keys, no archive and no secret.  Users do not start it; stage/screen/screen_start.c does.  It has one thread
 * besides those of libraries. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/file.h"
#include "kernel/compile_record.h"
#include "kernel/compiler_protocol.h"
#include "stage/confined/confined_fork.h"
#include "stage/confined_job.h"
#include "stage/screen/screen_protocol.h"

typedef struct worker {
   rkb_pipe_process_t program; /* the program as a peer: this process writes to `in` and reads from `out` */
   rkb_runtime_t runtime;
   rkb_arena_t *setup; /* holds the texts of the setup */
} worker_t;

static bool program_is_gone(void *argument) {
   const worker_t *worker = argument;
   struct pollfd input = {.fd = worker->program.out, .events = POLLRDHUP};
   return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL));
}

static bool tell(worker_t *worker, rkb_text_t *answer) {
   const bool told = !answer->cut && confined_send(&worker->program, answer->data, answer->length, program_is_gone, worker);
   rkb_text_free(answer);
   return told;
}

static bool hear(worker_t *worker, size_t most, char **payload, record_reader_t *in) {
   return confined_receive(&worker->program, most, payload, in, NULL, NULL);
}

/* Setup ------------------------------------------------------------------------------------------------------------------ */

/* Opens the pipeline from its text, through a file in memory that has no name. */
static rkb_pipeline_t *open_pipeline(const char *text, const char *const *plugins, rkb_error_t *err) {
   char path[64];
   rkb_problems_t problems;
   rkb_pipeline_t *pipeline = NULL;
   const int file = memfd_create("pipeline", MFD_CLOEXEC);
   if (file < 0 || !record_write_all(file, text, strlen(text))) {
      rkb_fail(err, RKB_ERR_IO, "it has no memory for the pipeline");
   } else {
      snprintf(path, sizeof path, "/proc/self/fd/%d", file);
      rkb_problems_init(&problems);
      const rkb_pipeline_options_t options = {.path = path, .plugin_paths = plugins};
      pipeline = rkb_pipeline_open(&options, &problems);
      if (!pipeline)
         rkb_problems_error(&problems, err);
      rkb_problems_free(&problems);
   }
   if (file >= 0)
      close(file);
   return pipeline;
}

/* Opens everything that a job or a compile needs.  The keeper is forked here, while the process has one thread. */
static int open_runtime(worker_t *worker, const char *text, const char *const *plugins, rkb_error_t *err) {
   rkb_runtime_t *runtime = &worker->runtime;
   runtime->pipeline = open_pipeline(text, plugins, err);
   if (!runtime->pipeline)
      return err->status;
   const rkb_confined_work_t work = rkb_confined_work_of(runtime);
   int status = rkb_log_open(RKB_LOG_ERROR + 1, false, NULL, &runtime->log, err);
   if (status == RKB_OK)
      status = rkb_confined_open(runtime->pipeline, &work, &runtime->confined, err);
   const rkb_compilers_config_t config = {
      .processes = 1, .cpu_limit_ns = runtime->pipeline->limit_compile_ns, .cache_directory = ""};
   return status == RKB_OK && runtime->pipeline->build >= 0 ? rkb_compilers_open(&config, &runtime->compilers, err) : status;
}

static bool read_setup(worker_t *worker, record_reader_t *in, const char **version, const char *const **plugins,
                       const char **text) {
   rkb_arena_t *arena = worker->setup;
   size_t length;
   if (record_u32(in) != SCREEN_SETUP)
      return false;
   const char *bytes = record_bytes(in, &length, SCREEN_MAX_TEXT);
   *version = rkb_arena_text(arena, bytes ? bytes : "", length);
   const uint32_t count = record_count(in, SCREEN_MAX_PLUGINS, 8);
   const char **list = rkb_arena_array(arena, count + 1, sizeof *list);
   for (uint32_t i = 0; i < count; i++) {
      bytes = record_bytes(in, &length, SCREEN_MAX_TEXT);
      list[i] = rkb_arena_text(arena, bytes ? bytes : "", length);
   }
   *plugins = list;
   bytes = record_bytes(in, &length, SCREEN_MAX_SETUP);
   *text = rkb_arena_text(arena, bytes ? bytes : "", length);
   return !in->bad || **version; /* from a program of another version only the version text is readable */
}

static bool set_up(worker_t *worker) {
   const char *version = "", *text = "", *const *plugins = NULL;
   char *payload = NULL;
   record_reader_t in;
   rkb_error_t err = {0};
   if (!hear(worker, SCREEN_MAX_SETUP, &payload, &in) || !read_setup(worker, &in, &version, &plugins, &text)) {
      free(payload);
      return false;
   }
   int status = strcmp(version, RKB_VERSION) != 0 || in.bad
                   ? rkb_fail(&err, RKB_ERR_UNAVAILABLE, "the run's rkb is %.60s, and this is " RKB_VERSION, version)
                   : open_runtime(worker, text, plugins, &err);
   rkb_text_t answer;
   rkb_text_init(&answer, SCREEN_MAX_READY);
   record_put_u32(&answer, SCREEN_READY);
   record_put_text(&answer, RKB_VERSION);
   record_put_u32(&answer, status == RKB_OK);
   rkb_text_t identity;
   rkb_text_init(&identity, SCREEN_MAX_READY / 2);
   if (status == RKB_OK)
      screen_identity_write(worker->runtime.pipeline, &identity);
   record_put_text(&answer, status == RKB_OK ? rkb_text_get(&identity) : err.message);
   rkb_text_free(&identity);
   free(payload);
   return tell(worker, &answer) && status == RKB_OK;
}

/* Requests --------------------------------------------------------------------------------------------------------------- */

static bool serve_compile(worker_t *worker, record_reader_t *in) {
   const uint64_t number = record_u64(in);
   rkb_arena_t *arena = rkb_arena_new(16u << 20);
   compile_input_t input;
   compile_output_t output = {.answer = NULL};
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_text_t answer;
   bool good = worker->runtime.compilers && compile_input_read(in, arena, &input);
   if (good) {
      const int status = compilers_compile(worker->runtime.compilers, &input, program_is_gone, worker, &output, &finding, &err);
      rkb_text_init(&answer, SCREEN_MAX_COMPILED);
      record_put_u32(&answer, SCREEN_COMPILED);
      record_put_u64(&answer, number);
      record_put_u32(&answer, (uint32_t)status);
      record_put_text(&answer, err.message);
      record_put_u32(&answer, output.uncertain);
      if (status == RKB_OK)
         compile_output_write(&output, input.expression_count, &finding, &answer);
      good = tell(worker, &answer);
   }
   compile_output_free(&output);
   rkb_arena_free(arena);
   return good;
}

static bool tell_failure(worker_t *worker, const rkb_error_t *err) {
   rkb_text_t answer;
   rkb_text_init(&answer, SCREEN_MAX_READY);
   record_put_u32(&answer, CONFINED_FAILED);
   record_put_u32(&answer, (uint32_t)err->status);
   record_put_text(&answer, err->message);
   record_put_text(&answer, err->option);
   record_put_u32(&answer, 0); /* items */
   record_put_u32(&answer, 0); /* notes */
   return tell(worker, &answer);
}

/* Passes one frame on.  Returns its kind, or 0 when it did not pass. */
static uint32_t hand_on(rkb_pipe_process_t *from, size_t most, bool (*from_over)(void *), void *from_argument,
                        rkb_pipe_process_t *to, bool (*to_over)(void *), void *to_argument) {
   char *payload = NULL;
   record_reader_t in;
   uint32_t kind = 0;
   if (confined_receive(from, most, &payload, &in, from_over, from_argument)) {
      const size_t bytes = in.size;
      kind = record_u32(&in);
      if (!confined_send(to, payload, bytes, to_over, to_argument))
         kind = 0;
   }
   free(payload);
   return kind;
}

/* Passes frames between the program and the fork until the job is done or one of them is gone. */
static bool relay(worker_t *worker, confined_fork_t *fork, rkb_error_t *err) {
   rkb_pipe_process_t *program = &worker->program, *job = &fork->channel;
   bool asked = true; /* whether the next frame comes from the program; otherwise it comes from the fork */
   uint32_t kind = 0;
   while (kind != CONFINED_DONE) {
      if (asked)
         kind = hand_on(program, CONFINED_MAX_REQUEST, program_is_gone, worker, job, confined_fork_over, fork);
      else
         kind = hand_on(job, CONFINED_MAX_ANSWER, confined_fork_over, fork, program, program_is_gone, worker);
      if (!kind && program_is_gone(worker))
         return false;
      if (!kind) {
         confined_fork_explain(fork, err);
         return tell_failure(worker, err);
      }
      asked = !asked;
   }
   return true;
}

static bool serve_job(worker_t *worker, record_reader_t *in) {
   const uint64_t number = record_u64(in);
   const uint32_t entry = record_u32(in);
   const rkb_pipeline_t *pipeline = worker->runtime.pipeline;
   if (in->bad || entry >= pipeline->entry_count || !worker->runtime.confined ||
       !rkb_confined_wanted(pipeline->entries[entry].stage))
      return false;
   rkb_text_t begun;
   rkb_text_init(&begun, 64);
   record_put_u32(&begun, SCREEN_BEGUN);
   record_put_u64(&begun, number);
   if (!tell(worker, &begun))
      return false;
   const confined_start_t start = confined_fork_plan(worker->runtime.confined, entry, 1);
   confined_fork_t fork = {.nobody_waits = program_is_gone, .argument = worker};
   rkb_error_t err = {0};
   const bool served = confined_fork_start(worker->runtime.confined, &start, &fork, &err) == RKB_OK && relay(worker, &fork, &err);
   confined_fork_leave(&fork);
   return served;
}

static bool serve_one(worker_t *worker) {
   char *payload = NULL;
   record_reader_t in;
   bool served = hear(worker, COMPILER_MAX_REQUEST, &payload, &in);
   const uint32_t kind = served ? record_u32(&in) : 0;
   served = kind == SCREEN_COMPILE ? serve_compile(worker, &in) : kind == SCREEN_JOB && serve_job(worker, &in);
   free(payload);
   return served;
}

/* Moves the protocol to descriptors of its own and points standard input and output to /dev/null, so that a library's output
 * cannot corrupt the frames. */
static bool take_descriptors(rkb_pipe_process_t *program) {
   program->out = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
   program->in = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
   const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
   if (program->in < 0 || program->out < 0 || nothing < 0)
      return false;
   dup2(nothing, STDIN_FILENO);
   dup2(nothing, STDOUT_FILENO);
   close(nothing);
   return fcntl(program->in, F_SETFL, O_NONBLOCK) == 0 && fcntl(program->out, F_SETFL, O_NONBLOCK) == 0;
}

int main(int argc, char **argv) {
   worker_t worker = {.program = {.pid = 0}};
   (void)argv;
   if (argc != 1 || isatty(STDIN_FILENO)) {
      fprintf(stderr, "rkb-screen-worker is started by rkb-run (workers: with device: none); it does nothing on its own\n");
      return 2;
   }
   signal(SIGPIPE, SIG_IGN);
   worker.setup = rkb_arena_new(0);
   bool serves = take_descriptors(&worker.program) && set_up(&worker);
   prctl(PR_SET_DUMPABLE, 0); /* must follow the opening of the pipeline, because it makes /proc/self/fd unreadable */
   while (serves)
      serves = serve_one(&worker);
   rkb_confined_close(worker.runtime.confined);
   rkb_compilers_close(worker.runtime.compilers);
   rkb_pipeline_free(worker.runtime.pipeline);
   rkb_log_close(worker.runtime.log);
   rkb_arena_free(worker.setup);
   return 0;
}
