/* Chooses an untried schedule that is worth a build.  It draws many schedules near the best ones, and takes the schedule that the forecast
 * prefers; the forecast is fitted to tried schedules.  A pure function of its arguments; one thread a graph. */
#ifndef RKB_GENERATOR_ACQUISITION_H
#define RKB_GENERATOR_ACQUISITION_H

#include <rkb/ext/schedule.h>
#include "generator/search/neighbours.h"

/* The kernels that were tried, in order. */
typedef struct rkb_experience {
   const rkb_schedule_tried_t *tried;
   uint32_t count;
} rkb_experience_t;

/* Writes the kernel that is expected to be fastest.  It is near the parent (*base: 0; NULL: there is none) or
 * near a kernel that was tried (*base: its number).  Requests that are in flight together have different
 * slots, so they look at different schedules.  The caller frees *text.  False: too little is known, or no
 * legal schedule was drawn. */
bool rkb_schedule_acquire(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, enum rkb_focus focus, uint32_t slot,
                          const rkb_experience_t *experience, const rkb_schedule_t *parent, char **text, int64_t *base, char *note,
                          size_t note_size);

#endif
