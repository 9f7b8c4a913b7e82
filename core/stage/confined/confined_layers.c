/* Which layers can confine a job's process on this kernel (confined.h), for `rkb doctor`.  A child process gives up the same
 * rights as the server and its forks, and reports the layers through a pipe.  Owns nothing. */
#include <sys/wait.h>
#include <unistd.h>
#include "kernel/byte_record.h"
#include "stage/confined/confined.h"
#include "stage/confined/confined_sandbox.h"

enum { PROCESSOR_SECONDS = 10 }; /* far more than the child needs */

static _Noreturn void try_layers(int out) {
   confined_layers_t held = {false, false, false};
   confined_sandbox_enter(&held);
   confined_sandbox_close(PROCESSOR_SECONDS, &held);
   _exit(record_write_all(out, &held, sizeof held) ? 0 : 1);
}

bool rkb_confined_layers(rkb_text_t *layers) {
   confined_layers_t held = {false, false, false};
   int ends[2];
   if (pipe(ends) != 0)
      return false;
   const pid_t child = fork();
   if (child == 0)
      try_layers(ends[1]);
   close(ends[1]);
   const bool told = child > 0 && record_read_all(ends[0], &held, sizeof held);
   close(ends[0]);
   if (child > 0)
      waitpid(child, NULL, 0);
   if (told)
      rkb_text_format(layers, "%scapabilities %slandlock %sseccomp", held.capabilities ? "" : "no-",
                      held.landlock ? "" : "no-", held.seccomp ? "" : "no-");
   return told;
}
