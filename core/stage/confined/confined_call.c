/* The program's side of jobs in processes of their own (confined.h).  Worker threads share the socket to the server, which takes whole
 * messages; everything else belongs to one job and its thread.  What a job's process says is read as hostile: lengths, types of items,
 * texts and the status are checked here, the items' meaning by item_contract.c and notes by who reads them. */
#include "stage/confined/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rkb/ext/confined.h>
#include "base/memory.h"
#include "base/units.h"
#include "kernel/build_record.h"
#include "kernel/kernel.h"
#include "stage/candidate.h"
#include "stage/confined/confined_protocol.h"
#include "stage/confined/keeper.h"
#include "stage/extensions.h"
#include "stage/item_record.h"
#include "system/peer.h"
#include "system/process_memory.h"

#define LAST_WORD_MS 5000              /* from the end of a fork to the server's saying how it ended */

struct rkb_confined {
   pid_t keeper;
   int control;
};

bool rkb_confined_wanted(const rkb_stage_t *stage) {
   const char *const *needs = stage ? RKB_NEEDS(stage) : NULL;
   for (; needs && *needs; needs++)
      if (strcmp(*needs, RKB_EXT_CONFINED) == 0)
         return true;
   return false;
}

int rkb_confined_open(rkb_runtime_t *runtime, rkb_confined_t **confined, rkb_error_t *err) {
   bool wanted = false;
   int ends[2];
   *confined = NULL;
   for (uint32_t i = 0; i < runtime->pipeline->entry_count; i++)
      wanted |= rkb_confined_wanted(runtime->pipeline->entries[i].stage);
   if (!wanted)
      return RKB_OK;
   if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return rkb_fail(err, RKB_ERR_IO, "no socket for the processes of jobs: %s", strerror(errno));
   const pid_t keeper = fork();
   if (keeper == 0) {
      close(ends[0]);
      confined_keep(runtime, ends[1]);
   }
   close(ends[1]);
   if (keeper < 0) {
      close(ends[0]);
      return rkb_fail(err, RKB_ERR_IO, "no process for jobs: %s", strerror(errno));
   }
   *confined = rkb_allocate(1, sizeof **confined);
   **confined = (rkb_confined_t){keeper, ends[0]};
   return RKB_OK;
}

void rkb_confined_close(rkb_confined_t *confined) {
   if (!confined)
      return;
   close(confined->control); /* the server ends with it, and the keeper with the server */
   while (waitpid(confined->keeper, NULL, 0) < 0 && errno == EINTR)
      continue;
   free(confined);
}

/* One job ------------------------------------------------------------------------------------------------------------------ */

typedef struct call {
   rkb_runtime_t *runtime;
   rkb_instance_t *instance;
   rkb_job_t job;
   rkb_scope_t scope;
   rkb_peer_t channel; /* to the fork; the pid is not of a child of ours, so it is 0 */
   int watch;
   pid_t fork;    /* 0: not known */
   uint64_t most; /* bytes it may have */
   bool ended, over_memory, cancelled;
   int wait_status; /* once ended */
} call_t;

static bool open_pair(int *here, int *there) {
   int ends[2];
   if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return false;
   fcntl(ends[0], F_SETFL, O_NONBLOCK);
   *here = ends[0];
   *there = ends[1];
   return true;
}

static bool send_start(const rkb_confined_t *confined, const confined_start_t *start, const int sockets[2]) {
   _Alignas(struct cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {0};
   struct iovec bytes = {(void *)start, sizeof *start};
   struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
   struct cmsghdr *with = CMSG_FIRSTHDR(&message);
   *with = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(2 * sizeof(int))};
   memcpy(CMSG_DATA(with), sockets, 2 * sizeof(int));
   ssize_t sent;
   do
      sent = sendmsg(confined->control, &message, MSG_NOSIGNAL);
   while (sent < 0 && errno == EINTR);
   return sent == (ssize_t)sizeof *start;
}

static int start_fork(call_t *call, const confined_start_t *start, rkb_error_t *err) {
   int theirs[2] = {-1, -1};
   bool started = open_pair(&call->channel.in, &theirs[0]) && open_pair(&call->watch, &theirs[1]);
   call->channel.out = call->channel.in;
   started = started && send_start(call->runtime->confined, start, theirs);
   for (int i = 0; i < 2; i++)
      if (theirs[i] >= 0)
         close(theirs[i]);
   return started ? RKB_OK
                  : rkb_fail(err, RKB_ERR_UNAVAILABLE, "the process that forks for jobs cannot be reached: %s",
                             strerror(errno));
}

