/* rkb-worker - runs plans on the GPU for a program that keeps inputs, expected values and decisions to itself.
 *
 * It receives cubins, plans and values on standard input and answers on standard output (protocol.h), so it runs as a child process
 * or behind ssh, srun or docker run.  It links only libc, finds the driver at run time, and enters its sandbox before it loads the
 * driver.  If a candidate breaks the context, this process is lost and the caller starts another. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "gpu/protocol.h"
#include "gpu/worker/worker_requests.h"
#include "gpu/worker/worker_sandbox.h"

static bool read_all(void *data, size_t bytes) {
   for (char *at = data; bytes > 0;) {
      ssize_t got = read(STDIN_FILENO, at, bytes);
      if (got < 0 && errno == EINTR)
         continue;
      if (got <= 0)
         return false;
      at += got;
      bytes -= (size_t)got;
   }
   return true;
}

static bool write_all(const void *data, size_t bytes) {
   for (const char *at = data; bytes > 0;) {
      ssize_t put = write(STDOUT_FILENO, at, bytes);
      if (put < 0 && errno == EINTR)
         continue;
      if (put <= 0)
         return false;
      at += put;
      bytes -= (size_t)put;
   }
   return true;
}

enum { SHORT_BYTES = 8192 };

static bool reply(const rkb_worker_head_t *request, int status, const void *body, size_t bytes) {
   rkb_worker_head_t head = {
      RKB_WORKER_MAGIC, RKB_WORKER_VERSION, request->type, request->number, status, bytes};
   char whole[sizeof head + SHORT_BYTES];
   if (bytes <= SHORT_BYTES) { /* two writes would wake the program twice */
      memcpy(whole, &head, sizeof head);
      if (bytes)
         memcpy(whole + sizeof head, body, bytes);
      return write_all(whole, sizeof head + bytes);
   }
   return write_all(&head, sizeof head) && write_all(body, bytes);
}

/* The fixed part of a request.  NULL, with the refusal in *status, when the body is shorter. */
#define FIXED(type) (length >= sizeof(type) ? (const type *)(const void *)body : NULL)

/* Answers one request.  false ends the worker. */
static bool serve(worker_t *w, int ordinal, const rkb_worker_head_t *head, const char *body) {
   size_t length = head->length;
   rkb_worker_ran_t ran = {0};
   rkb_worker_taken_t taken = {0};
   uint64_t added[RKB_WORKER_MAX_SUMS] = {0};
   char text[1024] = "";
   char *bytes = NULL;
   float *times = NULL;
   const void *answer = text;
   size_t answered = 0;
   int status = worker_refuse(w, RKB_WORKER_BAD_REQUEST, "a message of type %u and %zu bytes makes no sense",
                              head->type, length);

   if (head->type != RKB_WORKER_HELLO && !w->open)
      status = worker_refuse(w, RKB_WORKER_BAD_REQUEST, "say hello first");
   else if (head->type == RKB_WORKER_HELLO) {
      status = worker_hello(w, ordinal, text, sizeof text);
      answered = strlen(text);
   } else if (head->type == RKB_WORKER_MODULE && FIXED(rkb_worker_module_t)) {
      do
         status = worker_load(w, FIXED(rkb_worker_module_t), body + sizeof(rkb_worker_module_t),
                              length - sizeof(rkb_worker_module_t));
      while (worker_makes_room(w, status));
   } else if (head->type == RKB_WORKER_STAGE && FIXED(rkb_worker_stage_t)) {
      do
         status = worker_stage(w, FIXED(rkb_worker_stage_t), body + sizeof(rkb_worker_stage_t),
                               length - sizeof(rkb_worker_stage_t));
      while (worker_makes_room(w, status));
   } else if (head->type == RKB_WORKER_INSTANCE && FIXED(rkb_worker_instance_t)) {
      do
         status = worker_open_instance(w, FIXED(rkb_worker_instance_t), body + sizeof(rkb_worker_instance_t),
                                       length - sizeof(rkb_worker_instance_t));
      while (worker_makes_room(w, status));
   } else if (head->type == RKB_WORKER_RUN && FIXED(rkb_worker_run_t)) {
      status = worker_run_instance(w, FIXED(rkb_worker_run_t), &ran);
      answer = &ran;
      answered = sizeof ran;
   } else if (head->type == RKB_WORKER_READ && FIXED(rkb_worker_read_t)) {
      status = worker_read_buffer(w, FIXED(rkb_worker_read_t), &bytes);
      answer = bytes;
      answered = FIXED(rkb_worker_read_t)->bytes;
   } else if (head->type == RKB_WORKER_PICK && FIXED(rkb_worker_pick_t)) {
      const rkb_worker_pick_t *r = FIXED(rkb_worker_pick_t);
      status = worker_pick(w, r, (const rkb_worker_range_t *)(const void *)(body + sizeof *r),
                           length - sizeof *r, &bytes, &answered);
      answer = bytes;
   } else if (head->type == RKB_WORKER_TIME && FIXED(rkb_worker_time_t)) {
      const rkb_worker_time_t *r = FIXED(rkb_worker_time_t);
      status = worker_time_turns(w, r, (const rkb_worker_turn_t *)(const void *)(body + sizeof *r),
                                 length - sizeof *r, &times);
      answer = times;
      answered = r->turns * sizeof(float);
   } else if (head->type == RKB_WORKER_DROP && FIXED(rkb_worker_drop_t)) {
      status = worker_drop(w, FIXED(rkb_worker_drop_t));
   } else if (head->type == RKB_WORKER_SUM && FIXED(rkb_worker_sum_t)) {
      status = worker_sums(w, FIXED(rkb_worker_sum_t), length, added);
      answer = added;
      answered = length / sizeof(rkb_worker_sum_t) * sizeof *added;
   } else if (head->type == RKB_WORKER_KEEP && FIXED(rkb_worker_keep_t)) {
      status = worker_keep(w, FIXED(rkb_worker_keep_t));
   } else if (head->type == RKB_WORKER_TAKE && FIXED(rkb_worker_take_t)) {
      status = worker_take(w, FIXED(rkb_worker_take_t), &taken);
      answer = &taken;
      answered = sizeof taken;
   } else if (head->type == RKB_WORKER_OBSERVE && FIXED(rkb_worker_observe_t)) {
      status = worker_observe(w, FIXED(rkb_worker_observe_t), body + sizeof(rkb_worker_observe_t),
                              length - sizeof(rkb_worker_observe_t), &bytes, &answered);
      answer = bytes;
   } else if (head->type == RKB_WORKER_ENERGY && FIXED(rkb_worker_energy_t)) {
      status = worker_energy(w, FIXED(rkb_worker_energy_t), &bytes, &answered);
      answer = bytes;
   } else if (head->type == RKB_WORKER_STATE) {
      status = RKB_WORKER_OK;
      answered = rkb_driver_state(&w->driver, text, sizeof text);
   }
   if (status != RKB_WORKER_OK) {
      answer = w->message;
      answered = strlen(w->message);
   }
   bool alive = reply(head, status, answer, answered);
   free(bytes);
   free(times);
   return alive;
}

