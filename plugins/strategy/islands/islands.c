/* rkb.strategy.islands - populations that evolve in parallel and exchange their best members at intervals.
 *
 * Search request n belongs to island n modulo their number; its children go there.  With niches a request
 * belongs to an island that is drawn, and each child to the island of its niche.  Owns the islands, and the
 * island and operator of each request in flight.  The loop's thread. */
#include <rkb/strategy.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cells.h"
#include "credit.h"
#include "island.h"
#include "niches.h"
#include "shared/weighted_draw.h"

enum { ISLANDS_MAX = NICHES_MAX };

typedef struct config {
   int64_t islands, size, elites, tournament, migrate_every, migrants;
   double exponent, floor, memory;
   const char *selection, *replacement, *credit;
   rkb_table_list_t cells;
   const char *const *niches; /* NULL-terminated, or NULL */
} config_t;

typedef struct flight {
   uint32_t island, operator_index;
   bool has_objective;
   double objective; /* objective of the best parent */
} flight_t;

typedef struct islands {
   const config_t *config;
   const rkb_setup_t *setup;
   const rkb_random_api_t *random;
   rkb_random_t stream;
   island_rules_t rules;
   island_t island[ISLANDS_MAX];
   credit_t credit;
   niches_t niches;
   uint64_t asked, told; /* search requests */
   flight_t *flights;    /* the state of request number % ring */
   uint32_t ring;
} islands_t;

static enum selection selection_of(const char *name) {
   if (strcmp(name, "power_law") == 0)
      return SELECT_POWER_LAW;
   return strcmp(name, "uniform") == 0 ? SELECT_UNIFORM : SELECT_TOURNAMENT;
}

static int check_config(const config_t *config, const rkb_setup_t *setup, rkb_error_t *err) {
   const cell_feature_t *features = config->cells.rows;
   if (setup->operator_count == 0 || setup->operator_count > CREDIT_OPERATORS_MAX)
      return rkb_fail(err, RKB_ERR_INVALID, "search.operators needs 1 to %d entries", CREDIT_OPERATORS_MAX);
   if (config->elites > config->size)
      return rkb_fail_option(err, "elites", "more elites than an island has members (size: %lld)",
                             (long long)config->size);
   if (config->cells.count > CELL_FEATURES_MAX)
      return rkb_fail_option(err, "cells", "at most %d features make a cell", CELL_FEATURES_MAX);
   for (uint64_t i = 0; i < config->cells.count; i++)
      if (strcmp(features[i].scale, "linear") == 0 && !(features[i].step > 0))
         return rkb_fail_option(err, "cells", "'%.60s' needs a step above 0", features[i].by);
   return RKB_OK;
}

static void islands_destroy(void *self) {
   islands_t *me = self;
   for (uint32_t i = 0; i < ISLANDS_MAX; i++)
      island_free(&me->island[i]);
   free(me->flights);
   free(me);
}

static int islands_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                          rkb_random_t stream, void **self, rkb_error_t *err) {
   const config_t *options = config;
   int status = check_config(options, setup, err);
   if (status != RKB_OK)
      return status;
   islands_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->config = options;
   me->setup = setup;
   me->stream = stream;
   me->credit.count = setup->operator_count;
   me->rules = (island_rules_t){.size = (uint32_t)options->size,
                                .elites = (uint32_t)options->elites,
                                .oldest_leaves = strcmp(options->replacement, "oldest") == 0,
                                .one_per_cell = options->cells.count > 0,
                                .selection = selection_of(options->selection),
                                .tournament = (uint32_t)options->tournament,
                                .exponent = options->exponent};
   me->ring = 2 * setup->window + 1; /* results lag by at most the window */
   me->flights = calloc(me->ring, sizeof *me->flights);
   me->random = host->get_extension(host, RKB_EXT_RANDOM);
   if (!me->flights)
      status = rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u request slots", me->ring);
   for (int64_t i = 0; i < options->islands && status == RKB_OK; i++)
      status = island_init(&me->island[i], &me->rules, err);
   if (status != RKB_OK) {
      islands_destroy(me);
      return status;
   }
   *self = me;
   return RKB_OK;
}

static bool has_niches(const islands_t *me) {
   return me->config->niches && me->config->niches[0];
}

/* Makes an island's best members guests of the next island, in place of earlier guests.  They do not become
 * members, because they would displace the members of another niche. */
static void send_guests(islands_t *me) {
   const uint32_t count = me->niches.count;
   for (uint32_t i = 0; i < count && count > 1; i++) {
      const island_t *from = &me->island[i];
      island_t *to = &me->island[(i + 1) % count];
      to->guest_count = 0;
      while (to->guest_count < from->count && to->guest_count < me->config->migrants) {
         to->guests[to->guest_count] = from->members[to->guest_count].individual;
         to->guest_count++;
      }
   }
}

