/* Counts of a sample whose blocks are of several kinds.  The caller says how many blocks of the grid are of each kind.  This matters
 * because a launch may have a thousand light blocks and thirty heavy ones, and six blocks of a thousand are mostly light.  One thread; the
 * run owns it while a launch is executed. */
#ifndef RKB_MACHINE_COUNTS_KIND_COUNTS_H
#define RKB_MACHINE_COUNTS_KIND_COUNTS_H

#include "machine/machine.h"

typedef struct machine_kind_counts machine_kind_counts_t;

/* NULL: the sample has no kinds, or memory ran out; then each block stands for equally many blocks of the grid. */
machine_kind_counts_t *machine_kinds_open(const rkb_machine_blocks_t *sample);
void machine_kinds_free(machine_kind_counts_t *kinds);
/* so_far: the counts of all blocks executed until now; place: of the block in the sample that was executed last. */
void machine_kinds_add(machine_kind_counts_t *kinds, const rkb_machine_blocks_t *sample,
                       const rkb_launch_counters_t *so_far, uint64_t place);
/* Weighs what was counted: each kind as often as the grid has it.  If the executed kinds make up less than nine tenths of the grid, kinds
 * are not used. */
void machine_kinds_weigh(const machine_kind_counts_t *kinds, const rkb_machine_blocks_t *sample,
                         rkb_launch_counters_t *counters);

#endif
