/* Fragments: lanes of a warp that are at the same instruction.  Decides which fragments join and which one
 * runs next.  On the machine's thread. */
#include "machine/state/execution.h"

static bool same_place(const machine_fragment_t *a, const machine_fragment_t *b) {
   return a->pc == b->pc && a->depth == b->depth && a->waiting == b->waiting &&
          a->left_behind == b->left_behind && a->stopped == b->stopped &&
          memcmp(a->returns, b->returns, a->depth * sizeof a->returns[0]) == 0;
}

static uint32_t later_block(const machine_warp_t *warp, uint32_t a, uint32_t b) {
   return warp->program->blocks[a].rank > warp->program->blocks[b].rank ? a : b;
}

/* Lanes that do not wait have to say for whom they wait, together with those that wait. */
static void join_named(const machine_warp_t *warp, machine_fragment_t *to, const machine_fragment_t *from) {
   const uint32_t named = to->named | from->named;
   to->lost |= from->lost | (named & ~warp->alive);
   to->named = to->named && from->named ? named : 0;
}

void machine_fragments_merge(machine_warp_t *warp) {
   for (uint32_t a = 0; a < warp->fragment_count; a++)
      for (uint32_t b = a + 1; b < warp->fragment_count;) {
         if (same_place(&warp->fragments[a], &warp->fragments[b])) {
            warp->parted = true;
            warp->fragments[a].mask |= warp->fragments[b].mask;
            warp->fragments[a].stalled &= warp->fragments[b].stalled;
            join_named(warp, &warp->fragments[a], &warp->fragments[b]);
            warp->fragments[a].last = later_block(warp, warp->fragments[a].last, warp->fragments[b].last);
            warp->fragments[b] = warp->fragments[--warp->fragment_count];
         } else {
            b++;
         }
      }
}

/* Fragments of lower numbers go first.  One that has gone round a loop waits at the header for all that are still in the loop, where lanes take part
 * together in the loop (decode/control_flow.c). */
static uint32_t turn_of(const machine_warp_t *warp, const machine_fragment_t *f) {
   const machine_instruction_t *at = &warp->program->code[f->pc];
   const machine_block_info_t *blocks = warp->program->blocks, *block = &blocks[at->block];
   return block->round && at->block_start && block->rank <= blocks[f->last].rank ? 2 * block->round - 1
                                                                                 : 2 * at->rank;
}

/* Whether lanes that the fragment waits for are elsewhere. */
static bool misses(const machine_warp_t *warp, const machine_fragment_t *f) {
   return (f->named & warp->alive & ~f->mask) != 0;
}

/* Lanes of a warp join again after a branch.  So a stalled fragment holds back the fragments past it as long
 * as other warps can run (block->overtakes).
 * The fragment to run next, among those that miss others or among those that miss none. */
static uint32_t pick(const machine_warp_t *warp, uint32_t other_than, bool missing) {
   uint32_t best = PTX_NONE;
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      const machine_fragment_t *f = &warp->fragments[n], *b = &warp->fragments[best == PTX_NONE ? 0 : best];
      if (f->waiting || f->left_behind || f->stopped || n == other_than ||
          (f->stalled && warp->block->overtakes) || misses(warp, f) != missing)
         continue;
      if (best == PTX_NONE || f->depth > b->depth ||
          (f->depth == b->depth && turn_of(warp, f) < turn_of(warp, b)))
         best = n;
   }
   return best;
}

uint32_t machine_fragment_pick(const machine_warp_t *warp, uint32_t other_than) {
   uint32_t best = pick(warp, other_than, false);
   if (best == PTX_NONE && other_than == PTX_NONE && !warp->apart)
      best = pick(warp, PTX_NONE, true);
   return best != PTX_NONE && warp->fragments[best].stalled ? PTX_NONE : best;
}

bool machine_undefined_control(machine_warp_t *warp, uint32_t undefined, const char *what) {
   if (!undefined)
      return false;
   machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", (uint32_t)__builtin_ctz(undefined),
                "%s depends on a value that was never written", what);
   return true;
}