/* What the server has said since. */
static void listen_to_watch(call_t *call) {
   confined_told_t told;
   while (recv(call->watch, &told, sizeof told, MSG_DONTWAIT) == (ssize_t)sizeof told) {
      if (told.kind == TOLD_STARTED)
         call->fork = told.number;
      call->ended |= told.kind == TOLD_ENDED;
      call->wait_status = told.kind == TOLD_ENDED ? told.number : call->wait_status;
   }
}

static bool is_over(void *argument) {
   call_t *call = argument;
   listen_to_watch(call);
   call->cancelled = rkb_jobs_cancelled(call->runtime->jobs, call->job);
   call->over_memory = call->fork && !call->ended && rkb_process_resident(call->fork) > call->most;
   return call->cancelled || call->over_memory;
}

static bool send_frame(call_t *call, const rkb_text_t *payload) {
   unsigned char header[WIRE_HEADER_BYTES];
   record_header(header, payload->length);
   return !payload->cut &&
          rkb_peer_send(&call->channel, header, sizeof header, 0, is_over, call) == RKB_TRANSFERRED &&
          rkb_peer_send(&call->channel, payload->data, payload->length, 0, is_over, call) == RKB_TRANSFERRED;
}

/* *payload is malloc'd, or NULL. */
static bool receive_frame(call_t *call, char **payload, record_reader_t *in) {
   unsigned char header[WIRE_HEADER_BYTES];
   uint64_t length;
   *payload = NULL;
   if (rkb_peer_receive(&call->channel, header, sizeof header, 0, is_over, call) != RKB_TRANSFERRED ||
       !record_header_length(header, CONFINED_MAX_ANSWER, &length))
      return false;
   *payload = rkb_try_uncleared(length + 1, 1, NULL);
   *in = (record_reader_t){.data = (const unsigned char *)*payload, .size = length};
   return *payload && rkb_peer_receive(&call->channel, *payload, length, 0, is_over, call) == RKB_TRANSFERRED;
}

static void put_build(const rkb_build_t *build, rkb_text_t *out) {
   record_put_u32(out, build != NULL);
   if (build)
      rkb_build_write(build, out);
}

static bool send_job(call_t *call, const rkb_item_t *in) {
   rkb_text_t request;
   rkb_text_init(&request, CONFINED_MAX_REQUEST);
   record_put_u32(&request, CONFINED_JOB);
   record_put_u32(&request, call->scope.section);
   record_put_u64(&request, (uint64_t)call->scope.request);
   record_put_u32(&request, call->scope.child);
   record_put_text(&request, call->scope.candidate ? call->scope.candidate->hash : "");
   record_put_bytes(&request, call->runtime->secret.bytes, sizeof call->runtime->secret.bytes);
   rkb_item_write(in, &request);
   put_build(call->scope.candidate ? call->scope.candidate->build : NULL, &request);
   const bool sent = send_frame(call, &request);
   rkb_text_free(&request);
   return sent;
}

/* A build that the stage asks for, in the process that has compilers. */
static bool answer_build(call_t *call, const rkb_item_t *in, uint32_t flags) {
   const rkb_host_t *host = &call->instance->owner.host;
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_build_t *build = NULL;
   rkb_text_t answer;
   const int status = RKB_KERNEL_API.build(host, call->job, in, flags & RKB_BUILD_DEBUG, &build, &finding, &err);
   rkb_text_init(&answer, CONFINED_MAX_REQUEST);
   record_put_u32(&answer, CONFINED_BUILT);
   record_put_u32(&answer, (uint32_t)status);
   record_put_text(&answer, err.message);
   record_put_text(&answer, finding.reason);
   record_put_text(&answer, finding.message);
   record_put_u32(&answer, finding.line);
   record_put_u32(&answer, finding.column);
   put_build(build, &answer);
   const bool sent = send_frame(call, &answer);
   RKB_KERNEL_API.build_free(build);
   rkb_text_free(&answer);
   return sent;
}

static bool is_status(uint32_t status) {
   return (int)status <= RKB_OK && (int)status >= RKB_ERR_LIMIT;
}

