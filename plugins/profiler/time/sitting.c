/* Sittings.  Owns the arenas it allocates on the device for as long as one call lasts. */
#include "sitting.h"
#include <stdlib.h>
#include <string.h>

/* Values go to the device in pieces, so that no whole copy is kept here. */
enum { PIECE_BYTES = 32 << 20 };

static int stage_tensor(const struct timer *me, const struct subject *s, uint32_t set, uint32_t t, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &s->the_case->tensors[t];
   uint64_t width = tensor->elements ? tensor->bytes / tensor->elements : 1, piece = PIECE_BYTES / width;
   char *data = malloc(PIECE_BYTES);
   int status = data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint64_t first = 0; status == RKB_OK && (first < tensor->elements || first == 0); first += piece) {
      uint64_t count = tensor->elements - first < piece ? tensor->elements - first : piece;
      status = me->task->inputs_fill(s->inputs[set], t, first, count, data, err);
      if (status == RKB_OK)
         status = me->device->stage(s->session, set, t, tensor->bytes, first * width, data, count * width, err);
   }
   free(data);
   return status;
}

int sitting_prepare(const struct timer *me, const struct subject *s, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = me->device->module(s->session, 0, s->build->cubin, s->build->cubin_bytes, &finding, err);
   if (status == RKB_OK && finding.reason[0])
      return rkb_fail(err, RKB_ERR_INTERNAL, "%s", finding.message);
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++)
      for (uint32_t t = 0; t < s->the_case->tensor_count && status == RKB_OK; t++)
         if (s->the_case->tensors[t].role != RKB_OUT)
            status = stage_tensor(me, s, set, t, err);
   return status;
}

int sitting_clear(const struct timer *me, const struct subject *s, rkb_error_t *err) {
   int status = me->device->drop_module(s->session, 0, err);
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++)
      status = me->device->drop_set(s->session, set, err);
   return status;
}

/* As many arenas as asked for, or as fit: an arena that finds no memory ends the making, two are enough to go on. */
static int open_arenas(const struct timer *me, const struct subject *s, uint32_t *count, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = RKB_OK;
   *count = 0;
   while (*count < (uint32_t)me->config->arenas && status == RKB_OK) {
      status = me->device->instance(s->session, *count, 0, RKB_PLAIN, s->plan, &finding, err);
      if (status == RKB_OK && finding.reason[0])
         return rkb_fail(err, RKB_ERR_INTERNAL, "%s", finding.message);
      *count += status == RKB_OK;
   }
   return status == RKB_ERR_LIMIT && *count >= 2 ? RKB_OK : status;
}

/* Every arena once cold and once warm a round, in an order drawn anew for each round. */
static rkb_turn_t *draw_turns(const struct timer *me, uint32_t arenas, rkb_random_t *stream, uint32_t *count) {
   uint32_t round = 2 * arenas;
   *count = round * (uint32_t)me->config->rounds;
   rkb_turn_t *turns = calloc(*count, sizeof *turns);
   for (uint32_t r = 0; turns && r < (uint32_t)me->config->rounds; r++) {
      rkb_turn_t *at = turns + (size_t)r * round;
      for (uint32_t i = 0; i < round; i++)
         at[i] = (rkb_turn_t){.instance = i / 2, .warm = i % 2, .set = (r + i / 2) % SETS};
      for (uint32_t i = round - 1; i > 0; i--) {
         uint32_t other = (uint32_t)me->random->below(stream, i + 1);
         rkb_turn_t swap = at[i];
         at[i] = at[other];
         at[other] = swap;
      }
   }
   return turns;
}