/* Ends the worker when the program that started it ends, even in the middle of a wait.  The end of standard
 * input shows that; work in progress gets a moment.  (PR_SET_PDEATHSIG would end the worker when the thread
 * that started it ends, while the program still runs.) */
static void *watch_input(void *argument) {
   struct pollfd input = {STDIN_FILENO, POLLRDHUP, 0};
   (void)argument;
   while (poll(&input, 1, -1) < 0 && errno == EINTR)
      continue;
   sleep(2);
   _exit(1);
}

int main(int argc, char **argv) {
   static worker_t w;
   rkb_worker_head_t head;
   int ordinal = argc > 1 ? atoi(argv[1]) : 0;
   const bool under_tool = argc == 3 && strcmp(argv[2], RKB_WORKER_UNDER_TOOL) == 0;
   if ((argc > 2 && !under_tool) || (argc > 1 && argv[1][0] == '-') || ordinal < 0 || isatty(STDIN_FILENO)) {
      fprintf(
         stderr,
         "usage: rkb-worker [DEVICE]   (started by rkb; it speaks a binary protocol on standard input and output)\n");
      return 2;
   }
   rkb_sandbox_enter(under_tool, w.layers, sizeof w.layers);
   pthread_t watch; /* started inside the sandbox, as are all later threads */
   if (pthread_create(&watch, NULL, watch_input, NULL) != 0) {
      fprintf(stderr, "rkb-worker: cannot start a thread\n");
      return 1;
   }
   while (read_all(&head, sizeof head)) {
      if (head.magic != RKB_WORKER_MAGIC || head.version != RKB_WORKER_VERSION ||
          head.length > RKB_WORKER_MAX_BODY + 64) {
         fprintf(stderr, "rkb-worker: this is not a message of version %d of the protocol\n",
                 RKB_WORKER_VERSION);
         return 1;
      }
      if (head.type == RKB_WORKER_QUIT)
         return 0;
      char *body = rkb_try_uncleared(head.length + 1, 1, NULL);
      if (!body || !read_all(body, head.length)) {
         free(body);
         return 1;
      }
      bool alive = serve(&w, ordinal, &head, body);
      free(body);
      if (!alive)
         return 1;
   }
   return 0;
}
