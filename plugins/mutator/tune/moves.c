/* Blind moves in the tune space. */
#include "moves.h"

bool move_to_neighbour(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                       uint32_t steps, assignment_t *assignment) {
   uint32_t movable[ASSIGNMENT_MAX], count = 0;
   for (uint32_t i = 0; i < assignment->count; i++)
      if (manifest->tune[i].choice_count > 1)
         movable[count++] = i;
   if (count == 0)
      return false;
   for (uint32_t step = 0; step < steps && count > 0; step++) {
      uint32_t pick = (uint32_t)random->below(stream, count);
      uint32_t parameter = movable[pick];
      movable[pick] = movable[--count];
      int32_t below, above;
      assignment_neighbours(manifest, assignment, parameter, &below, &above);
      bool up = random->below(stream, 2) == 1;
      int32_t next = up ? above : below;
      if (next < 0)
         next = up ? below : above;
      assignment->choice[parameter] = (uint32_t)next;
   }
   return true;
}

bool move_anywhere(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                   assignment_t *assignment) {
   uint64_t space = assignment_space(manifest);
   if (space < 2)
      return false;
   assignment_t start = *assignment;
   if (space < UINT64_MAX) { /* excludes the starting point by shifting the draw past it */
      uint64_t here = 0;
      for (uint32_t i = 0; i < start.count; i++)
         here = here * manifest->tune[i].choice_count + start.choice[i];
      uint64_t index = random->below(stream, space - 1);
      return assignment_at(manifest, index < here ? index : index + 1, assignment);
   }
   for (uint32_t i = 0; i < assignment->count; i++)
      assignment->choice[i] = (uint32_t)random->below(stream, manifest->tune[i].choice_count);
   return !assignment_equal(&start, assignment);
}
