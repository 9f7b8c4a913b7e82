/* Sittings.  Owns the arenas it allocates on the device for as long as one call lasts. */
#include "sitting.h"
#include <stdlib.h>
#include <string.h>
#include "tuned_copies.h"
#include "statistics.h"

uint32_t sitting_instance(uint32_t contender, uint32_t arena) {
   return contender * MOST_ARENAS + arena;
}

bool full_mode(const struct timer *me) {
   return strcmp(me->config->mode, "full") == 0;
}

int sitting_prepare(const struct timer *me, struct subject *s, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = RKB_OK;
   stopwatch_turn(s->watch, PHASE_OPEN);
   for (uint32_t c = 0; c < s->contender_count && status == RKB_OK; c++) {
      status = me->device->module(s->session, c, s->contenders[c].cubin, s->contenders[c].cubin_bytes,
                                  &finding, err);
      if (status == RKB_OK && finding.reason[0])
         return rkb_fail(err, RKB_ERR_INTERNAL, "%s", finding.message);
   }
   stopwatch_turn(s->watch, PHASE_STAGE);
   staging_t sets[SETS];
   for (uint32_t set = 0; set < SETS; set++)
      sets[set] = (staging_t){.host = me->host,
                              .task = me->task,
                              .device = me->device,
                              .workers = me->workers,
                              .store = me->store,
                              .session = s->session,
                              .the_case = s->the_case,
                              .inputs = s->inputs[set],
                              .family = s->family,
                              .seed = s->seeds[set],
                              .set = set,
                              .sums = &s->sums[set]};
   return status == RKB_OK ? staging_send(sets, SETS, err) : status;
}

int sitting_clear(const struct timer *me, const struct subject *s, rkb_error_t *err) {
   int status = RKB_OK;
   stopwatch_turn(s->watch, PHASE_CLOSE);
   for (uint32_t c = 0; c < s->contender_count && status == RKB_OK; c++)
      status = me->device->drop_module(s->session, c, err);
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++)
      status = me->device->drop_set(s->session, set, err);
   return status;
}

/* Opens the same arena for each contender.  When one finds no memory, those opened before are closed again. */
static int open_arena(const struct timer *me, const struct subject *s, uint32_t arena, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_error_t ignored;
   int status = RKB_OK;
   uint32_t c = 0;
   for (; c < s->contender_count && status == RKB_OK; c++) {
      status = me->device->instance(s->session, sitting_instance(c, arena), c, RKB_PLAIN,
                                    s->contenders[c].plan, &finding, err);
      if (status == RKB_OK && finding.reason[0])
         return rkb_fail(err, RKB_ERR_INTERNAL, "%s", finding.message);
   }
   for (uint32_t made = 0; status == RKB_ERR_LIMIT && made + 1 < c; made++)
      me->device->drop_instance(s->session, sitting_instance(made, arena), &ignored);
   return status;
}

/* Opens as many arenas as were asked for, or as fit; two are enough to go on. */
static int open_arenas(const struct timer *me, const struct subject *s, uint32_t *count, rkb_error_t *err) {
   int status = RKB_OK;
   *count = 0;
   while (*count < (uint32_t)me->config->arenas && status == RKB_OK) {
      status = open_arena(me, s, *count, err);
      *count += status == RKB_OK;
   }
   return status == RKB_ERR_LIMIT && *count >= 2 ? RKB_OK : status;
}

static void shuffle(const struct timer *me, rkb_random_t *stream, rkb_turn_t *turns, uint32_t count) {
   for (uint32_t i = count - 1; i > 0; i--) {
      uint32_t other = (uint32_t)me->random->below(stream, i + 1);
      rkb_turn_t swap = turns[i];
      turns[i] = turns[other];
      turns[other] = swap;
   }
}

/* Draws the turns: each round has every arena of every contender once cold and once warm, in an order of its
 * own. */
static void draw_rounds(const struct timer *me, const struct subject *s, const struct turns *t,
                        rkb_random_t *stream) {
   for (uint32_t r = 0; r < (uint32_t)me->config->rounds; r++) {
      rkb_turn_t *at = t->list + (size_t)r * t->round;
      for (uint32_t i = 0; i < t->round; i++)
         at[i] = (rkb_turn_t){.instance = sitting_instance(i / 2 / t->arenas, i / 2 % t->arenas),
                              .warm = i % 2,
                              .set = (r + i / 2) % SETS,
                              .reserved = s->mixed};
      shuffle(me, stream, at, t->round);
   }
}

/* Draws the last turn of every arena, cold or warm, with the values of a set: what it leaves is checked. */
static void draw_last(const struct timer *me, const struct subject *s, const struct turns *t,
                      rkb_random_t *stream) {
   rkb_turn_t *last = t->list + t->count - t->last;
   for (uint32_t i = 0; i < t->last; i++)
      last[i] = (rkb_turn_t){.instance = sitting_instance(i / t->arenas, i % t->arenas),
                             .warm = (uint32_t)me->random->below(stream, 2),
                             .set = i % SETS,
                             .reserved = s->mixed | RKB_CHECKED_RUN};
   shuffle(me, stream, last, t->last);
}

static bool draw_turns(const struct timer *me, const struct subject *s, uint32_t arenas, rkb_random_t *stream,
                       struct turns *t) {
   *t = (struct turns){
      .arenas = arenas, .round = 2 * arenas * s->contender_count, .last = arenas * s->contender_count};
   t->count = t->round * (uint32_t)me->config->rounds + t->last;
   t->list = calloc(t->count, sizeof *t->list);
   t->times = malloc(((size_t)t->count + 1) * sizeof *t->times);
   if (!t->list || !t->times)
      return false;
   draw_rounds(me, s, t, stream);
   draw_last(me, s, t, stream);
   return true;
}

