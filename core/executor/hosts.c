/* Keeps the machines of jobs that are processes (hosts.h).  Loop thread only. */
#include "executor/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "executor/shell_words.h"
#include "system/process.h"

#define PROBE_NS (60 * UINT64_C(1000000000))
#define LEFT_OUT_NS (30 * UINT64_C(1000000000))

enum { MAX_COMMAND = 1 << 20, MAX_PROBE_OUTPUT = 4096, MAX_TEXT = 600 };

enum host_state { PROBED = 1, USED, RESTS, OUT };

typedef struct host {
   rkb_hosts_t *hosts;
   const char *name;
   uint32_t state; /* enum host_state */
   uint32_t running;
   rkb_process_t *probe; /* the running probe, in state PROBED */
   rkb_timer_t *rest;    /* in state RESTS */
} host_t;

struct rkb_hosts {
   const rkb_executor_options_t *options;
   host_t *list;
   uint32_t count, at_once;
   bool closed;
};

/* With these options ssh asks a person nothing, and notices within a minute that a host is gone (ssh_config(5)). */
static const char *const ssh[] = {"ssh",
                                  "-T",
                                  "-oBatchMode=yes",
                                  "-oConnectTimeout=30",
                                  "-oServerAliveInterval=15",
                                  "-oServerAliveCountMax=4"};
enum { SSH_WORDS = sizeof ssh / sizeof *ssh };

static void tell_broken(rkb_hosts_t *hosts, const char *text) {
   rkb_error_t err;
   for (uint32_t i = 0; i < hosts->count; i++)
      if (hosts->list[i].state != OUT)
         return;
   rkb_fail(&err, RKB_ERR_UNAVAILABLE, "no host can be used; the last one: %.400s", text);
   hosts->options->events.broken(hosts->options->events.argument, &err);
}

static void leave_out(host_t *host, const char *why, const char *how_long) {
   char text[MAX_TEXT];
   snprintf(text, sizeof text, "%s is left out%s: %.400s", host->name, how_long, why);
   host->hosts->options->events.trouble(host->hosts->options->events.argument, text);
}

static void rested(void *argument) {
   host_t *host = argument;
   host->rest = NULL;
   host->state = USED;
   host->hosts->options->events.ready(host->hosts->options->events.argument);
}

void rkb_hosts_failed(rkb_hosts_t *hosts, uint32_t index, const char *text, bool for_good) {
   host_t *host = &hosts->list[index];
   if (hosts->closed || host->state == OUT || (host->state == RESTS && !for_good))
      return;
   rkb_timer_stop(host->rest);
   host->rest = NULL;
   host->state = for_good ? OUT : RESTS;
   leave_out(host, text, for_good ? "" : " for 30 s");
   if (for_good)
      tell_broken(hosts, text);
   else
      host->rest = rkb_timer_start(hosts->options->loop, LEFT_OUT_NS, rested, host);
}

static void first_line(const char *text, size_t bytes, char *out, size_t size) {
   size_t length = 0;
   while (length < bytes && length + 1 < size && text[length] != '\n' && text[length] != '\r')
      length++;
   memcpy(out, text, length);
   out[length] = '\0';
}

/* Writes what the answer says against the host; "": nothing. */
static void judge_probe(const host_t *host, int status, const rkb_process_result_t *result, char *out,
                        size_t size) {
   const rkb_executor_options_t *options = host->hosts->options;
   char answer[200], said[300];
   if (status != RKB_OK) {
      snprintf(out, size, "ssh cannot be started; install it (openssh-client)");
      return;
   }
   first_line(result->output, result->output_bytes, answer, sizeof answer);
   first_line(result->errors, result->errors_bytes, said, sizeof said);
   const char *seen = strchr(result->output, '\n');
   out[0] = '\0';
   if (result->timed_out)
      snprintf(out, size, "it does not answer within a minute; try: ssh %s", host->name);
   else if (answer[0] == '\0')
      snprintf(out, size, "%s cannot be run there: %s", options->command[0],
               said[0] ? said : "nothing answered; rkb must be installed at the same path on every host");
   else if (strcmp(answer, options->version) != 0)
      snprintf(out, size, "it has %.60s, and this is %.60s; install the same version there", answer,
               options->version);
   else if (!seen || strncmp(seen + 1, "seen", 4) != 0)
      snprintf(out, size,
               "it does not see %.300s; the directory must lie on a file system that the hosts share",
               options->directory);
}

static void on_probed(void *argument, int status, const rkb_process_result_t *result) {
   host_t *host = argument;
   rkb_hosts_t *hosts = host->hosts;
   char against[MAX_TEXT];
   host->probe = NULL;
   if (hosts->closed)
      return;
   judge_probe(host, status, result, against, sizeof against);
   if (against[0]) {
      rkb_hosts_failed(hosts, (uint32_t)(host - hosts->list), against, true);
      return;
   }
   host->state = USED;
   hosts->options->events.ready(hosts->options->events.argument);
}

