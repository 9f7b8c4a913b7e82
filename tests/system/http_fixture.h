/* The misbehaving server of http_server.py as a child, for tests and the benchmark. */
#ifndef RKB_TESTS_HTTP_FIXTURE_H
#define RKB_TESTS_HTTP_FIXTURE_H

#include <stdbool.h>

typedef struct http_server {
   int plain, tls, silent; /* ports of 127.0.0.1; silent accepts and never says a word */
   char folder[32];        /* holds cert.pem, which is for "localhost" */
   int process, keep_open;
} http_server_t;

bool http_server_start(http_server_t *server);
void http_server_stop(http_server_t *server);

#endif
