/* rkb-bench-http: how much processor time many concurrent event streams take, and how late they make the loop.
 *
 *    rkb-bench-http [streams [events [tls-streams]]]   default: 1000 streams of 100 events, 20 a second each, and
 *                                                      then 200 streams over TLS; 0: none
 *
 * The servers are child processes on the same machine.  Bind this program to one core with taskset; the
 * servers reset their affinity and run on the other cores.  The TLS server is http_server.py, with a thread
 * for each stream.  Lag is how late a 5 ms timer fires.  It is measured from the first connect on, so it
 * includes the time in which streams are opened. */
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/usage.h"

#include "system/http_fixture.h"
#include "system/http.h"

#define TICK_NS UINT64_C(5000000)
#define EVENT_NS UINT64_C(50000000)
#define MOST_TICKS 200000u
#define EVENT "data: {\"choices\":[{\"delta\":{\"content\":\"a few words of an answer\"}}]}\n\n"

static const char reply_head[] =
   "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/* The server -------------------------------------------------------------------------------------- */

typedef struct stream {
   uv_tcp_t tcp;
   uv_timer_t timer;
   uv_write_t write;
   unsigned left;
   unsigned open; /* open handles */
} stream_t;

static unsigned events_a_stream;

static void on_stream_closed(uv_handle_t *handle) {
   stream_t *stream = handle->data;
   if (--stream->open == 0)
      free(stream);
}

static void close_stream(stream_t *stream) {
   if (uv_is_closing((uv_handle_t *)&stream->tcp))
      return;
   uv_close((uv_handle_t *)&stream->tcp, on_stream_closed);
   uv_close((uv_handle_t *)&stream->timer, on_stream_closed);
}

static void send_text(stream_t *stream, const char *text) {
   uv_buf_t buffer = uv_buf_init((char *)text, (unsigned)strlen(text));
   if (uv_try_write((uv_stream_t *)&stream->tcp, &buffer, 1) != (int)buffer.len)
      close_stream(stream);
}

static void on_stream_tick(uv_timer_t *timer) {
   stream_t *stream = timer->data;
   if (stream->left-- > 0) {
      send_text(stream, EVENT);
      return;
   }
   send_text(stream, "data: [DONE]\n\n");
   close_stream(stream);
}

static void give_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
   static char bytes[65536];
   (void)handle;
   (void)size;
   *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void on_request(uv_stream_t *tcp, ssize_t length, const uv_buf_t *buffer) {
   stream_t *stream = tcp->data;
   (void)buffer;
   if (length < 0) {
      close_stream(stream);
      return;
   }
   if (length == 0 || uv_is_active((uv_handle_t *)&stream->timer))
      return;
   send_text(stream, reply_head);
   uv_timer_start(&stream->timer, on_stream_tick, EVENT_NS / 1000000, EVENT_NS / 1000000);
}

static void on_connection(uv_stream_t *listener, int status) {
   stream_t *stream = rkb_allocate(1, sizeof *stream);
   if (status != 0 || !stream)
      abort();
   uv_tcp_init(listener->loop, &stream->tcp);
   uv_timer_init(listener->loop, &stream->timer);
   stream->tcp.data = stream->timer.data = stream;
   stream->open = 2;
   stream->left = events_a_stream;
   if (uv_accept(listener, (uv_stream_t *)&stream->tcp) != 0)
      abort();
   uv_tcp_nodelay(&stream->tcp, 1);
   uv_read_start((uv_stream_t *)&stream->tcp, give_buffer, on_request);
}

static void serve(int listener) {
   uv_loop_t *loop = uv_default_loop();
   uv_tcp_t tcp;
   cpu_set_t all;
   memset(&all, 0xff, sizeof all);
   sched_setaffinity(0, sizeof all, &all);
   signal(SIGPIPE, SIG_IGN);
   uv_tcp_init(loop, &tcp);
   if (uv_tcp_open(&tcp, listener) != 0 || uv_listen((uv_stream_t *)&tcp, 4096, on_connection) != 0)
      abort();
   uv_run(loop, UV_RUN_DEFAULT);
}

static pid_t start_server(int *port) {
   struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
   socklen_t size = sizeof address;
   int listener = socket(AF_INET, SOCK_STREAM, 0);
   if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
       listen(listener, 4096) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
      return -1;
   *port = ntohs(address.sin_port);
   pid_t child = fork();
   if (child == 0) {
      serve(listener);
      _exit(0);
   }
   close(listener);
   return child;
}

/* The client --------------------------------------------------------------------------------------- */

static struct {
   rkb_loop_t *loop;
   unsigned left, failed;
   uint64_t events, bytes;
   uint64_t last_tick;
   uint32_t lags[MOST_TICKS]; /* in microseconds */
   unsigned ticks;
} bench;

static void on_event(void *argument, const rkb_http_event_t *event) {
   (void)argument;
   bench.events++;
   bench.bytes += event->data_bytes;
}

static void on_done(void *argument, const rkb_http_reply_t *reply) {
   (void)argument;
   if (reply->outcome != RKB_HTTP_DONE || !reply->streamed) {
      if (bench.failed++ < 3)
         fprintf(stderr, "rkb-bench-http: %s (status %d)\n", reply->message, reply->status);
   }
   if (--bench.left == 0)
      rkb_loop_stop(bench.loop);
}

