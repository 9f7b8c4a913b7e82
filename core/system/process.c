/* Runs a program and blocks until it ends: polls for its end and for its two pipes.  Owns nothing between calls. */
#include "system/process.h"

#include <poll.h>
#include <stdlib.h>

#include "system/spawn.h"

#define ASK_EVERY_MS 50 /* how often `cancelled` is called */

static int milliseconds_until(uint64_t when) {
   uint64_t now = rkb_now_ns();
   uint64_t left = when > now ? (when - now) / 1000000 + 1 : 0;
   return left > 3600000 ? 3600000 : (int)left;
}

/* Waits for output or the child's end, at most until `until`, and reads.  Returns true when the child has ended. */
static bool wait_and_read(rkb_child_t *child, uint64_t until, bool asks) {
   struct pollfd files[1 + RKB_CHILD_OUTPUTS] = {{.fd = child->pid ? child->pidfd : -1, .events = POLLIN}};
   int wait = milliseconds_until(until);
   for (int i = 0; i < RKB_CHILD_OUTPUTS; i++)
      files[1 + i] = (struct pollfd){.fd = child->pipes[i], .events = POLLIN};
   int ready = poll(files, 1 + RKB_CHILD_OUTPUTS, asks && wait > ASK_EVERY_MS ? ASK_EVERY_MS : wait);
   for (int i = 0; ready > 0 && i < RKB_CHILD_OUTPUTS; i++) {
      if (files[1 + i].revents && !rkb_child_read(child, i))
         rkb_child_close_pipe(child, i);
   }
   return ready > 0 && files[0].revents;
}

/* Reads what is left in the pipes.  Does not wait for a process that left the group and keeps them open. */
static void drain(rkb_child_t *child) {
   uint64_t until = rkb_now_ns() + RKB_CHILD_AFTER_END_NS;
   while ((child->pipes[0] >= 0 || child->pipes[1] >= 0) && rkb_now_ns() < until)
      wait_and_read(child, until, false);
}

int rkb_process_run(const rkb_process_spec_t *spec, bool (*cancelled)(void *arg), void *arg,
                    rkb_process_result_t **result, rkb_error_t *err) {
   rkb_child_t child;
   int status = rkb_child_spawn(spec, &child, err);
   if (status != RKB_OK)
      return status;
   uint64_t now = rkb_now_ns();
   uint64_t until = spec->deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + spec->deadline_ns;
   bool ended = false, killed = false;
   while (!ended) {
      ended = wait_and_read(&child, until, cancelled && !killed);
      now = rkb_now_ns();
      if (ended)
         break;
      if (killed && now >= until) {
         rkb_child_close(&child);
         return rkb_fail(err, RKB_ERR_TIMEOUT, "'%s' was killed and does not end", spec->arguments[0]);
      }
      child.timed_out |= now >= until;
      child.cancelled |= !killed && !child.timed_out && cancelled && cancelled(arg);
      if (!killed && (child.timed_out || child.cancelled)) {
         killed = true;
         until = now + RKB_CHILD_AFTER_KILL_NS;
         rkb_child_kill(&child);
      }
   }
   rkb_child_reap(&child);
   drain(&child);
   *result = rkb_child_result(&child);
   rkb_child_close(&child);
   return RKB_OK;
}

void rkb_process_result_free(rkb_process_result_t *result) {
   if (!result)
      return;
   free((char *)result->output);
   free((char *)result->errors);
   free(result);
}
