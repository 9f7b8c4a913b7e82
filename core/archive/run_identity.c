/* The identity of a run: the facts that must be equal on resume, and the table plugin.  Runs on the thread that holds the connection. */
#include "archive/run_identity.h"

#include <stdlib.h>
#include <string.h>
#include "archive/run_facts.h"
#include "base/memory.h"

enum { MAX_NUMBER_TEXT = 32, COMPARED_FACTS = 8 };

typedef struct identity_fact {
   const char *key, *value;
   const char *meaning; /* its name in a message about a difference */
} identity_fact_t;

typedef struct identity_texts {
   char seed[MAX_NUMBER_TEXT], abi[MAX_NUMBER_TEXT];
   identity_fact_t facts[COMPARED_FACTS];
} identity_texts_t;

/* Sorted by how much a difference matters to the user. */
static void identity_spell(const rkb_run_identity_t *identity, identity_texts_t *texts) {
   snprintf(texts->seed, sizeof texts->seed, "%llu", (unsigned long long)identity->seed);
   snprintf(texts->abi, sizeof texts->abi, "%u.%u", identity->abi_major, identity->abi_minor);
   const identity_fact_t facts[COMPARED_FACTS] = {
      {"abi", texts->abi, "the plugin interface's version"},
      {"task", identity->task, "the task"},
      {"direction", identity->direction, "the direction"},
      {"task_hash", identity->task_hash, "the task's files"},
      {"target", identity->target, "the target device"},
      {"seed", texts->seed, "the seed"},
      {"objective", identity->objective, "the objective"},
      {"pipeline_hash", identity->pipeline_hash, "the pipeline"},
   };
   memcpy(texts->facts, facts, sizeof facts);
}

int rkb_identity_store(rkb_connection_t *writer, const rkb_run_identity_t *identity, rkb_error_t *err) {
   char created[MAX_NUMBER_TEXT];
   identity_texts_t texts;
   int status;
   identity_spell(identity, &texts);
   snprintf(created, sizeof created, "%lld", (long long)rkb_wall_clock_ms());
   status = rkb_fact_put(writer, "name", identity->name, err);
   if (status == RKB_OK)
      status = rkb_fact_put(writer, "created_ms", created, err);
   if (status == RKB_OK && identity->secret)
      status = rkb_fact_put(writer, "secret", identity->secret, err);
   for (int i = 0; status == RKB_OK && i < COMPARED_FACTS; i++)
      status = rkb_fact_put(writer, texts.facts[i].key, texts.facts[i].value, err);
   for (uint32_t i = 0; status == RKB_OK && i < identity->plugin_count; i++) {
      const rkb_run_plugin_t *plugin = &identity->plugins[i];
      rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_PLUGIN);
      rkb_bind_text(&statement, plugin->name);
      rkb_bind_text(&statement, plugin->version);
      rkb_bind_text(&statement, plugin->path ? plugin->path : "");
      rkb_bind_text(&statement, plugin->hash);
      status = rkb_statement_finish(&statement, err);
   }
   return status;
}

int rkb_identity_present(rkb_connection_t *connection, bool *present, rkb_error_t *err) {
   char *stored = NULL;
   int status = rkb_fact_get(connection, "created_ms", &stored, err);
   *present = stored != NULL;
   free(stored);
   return status;
}

static int compare_plugin_order(const void *left, const void *right) {
   const rkb_run_plugin_t *a = left, *b = right;
   int order = strcmp(a->name, b->name);
   if (order == 0)
      order = strcmp(a->version, b->version);
   return order != 0 ? order : strcmp(a->hash, b->hash);
}

static int plugin_difference(const char *stored, const rkb_run_plugin_t *given, rkb_error_t *err) {
   if (!stored)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot resume: the run began without plugin %s %s", given->name,
                      given->version);
   if (!given)
      return rkb_fail(err, RKB_ERR_INVALID,
                      "cannot resume: the run began with plugin %s, which is not loaded now", stored);
   if (strcmp(stored, given->name) == 0)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot resume: plugin %s has changed since the run began (%s)",
                      given->name, given->path ? given->path : "");
   return rkb_fail(err, RKB_ERR_INVALID, "cannot resume: the run began with plugin %s, now %s is loaded",
                   stored, given->name);
}

/* Both lists are sorted, so the first place where they differ is the difference. */
static int compare_plugins(rkb_connection_t *connection, const rkb_run_identity_t *identity,
                           rkb_error_t *err) {
   uint32_t count = identity->plugin_count, next = 0;
   int row = 0, status = RKB_OK;
   rkb_run_plugin_t *sorted = rkb_allocate(count, sizeof *sorted);
   if (count > 0)
      memcpy(sorted, identity->plugins, count * sizeof *sorted);
   qsort(sorted, count, sizeof *sorted, compare_plugin_order);
   rkb_statement_t statement = rkb_statement_begin(connection, RKB_SQL_GET_PLUGINS);
   for (row = rkb_statement_row(&statement, err); row == 1 && status == RKB_OK;
        row = rkb_statement_row(&statement, err)) {
      const rkb_run_plugin_t stored = {.name = rkb_column_text(&statement, 0),
                                       .version = rkb_column_text(&statement, 1),
                                       .hash = rkb_column_text(&statement, 2)};
      if (next >= count)
         status = plugin_difference(stored.name, NULL, err);
      else if (compare_plugin_order(&stored, &sorted[next]) != 0)
         status = plugin_difference(stored.name, &sorted[next], err);
      next++;
      if (status != RKB_OK)
         break;
   }
   rkb_statement_reset(&statement);
   if (row < 0)
      status = row;
   if (status == RKB_OK && next < count)
      status = plugin_difference(NULL, &sorted[next], err);
   free(sorted);
   return status;
}

int rkb_identity_compare(rkb_connection_t *connection, const rkb_run_identity_t *identity, rkb_error_t *err) {
   identity_texts_t texts;
   identity_spell(identity, &texts);
   for (int i = 0; i < COMPARED_FACTS; i++) {
      const identity_fact_t *fact = &texts.facts[i];
      const char *given = fact->value ? fact->value : "";
      char *stored = NULL;
      int status = rkb_fact_get(connection, fact->key, &stored, err);
      if (status == RKB_OK && strcmp(stored ? stored : "", given) != 0)
         status = rkb_fail(err, RKB_ERR_INVALID, "cannot resume: %s was %s when the run began and is %s now",
                           fact->meaning, stored ? stored : "unknown", given);
      free(stored);
      if (status != RKB_OK)
         return status;
   }
   return compare_plugins(connection, identity, err);
}
