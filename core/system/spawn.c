/* Starts a child process with vfork, a few system calls and execve.
 *
 * Why not uv_spawn: it cannot limit the child's memory, it takes part in the loop's signal handling, and a blocking caller has no
 * loop.  Why not posix_spawn: it cannot limit memory either.  Why not fork: it copies the page tables, which takes tens of
 * milliseconds in a process with gigabytes of archive and cache.
 *
 * The child borrows this thread's memory until it calls execve.  Therefore it makes only system calls, and every signal is blocked
 * meanwhile.  The code is also correct where vfork behaves as fork, as under the thread sanitizer: a failure in the child comes
 * back through a pipe, and the end of that pipe says that execve was reached.  A pidfd (Linux 5.3) reports the child's end.  It
 * belongs to this child alone, so no SIGCHLD handler is shared with libuv. */
#include "system/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"

#define DEFAULT_OUTPUT (1u << 20)

/* Everything the child needs, prepared before vfork. */
typedef struct plan {
   const char *path;
   char *const *arguments;
   char *const *environment;
   const char *directory;
   int files[3]; /* its standard input, output and error */
   uint64_t memory_limit;
   sigset_t signals; /* to restore */
   int report;       /* write end of a pipe that execve closes */
} plan_t;

/* The message that the child writes to the pipe when it cannot become the program. */
typedef struct report {
   const char *step; /* a literal: its address is valid in both processes */
   int number;       /* errno */
} report_t;

static int limit(int resource, uint64_t bytes) {
   const struct rlimit both = {.rlim_cur = bytes, .rlim_max = bytes};
   return setrlimit(resource, &both);
}

/* Runs in the child.  Resets all signals: a caught signal would run our handler in the parent's memory, and an ignored signal (SIGPIPE) would stay ignored
 * after execve. */
static void reset_signals(void) {
   for (int number = 1; number < NSIG; number++) {
      struct sigaction action;
      if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
         signal(number, SIG_DFL);
   }
}

/* Runs in the child.  Does not return on success; otherwise returns the step that failed. */
static const char *become(const plan_t *plan) {
   if (setsid() < 0)
      return "start a session";
   if (plan->directory && chdir(plan->directory) != 0)
      return "enter its directory";
   for (int i = 0; i < 3; i++) {
      if (dup2(plan->files[i], i) < 0)
         return "connect its pipes";
   }
   /* Close everything that a library left open without close-on-exec.  Before Linux 5.11 this call fails, and such
    * descriptors leak into the child. */
   syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
   if (limit(RLIMIT_CORE, 0) != 0 || (plan->memory_limit && limit(RLIMIT_DATA, plan->memory_limit) != 0))
      return "limit it";
   reset_signals();
   sigprocmask(SIG_SETMASK, &plan->signals, NULL);
   execve(plan->path, plan->arguments, plan->environment);
   return "run it";
}

/* A separate function, so that no variable of its caller lives in a register across vfork. */
static __attribute__((noinline)) pid_t start(const plan_t *plan) {
   pid_t pid = vfork();
   if (pid == 0) {
      report_t report = {.step = become(plan)};
      report.number = errno;
      if (write(plan->report, &report, sizeof report) < 0)
         _exit(126);
      _exit(127);
   }
   return pid;
}

/* Searches PATH as a shell does; a name with a slash is used as it is. */
static bool find_program(const char *name, char path[PATH_MAX]) {
   const char *places = getenv("PATH");
   if (strchr(name, '/'))
      return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
   while (places && *places) {
      int length = (int)strcspn(places, ":");
      int written = snprintf(path, PATH_MAX, "%.*s/%s", length, places, name);
      if (length > 0 && written < PATH_MAX && access(path, X_OK) == 0)
         return true;
      places += length + (places[length] == ':');
   }
   return false;
}

/* Puts the input into a file in memory, so nothing has to be fed to the child while it runs, and a child that does not read cannot
 * raise SIGPIPE here. */
static int open_input(const rkb_process_spec_t *spec) {
   if (!spec->input)
      return open("/dev/null", O_RDONLY | O_CLOEXEC);
   int file = memfd_create("rkb-input", MFD_CLOEXEC);
   const char *data = spec->input;
   size_t left = spec->input_bytes;
   while (file >= 0 && left) {
      ssize_t done = write(file, data, left);
      if (done < 0 && errno == EINTR)
         continue;
      if (done <= 0) {
         close(file);
         return -1;
      }
      data += done;
      left -= (size_t)done;
   }
   if (file >= 0)
      lseek(file, 0, SEEK_SET);
   return file;
}

static void close_one(int *file) {
   if (*file >= 0)
      close(*file);
   *file = -1;
}

/* Moves a descriptor to a number above the standard three.  If this program was started without standard input, for example, a new descriptor may get number
 * 0, and the child's set-up would overwrite it. */
static int move_up(int file) {
   if (file < 0 || file > STDERR_FILENO)
      return file;
   int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
   close(file);
   return moved;
}

/* Opens the input and both pipes: files are the child's ends, pipes are ours. */
static int open_files(const rkb_process_spec_t *spec, int files[3], int pipes[RKB_CHILD_OUTPUTS]) {
   files[0] = move_up(open_input(spec));
   if (files[0] < 0)
      return -1;
   for (int i = 0; i < RKB_CHILD_OUTPUTS; i++) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0)
         return -1;
      pipes[i] = ends[0];
      files[i + 1] = move_up(ends[1]);
      if (files[i + 1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
         return -1;
   }
   return 0;
}

