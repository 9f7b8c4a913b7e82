/* The machines of an executor whose jobs are processes: how a job's command is written for each, which has room, and which are left out.
 * Before its first job a host shows that it has this version of rkb and sees the directory.  Loop thread only. */
#ifndef RKB_EXECUTOR_HOSTS_H
#define RKB_EXECUTOR_HOSTS_H

#include "executor/executor.h"

typedef struct rkb_hosts rkb_hosts_t;

typedef struct rkb_words {
   const char **list; /* NULL-terminated */
   char *number, *line;
} rkb_words_t;

/* names: NULL for this machine.  Asks every host at the same time; options->events.ready follows for each that can be used, and
 * options->events.broken when none can. */
rkb_hosts_t *rkb_hosts_new(char *const *names, uint32_t at_once, const rkb_executor_options_t *options);
uint32_t rkb_hosts_count(const rkb_hosts_t *hosts);
const char *rkb_hosts_name(const rkb_hosts_t *hosts, uint32_t host); /* "" for this machine */

bool rkb_hosts_choose(const rkb_hosts_t *hosts,
                      uint32_t *host); /* the one with the fewest jobs; false: none has room */
void rkb_hosts_enter(rkb_hosts_t *hosts, uint32_t host); /* a job begins there */
void rkb_hosts_leave(rkb_hosts_t *hosts, uint32_t host); /* and ended */
/* Leaves the host out: for some seconds, or for good. */
void rkb_hosts_failed(rkb_hosts_t *hosts, uint32_t host, const char *text, bool for_good);

void rkb_hosts_words(const rkb_hosts_t *hosts, uint32_t host, uint32_t job, rkb_words_t *words);
void rkb_words_free(rkb_words_t *words);

void rkb_hosts_close(rkb_hosts_t *hosts);
void rkb_hosts_free(rkb_hosts_t *hosts); /* NULL is accepted */

#endif
