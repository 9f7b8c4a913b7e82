/* Makes copies as plans of the worker's own kernel.  Owns their buffers on the device during a call. */
#include "tuned_copies.h"
#include <stdlib.h>
#include <string.h>
#include "statistics.h"

/* Large copies are fastest with one full vector for each thread and turn, small ones with a grid that is
 * resident all the time. */
enum { SHAPES = 3, COPY_ARENAS = 2, COPY_ROUNDS = 6, COPY_THREADS = 512, VECTOR_BYTES = 16, PARAMETERS = 4 };

typedef struct copy_plan {
   rkb_plan_t plan;
   rkb_plan_buffer_t buffers[2];
   rkb_plan_launch_t *launches;    /* owned */
   rkb_plan_argument_t *arguments; /* owned; PARAMETERS for each launch */
} copy_plan_t;

static uint64_t vectors_of(const rkb_case_t *c, bool written) {
   uint64_t bytes = 0;
   for (uint32_t t = 0; t < c->tensor_count; t++)
      if (c->tensors[t].role == RKB_INOUT || (c->tensors[t].role == RKB_OUT) == written)
         bytes += c->tensors[t].bytes;
   return (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES;
}

/* Returns the blocks for so many vectors: all resident at once, or one turn of the kernel's loop for each
 * thread, or two. */
static uint32_t blocks_of(const rkb_device_t *device, uint64_t vectors, uint32_t shape) {
   enum { VECTORS_A_TURN = 4 };
   const uint64_t resident =
      (uint64_t)(device->multiprocessors * device->threads_per_multiprocessor / COPY_THREADS);
   const uint64_t turn = (uint64_t)COPY_THREADS * VECTORS_A_TURN * (shape == 2 ? 2 : 1);
   uint64_t blocks = (vectors + turn - 1) / turn;
   if (shape == 0 && blocks > resident)
      blocks = resident;
   return (uint32_t)(blocks ? blocks : 1);
}

static void set_argument(rkb_plan_argument_t *arguments, uint32_t index, uint32_t buffer, uint64_t value) {
   arguments[index] = (rkb_plan_argument_t){.buffer = buffer,
                                            .offset = index * (uint32_t)sizeof(uint64_t),
                                            .bytes = sizeof(uint64_t),
                                            .value = value};
}

/* Returns the share of launch number i when a count is split as evenly as possible. */
static uint64_t split(uint64_t count, uint32_t launches, uint32_t i) {
   return count * (i + 1) / launches - count * i / launches;
}

static bool make_plan(const struct timer *me, const struct subject *s, uint32_t shape, copy_plan_t *made) {
   const uint64_t reads = vectors_of(s->the_case, false), writes = vectors_of(s->the_case, true);
   const uint32_t launches = s->contenders[CANDIDATE].plan->launch_count;
   *made = (copy_plan_t){.launches = calloc(launches, sizeof *made->launches),
                         .arguments = calloc((size_t)launches * PARAMETERS, sizeof *made->arguments)};
   if (!made->launches || !made->arguments)
      return false;
   made->buffers[0] =
      (rkb_plan_buffer_t){.name = "from", .dtype = RKB_U8, .tensor = UINT32_MAX, .alignment = 256};
   made->buffers[0].bytes = made->buffers[0].elements = reads * VECTOR_BYTES;
   made->buffers[1] = made->buffers[0];
   made->buffers[1].name = "to";
   made->buffers[1].bytes = made->buffers[1].elements = writes * VECTOR_BYTES;
   for (uint32_t i = 0; i < launches; i++) {
      rkb_plan_argument_t *arguments = made->arguments + (size_t)i * PARAMETERS;
      const uint64_t read = split(reads, launches, i), written = split(writes, launches, i);
      set_argument(arguments, 0, 0, reads * i / launches * VECTOR_BYTES);
      set_argument(arguments, 1, 1, writes * i / launches * VECTOR_BYTES);
      set_argument(arguments, 2, UINT32_MAX, read);
      set_argument(arguments, 3, UINT32_MAX, written);
      made->launches[i] = (rkb_plan_launch_t){
         .expression = RKB_OWN_COPY_ENTRY,
         .entry = RKB_OWN_COPY_ENTRY,
         .grid = {blocks_of(me->kernel->device(me->host), read > written ? read : written, shape), 1, 1},
         .block = {COPY_THREADS, 1, 1},
         .cluster = {1, 1, 1},
         .argument_count = PARAMETERS,
         .parameter_bytes = PARAMETERS * sizeof(uint64_t),
         .arguments = arguments};
   }
   made->plan = (rkb_plan_t){.version = 1,
                             .buffer_count = 2,
                             .launch_count = launches,
                             .buffers = made->buffers,
                             .launches = made->launches};
   return true;
}

static int open_copies(const struct timer *me, const struct subject *s, uint32_t *opened, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = RKB_OK;
   *opened = 0;
   for (uint32_t shape = 0; shape < SHAPES && status == RKB_OK; shape++) {
      copy_plan_t made;
      if (!make_plan(me, s, shape, &made))
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      for (uint32_t a = 0; a < COPY_ARENAS && status == RKB_OK; a++) {
         status = me->device->instance(s->session, sitting_instance(CONTENDERS, *opened), RKB_OWN_MODULE,
                                       RKB_PLAIN, &made.plan, &finding, err);
         if (status == RKB_OK && finding.reason[0])
            status = rkb_fail(err, RKB_ERR_INTERNAL, "the tuned copy: %s", finding.message);
         *opened += status == RKB_OK;
      }
      free(made.launches);
      free(made.arguments);
   }
   return status;
}

int copies_time(const struct timer *me, const struct subject *s, uint32_t deadline_ms,
                struct sitting *sitting, rkb_error_t *err) {
   enum { TURNS = SHAPES * COPY_ARENAS * COPY_ROUNDS, EACH = COPY_ARENAS * (COPY_ROUNDS - 1) };
   rkb_turn_t turns[TURNS];
   float times[TURNS];
   rkb_error_t ignored;
   uint32_t opened = 0, best = 0;
   double samples[SHAPES][EACH], means[SHAPES], sorted[EACH];
   int status = open_copies(me, s, &opened, err);
   bool room = status == RKB_OK;
   for (uint32_t i = 0; i < TURNS; i++)
      turns[i] = (rkb_turn_t){.instance = sitting_instance(CONTENDERS, i % (SHAPES * COPY_ARENAS))};
   if (room)
      status = me->device->time(s->session, turns, TURNS, deadline_ms, times, err);
   if (room && status == RKB_OK) {
      /* the first round is left out, as everywhere */
      for (uint32_t shape = 0; shape < SHAPES; shape++) {
         for (uint32_t i = 0; i < EACH; i++)
            samples[shape][i] =
               times[(1 + i / COPY_ARENAS) * SHAPES * COPY_ARENAS + shape * COPY_ARENAS + i % COPY_ARENAS];
         memcpy(sorted, samples[shape], sizeof sorted);
         means[shape] = trimmed_mean(sorted, EACH);
         best = means[shape] < means[best] ? shape : best;
      }
      sitting->copies = malloc(sizeof samples[best]);
      if (sitting->copies)
         memcpy(sitting->copies, samples[best], sizeof samples[best]);
      sitting->copy_count = sitting->copies ? EACH : 0;
   }
   for (uint32_t i = 0; i < opened && status == RKB_OK; i++)
      status = me->device->drop_instance(s->session, sitting_instance(CONTENDERS, i), err);
   /* Where there is no room for the copy, the candidate's times are valid, and no share is reported. */
   if (status == RKB_ERR_LIMIT) {
      for (uint32_t i = 0; i < opened; i++)
         me->device->drop_instance(s->session, sitting_instance(CONTENDERS, i), &ignored);
      status = RKB_OK;
   }
   return status;
}
