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

void machine_fragments_merge(machine_warp_t *warp) {
   for (uint32_t a = 0; a < warp->fragment_count; a++)
      for (uint32_t b = a + 1; b < warp->fragment_count;) {
         if (same_place(&warp->fragments[a], &warp->fragments[b])) {
            warp->parted = true;
            warp->fragments[a].mask |= warp->fragments[b].mask;
            warp->fragments[a].stalled &= warp->fragments[b].stalled;
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

uint32_t machine_lanes_missing(const machine_warp_t *warp, const machine_fragment_t *fragment) {
   const machine_program_t *program = warp->program;
   const machine_instruction_t *i = &program->code[fragment->pc];
   const ptx_function_t *function = &program->module->functions[i->function];
   const char *opcode = function->statement_count ? function->statements[i->statement].opcode : "";
   const machine_slot_t *extras = program->extras + i->extra;
   const bool meets = strncmp(opcode, "bar.warp.", 9) == 0,
              first = strncmp(opcode, "vote.", 5) == 0 || strncmp(opcode, "redux.", 6) == 0,
              last = strncmp(opcode, "shfl.", 5) == 0 || strncmp(opcode, "match.", 6) == 0;
   if (i->kind != MACHINE_CUSTOM || !(meets || first || last))
      return 0;
   const uint32_t *members =
      (const uint32_t *)(const void *)(warp->registers +
                                       (meets ? i->a : extras[first ? 0 : i->extra_count - 1].offset));
   uint32_t named = 0;
   for (uint32_t l = 0; l < LANES; l++)
      named |= fragment->mask >> l & 1 ? members[l] : 0;
   return named & warp->alive & ~fragment->mask;
}

/* Lanes of a warp join again after a branch.  So a stalled fragment holds back the fragments past it as long
 * as other warps can run (block->overtakes).
 * The next fragment to run: the deepest call first, then the lowest rank.  PTX_NONE when all wait.  other_than: a fragment that may wait for another.
 * It does not wait for those that stand at an operation that needs its lanes, such as a __syncwarp(): these wait for it, as on a device. */
uint32_t machine_fragment_pick(const machine_warp_t *warp, uint32_t other_than) {
   uint32_t best = PTX_NONE;
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      const machine_fragment_t *f = &warp->fragments[n], *b = &warp->fragments[best == PTX_NONE ? 0 : best];
      if (f->waiting || f->left_behind || f->stopped || n == other_than ||
          (f->stalled && warp->block->overtakes) ||
          (other_than != PTX_NONE && machine_lanes_missing(warp, f)))
         continue;
      if (best == PTX_NONE || f->depth > b->depth ||
          (f->depth == b->depth && turn_of(warp, f) < turn_of(warp, b)))
         best = n;
   }
   return best != PTX_NONE && warp->fragments[best].stalled ? PTX_NONE : best;
}

bool machine_undefined_control(machine_warp_t *warp, uint32_t undefined, const char *what) {
   if (!undefined)
      return false;
   machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", (uint32_t)__builtin_ctz(undefined),
                "%s depends on a value that was never written", what);
   return true;
}