/* The first round is left out, since it has what happens only once: page tables, instruction caches, rising
 * clocks.  So are the last turns, because inputs repeat among them. */
static void sort_out(const struct turns *t, struct sitting *sitting) {
   size_t cold[CONTENDERS] = {0}, warm[CONTENDERS] = {0};
   for (uint32_t i = t->round; i < t->count - t->last; i++) {
      uint32_t c = t->list[i].instance >= sitting_instance(INCUMBENT, 0) ? INCUMBENT : CANDIDATE;
      if (t->list[i].warm)
         sitting->warm[c][warm[c]++] = t->times[i];
      else
         sitting->cold[c][cold[c]++] = t->times[i];
   }
   sitting->count = cold[CANDIDATE];
}

/* Times what tells whether sittings can be compared: the clock's floor, and work that is always the same. */
static int time_own(const struct timer *me, const struct subject *s, uint32_t deadline_ms,
                    struct sitting *sitting, rkb_error_t *err) {
   enum {
      PLACES = 16,
      ROUNDS = 3 * PLACES,
      KINDS = 3
   }; /* a copy in each of the worker's places; three in full mode */
   const uint32_t rounds = full_mode(me) ? ROUNDS : PLACES;
   static const uint32_t kinds[KINDS] = {RKB_NO_INSTANCE, RKB_ANCHOR_COPY_INSTANCE,
                                         RKB_ANCHOR_CHAIN_INSTANCE};
   double *const means[KINDS] = {&sitting->floor, &sitting->copy_anchor, &sitting->chain_anchor};
   rkb_turn_t turns[ROUNDS * KINDS];
   float times[ROUNDS * KINDS];
   double of_kind[ROUNDS];
   for (uint32_t i = 0; i < rounds * KINDS; i++)
      turns[i] = (rkb_turn_t){.instance = kinds[i % KINDS], .set = i / KINDS};
   int status = me->device->time(s->session, turns, rounds * KINDS, deadline_ms, times, err);
   for (uint32_t kind = 0; kind < KINDS && status == RKB_OK; kind++) {
      for (uint32_t i = 0; i < rounds; i++)
         of_kind[i] = times[i * KINDS + kind];
      *means[kind] = trimmed_mean(of_kind, rounds);
   }
   return status;
}

static bool make_room(const struct subject *s, uint32_t count, struct sitting *sitting) {
   bool room = true;
   for (uint32_t c = 0; c < s->contender_count; c++) {
      sitting->cold[c] = malloc(((size_t)count + 1) * sizeof **sitting->cold);
      sitting->warm[c] = malloc(((size_t)count + 1) * sizeof **sitting->warm);
      room = room && sitting->cold[c] && sitting->warm[c];
   }
   return room;
}

/* Times the turns.  Where the first round took long, some later rounds are left out. */
static int time_turns(const struct timer *me, const struct subject *s, struct turns *t, uint32_t deadline_ms,
                      rkb_error_t *err) {
   double first_ms = 0;
   int status = me->device->time(s->session, t->list, t->round, deadline_ms, t->times, err);
   for (uint32_t i = 0; i < t->round && status == RKB_OK; i++)
      first_ms += t->times[i];
   const uint32_t more = rounds_after(first_ms, (uint32_t)me->config->rounds - 1),
                  end = (1 + more) * t->round;
   memmove(t->list + end, t->list + t->count - t->last, t->last * sizeof *t->list);
   t->count = end + t->last;
   return status == RKB_OK ? me->device->time(s->session, t->list + t->round, t->count - t->round,
                                              deadline_ms, t->times + t->round, err)
                           : status;
}

int sitting_run(const struct timer *me, struct subject *s, rkb_random_t *stream, struct sitting *sitting,
                rkb_error_t *err) {
   struct turns turns = {0};
   uint32_t arenas = 0, deadline_ms = (uint32_t)(me->config->deadline / 1000000);
   *sitting = (struct sitting){.right = true};
   stopwatch_turn(s->watch, PHASE_OPEN);
   int status = open_arenas(me, s, &arenas, err);
   if (status == RKB_OK)
      status = mixed_inputs(me, s, &s->mixed, err);
   if (status == RKB_OK &&
       (!draw_turns(me, s, arenas, stream, &turns) || !make_room(s, turns.count, sitting)))
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stopwatch_turn(s->watch, PHASE_TIME);
   if (status == RKB_OK)
      status = time_turns(me, s, &turns, deadline_ms, err);
   stopwatch_turn(s->watch, PHASE_OWN);
   if (status == RKB_OK)
      status = time_own(me, s, deadline_ms, sitting, err);
   if (status == RKB_OK && full_mode(me))
      status = copies_time(me, s, deadline_ms, sitting, err);
   if (status == RKB_OK)
      status = sitting_check(me, s, &turns, sitting, err);
   if (status == RKB_OK && sitting->right && !s->compared)
      status = sitting_compare(me, s, &turns, sitting, err);
   s->compared = true;
   if (status == RKB_OK)
      sort_out(&turns, sitting);
   stopwatch_turn(s->watch, PHASE_CLOSE);
   for (uint32_t c = 0; c < s->contender_count; c++)
      for (uint32_t a = 0; a < arenas && status == RKB_OK; a++)
         status = me->device->drop_instance(s->session, sitting_instance(c, a), err);
   free(turns.times);
   free(turns.list);
   return status;
}

void sitting_free(struct sitting *sitting) {
   for (uint32_t c = 0; c < CONTENDERS; c++) {
      free(sitting->cold[c]);
      free(sitting->warm[c]);
   }
   free(sitting->copies);
   *sitting = (struct sitting){0};
}