/* The outputs an arena holds belong to its last turn: judge elements of them. */
static int check_output(const struct timer *me, const struct subject *s, uint32_t arena, uint32_t set, uint32_t t,
                        const sample_t *sample, struct sitting *sitting, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &s->the_case->tensors[t];
   uint64_t width = tensor->bytes / tensor->elements;
   char *data = malloc(sample->count * width + 1);
   rkb_judgement_t j = {.size = sizeof j};
   rkb_points_t points = sample_points(sample);
   int status = data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint64_t i = 0, run; i < sample->count && status == RKB_OK; i += run) {
      for (run = 1; i + run < sample->count && sample->elements[i + run] == sample->elements[i] + run;)
         run++;
      status = me->device->read(s->session, arena, t, sample->elements[i] * width, run * width, data + i * width, err);
   }
   if (status == RKB_OK)
      status = me->task->judge(me->host, s->inputs[set], t, data, NULL, &points, sample->elements, s->transform, &j, err);
   if (status == RKB_OK && j.standing_is_reject) {
      sitting->outputs_right = false;
      snprintf(sitting->wrong, sizeof sitting->wrong, "after a timed run %s[%llu] is %.9g and should be %.9g within %.3g (%s)",
               tensor->name, (unsigned long long)j.element, j.got, j.want, j.bound, j.reason);
   }
   free(data);
   return status;
}

/* One output in every arena.  What is expected is evaluated once for a set of values, and kept for the next candidate. */
static int check_tensor(const struct timer *me, const struct subject *s, uint32_t arenas, const uint32_t *last_set, uint32_t t,
                        struct sitting *sitting, rkb_error_t *err) {
   const sampler_t sampler = {me->host, me->task, me->random, me->store, (uint64_t)me->config->points, me->config->budget};
   sample_t samples[SETS] = {{0}};
   int status = RKB_OK;
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++)
      status = sample_open(&sampler, s->inputs[set], s->the_case, s->family->name, s->seeds[set], t, me->store != NULL, &samples[set], err);
   for (uint32_t a = 0; a < arenas && status == RKB_OK; a++)
      if (samples[last_set[a]].count > 0)
         status = check_output(me, s, a, last_set[a], t, &samples[last_set[a]], sitting, err);
   for (uint32_t set = 0; set < SETS; set++)
      sample_close(&samples[set]);
   return status;
}

static int check_arenas(const struct timer *me, const struct subject *s, uint32_t arenas, const rkb_turn_t *turns, uint32_t count,
                        struct sitting *sitting, rkb_error_t *err) {
   uint32_t *last_set = calloc(arenas, sizeof *last_set);
   int status = last_set ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < count && status == RKB_OK; i++)
      if (turns[i].instance < arenas)
         last_set[turns[i].instance] = turns[i].set;
   for (uint32_t t = 0; t < s->the_case->tensor_count && status == RKB_OK; t++)
      if (s->the_case->tensors[t].role != RKB_IN && s->the_case->tensors[t].elements > 0)
         status = check_tensor(me, s, arenas, last_set, t, sitting, err);
   free(last_set);
   return status;
}

int sitting_run(const struct timer *me, const struct subject *s, rkb_random_t *stream, struct sitting *sitting, rkb_error_t *err) {
   rkb_turn_t *turns = NULL;
   float *times = NULL;
   uint32_t arenas = 0, count = 0, deadline_ms = (uint32_t)(me->config->deadline / 1000000);
   *sitting = (struct sitting){.outputs_right = true};
   int status = open_arenas(me, s, &arenas, err);
   if (status == RKB_OK) {
      turns = draw_turns(me, arenas, stream, &count);
      times = malloc(((size_t)count + 1) * sizeof *times);
      sitting->cold = malloc(((size_t)count + 1) * sizeof *sitting->cold);
      sitting->warm = malloc(((size_t)count + 1) * sizeof *sitting->warm);
      if (!turns || !times || !sitting->cold || !sitting->warm)
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   if (status == RKB_OK)
      status = me->device->time(s->session, turns, count, deadline_ms, times, err);
   if (status == RKB_OK)
      status = check_arenas(me, s, arenas, turns, count, sitting, err);
   if (status == RKB_OK) {
      size_t cold = 0, warm = 0;
      /* The first round pays for what happens once: page tables, instruction caches, clocks rising. */
      for (uint32_t i = 2 * arenas; i < count; i++) {
         if (turns[i].warm)
            sitting->warm[warm++] = times[i];
         else
            sitting->cold[cold++] = times[i];
      }
      sitting->count = cold;
   }
   for (uint32_t a = 0; a < arenas && status == RKB_OK; a++)
      status = me->device->drop_instance(s->session, a, err);
   free(times);
   free(turns);
   return status;
}

void sitting_free(struct sitting *sitting) {
   free(sitting->cold);
   free(sitting->warm);
   *sitting = (struct sitting){0};
}
