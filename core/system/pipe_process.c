/* Long-lived child processes connected by two pipes.  Owns the pipe ends of a started child; one thread at a time. */
#include "system/pipe_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/loop.h"

enum { POLL_MS = 50, ANSWER_ROOM = 1 << 20 };

static int failed(rkb_error_t *err, const char *program, const char *what, int number) {
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot start %s: %s%s%s", program, what, what[0] ? ": " : "",
                   strerror(number));
}

static int spawn(pid_t *pid, const char *const *arguments, const char *const *environment, const char *directory,
                 int in, int out, int errors) {
   static const char *const nothing[] = {NULL};
   posix_spawn_file_actions_t actions;
   posix_spawnattr_t attributes;
   sigset_t none, all;
   sigemptyset(&none);
   sigfillset(&all);
   posix_spawn_file_actions_init(&actions);
   posix_spawnattr_init(&attributes);
   posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
   posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
   if (errors < 0)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
   else
      posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
   posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
   if (directory)
      posix_spawn_file_actions_addchdir_np(&actions, directory);
   posix_spawnattr_setflags(&attributes,
                            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
   posix_spawnattr_setpgroup(&attributes, 0);
   posix_spawnattr_setsigmask(&attributes, &none);
   posix_spawnattr_setsigdefault(&attributes, &all);
   int status = posix_spawnp(pid, arguments[0], &actions, &attributes, (char *const *)arguments,
                             (char *const *)(environment ? environment : nothing));
   posix_spawnattr_destroy(&attributes);
   posix_spawn_file_actions_destroy(&actions);
   return status;
}

int rkb_pipe_process_start(rkb_pipe_process_t *peer, const char *const *arguments,
                           const char *const *environment, int errors, rkb_error_t *err) {
   return rkb_pipe_process_start_in(peer, NULL, arguments, environment, errors, err);
}

int rkb_pipe_process_start_in(rkb_pipe_process_t *peer, const char *directory, const char *const *arguments,
                              const char *const *environment, int errors, rkb_error_t *err) {
   int to[2], from[2];
   *peer = (rkb_pipe_process_t){.in = -1, .out = -1};
   /* Makes a socket instead of a pipe, because writing to a pipe without a reader raises SIGPIPE. */
   if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
      return failed(err, arguments[0], "socketpair", errno);
   if (pipe2(from, O_CLOEXEC) != 0) {
      int number = errno;
      close(to[0]);
      close(to[1]);
      return failed(err, arguments[0], "pipe", number);
   }
   int status = spawn(&peer->pid, arguments, environment, directory, to[0], from[1], errors);
   close(to[0]);
   close(from[1]);
   if (status != 0) {
      peer->pid = 0;
      close(to[1]);
      close(from[0]);
      return failed(err, arguments[0], "", status);
   }
   fcntl(to[1], F_SETFL, O_NONBLOCK);
   fcntl(from[0], F_SETFL, O_NONBLOCK);
   fcntl(from[0], F_SETPIPE_SZ, ANSWER_ROOM); /* if the system refuses, the pipe is slower but correct */
   peer->in = to[1];
   peer->out = from[0];
   return RKB_OK;
}

int rkb_pipe_process_kill(rkb_pipe_process_t *peer, struct rusage *used) {
   int status = 0;
   if (peer->pid > 0) {
      kill(-peer->pid, SIGKILL);
      while (wait4(peer->pid, &status, 0, used) < 0 && errno == EINTR)
         continue;
   }
   if (peer->in >= 0)
      close(peer->in);
   if (peer->out >= 0)
      close(peer->out);
   *peer = (rkb_pipe_process_t){.in = -1, .out = -1};
   return status;
}

/* send takes MSG_NOSIGNAL, so a closed socket raises no SIGPIPE.  A pipe takes write, which may raise SIGPIPE; a worker, whose
 * standard output is a pipe, ignores that signal. */
static ssize_t put(int fd, const char *at, size_t bytes) {
   const ssize_t moved = send(fd, at, bytes, MSG_NOSIGNAL);
   return moved < 0 && errno == ENOTSOCK ? write(fd, at, bytes) : moved;
}

static enum rkb_transfer transfer(int fd, bool sending, char *at, size_t bytes, uint64_t deadline_ns,
                                  bool (*cancelled)(void *), void *argument) {
   while (bytes > 0) {
      ssize_t moved = sending ? put(fd, at, bytes) : read(fd, at, bytes);
      if (moved > 0) {
         at += moved;
         bytes -= (size_t)moved;
         continue;
      }
      if (moved == 0 || (errno != EAGAIN && errno != EINTR))
         return RKB_TRANSFER_ENDED;
      struct pollfd ready = {fd, sending ? POLLOUT : POLLIN, 0};
      poll(&ready, 1, POLL_MS);
      if (cancelled && cancelled(argument))
         return RKB_TRANSFER_CANCELLED;
      if (deadline_ns && rkb_now_ns() > deadline_ns)
         return RKB_TRANSFER_LATE;
   }
   return RKB_TRANSFERRED;
}

enum rkb_transfer rkb_pipe_process_send(rkb_pipe_process_t *peer, const void *data, size_t bytes,
                                        uint64_t deadline_ns, bool (*cancelled)(void *), void *argument) {
   return transfer(peer->in, true, (char *)data, bytes, deadline_ns, cancelled, argument);
}

enum rkb_transfer rkb_pipe_process_receive(rkb_pipe_process_t *peer, void *data, size_t bytes,
                                           uint64_t deadline_ns, bool (*cancelled)(void *), void *argument) {
   return transfer(peer->out, false, data, bytes, deadline_ns, cancelled, argument);
}
