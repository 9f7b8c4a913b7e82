/* The caller's side of rkb-worker's protocol.  Owns the child process; one thread at a time. */
#include "gpu/device_worker.h"
#include <string.h>
#include "base/utf8.h"

enum { SHORT_BYTES = 8192 };

static int gone(rkb_device_worker_t *w, enum rkb_transfer end, rkb_error_t *err) {
   rkb_device_worker_stop(w);
   switch (end) {
   case RKB_TRANSFER_LATE:
      return rkb_fail(err, RKB_ERR_TIMEOUT, "the GPU worker did not answer in time and was stopped");
   case RKB_TRANSFER_CANCELLED:
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   default:
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the GPU worker ended unexpectedly");
   }
}

static int nonsense(rkb_device_worker_t *w, const char *what, rkb_error_t *err) {
   rkb_device_worker_stop(w);
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the GPU worker answered with %s; is it of this version of rkb?",
                   what);
}

static enum rkb_transfer send_request(rkb_device_worker_t *w, uint32_t type, const rkb_piece_t *pieces,
                                      uint32_t piece_count, const rkb_patience_t *p) {
   rkb_worker_head_t head = {RKB_WORKER_MAGIC, RKB_WORKER_VERSION, (uint16_t)type, ++w->number, 0, 0};
   for (uint32_t i = 0; i < piece_count; i++)
      head.length += pieces[i].bytes;
   if (head.length <= SHORT_BYTES) { /* sending the parts separately would wake the worker twice */
      char whole[sizeof head + SHORT_BYTES];
      size_t at = sizeof head;
      memcpy(whole, &head, sizeof head);
      for (uint32_t i = 0; i < piece_count; at += pieces[i++].bytes)
         if (pieces[i].bytes)
            memcpy(whole + at, pieces[i].data, pieces[i].bytes);
      return rkb_pipe_process_send(&w->child, whole, at, p->deadline_ns, p->cancelled, p->argument);
   }
   enum rkb_transfer end =
      rkb_pipe_process_send(&w->child, &head, sizeof head, p->deadline_ns, p->cancelled, p->argument);
   for (uint32_t i = 0; i < piece_count && end == RKB_TRANSFERRED; i++)
      end = rkb_pipe_process_send(&w->child, pieces[i].data, pieces[i].bytes, p->deadline_ns, p->cancelled,
                                  p->argument);
   return end;
}

void rkb_worker_text_plain(char *text, size_t length, bool lines) {
   for (size_t at = 0, bytes; at < length; at += bytes) {
      const unsigned char *c = (const unsigned char *)text + at;
      bytes = rkb_utf8_character(text + at, length - at);
      if (bytes == 0 || (bytes == 1 && (*c == 0x7f || (*c < 0x20 && !(lines && *c == '\n')))) ||
          (bytes == 2 && c[0] == 0xc2 && c[1] < 0xa0)) {
         bytes = bytes ? bytes : 1;
         memset(text + at, '?', bytes);
      }
   }
}

/* Receives the reply to the last request. */
static int receive_reply(rkb_device_worker_t *w, uint32_t type, void *answer, size_t answer_bytes,
                         size_t *length, const rkb_patience_t *p, int *refusal, rkb_error_t *err) {
   rkb_worker_head_t reply;
   enum rkb_transfer end =
      rkb_pipe_process_receive(&w->child, &reply, sizeof reply, p->deadline_ns, p->cancelled, p->argument);
   if (end != RKB_TRANSFERRED)
      return gone(w, end, err);
   if (reply.magic != RKB_WORKER_MAGIC || reply.version != RKB_WORKER_VERSION || reply.type != type ||
       reply.number != w->number)
      return nonsense(w, "something else than was asked", err);
   if (reply.status != 0) {
      if (reply.status < 0 || reply.status > RKB_WORKER_DRIVER)
         return nonsense(w, "a status that there is not", err);
      if (reply.length >= sizeof err->message)
         return nonsense(w, "too long a refusal", err);
      end = rkb_pipe_process_receive(&w->child, err->message, reply.length, p->deadline_ns, p->cancelled,
                                     p->argument);
      err->message[reply.length] = '\0';
      rkb_worker_text_plain(err->message, reply.length, false);
      *refusal = reply.status;
      return end == RKB_TRANSFERRED ? RKB_OK : gone(w, end, err);
   }
   if (length ? reply.length > answer_bytes : reply.length != answer_bytes)
      return nonsense(w, "a reply of another length", err);
   end = rkb_pipe_process_receive(&w->child, answer, reply.length, p->deadline_ns, p->cancelled, p->argument);
   if (length)
      *length = reply.length;
   return end == RKB_TRANSFERRED ? RKB_OK : gone(w, end, err);
}

int rkb_device_worker_ask(rkb_device_worker_t *w, uint32_t type, const rkb_piece_t *pieces,
                          uint32_t piece_count, void *answer, size_t answer_bytes, size_t *length,
                          const rkb_patience_t *p, int *refusal, rkb_error_t *err) {
   *refusal = 0;
   if (!rkb_device_worker_alive(w))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the GPU worker is gone");
   enum rkb_transfer end = send_request(w, type, pieces, piece_count, p);
   if (end != RKB_TRANSFERRED)
      return gone(w, end, err);
   return receive_reply(w, type, answer, answer_bytes, length, p, refusal, err);
}

int rkb_device_worker_launch(rkb_device_worker_t *w, const char *const *command,
                             const char *const *environment, int errors, rkb_error_t *err) {
   static const rkb_patience_t at_once = {0}; /* does not wait, because a head fits any socket's buffer */
   *w = (rkb_device_worker_t){.child = {.in = -1, .out = -1}};
   int status = rkb_pipe_process_start(&w->child, command, environment, errors, err);
   if (status == RKB_OK) {
      enum rkb_transfer end = send_request(w, RKB_WORKER_HELLO, NULL, 0, &at_once);
      if (end != RKB_TRANSFERRED)
         status = gone(w, end, err);
   }
   return status;
}

int rkb_device_worker_greet(rkb_device_worker_t *w, const rkb_patience_t *patience, rkb_error_t *err) {
   size_t length = 0;
   int refusal = 0, status = receive_reply(w, RKB_WORKER_HELLO, w->greeting, sizeof w->greeting - 1, &length,
                                           patience, &refusal, err);
   if (status == RKB_OK && refusal) {
      rkb_device_worker_stop(w);
      err->status = status = RKB_ERR_UNAVAILABLE;
   }
   w->greeting[length] = '\0';
   rkb_worker_text_plain(w->greeting, length, true);
   return status;
}

int rkb_device_worker_start(rkb_device_worker_t *w, const char *const *command,
                            const char *const *environment, const rkb_patience_t *patience,
                            rkb_error_t *err) {
   int status = rkb_device_worker_launch(w, command, environment, -1, err);
   return status == RKB_OK ? rkb_device_worker_greet(w, patience, err) : status;
}

void rkb_device_worker_stop(rkb_device_worker_t *w) {
   rkb_pipe_process_kill(&w->child, NULL);
}

void rkb_device_worker_quit(rkb_device_worker_t *w) {
   static const rkb_patience_t at_once = {0};
   if (!rkb_device_worker_alive(w))
      return;
   send_request(w, RKB_WORKER_QUIT, NULL, 0, &at_once);
}

bool rkb_device_worker_alive(const rkb_device_worker_t *w) {
   return w->child.pid > 0;
}
