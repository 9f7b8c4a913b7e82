/* Starts a second process for commands that run nothing (plugin_sandbox.h).  Only the main thread; owns
 * nothing. */
#include "cli/shared/plugin_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/confine.h"
#include "base/file.h"
#include "cli/shared/arguments.h"

/* Set in the second process.  If a user sets it, the first process is confined itself. */
static const char mark[] = "RKB_CONFINED=1";
enum { MOST_ARGUMENTS = 4096, MOST_BYTES = 4 << 20 };
/* What a plugin that is only looked at may use up: far more than looking at the largest sweep takes. */
enum { PROCESSOR_SECONDS = 600 };
static const rlim_t memory_bytes = UINT64_C(16) << 30;

/* Whether the second process sees a variable's value: only values that are paths or similar places are shown.
 * Of the other variables it sees only the names, so that it can report that a key is set. */
static bool is_shown(const char *variable) {
   static const char *const shown[] = {
      "PATH",         "HOME",          "PWD",          "TMPDIR",    "TERM",
      "TZ",           "LANG",          "LC_",          "XDG_",      "RKB_",
      "CUDA_",        "OMP_",          "GOMP_",        "OPENBLAS_", "LD_LIBRARY_PATH",
      "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "NO_COLOR",  NULL};
   for (int i = 0; shown[i]; i++) {
      const size_t length = strlen(shown[i]);
      if (strncmp(variable, shown[i], length) == 0 && (shown[i][length - 1] == '_' || variable[length] == '='))
         return true;
   }
   return false;
}

/* NULL-terminated. */
static char **make_environment(rkb_arena_t *arena) {
   extern char **environ;
   size_t count = 0, made = 0;
   while (environ[count])
      count++;
   char **list = rkb_arena_array(arena, count + 2, sizeof *list);
   for (size_t i = 0; i < count; i++) {
      const char *equals = strchr(environ[i], '=');
      if (is_shown(environ[i]))
         list[made++] = environ[i];
      else if (equals)
         list[made++] = rkb_arena_format(arena, "%.*s=hidden", (int)(equals - environ[i]), environ[i]);
   }
   list[made] = (char *)mark;
   return list;
}

/* This process's own arguments, as the kernel has them; NULL when they cannot be read. */
static char **own_arguments(rkb_arena_t *arena) {
   char *bytes = rkb_arena_array(arena, MOST_BYTES, 1), **list = rkb_arena_array(arena, MOST_ARGUMENTS + 1, sizeof *list);
   FILE *file = fopen("/proc/self/cmdline", "re");
   const size_t length = file ? fread(bytes, 1, MOST_BYTES - 1, file) : 0;
   size_t count = 0;
   if (file)
      fclose(file);
   for (size_t at = 0; at < length && count < MOST_ARGUMENTS; at += strlen(bytes + at) + 1)
      list[count++] = bytes + at;
   return count ? list : NULL;
}

static int broken(const char *what) {
   fprintf(stderr, "cannot look at this in a process of its own: %s: %s\n", what, strerror(errno));
   return RKB_EXIT_BROKEN;
}

/* What the second process writes to a terminal comes through a pipe, because its plugins could send the terminal control sequences.  Into files and pipes
 * it writes itself. */
typedef struct relay {
   int from; /* -1: there is no pipe, or it has ended */
   int to;   /* the second process's end, until it has started; -1 afterwards */
   FILE *out;
} relay_t;

enum { OUTPUT, MESSAGES, RELAYS, PIECE = 4096 };

static bool relay_open(relay_t *relay, FILE *out, int file) {
   int ends[2];
   *relay = (relay_t){-1, -1, out};
   if (!isatty(file))
      return true;
   if (pipe2(ends, O_CLOEXEC) != 0)
      return false;
   relay->from = ends[0];
   relay->to = ends[1];
   return true;
}

static void relay_close(relay_t *relay) {
   if (relay->from >= 0)
      close(relay->from);
   if (relay->to >= 0)
      close(relay->to);
   relay->from = relay->to = -1;
}

/* Passes on what has come.  The streams of this process show control characters instead of sending them (base/terminal.h). */
static void relay_pass(relay_t *relay) {
   char piece[PIECE];
   const ssize_t got = read(relay->from, piece, sizeof piece);
   if (got > 0) {
      fwrite(piece, 1, (size_t)got, relay->out);
      fflush(relay->out);
   } else if (got == 0 || errno != EINTR) {
      relay_close(relay);
   }
}

static void relay_all(relay_t relays[RELAYS]) {
   while (relays[OUTPUT].from >= 0 || relays[MESSAGES].from >= 0) {
      struct pollfd waits[RELAYS] = {{.fd = relays[OUTPUT].from, .events = POLLIN},
                                     {.fd = relays[MESSAGES].from, .events = POLLIN}};
      if (poll(waits, RELAYS, -1) < 0 && errno != EINTR)
         return;
      for (int n = 0; n < RELAYS; n++)
         if (waits[n].revents)
            relay_pass(&relays[n]);
   }
}

/* In the second process.  A terminal as standard input is mostly open for writing too. */
static bool leave_terminal(const relay_t relays[RELAYS]) {
   const int nothing = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
   return (!isatty(STDIN_FILENO) || (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0)) &&
          (relays[OUTPUT].to < 0 || dup2(relays[OUTPUT].to, STDOUT_FILENO) >= 0) &&
          (relays[MESSAGES].to < 0 || dup2(relays[MESSAGES].to, STDERR_FILENO) >= 0);
}

static int ended(pid_t child) {
   int status = 0;
   while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR)
         return broken("waiting for it");
   if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
      fputs("a plugin, or the loader that could not load it, ended the process in which this was looked at\n",
            stderr);
      return RKB_EXIT_BROKEN;
   }
   if (WIFSIGNALED(status)) {
      fprintf(stderr, "a plugin or rkb itself crashed while this was looked at (signal %d, %s)\n", WTERMSIG(status),
              strsignal(WTERMSIG(status)));
      return RKB_EXIT_BROKEN;
   }
   return WEXITSTATUS(status);
}

