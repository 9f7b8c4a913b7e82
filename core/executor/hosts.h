/* The machines of an executor whose jobs are processes: the command of a job on each, which machines have room, and which are left out. Before its first
 * job, a host must show that it has this version of rkb and can read the directory.  Loop thread only. */
#ifndef RKB_EXECUTOR_HOSTS_H
#define RKB_EXECUTOR_HOSTS_H

#include "executor/executor.h"

typedef struct rkb_hosts rkb_hosts_t;

typedef struct rkb_words {
   const char **list; /* NULL-terminated */
   char *number, *line;
} rkb_words_t;

/* names: NULL for this machine.  Probes all hosts at the same time.  options->events.ready is called for each host that can be used, and
 * options->events.broken if none can. */
rkb_hosts_t *rkb_hosts_new(char *const *names, uint32_t at_once, const rkb_executor_options_t *options);
uint32_t rkb_hosts_count(const rkb_hosts_t *hosts);
const char *rkb_hosts_name(const rkb_hosts_t *hosts, uint32_t host); /* "" for this machine */

bool rkb_hosts_choose(const rkb_hosts_t *hosts,
                      uint32_t *host); /* the host with the fewest jobs; false: no host has room */
void rkb_hosts_enter(rkb_hosts_t *hosts, uint32_t host); /* a job begins there */
void rkb_hosts_leave(rkb_hosts_t *hosts, uint32_t host); /* a job ended there */
/* Leaves the host out, for some seconds or for the rest of the sweep. */
void rkb_hosts_failed(rkb_hosts_t *hosts, uint32_t host, const char *text, bool for_good);

void rkb_hosts_words(const rkb_hosts_t *hosts, uint32_t host, uint32_t job, rkb_words_t *words);
void rkb_words_free(rkb_words_t *words);

void rkb_hosts_close(rkb_hosts_t *hosts);
void rkb_hosts_free(rkb_hosts_t *hosts); /* NULL is accepted */

#endif
