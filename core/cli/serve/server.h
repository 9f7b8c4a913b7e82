/* The HTTP server of `rkb serve`: libmicrohttpd parses requests, this file answers them.  Only the main
 * thread. */
#ifndef RKB_CLI_SERVE_SERVER_H
#define RKB_CLI_SERVE_SERVER_H

#include <stdint.h>
#include <rkb/plugin.h>

typedef struct server_options {
   const char *folder;
   const char *address; /* numeric address */
   uint16_t port;       /* 0: any free port */
   const char *token;   /* NULL on the loopback address, to which no other machine can connect */
} server_options_t;

/* Prints the address and answers until SIGINT or SIGTERM. */
int server_run(const server_options_t *options, rkb_error_t *err);

#endif
