/* What the tests of language models share: the server of server/provider_server.py, and a service whose loop turns
 * on a thread of its own, asked from the test's thread. */
#ifndef RKB_TESTS_LLM_FIXTURE_H
#define RKB_TESTS_LLM_FIXTURE_H

#include "check.h"
#include <pthread.h>
#include <sys/types.h>
#include "llm/llm.h"

#define PLANTED_KEY "sk-planted-key-5f2a91c77e"

typedef struct provider_server {
   int port, tls_port, process, keep_open;
   char folder[32]; /* cert.pem, for localhost; and "asked", a line for each request it got */
} provider_server_t;

void provider_server_start(provider_server_t *server);
void provider_server_stop(provider_server_t *server);

typedef struct service {
   char *directory; /* of the run, with the archive and log.jsonl */
   rkb_arena_t *arena;
   rkb_problems_t problems;
   rkb_models_t *models;
   rkb_archive_t *archive;
   rkb_log_t *log;
   rkb_loop_t *loop;
   rkb_http_t *http;
   rkb_llm_t *llm;
   pthread_t thread; /* makes, turns and frees loop, http and llm */
   pthread_mutex_t mutex;
   pthread_cond_t ready;
   double cost_limit;
   int opened; /* 0: not yet; 1: open; -1: it failed */
   rkb_error_t error;
   char over_budget[320]; /* what it said when the money was over */
} service_t;

/* models: YAML below "models:".  Fails the test when it does not open.  directory: of an earlier service, to
 * go on with, or NULL for a new one. */
void service_open(service_t *service, const char *models, double cost_limit, const char *directory);
/* Closes all but the directory. */
void service_close(service_t *service);
void service_remove(service_t *service); /* the directory */
/* One question in the name of request and child; owned. */
rkb_llm_answer_t *service_ask(service_t *service, const char *model, int64_t request, int64_t child,
                              const char *text);
/* rkb-run on a pipeline: --out or --resume, what it writes to its standard error appended to DIRECTORY.log. */
pid_t run_start(const char *pipeline, const char *directory, bool resume, const char *jobs);
int run_finish(pid_t pid); /* its exit code; 128 and more: a signal */
/* Waits until a run that has just begun has asked something, so that there is a run to kill. */
void run_wait_until_asked(const char *directory);

/* A count by the archive of a run that goes on; 0 as long as it cannot be asked. */
int run_count(const char *directory, const char *sql);

/* The archive's answer to a query of one number. */
double service_number(const char *directory, const char *sql);

#endif