/* Takes over what the fork's stage gave.  False when it is no answer. */
static bool read_answer(call_t *call, record_reader_t *in, int *status, rkb_error_t *err) {
   const rkb_host_t *host = &call->instance->owner.host;
   const uint32_t said = record_u32(in);
   char *message = record_text(in, sizeof err->message), *option = record_text(in, sizeof err->option);
   const uint32_t items = record_count(in, RKB_MAX_EMITTED, 4);
   for (uint32_t i = 0; i < items && !in->bad; i++) {
      rkb_item_t *item = rkb_item_read(in);
      if (item)
         rkb_jobs_emit(call->runtime->jobs, call->job, item);
   }
   const uint32_t notes = record_count(in, CONFINED_MAX_NOTES, 16);
   for (uint32_t i = 0; i < notes && !in->bad; i++) {
      size_t bytes;
      char *key = record_text(in, 64);
      const void *data = record_bytes(in, &bytes, CONFINED_MAX_NOTE);
      if (key && data)
         RKB_KERNEL_API.note_set(host, call->job, key, data, bytes);
      free(key);
   }
   const bool good = !in->bad && in->at == in->size && is_status(said) && message && option;
   if (good && (int)said != RKB_OK) {
      rkb_fail(err, (int)said, "%s", message);
      snprintf(err->option, sizeof err->option, "%s", option);
   }
   *status = good ? (int)said : RKB_ERR_INTERNAL;
   free(message);
   free(option);
   return good;
}

/* The fork closed the channel without an answer. */
static int explain_end(call_t *call, rkb_error_t *err) {
   struct pollfd last = {.fd = call->watch, .events = POLLIN};
   listen_to_watch(call);
   while (!call->ended && poll(&last, 1, LAST_WORD_MS) > 0 && !(last.revents & (POLLERR | POLLNVAL))) {
      listen_to_watch(call);
      if (last.revents & POLLHUP)
         break;
   }
   const int number = call->ended && WIFSIGNALED(call->wait_status) ? WTERMSIG(call->wait_status) : 0;
   if (number == SIGXCPU)
      return rkb_fail(err, RKB_ERR_LIMIT,
                      "its process used %d times the processor time of limits.execute; nothing is known of the kernel",
                      RKB_CONFINED_NET);
   if (number)
      return rkb_fail(err, RKB_ERR_INTERNAL, "its process was ended by signal %d (%s); nothing is known of the kernel",
                      number, strsignal(number));
   return rkb_fail(err, RKB_ERR_INTERNAL, "its process ended without an answer; nothing is known of the kernel");
}

static int explain(call_t *call, rkb_error_t *err) {
   char amount[64];
   if (call->cancelled)
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   if (!call->over_memory)
      return explain_end(call, err);
   rkb_format_bytes(call->most, amount, sizeof amount);
   return rkb_fail(err, RKB_ERR_LIMIT, "its process needed more than %s of memory (limits.execute_memory); nothing is known of the kernel", amount);
}

static int converse(call_t *call, const rkb_item_t *in, rkb_error_t *err) {
   bool more = send_job(call, in);
   while (more) {
      char *payload;
      record_reader_t said;
      int status = RKB_OK;
      more = receive_frame(call, &payload, &said);
      const uint32_t kind = more ? record_u32(&said) : 0;
      if (kind == CONFINED_BUILD)
         more = answer_build(call, in, record_u32(&said));
      else if (more && (kind != CONFINED_DONE || !read_answer(call, &said, &status, err)))
         status = rkb_fail(err, RKB_ERR_INTERNAL, "its process gave an answer that cannot be read");
      free(payload);
      if (kind && kind != CONFINED_BUILD)
         return status;
   }
   return explain(call, err);
}

/* As many as there are workers without work, and this one. */
static uint32_t free_threads(const rkb_runtime_t *runtime) {
   const rkb_workers_state_t state = rkb_workers_state(runtime->workers);
   return state.waiting || state.running >= state.threads ? 1 : 1 + state.threads - state.running;
}

int rkb_confined_run(rkb_instance_t *instance, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   rkb_runtime_t *runtime = instance->owner.runtime;
   const confined_start_t start = {
      .entry = instance->owner.entry->index,
      .threads = free_threads(runtime),
      .processor_s = runtime->pipeline->limit_execute_ns * RKB_CONFINED_NET / 1000000000u + 1};
   call_t call = {.runtime = runtime,
                  .instance = instance,
                  .job = job,
                  .channel = {.in = -1, .out = -1},
                  .watch = -1,
                  .most = start.threads * runtime->pipeline->limit_execute_bytes};
   if (!rkb_jobs_scope(runtime->jobs, job, &call.scope))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   int status = start_fork(&call, &start, err);
   if (status == RKB_OK)
      status = converse(&call, in, err);
   if (call.channel.in >= 0)
      close(call.channel.in);
   if (call.watch >= 0)
      close(call.watch); /* the server ends a fork that is still there */
   return status;
}