/* Copies the best members of each island to the next one, all at once, so that none moves two islands in one migration. */
static int migrate(islands_t *me, rkb_error_t *err) {
   const uint32_t count = (uint32_t)me->config->islands, migrants = (uint32_t)me->config->migrants;
   if (has_niches(me))
      send_guests(me);
   if (has_niches(me) || count < 2 || migrants == 0)
      return RKB_OK;
   member_t *travelling = calloc((size_t)count * migrants, sizeof *travelling);
   if (!travelling)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u migrants", count * migrants);
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < migrants && k < me->island[i].count; k++)
         travelling[i * migrants + k] = me->island[i].members[k];
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < migrants; k++)
         if (travelling[i * migrants + k].individual.number > 0)
            island_add(&me->island[(i + 1) % count], &me->rules, &travelling[i * migrants + k].individual,
                       travelling[i * migrants + k].cell);
   free(travelling);
   return RKB_OK;
}

/* Adds a told candidate to the islands from first to before last, or to the island of its niche. */
static void add_told(islands_t *me, uint32_t first, uint32_t last, const rkb_told_t *told) {
   if (!individual_is_viable(told))
      return;
   individual_t individual = individual_of(told);
   uint32_t cell = cell_of(me->config->cells.rows, (uint32_t)me->config->cells.count, told);
   if (has_niches(me)) {
      first = niche_of(&me->niches, niche_key(me->config->niches, told), me->island,
                       (uint32_t)me->config->islands, &individual);
      last = first == NICHE_NONE ? first : first + 1;
   }
   for (uint32_t i = first; i < last; i++)
      island_add(&me->island[i], &me->rules, &individual, cell);
}

/* Gain of the best accepted child over the best parent, as a logarithm; 0 when there is no gain. */
static double gain_of(const flight_t *flight, const rkb_result_t *result) {
   double gain = 0;
   for (uint32_t i = 0; i < result->candidate_count; i++) {
      individual_t child = individual_of(result->candidates[i]);
      bool counts = individual_is_viable(result->candidates[i]) && child.standing == STANDING_ACCEPT &&
                    child.has_objective;
      if (counts && flight->has_objective && child.objective > 0 && flight->objective > child.objective)
         gain = fmax(gain, log(flight->objective / child.objective));
   }
   return gain;
}

static int islands_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   islands_t *me = self;
   if (result->request < 0) {
      for (uint32_t i = 0; i < result->candidate_count; i++)
         add_told(me, 0, (uint32_t)me->config->islands, result->candidates[i]);
      return RKB_OK;
   }
   if ((uint64_t)result->request >= me->asked)
      return RKB_OK; /* a request that completes a group after the end */
   const flight_t *flight = &me->flights[result->request % me->ring];
   if (result->operator_id[0] != '\0')
      credit_reward(&me->credit, flight->operator_index, gain_of(flight, result), me->config->memory);
   for (uint32_t i = 0; i < result->candidate_count; i++)
      add_told(me, flight->island, flight->island + 1, result->candidates[i]);
   me->told++;
   const uint64_t period = (uint64_t)me->config->migrate_every * me->setup->window;
   return period > 0 && me->told % period == 0 ? migrate(me, err) : RKB_OK;
}

/* Chooses an operator by weight or by credit.  Without parents, only operators that need none.  False when there is no such
 * operator. */
static bool draw_operator(islands_t *me, bool has_parents, uint32_t *drawn) {
   double weights[CREDIT_OPERATORS_MAX], chances[CREDIT_OPERATORS_MAX];
   bool any = false;
   for (uint32_t i = 0; i < me->setup->operator_count; i++) {
      bool usable = has_parents || me->setup->operators[i].kind != RKB_MUTATOR;
      weights[i] = usable ? me->setup->operators[i].weight : 0;
      any = any || weights[i] > 0;
   }
   if (!any)
      return false;
   bool bandit = strcmp(me->config->credit, "bandit") == 0;
   if (bandit)
      credit_chances(&me->credit, weights, me->config->floor, chances);
   *drawn = weighted_draw(me->random, &me->stream, bandit ? chances : weights, me->setup->operator_count);
   return true;
}

static int islands_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   islands_t *me = self;
   (void)err;
   const uint64_t request = me->asked++;
   uint32_t home = (uint32_t)(request % (uint64_t)me->config->islands);
   if (has_niches(me)) {
      const uint32_t drawn = niche_draw(&me->niches, me->island, me->random, &me->stream);
      home = drawn == NICHE_NONE ? 0 : drawn; /* without members anywhere the first island is empty too */
   }
   const individual_t *parent = island_select(&me->island[home], &me->rules, me->random, &me->stream, 0);
   flight_t *flight = &me->flights[request % me->ring];
   *flight = (flight_t){.island = home};
   if (!draw_operator(me, parent != NULL, &out->operator_index))
      return RKB_ASK_WAIT;
   flight->operator_index = out->operator_index;
   if (!parent)
      return RKB_ASK_OK;
   out->parents[0] = parent->number;
   out->parent_count = 1;
   flight->has_objective = parent->has_objective;
   flight->objective = parent->objective;
   const individual_t *mate =
      island_mate(&me->island[home], &me->rules, me->random, &me->stream, parent->number);
   if (mate->number != parent->number) { /* for operators that combine two parents; others use the first */
      out->parents[1] = mate->number;
      out->parent_count = 2;
   }
   return RKB_ASK_OK;
}

