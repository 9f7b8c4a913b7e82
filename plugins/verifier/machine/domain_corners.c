/* The corners of the domain: shapes with up to three dims at their maximum and the others at their minimum.
 *
 * If a grid has too many blocks there, the plan shows without execution that there is no launch.  Corners that cost little are executed,
 * because a loop may have a second turn only there.  For each dim that no chosen corner has at its maximum, the costliest of the cheap ones
 * is taken.  If a corner has many blocks and they take much, some of them are executed (wide_shapes.c).  One thread. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIMS 32
#define CORNER_WORK 5e5           /* most operations of a corner that is executed */
#define CORNER_BYTES 3e5          /* and bytes of its tensors */
#define CORNER_THREADS (1u << 16) /* and threads of its plan */
#define MOST_CHEAP 64u            /* corners that cost so little, of which MOST_CORNERS are executed */

/* One that costs little. */
struct corner {
   uint32_t index;
   double operations;
   int64_t dims[MOST_DIMS];
};

struct corners {
   const struct verifier *verifier;
   const struct candidate *candidate;
   rkb_case_t *unplanned; /* the first that the candidate has no plan for; owned */
   struct corner cheap[MOST_CHEAP];
   uint32_t count;
};

static void note_cheap(struct corners *c, const rkb_plan_t *plan, const rkb_case_t *corner, uint32_t index) {
   if (corner->operations > CORNER_WORK || corner->bytes > CORNER_BYTES ||
       shapes_plan_threads(plan) > CORNER_THREADS || c->count == MOST_CHEAP)
      return;
   struct corner *noted = &c->cheap[c->count++];
   *noted = (struct corner){.index = index, .operations = corner->operations};
   for (uint32_t d = 0; d < corner->dim_count && d < MOST_DIMS; d++)
      noted->dims[d] = corner->dims[d].value;
}

/* Takes the corner. */
static int look_at(struct corners *c, rkb_case_t *corner, uint32_t index, rkb_error_t *err) {
   const struct verifier *me = c->verifier;
   rkb_finding_t finding = {0};
   rkb_plan_t *plan = NULL;
   int status = me->kernel->plan(me->host, c->candidate->job, c->candidate->item, c->candidate->build, corner,
                                 &plan, &finding, err);
   if (plan) {
      note_cheap(c, plan, corner, index);
      me->kernel->plan_free(plan);
   } else if (status == RKB_OK && shapes_must_have_plan(&finding)) {
      c->unplanned = corner;
      return RKB_OK;
   }
   me->task->case_free(corner);
   return status;
}

static int look_at_all(struct corners *c, rkb_error_t *err) {
   const struct verifier *me = c->verifier;
   const rkb_device_t *device = me->kernel->device(me->host);
   int status = device ? RKB_OK : RKB_ERR_LIMIT;
   for (uint32_t n = 0; status == RKB_OK && !c->unplanned; n++) {
      rkb_case_t *corner = NULL;
      status = me->task->case_corner(me->host, n, &corner, err);
      if (status == RKB_OK && corner && corner->bytes <= device->memory_bytes)
         status = look_at(c, corner, n, err);
      else if (corner)
         me->task->case_free(corner);
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* that was the last */
}

/* The dims that the noted corner has at their maximum, a bit each: those that are larger there than at some other noted corner. */
static uint64_t highest_dims(const struct corners *c, uint32_t noted) {
   uint64_t highest = 0;
   for (uint32_t d = 0; d < MOST_DIMS; d++)
      for (uint32_t n = 0; n < c->count; n++)
         if (c->cheap[noted].dims[d] > c->cheap[n].dims[d])
            highest |= 1ull << d;
   return highest;
}

/* Among the cheap corners that have dim d at its maximum, the costliest; among equally costly ones, the one with the most missing dims at
 * their maximum.  MOST_CHEAP: there is none. */
static uint32_t costliest_with(const struct corners *c, uint32_t d, uint64_t missing) {
   uint32_t best = MOST_CHEAP;
   int most = 0;
   for (uint32_t n = 0; n < c->count; n++) {
      const uint64_t highest = highest_dims(c, n);
      const int gains = __builtin_popcountll(highest & missing);
      const double operations = c->cheap[n].operations;
      if ((highest >> d & 1) && (best == MOST_CHEAP || operations > c->cheap[best].operations ||
                                 (operations == c->cheap[best].operations && gains > most))) {
         best = n;
         most = gains;
      }
   }
   return best;
}

static int draw_cheap(const struct corners *c, rkb_case_t **drawn, uint32_t room, uint32_t *count,
                      rkb_error_t *err) {
   const struct verifier *me = c->verifier;
   uint64_t missing = UINT64_MAX; /* dims that no chosen corner has at their most */
   uint32_t chosen = 0;
   int status = RKB_OK;
   for (uint32_t d = 0; d < MOST_DIMS && status == RKB_OK && chosen < MOST_CORNERS && *count < room; d++) {
      const uint32_t n = missing >> d & 1 ? costliest_with(c, d, missing) : MOST_CHEAP;
      if (n == MOST_CHEAP)
         continue;
      chosen++;
      missing &= ~highest_dims(c, n);
      status = me->task->case_corner(me->host, c->cheap[n].index, &drawn[*count], err);
      *count += status == RKB_OK && drawn[*count];
   }
   return status;
}

int corners_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn, uint32_t room,
                 uint32_t *count, rkb_error_t *err) {
   *count = 0;
   if (me->config->shapes == 0 || room == 0)
      return RKB_OK;
   struct corners *c = calloc(1, sizeof *c);
   if (!c)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the corners of a domain");
   c->verifier = me;
   c->candidate = candidate;
   int status = look_at_all(c, err);
   if (c->unplanned)
      drawn[(*count)++] = c->unplanned;
   if (status == RKB_OK)
      status = draw_cheap(c, drawn, room, count, err);
   free(c);
   return status;
}
