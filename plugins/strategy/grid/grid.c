/* rkb.strategy.grid - every tune assignment of every first candidate, in order.
 *
 * Keeps one cursor per parent, and the parent of each request in flight.  The loop's thread. */
#include <rkb/strategy.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "shared/individual.h"

enum { PARENTS_MAX = 256 };

typedef struct config {
   const char *on_reject;
} config_t;

typedef struct parent {
   int64_t number;
   char source_hash[65];
   uint64_t next; /* grid point to ask for */
   bool finished;
} parent_t;

typedef struct grid {
   const config_t *config;
   parent_t parents[PARENTS_MAX];
   uint32_t parent_count;
   uint32_t turn;       /* parent to ask next */
   uint64_t asked;      /* search requests so far */
   uint32_t *parent_of; /* the parent of request number % ring */
   uint32_t ring;
} grid_t;

static int grid_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                       rkb_random_t stream, void **self, rkb_error_t *err) {
   (void)host, (void)stream;
   if (setup->operator_count == 0)
      return rkb_fail(err, RKB_ERR_INVALID, "search.operators needs an entry that understands the grid hint");
   grid_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->config = config;
   me->ring = 2 * setup->window + 1; /* results lag by at most the window */
   me->parent_of = calloc(me->ring, sizeof *me->parent_of);
   if (!me->parent_of) {
      free(me);
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u request slots", 2 * setup->window + 1);
   }
   *self = me;
   return RKB_OK;
}

static void add_parent(grid_t *me, const rkb_told_t *told) {
   const char *hash = told->source_hash ? told->source_hash : "";
   for (uint32_t i = 0; i < me->parent_count; i++)
      if (hash[0] && strcmp(me->parents[i].source_hash, hash) == 0)
         return;
   if (me->parent_count == PARENTS_MAX)
      return;
   parent_t *parent = &me->parents[me->parent_count++];
   *parent = (parent_t){.number = told->number};
   snprintf(parent->source_hash, sizeof parent->source_hash, "%s", hash);
}

static int grid_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   grid_t *me = self;
   (void)err;
   if (result->request < 0) {
      for (uint32_t i = 0; i < result->candidate_count; i++)
         if (individual_is_viable(result->candidates[i]))
            add_parent(me, result->candidates[i]);
      return RKB_OK;
   }
   if ((uint64_t)result->request >= me->asked || result->operator_id[0] == '\0' || me->parent_count == 0)
      return RKB_OK; /* an empty request that completes a group */
   parent_t *parent = &me->parents[me->parent_of[result->request % me->ring]];
   if (result->candidate_count == 0)
      parent->finished = true;
   else if (strcmp(me->config->on_reject, "stop") == 0 &&
            strcmp(result->candidates[0]->standing, "reject") == 0)
      parent->finished = true;
   return RKB_OK;
}

static int grid_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   grid_t *me = self;
   (void)err;
   for (uint32_t tries = 0; tries < me->parent_count; tries++) {
      uint32_t turn = me->turn;
      parent_t *parent = &me->parents[turn];
      me->turn = (turn + 1) % me->parent_count;
      if (parent->finished)
         continue;
      out->operator_index = 0;
      out->parents[0] = parent->number;
      out->parent_count = 1;
      snprintf(out->hints, sizeof out->hints, "{\"grid\": %" PRIu64 "}", parent->next++);
      me->parent_of[me->asked % me->ring] = turn;
      me->asked++;
      return RKB_ASK_OK;
   }
   return RKB_ASK_DONE;
}

static void grid_destroy(void *self) {
   grid_t *me = self;
   free(me->parent_of);
   free(me);
}

static const rkb_option_t options[] = {
   {.name = "on_reject",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(config_t, on_reject),
    .fallback = "continue",
    .choices = (const char *const[]){"continue", "stop", NULL},
    .help =
       "What to do with a parent's grid when one of its points is rejected. continue: try the other points; "
       "stop: leave this grid."},
};

static const rkb_strategy_t grid = {
   .size = sizeof(rkb_strategy_t),
   .id = "rkb.strategy.grid",
   .summary = "Tries every tune assignment of every first candidate, in order.",
   RKB_OPTIONS(options),
   .config_size = sizeof(config_t),
   .create = grid_create,
   .ask = grid_ask,
   .tell = grid_tell,
   .destroy = grid_destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "grid",
   .version = "0.1.0",
   .strategies = (const rkb_strategy_t *const[]){&grid, NULL},
};