/* Blocks every signal of the calling thread while the child shares its memory. */
static pid_t start_with_signals_blocked(plan_t *plan) {
   sigset_t all;
   sigfillset(&all);
   pthread_sigmask(SIG_SETMASK, &all, &plan->signals);
   pid_t pid = start(plan);
   int number = errno;
   pthread_sigmask(SIG_SETMASK, &plan->signals, NULL);
   errno = number;
   return pid;
}

/* Starts the child and waits until it has become the program or has failed to. */
static int start_and_learn(plan_t *plan, rkb_child_t *child, report_t *report) {
   int ends[2];
   ssize_t got;
   if (pipe2(ends, O_CLOEXEC) != 0)
      return -1;
   ends[1] = move_up(ends[1]);
   plan->report = ends[1];
   child->pid = start_with_signals_blocked(plan);
   int number = errno;
   close(ends[1]);
   if (child->pid < 0) {
      child->pid = 0;
      close(ends[0]);
      errno = number;
      return -1;
   }
   do
      got = read(ends[0], report, sizeof *report);
   while (got < 0 && errno == EINTR);
   close(ends[0]);
   if (got != sizeof *report)
      *report = (report_t){0};
   return 0;
}

static void wait_for(rkb_child_t *child) {
   while (waitpid(child->pid, &child->wait_status, 0) < 0 && errno == EINTR)
      continue;
   child->pid = 0;
}

int rkb_child_spawn(const rkb_process_spec_t *spec, rkb_child_t *child, rkb_error_t *err) {
   static char *const nothing[] = {NULL};
   char path[PATH_MAX];
   report_t report;
   int status = RKB_OK;
   if (!spec->arguments || !spec->arguments[0] || !spec->deadline_ns)
      return rkb_fail(err, RKB_ERR_INVALID, "a process needs a program and a deadline");
   if (!find_program(spec->arguments[0], path))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "there is no program '%s' on PATH", spec->arguments[0]);
   plan_t plan = {.path = path,
                  .arguments = (char *const *)spec->arguments,
                  .environment = spec->environment ? (char *const *)spec->environment : nothing,
                  .directory = spec->directory,
                  .files = {-1, -1, -1},
                  .memory_limit = spec->memory_limit};
   *child = (rkb_child_t){.pidfd = -1, .pipes = {-1, -1}};
   for (int i = 0; i < RKB_CHILD_OUTPUTS; i++)
      rkb_text_init(&child->texts[i], spec->output_limit ? spec->output_limit : DEFAULT_OUTPUT);
   if (open_files(spec, plan.files, child->pipes) != 0) {
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot prepare pipes for '%s': %s", path, strerror(errno));
      goto close_files;
   }
   if (start_and_learn(&plan, child, &report) != 0) {
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot start '%s': %s", path, strerror(errno));
      goto close_files;
   }
   if (report.step) {
      wait_for(child);
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot start '%s': could not %s: %s", path, report.step,
                        strerror(report.number));
      goto close_files;
   }
   child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
   if (child->pidfd < 0) {
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot watch '%s' (pidfd_open, Linux 5.3): %s", path,
                        strerror(errno));
      rkb_child_kill(child);
      wait_for(child);
   }
close_files:
   for (int i = 0; i < 3; i++)
      close_one(&plan.files[i]);
   if (status != RKB_OK)
      rkb_child_close(child);
   return status;
}

bool rkb_child_read(rkb_child_t *child, int which) {
   char bytes[16384];
   rkb_text_t *text = &child->texts[which];
   /* Read a few times per turn only, so that a child that writes without end cannot hold up the loop or its own deadline.
    */
   for (int turn = 0; turn < 8; turn++) {
      ssize_t got = read(child->pipes[which], bytes, sizeof bytes);
      if (got < 0 && (errno == EAGAIN || errno == EINTR))
         return true;
      if (got <= 0)
         return false;
      rkb_text_append(text, bytes, (size_t)got);
      child->output_cut |= text->cut;
   }
   return true;
}

void rkb_child_close_pipe(rkb_child_t *child, int which) {
   close_one(&child->pipes[which]);
}

void rkb_child_kill(const rkb_child_t *child) {
   if (child->pid > 0)
      kill(-child->pid, SIGKILL);
}

void rkb_child_reap(rkb_child_t *child) {
   if (child->pid <= 0)
      return;
   rkb_child_kill(child);
   wait_for(child);
}

rkb_process_result_t *rkb_child_result(rkb_child_t *child) {
   rkb_process_result_t *result = rkb_allocate(1, sizeof *result);
   result->exit_code = WIFEXITED(child->wait_status) ? WEXITSTATUS(child->wait_status) : 0;
   result->signal = WIFSIGNALED(child->wait_status) ? WTERMSIG(child->wait_status) : 0;
   result->timed_out = child->timed_out;
   result->cancelled = child->cancelled;
   result->output_cut = child->output_cut;
   result->output_bytes = child->texts[0].length;
   result->output = rkb_text_take(&child->texts[0]);
   result->errors_bytes = child->texts[1].length;
   result->errors = rkb_text_take(&child->texts[1]);
   return result;
}

void rkb_child_close(rkb_child_t *child) {
   close_one(&child->pidfd);
   for (int i = 0; i < RKB_CHILD_OUTPUTS; i++) {
      close_one(&child->pipes[i]);
      rkb_text_free(&child->texts[i]);
   }
}
