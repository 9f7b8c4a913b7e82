/* A signal handler that writes two lines (crash_report.h).  It calls write, and no function that might block. */
#include "cli/crash_report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "stage/current_stage.h"

/* A signal handler gets no user argument, so these variables hold the facts for its report.  They are written
 * once, before there are threads. */
static char run_directory[4096];
static _Atomic pid_t reporter; /* the thread that crashed first; 0: none */

static void say(const char *text) {
   const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
   (void)ignored;
}

static void say_number(int64_t number) {
   char digits[24];
   size_t at = sizeof digits - 1;
   digits[at] = '\0';
   for (uint64_t left = (uint64_t)number; at > 0 && (left || !digits[at]); left /= 10)
      digits[--at] = (char)('0' + left % 10);
   say(&digits[at]);
}

static void tell(int number) {
   const rkb_current_stage_t work = rkb_current_stage();
   if (!work.stage)
      return;
   say("\nrkb-run: the stage ");
   say(work.stage->id);
   say(" (");
   say(work.stage->use);
   say(") crashed with signal ");
   say_number(number);
   say(", ");
   say(work.doing);
   if (work.candidate > 0) {
      say(" ");
      say_number(work.candidate);
   }
   say("\nfinished results are stored; go on without this stage: rkb-run --resume ");
   say(run_directory);
   say(" --skip-stage ");
   say(work.stage->id);
   say("\n");
}

/* Threads may crash at the same time.  Only the first thread reports.  The others wait until it ends the program; otherwise they would end the program in
 * the middle of its lines.  If the report itself crashes, the signal ends the program. */
static void crashed(int number) {
   const pid_t self = gettid();
   pid_t first = 0;
   if (atomic_compare_exchange_strong(&reporter, &first, self))
      tell(number);
   else
      while (first != self)
         pause();
   signal(number, SIG_DFL);
   raise(number);
}

/* With a sanitizer there is no handler, because the sanitizer's own report is more precise. */
void rkb_crash_report_open(const char *directory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
   const int faults[] = {0};
#else
   const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, 0};
#endif
   struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_NODEFER};
   snprintf(run_directory, sizeof run_directory, "%s", directory);
   for (const int *fault = faults; *fault; fault++)
      sigaction(*fault, &action, NULL);
}
