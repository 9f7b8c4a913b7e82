/* One process that answers lines with lines (line_process.h).  Question, answer and standard error move in one loop, so that a process that
 * writes before it reads cannot block both sides.  One thread at a time. */
#include "system/line_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/text.h"
#include "system/loop.h"
#include "system/pipe_process.h"

enum { POLL_MS = 50, ENDING_MS = 2000, CHUNK = 65536, LAST_WORDS = 2048, MOST_QUOTED = 240 };

struct line_process {
   rkb_pipe_process_t peer;
   int errors;                /* the process's standard error, non-blocking; -1 once it is closed */
   char words[LAST_WORDS];    /* the last bytes that the process wrote to standard error */
   size_t word_bytes;
   char *question;            /* with its newline */
   size_t question_bytes, sent;
   rkb_text_t answer;
   size_t looked;             /* bytes of the answer that were searched for a newline */
   const char *name;
   size_t line_limit;
};

enum moved { MOVED, ANSWERED, ENDED, TOO_LONG, TOO_MUCH, TOO_EARLY };

int line_process_start(const talker_program_t *program, line_process_t **out, rkb_error_t *err) {
   int errors[2];
   *out = NULL;
   if (pipe2(errors, O_CLOEXEC) != 0)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "no pipe for '%s': %s", program->name, strerror(errno));
   line_process_t *talker = rkb_allocate(1, sizeof *talker);
   int status = rkb_pipe_process_start_in(&talker->peer, program->directory, program->command,
                                          program->environment, errors[1], err);
   close(errors[1]);
   if (status != RKB_OK) {
      close(errors[0]);
      free(talker);
      return status;
   }
   fcntl(errors[0], F_SETFL, O_NONBLOCK);
   talker->errors = errors[0];
   talker->name = program->name;
   talker->line_limit = program->line_limit;
   rkb_text_init(&talker->answer, program->line_limit + CHUNK);
   *out = talker;
   return RKB_OK;
}

void line_process_end(line_process_t *talker) {
   if (!talker)
      return;
   rkb_pipe_process_kill(&talker->peer, NULL);
   if (talker->errors >= 0)
      close(talker->errors);
   rkb_text_free(&talker->answer);
   free(talker->question);
   free(talker);
}

static void keep_words(line_process_t *talker, const char *data, size_t bytes) {
   if (bytes > sizeof talker->words) {
      data += bytes - sizeof talker->words;
      bytes = sizeof talker->words;
   }
   const size_t room = sizeof talker->words - talker->word_bytes, lost = bytes > room ? bytes - room : 0;
   memmove(talker->words, talker->words + lost, talker->word_bytes - lost);
   memcpy(talker->words + talker->word_bytes - lost, data, bytes);
   talker->word_bytes += bytes - lost;
}

static void read_errors(line_process_t *talker) {
   char chunk[4096];
   while (talker->errors >= 0) {
      const ssize_t bytes = read(talker->errors, chunk, sizeof chunk);
      if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
         return;
      if (bytes <= 0) {
         close(talker->errors);
         talker->errors = -1;
         return;
      }
      keep_words(talker, chunk, (size_t)bytes);
      if ((size_t)bytes < sizeof chunk)
         return; /* there may be more, but a process that writes without end must not hold this loop; the next poll reads on */
   }
}

static enum moved send_some(line_process_t *talker) {
   const ssize_t bytes = send(talker->peer.in, talker->question + talker->sent, talker->question_bytes - talker->sent, MSG_NOSIGNAL);
   if (bytes < 0)
      return errno == EAGAIN || errno == EINTR ? MOVED : ENDED;
   talker->sent += (size_t)bytes;
   return MOVED;
}

static enum moved read_some(line_process_t *talker) {
   char chunk[CHUNK];
   const ssize_t bytes = read(talker->peer.out, chunk, sizeof chunk);
   if (bytes < 0)
      return errno == EAGAIN || errno == EINTR ? MOVED : ENDED;
   if (bytes == 0)
      return ENDED;
   rkb_text_append(&talker->answer, chunk, (size_t)bytes);
   const char *newline = memchr(talker->answer.data + talker->looked, '\n', talker->answer.length - talker->looked);
   talker->looked = talker->answer.length;
   if (talker->answer.cut || talker->answer.length > talker->line_limit + 1)
      return TOO_LONG;
   if (!newline)
      return MOVED;
   if (talker->sent < talker->question_bytes)
      return TOO_EARLY;
   return newline + 1 == talker->answer.data + talker->answer.length ? ANSWERED : TOO_MUCH;
}

