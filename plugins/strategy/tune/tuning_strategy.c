/* rkb.strategy.tune - the tune assignments of the first candidates, chosen so that few are tried.
 *
 * Keeps a tuner per source, and the point of each request in flight.  The loop's thread. */
#include <rkb/strategy.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "shared/individual.h"
#include "tune_grid.h"
#include "tuner/tuner.h"

enum { PARENTS_MAX = 64, EVALUATIONS_MAX = 4096 };

typedef struct config {
   int64_t evaluations;
} config_t;

typedef struct parent {
   int64_t number;
   char source_hash[65];
   tune_grid_t grid;
   tuning_space_t space;
   tuner_t *tuner;
   int64_t asked;
} parent_t;

typedef struct slot { /* a request in flight */
   parent_t *parent;
   uint32_t point;
} slot_t;

typedef struct strategy {
   const config_t *config;
   const rkb_random_api_t *random;
   rkb_random_t stream;
   parent_t *parents[PARENTS_MAX];
   uint32_t parent_count;
   uint32_t turn;  /* parent to ask next */
   uint64_t asked; /* search requests so far */
   slot_t *slots;  /* the state of request number % ring */
   uint32_t ring;
} strategy_t;

static int strategy_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                           rkb_random_t stream, void **self, rkb_error_t *err) {
   if (setup->operator_count == 0)
      return rkb_fail(err, RKB_ERR_INVALID, "search.operators needs an entry that understands the tune hint");
   strategy_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (strategy_t){.config = config, .random = host->get_extension(host, RKB_EXT_RANDOM), .stream = stream};
   me->ring = 2 * setup->window + 1; /* results lag by at most the window */
   me->slots = calloc(me->ring, sizeof *me->slots);
   if (!me->slots) {
      free(me);
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u request slots", 2 * setup->window + 1);
   }
   *self = me;
   return RKB_OK;
}

static void parent_free(parent_t *parent) {
   tuner_destroy(parent->tuner);
   tuning_space_free(&parent->space);
   tune_grid_free(&parent->grid);
   free(parent);
}

static double cost_of(const rkb_told_t *told) {
   return strcmp(told->standing, "reject") == 0 || !told->has_objective ? NAN : told->objective;
}

/* Adds a candidate's result to the tuner of a parent's space. */
static void learn(parent_t *parent, const rkb_told_t *told) {
   uint32_t point;
   if (tune_grid_find(&parent->grid, told->tune, &point))
      tuner_tell(parent->tuner, point, cost_of(told));
}

static parent_t *parent_of(const strategy_t *me, const char *source_hash) {
   for (uint32_t i = 0; i < me->parent_count; i++)
      if (strcmp(me->parents[i]->source_hash, source_hash) == 0)
         return me->parents[i];
   return NULL;
}

/* A source without tune parameters, or with more than the limits allow, is ignored. */
static int add_parent(strategy_t *me, const rkb_told_t *told, rkb_error_t *err) {
   if (me->parent_count == PARENTS_MAX || !told->source_hash || !told->tune_space)
      return RKB_OK;
   parent_t *parent = calloc(1, sizeof *parent);
   if (!parent)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *parent);
   parent->number = told->number;
   snprintf(parent->source_hash, sizeof parent->source_hash, "%s", told->source_hash);
   rkb_random_t stream = me->stream;
   stream.position = (uint64_t)told->number << 32; /* each tuner draws from its own part of the stream */
   int status = tune_grid_read(&parent->grid, told->tune_space, me->random, &stream, err);
   if (status == RKB_OK)
      status = tune_grid_fill_space(&parent->grid, &parent->space, err);
   if (status == RKB_OK)
      status = tuner_create(&parent->space, me->random, stream, &parent->tuner, err);
   if (status != RKB_OK) {
      parent_free(parent);
      return status == RKB_ERR_INVALID ? RKB_OK : status;
   }
   me->parents[me->parent_count++] = parent;
   learn(parent, told);
   return RKB_OK;
}

static int first_candidate(strategy_t *me, const rkb_told_t *told, rkb_error_t *err) {
   parent_t *parent = told->source_hash ? parent_of(me, told->source_hash) : NULL;
   if (parent)
      learn(parent, told);
   else if (individual_is_viable(told))
      return add_parent(me, told, err);
   return RKB_OK;
}

static int strategy_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   strategy_t *me = self;
   if (result->request < 0) {
      int status = RKB_OK;
      for (uint32_t i = 0; i < result->candidate_count && status == RKB_OK; i++)
         status = first_candidate(me, result->candidates[i], err);
      return status;
   }
   if ((uint64_t)result->request >= me->asked || result->operator_id[0] == '\0')
      return RKB_OK; /* an empty request that completes a group */
   const slot_t *slot = &me->slots[result->request % me->ring];
   if (slot->parent) /* a request without a candidate counts as a failure of its point */
      tuner_tell(slot->parent->tuner, slot->point,
                 result->candidate_count ? cost_of(result->candidates[0]) : NAN);
   return RKB_OK;
}

static int strategy_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   strategy_t *me = self;
   static const char head[] = "{\"tune\": ";
   for (uint32_t tries = 0; tries < me->parent_count; tries++) {
      parent_t *parent = me->parents[me->turn];
      me->turn = (me->turn + 1) % me->parent_count;
      uint32_t point;
      if (parent->asked == me->config->evaluations || !tuner_next(parent->tuner, &point))
         continue;
      size_t used = sizeof head - 1;
      memcpy(out->hints, head, sizeof head);
      if (!tune_grid_write(&parent->grid, point, out->hints + used, sizeof out->hints - used - 1))
         return rkb_fail(err, RKB_ERR_LIMIT, "an assignment does not fit into a hint");
      strcat(out->hints, "}");
      out->operator_index = 0;
      out->parents[0] = parent->number;
      out->parent_count = 1;
      parent->asked++;
      me->slots[me->asked++ % me->ring] = (slot_t){parent, point};
      return RKB_ASK_OK;
   }
   return RKB_ASK_DONE;
}

static void strategy_destroy(void *self) {
   strategy_t *me = self;
   for (uint32_t i = 0; i < me->parent_count; i++)
      parent_free(me->parents[i]);
   free(me->slots);
   free(me);
}

static const rkb_option_t options[] = {
   {.name = "evaluations",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, evaluations),
    .fallback = "100",
    .min = 1,
    .max = EVALUATIONS_MAX,
    .help = "How many assignments of each source are asked for."},
};

static const rkb_strategy_t strategy = {
   .size = sizeof(rkb_strategy_t),
   .id = "rkb.strategy.tune",
   .summary = "Finds good tune assignments of the first candidates in few evaluations.",
   RKB_OPTIONS(options),
   .config_size = sizeof(config_t),
   .create = strategy_create,
   .ask = strategy_ask,
   .tell = strategy_tell,
   .destroy = strategy_destroy,
   .needs = (const char *const[]){RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "tune",
   .version = "0.1.0",
   .strategies = (const rkb_strategy_t *const[]){&strategy, NULL},
};
