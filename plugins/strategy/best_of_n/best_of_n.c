/* rkb.strategy.best_of_n - n independent draws from the first candidates: the baseline without selection.
 *
 * Keeps the viable candidates of the propose section; candidates of search requests never become parents.
 * The loop's thread. */
#include <rkb/strategy.h>
#include <stdlib.h>
#include "shared/individual.h"
#include "shared/weighted_draw.h"

enum { ROOTS_MAX = 1024, OPERATORS_MAX = 64 };

typedef struct config {
   int64_t n;
} config_t;

typedef struct best_of_n {
   const config_t *config;
   const rkb_setup_t *setup;
   const rkb_random_api_t *random;
   rkb_random_t stream;
   individual_t roots[ROOTS_MAX];
   uint32_t root_count;
   uint64_t asked;
} best_of_n_t;

static int best_of_n_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                            rkb_random_t stream, void **self, rkb_error_t *err) {
   const rkb_random_api_t *random = host->get_extension(host, RKB_EXT_RANDOM);
   if (setup->operator_count == 0 || setup->operator_count > OPERATORS_MAX)
      return rkb_fail(err, RKB_ERR_INVALID, "search.operators needs 1 to %d entries", OPERATORS_MAX);
   best_of_n_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->config = config;
   me->setup = setup;
   me->random = random;
   me->stream = stream;
   *self = me;
   return RKB_OK;
}

/* As soon as one candidate is accepted, only accepted ones are parents. */
static void keep_root(best_of_n_t *me, const rkb_told_t *told) {
   individual_t root = individual_of(told);
   if (me->root_count > 0 && root.standing > me->roots[0].standing)
      return;
   if (me->root_count > 0 && root.standing < me->roots[0].standing)
      me->root_count = 0;
   if (me->root_count < ROOTS_MAX)
      me->roots[me->root_count++] = root;
}

static int best_of_n_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   best_of_n_t *me = self;
   (void)err;
   if (result->request >= 0)
      return RKB_OK;
   for (uint32_t i = 0; i < result->candidate_count; i++)
      if (individual_is_viable(result->candidates[i]))
         keep_root(me, result->candidates[i]);
   return RKB_OK;
}

static int best_of_n_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   best_of_n_t *me = self;
   (void)err;
   if (me->config->n > 0 && me->asked >= (uint64_t)me->config->n)
      return RKB_ASK_DONE;
   double weights[OPERATORS_MAX];
   bool any = false;
   for (uint32_t i = 0; i < me->setup->operator_count;
        i++) { /* without a root, operators that need a parent are left out */
      bool usable = me->root_count > 0 || me->setup->operators[i].kind != RKB_MUTATOR;
      weights[i] = usable ? me->setup->operators[i].weight : 0;
      any = any || weights[i] > 0;
   }
   if (!any)
      return RKB_ASK_DONE;
   out->operator_index = weighted_draw(me->random, &me->stream, weights, me->setup->operator_count);
   if (me->root_count > 0) {
      out->parents[0] = me->roots[me->asked % me->root_count].number;
      out->parent_count = 1;
      if (me->root_count > 1) { /* a second root, for operators that combine two parents */
         out->parents[1] =
            me->roots[(me->asked + 1 + me->random->below(&me->stream, me->root_count - 1)) % me->root_count]
               .number;
         out->parent_count = 2;
      }
   }
   me->asked++;
   return RKB_ASK_OK;
}

static void best_of_n_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "n",
    .type = RKB_OPT_INT,
    .offset = offsetof(config_t, n),
    .fallback = "0",
    .min = 0,
    .max = 1e9,
    .help = "How many draws to make; 0: as many as the run's limits allow."},
};

static const rkb_strategy_t best_of_n = {
   .size = sizeof(rkb_strategy_t),
   .id = "rkb.strategy.best_of_n",
   .summary = "Draws parents from the first candidates, independently and without selection.",
   RKB_OPTIONS(options),
   .config_size = sizeof(config_t),
   .create = best_of_n_create,
   .ask = best_of_n_ask,
   .tell = best_of_n_tell,
   .destroy = best_of_n_destroy,
   .needs = (const char *const[]){RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "best_of_n",
   .version = "0.1.0",
   .strategies = (const rkb_strategy_t *const[]){&best_of_n, NULL},
};
