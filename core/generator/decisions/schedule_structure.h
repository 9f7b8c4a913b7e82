/* The structure of a kernel's schedule: which nodes share a launch, by which kind of mapping, and how
 * operands get to where they are used.  Tiles, threads, widths and other sizes are no part of it.  Read from
 * the text alone; pure, any thread. */
#ifndef RKB_GENERATOR_SCHEDULE_STRUCTURE_H
#define RKB_GENERATOR_SCHEDULE_STRUCTURE_H

#include <rkb/ext/schedule.h>

/* Kernels of equal structure get equal numbers.  All numbers are 0 where the text has no schedule.  An edited
 * text has the structure of the kernel from which it was made. */
void rkb_structure_of(const char *source, rkb_schedule_structure_t *structure);

#endif
