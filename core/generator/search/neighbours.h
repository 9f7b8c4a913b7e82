/* The schedules next to another one, in the order in which they are worth trying: first every other value of
 * one decision, then of two decisions of one launch.  A pure function of its arguments; one thread a graph. */
#ifndef RKB_GENERATOR_NEIGHBOURS_H
#define RKB_GENERATOR_NEIGHBOURS_H

#include "generator/search/schedule_changes.h"

/* Whether a kernel's text was tried before. */
typedef bool (*rkb_known_text_t)(void *context, const char *text);

/* Writes the kernel of the first neighbour that is legal and not known.  It looks first at neighbours whose
 * number in the list is slot modulo slots, then at all others.  Calls do not know of each other; with different
 * slots they take different neighbours.  The caller frees *text; false: no neighbour is legal and not known. */
bool rkb_schedule_step(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_focus focus, uint32_t slot, uint32_t slots, rkb_known_text_t known,
                       void *context, const rkb_schedule_t *schedule, char **text, char *note, size_t note_size);
/* How promising it is to change a decision of a kernel with this limit. */
double rkb_decision_weight(uint32_t decision, enum rkb_focus focus);

#endif
