/* A fork of the server for one job (confined_fork.h).  The request goes over the socket to the server, which takes whole messages
 * from any thread; the fork's end is reported over a socket of its own.  Owns the two sockets of a fork. */
#include "stage/confined/confined_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rkb/ext/confined.h>
#include "base/memory.h"
#include "base/units.h"
#include "system/process_memory.h"

#define LAST_WORD_MS 5000 /* from a fork's end until the server reports how it ended */

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

confined_start_t confined_fork_plan(const rkb_confined_t *confined, uint32_t entry, uint32_t threads) {
   return (confined_start_t){.entry = entry,
                             .threads = threads,
                             .processor_s = confined->pipeline->limit_execute_ns * RKB_CONFINED_NET / 1000000000u + 1};
}

int confined_fork_start(const rkb_confined_t *confined, const confined_start_t *start, confined_fork_t *fork, rkb_error_t *err) {
   int theirs[2] = {-1, -1};
   fork->channel = (rkb_pipe_process_t){.in = -1, .out = -1};
   fork->watch = -1;
   fork->most = start->threads * confined->pipeline->limit_execute_bytes;
   bool started = open_pair(&fork->channel.in, &theirs[0]) && open_pair(&fork->watch, &theirs[1]);
   fork->channel.out = fork->channel.in;
   started = started && send_start(confined, start, theirs);
   for (int i = 0; i < 2; i++)
      if (theirs[i] >= 0)
         close(theirs[i]);
   return started ? RKB_OK
                  : rkb_fail(err, RKB_ERR_UNAVAILABLE, "the process that forks for jobs cannot be reached: %s",
                             strerror(errno));
}

/* Reads what the server has reported about the fork since the last call. */
static void listen_to_watch(confined_fork_t *fork) {
   confined_told_t told;
   while (recv(fork->watch, &told, sizeof told, MSG_DONTWAIT) == (ssize_t)sizeof told) {
      if (told.kind == TOLD_STARTED)
         fork->pid = told.number;
      fork->ended |= told.kind == TOLD_ENDED;
      fork->wait_status = told.kind == TOLD_ENDED ? told.number : fork->wait_status;
   }
}

bool confined_fork_over(void *argument) {
   confined_fork_t *fork = argument;
   listen_to_watch(fork);
   fork->cancelled = fork->nobody_waits(fork->argument);
   fork->over_memory = fork->pid && !fork->ended && rkb_process_resident(fork->pid) > fork->most;
   return fork->cancelled || fork->over_memory;
}

/* Explains why the fork closed the channel without an answer: waits a moment for the server's report of how the process ended. */
static int explain_end(confined_fork_t *fork, rkb_error_t *err) {
   struct pollfd last = {.fd = fork->watch, .events = POLLIN};
   listen_to_watch(fork);
   while (!fork->ended && poll(&last, 1, LAST_WORD_MS) > 0 && !(last.revents & (POLLERR | POLLNVAL))) {
      listen_to_watch(fork);
      if (last.revents & POLLHUP)
         break;
   }
   const int number = fork->ended && WIFSIGNALED(fork->wait_status) ? WTERMSIG(fork->wait_status) : 0;
   if (number == SIGXCPU)
      return rkb_fail(err, RKB_ERR_LIMIT,
                      "its process used %d times the processor time of limits.execute; nothing is known of the kernel",
                      RKB_CONFINED_NET);
   if (number)
      return rkb_fail(err, RKB_ERR_INTERNAL, "its process was ended by signal %d (%s); nothing is known of the kernel",
                      number, strsignal(number));
   return rkb_fail(err, RKB_ERR_INTERNAL, "its process ended without an answer; nothing is known of the kernel");
}

int confined_fork_explain(confined_fork_t *fork, rkb_error_t *err) {
   char amount[64];
   if (fork->cancelled)
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   if (!fork->over_memory)
      return explain_end(fork, err);
   rkb_format_bytes(fork->most, amount, sizeof amount);
   return rkb_fail(err, RKB_ERR_LIMIT, "its process needed more than %s of memory (limits.execute_memory); nothing is known of the kernel", amount);
}

void confined_fork_leave(confined_fork_t *fork) {
   if (fork->channel.in >= 0)
      close(fork->channel.in);
   if (fork->watch >= 0)
      close(fork->watch);
   fork->channel.in = fork->channel.out = fork->watch = -1;
}

/* Frames ---------------------------------------------------------------------------------------------------------------- */

bool confined_send(rkb_pipe_process_t *peer, const void *payload, size_t bytes, bool (*over)(void *),
                   void *argument) {
   unsigned char header[WIRE_HEADER_BYTES];
   record_header(header, bytes);
   return rkb_pipe_process_send(peer, header, sizeof header, 0, over, argument) == RKB_TRANSFERRED &&
          rkb_pipe_process_send(peer, payload, bytes, 0, over, argument) == RKB_TRANSFERRED;
}

bool confined_receive(rkb_pipe_process_t *peer, size_t most, char **payload, record_reader_t *in,
                      bool (*over)(void *), void *argument) {
   unsigned char header[WIRE_HEADER_BYTES];
   uint64_t length;
   *payload = NULL;
   if (rkb_pipe_process_receive(peer, header, sizeof header, 0, over, argument) != RKB_TRANSFERRED ||
       !record_header_length(header, most, &length))
      return false;
   *payload = rkb_try_uncleared(length + 1, 1, NULL);
   *in = (record_reader_t){.data = (const unsigned char *)*payload, .size = length};
   return *payload && rkb_pipe_process_receive(peer, *payload, length, 0, over, argument) == RKB_TRANSFERRED;
}