static void on_tick(void *argument) {
   uint64_t now = rkb_now_ns();
   (void)argument;
   if (bench.last_tick && bench.ticks < MOST_TICKS) {
      uint64_t gap = now - bench.last_tick;
      bench.lags[bench.ticks++] = gap > TICK_NS ? (uint32_t)((gap - TICK_NS) / 1000) : 0;
   }
   bench.last_tick = now;
}

static int by_size(const void *a, const void *b) {
   uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
   return (x > y) - (x < y);
}

static double lag_ms(double share) {
   return bench.ticks ? bench.lags[(unsigned)(share * (bench.ticks - 1))] / 1e3 : 0;
}

static int run(const char *title, const char *url, const char *ca_file, unsigned streams, unsigned events) {
   rkb_error_t err;
   memset(&bench, 0, sizeof bench);
   rkb_http_t *http;
   struct rusage usage;
   const rkb_http_options_t options = {.ca_file = ca_file};
   if (rkb_loop_new(&bench.loop, &err) != RKB_OK ||
       rkb_http_new(bench.loop, &options, &http, &err) != RKB_OK) {
      fprintf(stderr, "rkb-bench-http: %s\n", err.message);
      return 2;
   }
   rkb_http_request_t request = {
      .url = url, .body = "{\"stream\": true}", .body_bytes = 16, .event = on_event, .done = on_done};
   rkb_timer_t *tick = rkb_timer_start_repeating(bench.loop, TICK_NS, on_tick, NULL);
   uint64_t began = rkb_now_ns();
   bench.left = streams;
   for (unsigned i = 0; i < streams; i++) {
      if (rkb_http_start(http, &request, NULL, &err) != RKB_OK)
         abort();
   }
   rkb_loop_run(bench.loop);
   double seconds = (double)(rkb_now_ns() - began) / 1e9;
   rkb_timer_stop(tick);
   getrusage(RUSAGE_SELF, &usage);
   qsort(bench.lags, bench.ticks, sizeof bench.lags[0], by_size);
   double ideal = (double)(events + 1) * EVENT_NS / 1e9;
   printf("%s: streams %u, failed %u, events %llu\n", title, streams, bench.failed,
          (unsigned long long)bench.events);
   printf("loop lag: median %.2f ms, 99th percentile %.2f ms, largest %.2f ms (%u samples)\n", lag_ms(0.5),
          lag_ms(0.99), lag_ms(1), bench.ticks);
   printf("wall %.2f s, of one stream alone %.2f s, ratio %.2f\n", seconds, ideal, seconds / ideal);
   printf("processor so far %.2f s, memory at most %.1f MB\n",
          (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
             (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6,
          (double)usage.ru_maxrss / 1024);
   rkb_http_free(http);
   rkb_loop_free(bench.loop);
   return bench.failed || bench.events != (uint64_t)streams * (events + 1) ? 1 : 0;
}

static int run_plain(unsigned streams, unsigned events) {
   char url[64];
   int port;
   events_a_stream = events;
   pid_t server = start_server(&port);
   if (server < 0) {
      perror("rkb-bench-http: cannot listen");
      return 2;
   }
   snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
   int status = run("plain", url, NULL, streams, events);
   kill(server, SIGKILL);
   waitpid(server, NULL, 0);
   return status;
}

static int run_tls(unsigned streams, unsigned events) {
   http_server_t server;
   cpu_set_t all, mine;
   char url[64], certificate[64];
   memset(&all, 0xff, sizeof all);
   sched_getaffinity(0, sizeof mine, &mine);
   sched_setaffinity(0, sizeof all, &all); /* of the child process */
   bool started = http_server_start(&server);
   sched_setaffinity(0, sizeof mine, &mine);
   if (!started) {
      fprintf(stderr, "rkb-bench-http: no TLS server: it needs python3 and openssl\n");
      return 2;
   }
   snprintf(url, sizeof url, "https://localhost:%d/paced/%u", server.tls, events);
   snprintf(certificate, sizeof certificate, "%s/cert.pem", server.folder);
   int status = run("TLS", url, certificate, streams, events);
   http_server_stop(&server);
   return status;
}

static unsigned number(int argc, char **argv, int index, unsigned fallback) {
   return argc > index ? (unsigned)strtoul(argv[index], NULL, 10) : fallback;
}

int main(int argc, char **argv) {
   const int over = rkb_usage(argc, argv, 3,
                              "usage: rkb-bench-http [STREAMS [EVENTS [TLS-STREAMS]]]\n"
                              "Prints what concurrent event streams cost the loop: 1000 streams of 100 events each, and 200 over TLS, "
                              "unless given; 0: none.\n");
   if (over >= 0)
      return over;
   unsigned streams = number(argc, argv, 1, 1000), events = number(argc, argv, 2, 100),
            tls = number(argc, argv, 3, 200);
   int status = run_plain(streams, events);
   return tls && status == 0 ? run_tls(tls, events) : status;
}
