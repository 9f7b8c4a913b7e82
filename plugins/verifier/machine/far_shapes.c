/* Draws a shape that has tensors of at least 2^31 elements or, where the domain has none, of at least 2^31 bytes.  That is a corner of the
 * domain among those that the device holds.  A corner has at most three dims at their largest (case_corner), and the domain may need more of
 * them to reach so far.  Then dims are raised one after the other.  At last dims are lowered as long as all tensors reach as far.  One worker thread a
 * candidate. */
#include "far_shapes.h"

#include <math.h>
#include <string.h>

#define FAR (UINT64_C(1) << 31)
#define BEHIND (FAR / 4 * 5) /* of a shape whose dims are lowered, so that something lies behind 2^31 */
#define MOST_DIMS 32u
/* Operations for an element of the tensors: more has blocks and intermediates that are too large. */
#define MOST_INTENSITY 256.0
/* Of a shape that is made: the machine's own records of more need too much memory. */
#define HELD_BYTES UINT64_C(36000000000)

static double elements_of(const rkb_case_t *shape) {
   double elements = 0;
   for (uint32_t n = 0; n < shape->tensor_count; n++)
      elements += (double)shape->tensors[n].elements;
   return elements;
}

/* 2: the tensor has so many elements; 1: so many bytes; 0: neither. */
static uint32_t own_reach(const rkb_tensor_t *tensor, uint64_t many) {
   return tensor->elements >= many ? 2 : tensor->bytes >= many ? 1 : 0;
}

/* Of the tensor that reaches farthest. */
static uint32_t reach_of(const rkb_case_t *corner) {
   uint32_t reach = 0;
   for (uint32_t n = 0; n < corner->tensor_count; n++) {
      const uint32_t own = own_reach(&corner->tensors[n], FAR);
      reach = own > reach ? own : reach;
   }
   return corner->operations <= MOST_INTENSITY * elements_of(corner) ? reach : 0;
}

/* The domain's dims, as its corners have them. */
struct extremes {
   int64_t least[MOST_DIMS], most[MOST_DIMS];
   uint32_t count; /* 0: no corner was seen, or the task has too many dims */
};

static void note_extremes(struct extremes *e, const rkb_case_t *corner) {
   if (corner->dim_count > MOST_DIMS)
      return;
   for (uint32_t d = 0; d < corner->dim_count; d++) {
      const int64_t value = corner->dims[d].value;
      e->least[d] = e->count && e->least[d] < value ? e->least[d] : value;
      e->most[d] = e->count && e->most[d] > value ? e->most[d] : value;
   }
   e->count = corner->dim_count;
}

/* Each of those that reach farthest is as likely; NULL: no corner reaches so far. */
static int draw_corner(const struct verifier *me, uint64_t memory, rkb_random_t *stream,
                       struct extremes *extremes, rkb_case_t **drawn, rkb_error_t *err) {
   uint32_t farthest = 1, count = 0;
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      rkb_case_t *corner = NULL;
      status = me->task->case_corner(me->host, n, &corner, err);
      if (status != RKB_OK || !corner)
         continue;
      note_extremes(extremes, corner);
      const uint32_t reach = corner->bytes <= memory ? reach_of(corner) : 0;
      if (reach > farthest) {
         farthest = reach;
         count = 0;
      }
      if (reach == farthest && me->random->below(stream, ++count) == 0) {
         rkb_case_t *other = *drawn;
         *drawn = corner;
         corner = other;
      }
      if (corner)
         me->task->case_free(corner);
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* that was the last */
}

/* Where dims are raised and lowered. */
struct far_dims {
   const struct verifier *verifier;
   rkb_random_t *stream;
   const rkb_case_t *like; /* has the attributes */
   uint64_t memory;
   int64_t dims[MOST_DIMS];
   uint32_t order[MOST_DIMS], count; /* drawn */
};

static void draw_order(struct far_dims *f) {
   for (uint32_t d = 0; d < f->count; d++) {
      const uint32_t other = (uint32_t)f->verifier->random->below(f->stream, d + 1);
      f->order[d] = f->order[other];
      f->order[other] = d;
   }
}