/* Returns the command of a probe: "'rkb-run' '--version' && test -d 'DIRECTORY' && echo seen". */
static char *probe_line(const rkb_executor_options_t *options) {
   rkb_text_t line;
   rkb_text_init(&line, MAX_COMMAND);
   rkb_shell_words(&line, (const char *const[]){options->command[0], "--version", NULL});
   rkb_text_add(&line, " && test -d ");
   rkb_shell_words(&line, (const char *const[]){options->directory, NULL});
   rkb_text_add(&line, " && echo seen");
   return rkb_text_take(&line);
}

static const char **ssh_words(const char *host, const char *line) {
   const char **words = rkb_allocate(SSH_WORDS + 3, sizeof *words);
   memcpy(words, ssh, sizeof ssh);
   words[SSH_WORDS] = host;
   words[SSH_WORDS + 1] = line;
   return words;
}

static void probe(host_t *host) {
   rkb_error_t err;
   char *line = probe_line(host->hosts->options);
   const char **words = ssh_words(host->name, line);
   const rkb_process_spec_t spec = {.size = sizeof spec,
                                    .arguments = words,
                                    .environment = (const char *const *)environ,
                                    .output_limit = MAX_PROBE_OUTPUT,
                                    .deadline_ns = PROBE_NS};
   host->state = PROBED;
   if (rkb_process_start(host->hosts->options->loop, &spec, on_probed, host, &host->probe, &err) != RKB_OK)
      rkb_hosts_failed(host->hosts, (uint32_t)(host - host->hosts->list), err.message, true);
   free(words);
   free(line);
}

rkb_hosts_t *rkb_hosts_new(char *const *names, uint32_t at_once, const rkb_executor_options_t *options) {
   rkb_hosts_t *hosts = rkb_allocate(1, sizeof *hosts);
   hosts->options = options;
   hosts->at_once = at_once;
   while (names && names[hosts->count])
      hosts->count++;
   if (!names)
      hosts->count = 1;
   hosts->list = rkb_allocate(hosts->count, sizeof *hosts->list);
   for (uint32_t i = 0; i < hosts->count; i++)
      hosts->list[i] =
         (host_t){.hosts = hosts, .name = names ? names[i] : "", .state = names ? PROBED : USED};
   for (uint32_t i = 0; names && i < hosts->count; i++)
      probe(&hosts->list[i]);
   return hosts;
}

uint32_t rkb_hosts_count(const rkb_hosts_t *hosts) {
   return hosts->count;
}

const char *rkb_hosts_name(const rkb_hosts_t *hosts, uint32_t host) {
   return hosts->list[host].name;
}

bool rkb_hosts_choose(const rkb_hosts_t *hosts, uint32_t *host) {
   bool found = false;
   for (uint32_t i = 0; i < hosts->count; i++) {
      const host_t *one = &hosts->list[i];
      if (one->state != USED || one->running >= hosts->at_once ||
          (found && one->running >= hosts->list[*host].running))
         continue;
      *host = i;
      found = true;
   }
   return found;
}

void rkb_hosts_enter(rkb_hosts_t *hosts, uint32_t host) {
   hosts->list[host].running++;
}

void rkb_hosts_leave(rkb_hosts_t *hosts, uint32_t host) {
   hosts->list[host].running--;
}

void rkb_hosts_words(const rkb_hosts_t *hosts, uint32_t host, uint32_t job, rkb_words_t *words) {
   const rkb_executor_options_t *options = hosts->options;
   const char *name = hosts->list[host].name;
   size_t count = 0;
   while (options->command[count])
      count++;
   *words = (rkb_words_t){.number = rkb_format("%u", job + 1)};
   const char **command = rkb_allocate(count + 2, sizeof *command);
   memcpy(command, options->command, count * sizeof *command);
   command[count] = options->numbered ? words->number : NULL;
   if (!name[0]) {
      words->list = command;
      return;
   }
   rkb_text_t line;
   rkb_text_init(&line, MAX_COMMAND);
   rkb_text_add(&line, "exec ");
   rkb_shell_words(&line, command);
   words->line = rkb_text_take(&line);
   words->list = ssh_words(name, words->line);
   free(command);
}

void rkb_words_free(rkb_words_t *words) {
   free(words->list);
   free(words->number);
   free(words->line);
}

void rkb_hosts_close(rkb_hosts_t *hosts) {
   hosts->closed = true;
   for (uint32_t i = 0; i < hosts->count; i++) {
      rkb_timer_stop(hosts->list[i].rest);
      hosts->list[i].rest = NULL;
      if (hosts->list[i].probe)
         rkb_process_cancel(hosts->list[i].probe);
   }
   for (uint32_t i = 0; i < hosts->count; i++)
      while (hosts->list[i].probe)
         uv_run(rkb_loop_uv(hosts->options->loop), UV_RUN_ONCE);
}

void rkb_hosts_free(rkb_hosts_t *hosts) {
   if (!hosts)
      return;
   free(hosts->list);
   free(hosts);
}
