/* The HTTP server of `rkb serve` (server.h).  One thread: a request is answered before the next one is read.
 * Owns the page that was made last, because several readers of one run ask for the same page. */
#include "cli/serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include "base/memory.h"
#include "cli/serve/shown_page.h"

enum { MOST_CONNECTIONS = 32, IDLE_S = 30, CONNECTION_BYTES = 32 << 10, WAIT_MS = 500, MOST_TOKEN = 256 };

typedef struct server {
   const server_options_t *options;
   char *made_of, made_stamp[SHOWN_STAMP]; /* the run of the stored page */
   struct MHD_Response *made;
   bool ended; /* a signal ended the server */
} server_t;

/* Makes a response and takes ownership of the text. */
static struct MHD_Response *answer_of(rkb_text_t *text, const char *type) {
   const size_t length = text->length;
   struct MHD_Response *response = MHD_create_response_from_buffer(length, rkb_text_take(text), MHD_RESPMEM_MUST_FREE);
   if (!response)
      return NULL;
   MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
   MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
   MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
   MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
   MHD_add_response_header(response, "X-Frame-Options", "DENY");
   return response;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response) {
   if (!response)
      return MHD_NO;
   const enum MHD_Result result = MHD_queue_response(connection, status, response);
   MHD_destroy_response(response);
   return result;
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *sentence) {
   rkb_text_t text;
   rkb_text_init(&text, 4096);
   rkb_text_format(&text, "%s\n", sentence);
   return queue(connection, status, answer_of(&text, "text/plain; charset=utf-8"));
}

/* Compares the token in constant time, so that the time does not reveal how much of it is right. */
static bool is_token(const char *given, const char *token) {
   const size_t length = strlen(token);
   unsigned char difference = (unsigned char)(strnlen(given, MOST_TOKEN) != length);
   for (size_t i = 0; i < length; i++)
      difference |= (unsigned char)((difference ? 0 : given[i]) ^ token[i]);
   return difference == 0;
}

/* Without a token, only a browser on this machine may ask.  The host name is checked too, because a foreign
 * page may use a name that resolves to this machine. */
static bool is_local_name(const char *host) {
   static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
   for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
      const size_t length = strlen(names[i]);
      if (strncmp(host, names[i], length) == 0 && (!host[length] || host[length] == ':'))
         return true;
   }
   return false;
}

/* Whether a request is allowed.  MHD_YES: continue.  Otherwise the request is answered, and *result is the
 * return value. */
static bool may_ask(const server_t *server, struct MHD_Connection *connection, enum MHD_Result *result) {
   const char *token = server->options->token, *given;
   if (!token) {
      if (is_local_name(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
         return true;
      *result = say(connection, MHD_HTTP_FORBIDDEN, "ask for this machine by the name localhost");
      return false;
   }
   given = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, "rkb_token");
   if (given && is_token(given, token))
      return true;
   given = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
   if (!given || !is_token(given, token)) {
      *result = say(connection, MHD_HTTP_FORBIDDEN, "the token is missing or wrong; use the address that rkb serve printed");
      return false;
   }
   /* From now on a cookie holds the token, so that it appears neither in the address bar nor in links. */
   rkb_text_t text;
   rkb_text_init(&text, 64);
   rkb_text_add(&text, "see /\n");
   struct MHD_Response *response = answer_of(&text, "text/plain; charset=utf-8");
   char *cookie = rkb_format("rkb_token=%s; Path=/; HttpOnly; SameSite=Strict", token);
   if (response) {
      MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
      MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, "/");
   }
   free(cookie);
   *result = queue(connection, MHD_HTTP_SEE_OTHER, response);
   return false;
}

