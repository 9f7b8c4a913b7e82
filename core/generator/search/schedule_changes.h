/* Schedules near another schedule, and mixtures of two schedules.  Each is legal: its text was written once on
 * trial.  One thread a graph. */
#ifndef RKB_GENERATOR_SCHEDULE_CHANGES_H
#define RKB_GENERATOR_SCHEDULE_CHANGES_H

#include "base/random.h"
#include "generator/start/start_schedules.h"

/* The limiter of the parent, as measured; it decides which changes are likely. */
enum rkb_focus {
   RKB_FOCUS_NONE,
   RKB_FOCUS_MEMORY,  /* bytes: wider accesses, rows kept, fewer launches */
   RKB_FOCUS_SHARED,  /* shared memory: a thread's tile */
   RKB_FOCUS_ISSUE,   /* instructions: tiles, vectors */
   RKB_FOCUS_LATENCY, /* too few warps: splits, threads, smaller tiles */
};

/* Changes one decision or a few that belong together, and describes the change in note.  False: no legal
 * change was found. */
bool rkb_schedule_change(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                         enum rkb_focus focus, rkb_schedule_t *schedule, char *note, size_t note_size);
/* Draws a schedule without a parent: nodes that belong together share launches, and the decisions of these
 * launches are drawn at random. */
bool rkb_schedule_draw(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                       rkb_schedule_t *schedule);
/* Changes one decision of a launch, or its tile, and nothing of what it computes; the result may be illegal. */
void rkb_launch_vary(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, enum rkb_focus focus, rkb_launch_t *launch,
                     char *note, size_t note_size);
/* Whether arithmetic alone finds nothing against a launch; it may still be impossible to write. */
bool rkb_launch_is_possible(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch);
/* Takes launches from the second parent where launches of both parents compute and write the same nodes.  False:
 * no two such launches differ. */
bool rkb_schedule_cross(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                        rkb_schedule_t *first, const rkb_schedule_t *second, char *note, size_t note_size);

#endif