/* The shape with these dims; NULL: the domain does not have it, or the device does not hold it. */
static int make_shape(const struct far_dims *f, rkb_case_t **made, rkb_error_t *err) {
   const struct verifier *me = f->verifier;
   *made = NULL;
   const int status = me->task->case_with_dims(me->host, f->like, f->stream, f->dims, INFINITY, made, err);
   if (status == RKB_OK && (*made)->bytes > f->memory) {
      me->task->case_free(*made);
      *made = NULL;
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

/* Raises one dim after the other to its largest, or by halves to what can be held, so that as many tensors as possible reach so far.  NULL: none does. */
static int raise_dims(struct far_dims *f, const struct extremes *extremes, rkb_case_t **drawn,
                      rkb_error_t *err) {
   const uint64_t device = f->memory;
   uint32_t reach = 0;
   int status = RKB_OK;
   f->memory = device < HELD_BYTES ? device : HELD_BYTES;
   memcpy(f->dims, extremes->least, sizeof f->dims);
   draw_order(f);
   for (uint32_t n = 0; n < f->count && status == RKB_OK; n++) {
      const uint32_t d = f->order[n];
      rkb_case_t *made = NULL;
      for (int64_t value = extremes->most[d]; value > extremes->least[d] && !made && status == RKB_OK;
           value /= 2) {
         f->dims[d] = value;
         status = make_shape(f, &made, err);
         if (made && made->operations > MOST_INTENSITY * elements_of(made)) {
            f->verifier->task->case_free(made);
            made = NULL;
         }
      }
      if (!made) {
         f->dims[d] = extremes->least[d];
         continue;
      }
      reach = reach_of(made);
      if (*drawn)
         f->verifier->task->case_free(*drawn);
      *drawn = made;
   }
   f->memory = device;
   if (*drawn && reach == 0) {
      f->verifier->task->case_free(*drawn);
      *drawn = NULL;
   }
   return status;
}

/* Whether all tensors still reach as far as those of the shape that was lowered. */
static bool reaches_like(const rkb_case_t *lowered, const rkb_case_t *shape) {
   bool like = lowered->operations <= MOST_INTENSITY * elements_of(lowered);
   for (uint32_t n = 0; n < shape->tensor_count; n++)
      like &= own_reach(&lowered->tensors[n], BEHIND) >= own_reach(&shape->tensors[n], FAR);
   return like;
}

/* Lowers one dim after the other while all tensors reach as far: then blocks do less, and the machine has to keep less of what they wrote. */
static int lower_dims(struct far_dims *f, const struct extremes *extremes, rkb_case_t **drawn,
                      rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t d = 0; d < f->count; d++)
      f->dims[d] = (*drawn)->dims[d].value;
   draw_order(f);
   for (uint32_t n = 0; n < f->count && status == RKB_OK; n++) {
      const uint32_t d = f->order[n];
      for (int64_t part = 4;
           part > 1 &&
           status ==
              RKB_OK;) { /* eighths that are taken away: the half, and where that is too much, a quarter */
         const int64_t before = f->dims[d];
         rkb_case_t *made = NULL;
         f->dims[d] -= before * part / 8;
         if (f->dims[d] < extremes->least[d] || f->dims[d] == before) {
            f->dims[d] = before;
            break;
         }
         status = make_shape(f, &made, err);
         const bool lower = made && reaches_like(made, *drawn);
         rkb_case_t *unused = lower ? *drawn : made;
         if (lower) {
            *drawn = made;
         } else {
            f->dims[d] = before;
            part /= 2;
         }
         if (unused)
            f->verifier->task->case_free(unused);
      }
   }
   return status;
}

int far_shape_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                   rkb_error_t *err) {
   const rkb_device_t *device = me->kernel->device(me->host);
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_FAR);
   struct extremes extremes = {.count = 0};
   *drawn = NULL;
   if (!device)
      return RKB_OK;
   int status = draw_corner(me, device->memory_bytes, &stream, &extremes, drawn, err);
   struct far_dims f = {.verifier = me,
                        .stream = &stream,
                        .like = me->task->case_at(me->host, RKB_CASE_CHECK, 0),
                        .memory = device->memory_bytes,
                        .count = extremes.count};
   if (!f.count || !f.like || !RKB_HAS(me->task, case_with_dims))
      return status;
   if (status == RKB_OK && !*drawn)
      status = raise_dims(&f, &extremes, drawn, err);
   if (status == RKB_OK && *drawn)
      status = lower_dims(&f, &extremes, drawn, err);
   return status;
}
