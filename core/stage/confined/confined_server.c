/* The keeper and the server (confined.h).  The keeper waits for the server and starts another when one dies.  The server forks once for each
 * job and watches the forks.  Neither reads a byte of a candidate.  Each has one thread. */
#include "stage/confined/confined_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "stage/confined/confined_protocol.h"
#include "stage/confined/confined_sandbox.h"
#include "stage/confined/job_memory.h"
#include "task/task.h"

enum { CONTROL = 3, CHANNEL = 3, MOST_SERVERS = 64 };

typedef struct fork_of {
   pid_t pid;
   int watch; /* -1: the program no longer waits for it */
} fork_of_t;

typedef struct server {
   const rkb_pipeline_t *pipeline;
   const rkb_confined_work_t *work;
   fork_of_t *forks;
   struct pollfd *waits; /* one more than forks: the first is the control socket */
   uint32_t count, room;
} server_t;

static void tell(int watch, uint32_t kind, int32_t number) {
   const confined_told_t told = {kind, number};
   send(watch, &told, sizeof told, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Receives a request with its two sockets; false at the end of the stream, or when the message is malformed. */
static bool receive_start(confined_start_t *start, int sockets[2]) {
   _Alignas(struct cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))];
   struct iovec bytes = {start, sizeof *start};
   struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
   ssize_t got;
   do
      got = recvmsg(CONTROL, &message, MSG_CMSG_CLOEXEC);
   while (got < 0 && errno == EINTR);
   const struct cmsghdr *with = got == (ssize_t)sizeof *start ? CMSG_FIRSTHDR(&message) : NULL;
   if (!with || with->cmsg_type != SCM_RIGHTS || with->cmsg_len != CMSG_LEN(2 * sizeof(int)))
      return false;
   memcpy(sockets, CMSG_DATA(with), 2 * sizeof(int));
   return true;
}

/* In the fork: closes every descriptor but the channel, enters the sandbox, and executes the job. */
static _Noreturn void become_job(const server_t *server, const confined_start_t *start, int channel,
                                 pid_t parent) {
   sigset_t none;
   sigemptyset(&none);
   if (channel != CHANNEL)
      dup2(channel, CHANNEL);
   close_range(CHANNEL + 1, ~0u, 0);
   prctl(PR_SET_PDEATHSIG, SIGKILL);
   prctl(PR_SET_NAME, "rkb-job");
   if (getppid() != parent)
      _exit(1);
   signal(SIGCHLD, SIG_DFL);
   sigprocmask(SIG_SETMASK, &none, NULL);
   confined_job_memory();
   confined_layers_t ignored;
   confined_sandbox_close(start->processor_s, &ignored); /* `rkb doctor` reports the layers */
   _exit(server->work->serve(server->work->argument, start->entry, start->threads, CHANNEL) ? 0 : 1);
}

static void add_fork(server_t *server, pid_t pid, int watch) {
   if (server->count == server->room) {
      server->room = server->room ? 2 * server->room : 16;
      server->forks = rkb_grow(server->forks, server->room, sizeof *server->forks);
      server->waits = rkb_grow(server->waits, server->room + 1, sizeof *server->waits);
   }
   server->forks[server->count++] = (fork_of_t){pid, watch};
}

/* False when the program is gone. */
static bool take_start(server_t *server) {
   confined_start_t start;
   int sockets[2];
   if (!receive_start(&start, sockets) || start.entry >= server->pipeline->entry_count)
      return false;
   server->work->warm(server->work->argument, start.entry);
   const pid_t parent = getpid(), pid = fork();
   if (pid == 0)
      become_job(server, &start, sockets[0], parent);
   close(sockets[0]);
   if (pid < 0) {
      close(sockets[1]); /* the program sees the closed socket and reports that the fork ended */
      return true;
   }
   tell(sockets[1], TOLD_STARTED, (int32_t)pid);
   add_fork(server, pid, sockets[1]);
   return true;
}

static void reap(server_t *server) {
   int status;
   for (pid_t gone; (gone = waitpid(-1, &status, WNOHANG)) > 0;)
      for (uint32_t i = 0; i < server->count; i++)
         if (server->forks[i].pid == gone) {
            if (server->forks[i].watch >= 0) {
               tell(server->forks[i].watch, TOLD_ENDED, status);
               close(server->forks[i].watch);
            }
            server->forks[i] = server->forks[--server->count];
            break;
         }
}

/* Kills every fork whose watch the program has closed, because nobody waits for its answer. */
static void end_unwatched(const server_t *server) {
   for (uint32_t i = 0; i < server->count; i++)
      if (server->waits[i + 1].revents) {
         kill(server->forks[i].pid, SIGKILL);
         close(server->forks[i].watch);
         server->forks[i].watch = -1;
      }
}

static void child_ended(int number) {
   (void)number; /* the handler exists only so that SIGCHLD interrupts ppoll */
}

static _Noreturn void serve(const rkb_pipeline_t *pipeline, const rkb_confined_work_t *work) {
   server_t server = {.pipeline = pipeline, .work = work, .waits = rkb_allocate(1, sizeof(struct pollfd))};
   sigset_t children, waiting;
   prctl(PR_SET_PDEATHSIG, SIGKILL);
   prctl(PR_SET_NAME, "rkb-jobs");
   sigemptyset(&children);
   sigaddset(&children, SIGCHLD);
   sigprocmask(SIG_BLOCK, &children, &waiting);
   sigaction(SIGCHLD, &(struct sigaction){.sa_handler = child_ended}, NULL);
   confined_layers_t ignored;
   confined_sandbox_enter(&ignored);
   rkb_task_use_threads(1); /* a fork has no threads but those that it makes */
   work->open(work->argument);
   for (bool more = true; more;) {
      server.waits[0] = (struct pollfd){.fd = CONTROL, .events = POLLIN};
      for (uint32_t i = 0; i < server.count; i++)
         server.waits[i + 1] = (struct pollfd){.fd = server.forks[i].watch, .events = POLLIN};
      const int ready = ppoll(server.waits, server.count + 1, NULL, &waiting);
      if (ready > 0)
         end_unwatched(&server);
      reap(&server);
      if (ready > 0 && server.waits[0].revents)
         more = take_start(&server);
   }
   for (uint32_t i = 0; i < server.count; i++)
      kill(server.forks[i].pid, SIGKILL);
   /* reaps the forks, so that their processor time is added to this process's */
   while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
      continue;
   _exit(0);
}

/* Detaches from the program: of its descriptors only the control socket stays open. */
static void leave_program(int control) {
   setpgid(0, 0); /* ^C must reach the program alone */
   for (int number = 1; number < NSIG; number++)
      signal(number, SIG_DFL);
   sigset_t none;
   sigemptyset(&none);
   sigprocmask(SIG_SETMASK, &none, NULL);
   const int nothing = open("/dev/null", O_RDWR);
   dup2(nothing, 0);
   dup2(nothing, 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
   dup2(nothing, 2);
#endif
   if (control != CONTROL)
      dup2(control, CONTROL);
   close_range(CONTROL + 1, ~0u, 0);
   prctl(PR_SET_NAME, "rkb-keeper");
}

_Noreturn void confined_keep(const rkb_pipeline_t *pipeline, const rkb_confined_work_t *work, int control) {
   leave_program(control);
   for (int servers = 0; servers < MOST_SERVERS; servers++) {
      int status = 0;
      const pid_t pid = fork();
      if (pid == 0)
         serve(pipeline, work);
      if (pid < 0)
         break;
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
         continue;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
         break;
   }
   _exit(0);
}
