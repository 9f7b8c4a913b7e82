/* Other schedules near one, and mixtures of two.  Each is legal: it was written once on trial.  One thread a graph. */
#ifndef RKB_GENERATOR_CHANGES_H
#define RKB_GENERATOR_CHANGES_H

#include "base/random.h"
#include "generator/starts.h"

/* What limits the parent, as a measurement says it; it weighs the proposals. */
enum rkb_focus {
   RKB_FOCUS_NONE,
   RKB_FOCUS_MEMORY,  /* bytes: wider accesses, rows kept, fewer launches */
   RKB_FOCUS_SHARED,  /* shared memory: a thread's tile */
   RKB_FOCUS_ISSUE,   /* instructions: tiles, vectors */
   RKB_FOCUS_LATENCY, /* too few warps: splits, threads, smaller tiles */
};

/* Changes one decision or a related handful, in words (note).  False: none was found that is legal. */
bool rkb_schedule_change(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                         enum rkb_focus focus, rkb_schedule_t *schedule, char *note, size_t note_size);
/* A schedule drawn without a parent: what belongs together, each launch with decisions drawn by chance. */
bool rkb_schedule_draw(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                       rkb_schedule_t *schedule);
/* Changes one decision of a launch, or its tile, and nothing of what it computes; it may be illegal then. */
void rkb_launch_vary(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, enum rkb_focus focus, rkb_launch_t *launch,
                     char *note, size_t note_size);
/* Whether arithmetic alone finds nothing against a launch; whether it can be written is not known here. */
bool rkb_launch_is_possible(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch);
/* Takes launches of the second parent where both compute and write the same.  False: they have no such launch that differs. */
bool rkb_schedule_cross(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                        rkb_schedule_t *first, const rkb_schedule_t *second, char *note, size_t note_size);

#endif