static enum MHD_Result answer_list(struct MHD_Connection *connection, const shown_runs_t *runs) {
   rkb_text_t text;
   shown_list(runs, &text);
   struct MHD_Response *response = answer_of(&text, "text/html; charset=utf-8");
   if (response) {
      MHD_add_response_header(response, "Refresh", "5");
      MHD_add_response_header(response, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
   }
   return queue(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result answer_state(struct MHD_Connection *connection, const shown_run_t *run) {
   rkb_text_t text;
   rkb_text_init(&text, 128);
   rkb_text_format(&text, "{\"stamp\": \"%s\"}\n", run->stamp);
   return queue(connection, MHD_HTTP_OK, answer_of(&text, "application/json"));
}

static void forget_page(server_t *server) {
   if (server->made)
      MHD_destroy_response(server->made);
   free(server->made_of);
   server->made = NULL;
   server->made_of = NULL;
}

static enum MHD_Result answer_page(server_t *server, struct MHD_Connection *connection, const shown_run_t *run) {
   rkb_text_t text;
   rkb_error_t err = {0};
   if (!server->made || strcmp(server->made_of, run->name) != 0 || strcmp(server->made_stamp, run->stamp) != 0) {
      forget_page(server);
      if (shown_page(run, &text, &err) != RKB_OK)
         return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.message);
      server->made = answer_of(&text, "text/html; charset=utf-8");
      if (!server->made)
         return MHD_NO;
      server->made_of = rkb_duplicate(run->name);
      memcpy(server->made_stamp, run->stamp, sizeof server->made_stamp);
   }
   return MHD_queue_response(connection, MHD_HTTP_OK, server->made);
}

/* Answers "/run/NAME/" and "/run/NAME/state".  The name is compared with the folder's entries, and never
 * becomes part of a path. */
static enum MHD_Result answer_run(server_t *server, struct MHD_Connection *connection, const shown_runs_t *runs, const char *url) {
   const char *slash = strchr(url, '/');
   const shown_run_t *run = NULL;
   if (slash) {
      char *name = rkb_duplicate_part(url, (size_t)(slash - url));
      run = shown_runs_find(runs, name);
      free(name);
   }
   if (run && strcmp(slash, "/") == 0)
      return answer_page(server, connection, run);
   if (run && strcmp(slash, "/state") == 0)
      return answer_state(connection, run);
   return say(connection, MHD_HTTP_NOT_FOUND, "there is no such run; see the list at /");
}

static enum MHD_Result answer(void *argument, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *data, size_t *data_bytes, void **state) {
   server_t *server = argument;
   enum MHD_Result result;
   shown_runs_t runs;
   (void)version, (void)data, (void)state;
   if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
      return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET");
   if (*data_bytes)
      return MHD_NO; /* refuses a GET with a body */
   if (!may_ask(server, connection, &result))
      return result;
   if (strcmp(url, "/") != 0 && strncmp(url, "/run/", 5) != 0)
      return say(connection, MHD_HTTP_NOT_FOUND, "there is no such page; see the list at /");
   shown_runs_scan(server->options->folder, &runs);
   result = url[1] ? answer_run(server, connection, &runs, url + 5) : answer_list(connection, &runs);
   shown_runs_free(&runs);
   return result;
}

static int read_address(const server_options_t *options, struct sockaddr_storage *address, rkb_error_t *err) {
   struct sockaddr_in *four = (struct sockaddr_in *)address;
   struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
   memset(address, 0, sizeof *address);
   if (inet_pton(AF_INET, options->address, &four->sin_addr) == 1) {
      four->sin_family = AF_INET;
      four->sin_port = htons(options->port);
   } else if (inet_pton(AF_INET6, options->address, &six->sin6_addr) == 1) {
      six->sin6_family = AF_INET6;
      six->sin6_port = htons(options->port);
   } else {
      return rkb_fail(err, RKB_ERR_INVALID, "--address takes a numeric address, as 127.0.0.1, not '%.60s'", options->address);
   }
   return RKB_OK;
}

static void say_address(struct MHD_Daemon *daemon, const server_options_t *options) {
   const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
   const bool six = strchr(options->address, ':') != NULL;
   printf("http://%s%s%s:%u/%s%s\n", six ? "[" : "", options->address, six ? "]" : "", info ? info->port : options->port,
          options->token ? "?token=" : "", options->token ? options->token : "");
   fflush(stdout);
}

static void end(uv_signal_t *handle, int number) {
   server_t *server = handle->data;
   (void)number;
   server->ended = true;
}

/* libuv delivers signals to the loop whichever thread receives them; the program's libraries have threads of
 * their own. */
static void serve_until_signalled(server_t *server, struct MHD_Daemon *daemon) {
   static const int numbers[] = {SIGINT, SIGTERM};
   uv_signal_t signals[2];
   uv_loop_t loop;
   if (uv_loop_init(&loop) != 0)
      return;
   for (int i = 0; i < 2; i++) {
      uv_signal_init(&loop, &signals[i]);
      signals[i].data = server;
      uv_signal_start(&signals[i], end, numbers[i]);
   }
   say_address(daemon, server->options);
   while (!server->ended) {
      MHD_run_wait(daemon, WAIT_MS);
      uv_run(&loop, UV_RUN_NOWAIT);
   }
   for (int i = 0; i < 2; i++)
      uv_close((uv_handle_t *)&signals[i], NULL);
   uv_run(&loop, UV_RUN_DEFAULT);
   uv_loop_close(&loop);
}

int server_run(const server_options_t *options, rkb_error_t *err) {
   struct sockaddr_storage address;
   server_t server = {.options = options};
   if (read_address(options, &address, err) != RKB_OK)
      return err->status;
   /* Starts no thread, because MHD_run_wait does the work. */
   const unsigned flags = address.ss_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG;
   struct MHD_Daemon *daemon = MHD_start_daemon(
      flags, options->port, NULL, NULL, answer, &server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)CONNECTION_BYTES, MHD_OPTION_END);
   if (!daemon)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot listen at %s port %u: %s", options->address, options->port, strerror(errno));
   serve_until_signalled(&server, daemon);
   forget_page(&server);
   MHD_stop_daemon(daemon);
   return RKB_OK;
}