/* Writes and reads what the three pipes can take and give now, without waiting. */
static enum moved move(line_process_t *talker) {
   struct pollfd fds[] = {{talker->peer.out, POLLIN, 0},
                          {talker->errors, POLLIN, 0},
                          {talker->sent < talker->question_bytes ? talker->peer.in : -1, POLLOUT, 0}};
   enum moved moved = MOVED;
   if (poll(fds, 3, POLL_MS) <= 0)
      return MOVED;
   if (fds[1].revents)
      read_errors(talker);
   if (fds[0].revents)
      moved = read_some(talker);
   if (moved == MOVED && fds[2].revents)
      moved = send_some(talker);
   return moved;
}

/* Quotes the last line of standard error that is not blank; of a Python traceback that is the exception. */
static void quote_last_words(line_process_t *talker, char quoted[MOST_QUOTED + 3]) {
   size_t end, start;
   read_errors(talker);
   for (end = talker->word_bytes; end > 0 && (unsigned char)talker->words[end - 1] <= ' '; end--)
      ;
   for (start = end; start > 0 && talker->words[start - 1] != '\n'; start--)
      ;
   const size_t bytes = end - start < MOST_QUOTED ? end - start : MOST_QUOTED;
   memcpy(quoted, ": ", 3);
   memcpy(quoted + 2, talker->words + start, bytes);
   quoted[bytes ? bytes + 2 : 0] = '\0';
   for (char *at = quoted; *at; at++)
      *at = (unsigned char)*at < ' ' ? ' ' : *at;
}

static int tell_end(line_process_t *talker, rkb_error_t *err) {
   char quoted[MOST_QUOTED + 3];
   /* The process closed its output, so it is probably ending.  Waits a moment for its exit status, and then kills it. */
   const int watched = (int)syscall(SYS_pidfd_open, talker->peer.pid, 0);
   if (watched >= 0) {
      struct pollfd ended = {watched, POLLIN, 0};
      poll(&ended, 1, ENDING_MS);
      close(watched);
   }
   const int outcome = rkb_pipe_process_kill(&talker->peer, NULL);
   quote_last_words(talker, quoted);
   if (WIFSIGNALED(outcome))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "'%.100s' ended with signal %d (%s) before it answered%s", talker->name, WTERMSIG(outcome),
                      strsignal(WTERMSIG(outcome)), quoted);
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "'%.100s' ended with exit code %d before it answered%s", talker->name, WEXITSTATUS(outcome),
                   quoted);
}

static void pose(line_process_t *talker, const char *line) {
   free(talker->question);
   talker->question = rkb_format("%s\n", line);
   talker->question_bytes = strlen(talker->question);
   talker->sent = talker->looked = 0;
   rkb_text_clear(&talker->answer);
}

int line_process_ask(line_process_t *talker, const char *line, const talker_wait_t *wait,
                     rkb_conversation_read_t read_answer, void *argument, rkb_error_t *err) {
   if (strlen(line) > talker->line_limit)
      return rkb_fail(err, RKB_ERR_LIMIT, "the question to '%.100s' has more than %zu bytes", talker->name, talker->line_limit);
   pose(talker, line);
   for (;;) {
      switch (move(talker)) {
      case MOVED:
         break;
      case ANSWERED:
         talker->answer.data[talker->answer.length - 1] = '\0';
         return read_answer(argument, talker->answer.data, talker->answer.length - 1, err);
      case ENDED:
         return tell_end(talker, err);
      case TOO_LONG:
         return rkb_fail(err, RKB_ERR_LIMIT, "'%.100s' answered with more than %zu bytes", talker->name, talker->line_limit);
      case TOO_MUCH:
         return rkb_fail(err, RKB_ERR_CONTRACT, "'%.100s' answered with more than one line", talker->name);
      case TOO_EARLY:
         return rkb_fail(err, RKB_ERR_CONTRACT, "'%.100s' answered before it had the whole question", talker->name);
      }
      if (wait->cancelled && wait->cancelled(wait->whom))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled while '%.100s' was asked", talker->name);
      if (rkb_now_ns() > wait->until_ns)
         return rkb_fail(err, RKB_ERR_TIMEOUT, "'%.100s' did not answer in time", talker->name);
   }
}