static const rkb_option_t cell_options[] = {
   {.name = "by",
    .type = RKB_OPT_STRING,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(cell_feature_t, by),
    .help = "The measurement to use, \"<entry id>.<name>\"."},
   {.name = "scale",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(cell_feature_t, scale),
    .fallback = "log2",
    .choices = (const char *const[]){"log2", "linear", NULL},
    .help = "log2: each step doubles; linear: all steps have equal width."},
   {.name = "step",
    .type = RKB_OPT_REAL,
    .offset = offsetof(cell_feature_t, step),
    .fallback = "1",
    .min = 0,
    .max = 1e18,
    .help = "Width of a linear step."},
};

static const rkb_option_t options[] = {
   {.name = "islands",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, islands),
    .fallback = "4",
    .min = 1,
    .max = ISLANDS_MAX,
    .help = "How many populations; request n belongs to island n modulo this number."},
   {.name = "size",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, size),
    .fallback = "12",
    .min = 1,
    .max = ISLAND_SIZE_MAX,
    .help = "Most members of an island."},
   {.name = "elites",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, elites),
    .fallback = "2",
    .min = 0,
    .max = ISLAND_SIZE_MAX,
    .help = "How many of the best members age never removes."},
   {.name = "replacement",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(config_t, replacement),
    .fallback = "worst",
    .choices = (const char *const[]){"worst", "oldest", NULL},
    .help = "Which member leaves a full island; elites never leave for their age."},
   {.name = "selection",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(config_t, selection),
    .fallback = "tournament",
    .choices = (const char *const[]){"tournament", "power_law", "uniform", NULL},
    .help = "How to draw parents."},
   {.name = "tournament",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, tournament),
    .fallback = "2",
    .min = 1,
    .max = 64,
    .help = "How many members to draw for a tournament; the best becomes the parent."},
   {.name = "exponent",
    .type = RKB_OPT_REAL,
    .offset = offsetof(config_t, exponent),
    .fallback = "1",
    .min = 0,
    .max = 16,
    .help = "power_law: the chance of rank r is proportional to r ^ -exponent."},
   {.name = "migrate_every",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, migrate_every),
    .fallback = "2",
    .min = 0,
    .max = 1e6,
    .help = "Generations (of window requests) between migrations; 0: never."},
   {.name = "migrants",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, migrants),
    .fallback = "1",
    .min = 0,
    .max = 64,
    .help = "How many of its best members each island copies to the next island."},
   {.name = "credit",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(config_t, credit),
    .fallback = "weights",
    .choices = (const char *const[]){"weights", "bandit", NULL},
    .help =
       "How to choose operators. weights: by the pipeline's weights; bandit: by weight times recent gain."},
   {.name = "floor",
    .type = RKB_OPT_REAL,
    .offset = offsetof(config_t, floor),
    .fallback = "0.1",
    .min = 0.001,
    .max = 1,
    .help = "bandit: the share that an operator keeps even without gain."},
   {.name = "memory",
    .type = RKB_OPT_REAL,
    .offset = offsetof(config_t, memory),
    .fallback = "0.9",
    .min = 0.001,
    .max = 0.999,
    .help = "bandit: the share of its old credit that an operator keeps at each new result."},
   {.name = "cells",
    .type = RKB_OPT_TABLES,
    .offset = offsetof(config_t, cells),
    .members = cell_options,
    .member_count = sizeof cell_options / sizeof cell_options[0],
    .member_size = sizeof(cell_feature_t),
    .help = "MAP-Elites: the features that define a cell; an island keeps the best member of each cell."},
   {.name = "niches",
    .type = RKB_OPT_STRINGS,
    .offset = offsetof(config_t, niches),
    .help =
       "Measurements that say what a candidate is, \"<entry id>.<name>\": those with equal values share an island; default: the request's "
       "number says where a child goes."},
};

static const rkb_strategy_t islands = {
   .size = sizeof(rkb_strategy_t),
   .id = "rkb.strategy.islands",
   .summary = "Evolves populations side by side, which exchange their best members.",
   RKB_OPTIONS(options),
   .config_size = sizeof(config_t),
   .create = islands_create,
   .ask = islands_ask,
   .tell = islands_tell,
   .destroy = islands_destroy,
   .needs = (const char *const[]){RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "islands",
   .version = "0.1.0",
   .strategies = (const rkb_strategy_t *const[]){&islands, NULL},
};