/* Runs this program again with these arguments; returns its exit code. */
static int run_again(char **arguments, char **environment) {
   relay_t relays[RELAYS];
   const bool output = relay_open(&relays[OUTPUT], stdout, STDOUT_FILENO),
              messages = relay_open(&relays[MESSAGES], stderr, STDERR_FILENO);
   fflush(NULL);
   const pid_t child = output && messages ? fork() : -1;
   if (child == 0) {
      if (leave_terminal(relays))
         execve("/proc/self/exe", arguments, environment);
      _exit(broken("starting it"));
   }
   for (int n = 0; n < RELAYS && child > 0; n++)
      if (relays[n].to >= 0) {
         close(relays[n].to);
         relays[n].to = -1;
      }
   if (child > 0)
      relay_all(relays);
   const int code = child < 0 ? broken("starting it") : ended(child);
   relay_close(&relays[OUTPUT]);
   relay_close(&relays[MESSAGES]);
   return code;
}

static int start_again(void) {
   rkb_arena_t *arena = rkb_arena_new(0);
   char **arguments = own_arguments(arena);
   const int code = arguments ? run_again(arguments, make_environment(arena)) : broken("its arguments");
   rkb_arena_free(arena);
   return code;
}

/* The address sanitizer's leak check needs calls that are refused here. */
#if defined(__SANITIZE_ADDRESS__)
static const bool calls_are_refused = false;
#else
static const bool calls_are_refused = true;
#endif

static void limit(int resource, rlim_t most) {
   struct rlimit both;
   if (getrlimit(resource, &both) == 0 && both.rlim_max > most) {
      both = (struct rlimit){most, most};
      setrlimit(resource, &both);
   }
}

static bool give_up(void) {
   uint64_t held;
   limit(RLIMIT_CPU, PROCESSOR_SECONDS);
   if (calls_are_refused) /* a sanitizer's shadow memory exceeds any limit on data */
      limit(RLIMIT_DATA, memory_bytes);
   prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody waits for it any more */
   rkb_drop_capabilities();
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return false;
   /* Linux before 5.13 has no Landlock.  Then only seccomp limits the process: it writes no file, but it reads whatever the user may read. */
   const int rules = rkb_landlock_begin(&held);
   if (rules >= 0) {
      rkb_landlock_allow(rules, held, "/", RKB_MAY_READ | RKB_MAY_EXECUTE);
      rkb_landlock_allow(rules, held, "/dev/null", RKB_MAY_READ | RKB_MAY_WRITE);
      if (!rkb_landlock_enter(rules))
         return false;
   }
   return !calls_are_refused || (rkb_refuse_changes_of_files() && rkb_refuse_processes_and_network());
}

bool rkb_look_confined(int *code) {
   *code = RKB_EXIT_OK;
   if (!getenv("RKB_CONFINED")) {
      *code = start_again();
      return true;
   }
   errno = 0;
   if (give_up())
      return false;
   *code = broken("giving up what it does not need (a kernel or a container without seccomp(2)?)");
   return true;
}
