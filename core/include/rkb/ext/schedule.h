/* rkb/ext/schedule.h - kernels written from the task's reference graph by a schedule.  Extension "rkb.schedule/1".
 *
 * A schedule says which nodes of the graph share a launch and how each launch maps to blocks and threads.  A kernel that was written
 * from one carries it in its manifest (`schedule:`), so that another can be written near it.  Texts belong to the caller, who
 * releases them with free_text.
 */
#ifndef RKB_EXT_SCHEDULE_H
#define RKB_EXT_SCHEDULE_H

#include <rkb/ext/random.h>
#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_SCHEDULE "rkb.schedule/1"

/* What limits the parent, where that is known: it weighs the proposals. */
enum rkb_schedule_limit {
   RKB_LIMIT_UNKNOWN,
   RKB_LIMIT_BYTES,        /* device memory or the second-level cache */
   RKB_LIMIT_SHARED,       /* shared memory */
   RKB_LIMIT_INSTRUCTIONS, /* instructions started, loads and stores, arithmetic */
   RKB_LIMIT_WARPS         /* too few to hide latency */
};

/* What of a schedule is structure, as numbers below 2^48 that are equal where it is; 0: no schedule. */
typedef struct rkb_schedule_structure {
   uint32_t size;
   uint32_t launches; /* how many */
   uint64_t plan;     /* which nodes share a launch, and which are written to memory */
   uint64_t mapping;  /* how each launch maps to blocks and threads, and what its tensor cores multiply */
   uint64_t staging;  /* how operands come: copies, more than one stage, kept rows, split sums; no sizes */
} rkb_schedule_structure_t;

/* A kernel that was tried. */
typedef struct rkb_schedule_tried {
   int64_t number; /* of the candidate, from 1 */
   const char *source;
   double microseconds; /* infinite: it was not accepted */
} rkb_schedule_tried_t;

typedef struct rkb_schedule_api {
   uint32_t size;
   uint32_t reserved;

   /* The kernel of a schedule to start from: "suited", "fused", "together" or "apart"; NULL: "fused" where it is
    * the same as "suited".  A start that cannot be written gives way to a plainer one.  RKB_ERR_INVALID: the graph has something that no
    * kernel is written for yet, or there is no such start; RKB_ERR_LIMIT: neither it nor a plainer one can be written; err says what.  [worker] */
   int (*start)(const rkb_host_t *host, const char *name, char **source, rkb_error_t *err);

   /* The kernel of a schedule drawn by chance, without a parent.  *source NULL: the draw is not legal.  [worker] */
   int (*draw)(const rkb_host_t *host, rkb_random_t *stream, char **source, rkb_error_t *err);

   /* A kernel whose schedule differs from source's in one decision or a few; note says in which.  RKB_OK with *changed NULL: source
    * has no schedule of this task, or no change was found that is legal.  [worker] */
   int (*change)(const rkb_host_t *host, rkb_random_t *stream, const char *source, uint32_t limit, char **changed, char *note,
                 size_t note_size, rkb_error_t *err);

   /* A kernel with launches of both.  RKB_OK with *child NULL: as above.  [worker] */
   int (*cross)(const rkb_host_t *host, rkb_random_t *stream, const char *first, const char *second, char **child, char *note,
                size_t note_size, rkb_error_t *err);

   void (*free_text)(char *text);

   /* A kernel whose schedule differs from source's in one decision or two: of the list of them, in the order in which they are worth a
    * try, the first that is legal and that known does not know, of those whose number modulo slots is slot; if there is none, of all.
    * Calls with other slots take other kernels.  RKB_OK with *changed NULL: as for change, or all are known.  At most 160 texts are
    * written.  [worker] */
   int (*step)(const rkb_host_t *host, const char *source, uint32_t limit, uint32_t slot, uint32_t slots,
               bool (*known)(void *context, const char *text), void *context, char **changed, char *note, size_t note_size, rkb_error_t *err);

   /* From here on: check RKB_HAS first, because older programs end before.
    *
    * The least time of a kernel with this one's schedule: what its launches must move and multiply, at the target's peak rates; a
    * geometric mean over the bench cases.  0: source has no schedule of this task.  [worker] */
   int (*least)(const rkb_host_t *host, const char *source, double *seconds, rkb_error_t *err);

   /* The structure that the schedule in a kernel's text has; a text that was edited keeps that of the kernel it was made from.  [any] */
   void (*structure)(const char *source, rkb_schedule_structure_t *structure);

   /* A kernel whose schedule is near source's, or near that of one of the best that were tried (*base: its number; 0: source): of some
    * hundred that are drawn, the one for which the tried kernels speak most, by a model that is fitted to them; note says what was changed
    * and what the model expects.  slot: as for step.  RKB_OK with *child NULL: as for change, or too few were accepted so far.  [worker] */
   int (*acquire)(const rkb_host_t *host, rkb_random_t *stream, const char *source, uint32_t limit, uint32_t slot,
                  const rkb_schedule_tried_t *tried, uint32_t count, char **child, int64_t *base, char *note, size_t note_size, rkb_error_t *err);
} rkb_schedule_api_t;

#ifdef __cplusplus
}
#endif
#endif
