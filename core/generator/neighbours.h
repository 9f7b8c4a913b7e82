/* The schedules next to one, in the order in which they are worth a try: every other value of one decision, then of two of one launch.
 * A pure function of its arguments; one thread a graph. */
#ifndef RKB_GENERATOR_NEIGHBOURS_H
#define RKB_GENERATOR_NEIGHBOURS_H

#include "generator/changes.h"

/* Whether a kernel's text was tried before. */
typedef bool (*rkb_known_text_t)(void *context, const char *text);

/* Writes the kernel of the first neighbour that is legal and not known, of those whose number in the list is slot modulo slots; if all
 * of these are, of any.  So calls with other slots, which do not know of each other's, take other neighbours.  text is the caller's
 * (free); false: there is none. */
bool rkb_schedule_step(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_focus focus, uint32_t slot, uint32_t slots, rkb_known_text_t known,
                       void *context, const rkb_schedule_t *schedule, char **text, char *note, size_t note_size);
/* How much a decision is worth a change, under what limits a kernel. */
double rkb_decision_weight(uint32_t decision, enum rkb_focus focus);

#endif
