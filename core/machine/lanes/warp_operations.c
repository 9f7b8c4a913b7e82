/* shfl, vote, match, redux, activemask, bar.warp.sync, elect (PTX ISA 9.0, 9.7.9.6, 9.7.13). */
#include "machine/lanes/handlers.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/races/races.h"
#include "machine/state/environment.h"

/* Lanes that a warp operation misses because they wait at a barrier that this lane bypassed.  The fault is at the barrier. */
static bool waits_at_barrier(machine_warp_t *warp, uint32_t lane, uint32_t absent) {
   const uint32_t pc = warp->pc;
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      const machine_fragment_t *f = &warp->fragments[n];
      if (!f->waiting || !(f->mask & absent) || !(warp->program->code[f->pc].flags & FLAG_ALIGNED))
         continue;
      warp->pc = f->pc;
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.barrier", (uint32_t)__builtin_ctz(f->mask & absent),
         "lane %u of this warp goes round this barrier, on to a warp operation that names the lanes that wait here",
         lane);
      warp->pc = pc;
      return true;
   }
   return false;
}

static void taint_control(machine_warp_t *warp, uint16_t number) {
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[number];
}

/* The manual leaves the operation undefined when a lane is outside the member mask that it names, or when it names a live lane that does not take
 * part.  Lanes may be named that had exited before this lane came here: the hardware waits for all named lanes that have not exited. */
static bool members_agree(machine_warp_t *warp, uint32_t member_offset, uint16_t member_number,
                          uint32_t mask) {
   const machine_register_info_t *named = &warp->program->registers[member_number];
   warp->parted &= mask != warp->alive;
   if (named->constant && named->special == PTX_NONE && (uint32_t)named->bits == mask)
      return true; /* most instructions end here */
   const uint32_t *members = LANES_OF(uint32_t, member_offset);
   uint32_t undefined = mask & ~warp->defined[member_number];
   taint_control(warp, member_number);
   if (undefined) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", (uint32_t)__builtin_ctz(undefined),
                   "the member mask of a warp operation was never given a value");
      return false;
   }
   uint32_t different = 0;
   for (uint32_t l = 0; l < LANES; l++)
      different |= members[l] ^ mask;
   if (!different) /* every lane names exactly the lanes that are here */
      return true;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      if (!(members[l] >> l & 1)) {
         machine_find(warp, RKB_MACHINE_REJECT, "sync.warp", l,
                      "lane %u executes a warp operation whose member mask 0x%08x leaves it out", l,
                      members[l]);
         return false;
      }
      uint32_t absent = members[l] & (warp->alive | warp->lost) & ~mask;
      if (absent && !machine_mbarriers_hold_up(warp, absent) && !waits_at_barrier(warp, l, absent)) {
         machine_find(warp, RKB_MACHINE_REJECT, "sync.warp", l,
                      "the member mask 0x%08x names lane %d, which %s", members[l], __builtin_ctz(absent),
                      warp->alive & absent & -absent ? "is elsewhere in the program"
                                                     : "ends without this operation");
      }
      if (absent)
         return false;
   }
   return true;
}

enum shuffle_mode { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

/* Which lane each lane reads, and (returned) which of these lie within the segment; mode is known where this is inlined. */
static inline __attribute__((always_inline)) uint32_t
shuffle_sources(const uint32_t *b, const uint32_t *c, enum shuffle_mode mode, uint32_t source[LANES]) {
   uint32_t within[LANES];
   EACH_LANE {
      const uint32_t lane = (uint32_t)l, distance = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
      const uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
      const uint32_t j = mode == SHUFFLE_UP          ? lane - distance
                         : mode == SHUFFLE_DOWN      ? lane + distance
                         : mode == SHUFFLE_BUTTERFLY ? lane ^ distance
                                                     : least | (distance & ~segment);
      const bool inside = mode == SHUFFLE_UP ? (int32_t)j >= (int32_t)most : j <= most;
      source[l] = inside ? j & 31 : lane;
      within[l] = inside ? FULL_MASK : 0;
   }
   return mask_of(within);
}

static uint32_t sources_of(const uint32_t *b, const uint32_t *c, enum shuffle_mode mode,
                           uint32_t source[LANES]) {
   switch (mode) {
   case SHUFFLE_UP:
      return shuffle_sources(b, c, SHUFFLE_UP, source);
   case SHUFFLE_DOWN:
      return shuffle_sources(b, c, SHUFFLE_DOWN, source);
   case SHUFFLE_BUTTERFLY:
      return shuffle_sources(b, c, SHUFFLE_BUTTERFLY, source);
   default:
      return shuffle_sources(b, c, SHUFFLE_INDEX, source);
   }
}

static const machine_register_info_t *constant_of(const machine_warp_t *warp, uint32_t number) {
   const machine_register_info_t *info = &warp->program->registers[number];
   return info->constant && info->special == PTX_NONE ? info : NULL;
}

/* Whether it is a shuffle of the whole warp by a constant, as in reductions and broadcasts. */
static bool is_regular(const machine_warp_t *warp, const machine_instruction_t *i) {
   const machine_register_info_t *b = constant_of(warp, i->bi), *c = constant_of(warp, i->ci);
   return b && c && (c->bits & 0x1f1f) == (i->operation == SHUFFLE_UP ? 0 : 31);
}

/* The lanes of a regular shuffle that read one within the warp; the others keep their own value. */
static uint32_t regular_lanes(enum shuffle_mode mode, uint32_t distance) {
   return mode == SHUFFLE_UP     ? FULL_MASK << distance
          : mode == SHUFFLE_DOWN ? FULL_MASK >> distance
                                 : FULL_MASK;
}

#if __has_builtin(__builtin_shuffle) /* clang has no shuffle by an order that is known only when it runs */
typedef uint32_t words_row_t __attribute__((vector_size(32), may_alias));
typedef uint64_t doubles_row_t __attribute__((vector_size(32), may_alias));

static inline void exchange_words(const uint32_t *a, uint32_t distance, uint32_t out[LANES]) {
   const words_row_t lanes = (words_row_t){0, 1, 2, 3, 4, 5, 6, 7} ^ (distance & 7);
   for (uint32_t row = 0; row < LANES / 8; row++)
      *(words_row_t *)(out + 8 * row) =
         __builtin_shuffle(*(const words_row_t *)(a + 8 * (row ^ distance >> 3)), lanes);
}

static inline void exchange_doubles(const double *a, uint32_t distance, double out[LANES]) {
   const doubles_row_t lanes = (doubles_row_t){0, 1, 2, 3} ^ (uint64_t)(distance & 3);
   for (uint32_t row = 0; row < LANES / 4; row++)
      *(doubles_row_t *)(out + 4 * row) =
         __builtin_shuffle(*(const doubles_row_t *)(a + 4 * (row ^ distance >> 2)), lanes);
}
#else
static inline void exchange_words(const uint32_t *a, uint32_t distance, uint32_t out[LANES]) {
   EACH_LANE out[l] = a[(uint32_t)l ^ distance];
}

static inline void exchange_doubles(const double *a, uint32_t distance, double out[LANES]) {
   EACH_LANE out[l] = a[(uint32_t)l ^ distance];
}
#endif

/* Moves values up or down the lanes; values at the ends stay. */
static inline void shift_lanes(const void *a, bool up, uint32_t distance, size_t width, void *out) {
   const size_t stay = distance * width, move = (LANES - distance) * width;
   if (up) {
      memcpy(out, a, stay);
      memcpy((uint8_t *)out + stay, a, move);
   } else {
      memcpy(out, (const uint8_t *)a + stay, move);
      memcpy((uint8_t *)out + move, (const uint8_t *)a + move, stay);
   }
}

static void move_words(const uint32_t *a, enum shuffle_mode mode, uint32_t distance, uint32_t out[LANES]) {
   if (mode == SHUFFLE_BUTTERFLY)
      exchange_words(a, distance, out);
   else if (mode == SHUFFLE_INDEX)
      EACH_LANE out[l] = a[distance];
   else
      shift_lanes(a, mode == SHUFFLE_UP, distance, sizeof *a, out);
}

static void move_doubles(const double *a, enum shuffle_mode mode, uint32_t distance, double out[LANES]) {
   if (mode == SHUFFLE_BUTTERFLY)
      exchange_doubles(a, distance, out);
   else if (mode == SHUFFLE_INDEX)
      EACH_LANE out[l] = a[distance];
   else
      shift_lanes(a, mode == SHUFFLE_UP, distance, sizeof *a, out);
}

/* Operands: d (and a predicate, the first extra when FLAG_SECOND), a the value, b the lane, c the clamp; the member mask
 * is the last extra. */
OP(shfl) {
   const machine_slot_t *extras = warp->program->extras + i->extra;
   const machine_slot_t *members = &extras[i->extra_count - 1];
   if (!members_agree(warp, members->offset, members->number, mask))
      mask = 0;
   const uint32_t *a = LANES_OF(uint32_t, i->a), *b = LANES_OF(uint32_t, i->b), *c = LANES_OF(uint32_t, i->c);
   uint32_t *d = LANES_OF(uint32_t, i->d), source[LANES], within = FULL_MASK, defined = 0;
   uint32_t value[LANES] __attribute__((aligned(32)));
   /* Reading a lane that does not take part gives an undefined value; that is a finding only if the value is used. */
   uint32_t control = warp->defined[i->bi] & warp->defined[i->ci];
   const uint32_t known = warp->defined[i->ai] & mask;
   const bool regular = known == FULL_MASK && is_regular(warp, i);
   const uint32_t distance = b[0] & 31;
   if (regular) {
      within = regular_lanes(i->operation, distance);
      move_words(a, i->operation, distance, value);
   } else {
      within = sources_of(b, c, i->operation, source);
      EACH_LANE value[l] = a[source[l]];
   }
   for (int l = 0; l < LANES && known != FULL_MASK; l++)
      defined |= (known >> source[l] & 1) << l;
   defined = known == FULL_MASK ? FULL_MASK : defined;
   if (warp->shadow) {
      machine_shadow_fill(warp, i->a, i->ai);
      double *sd = SHADOW_OF(i->d), moved[LANES] __attribute__((aligned(32)));
      const double *sa = SHADOW_OF(i->a);
      if (regular)
         move_doubles(sa, i->operation, distance, moved);
      else
         for (int l = 0; l < LANES; l++)
            moved[l] = sa[source[l]];
      EACH_LANE sd[l] = KEEP(moved[l], sd[l]);
      warp->valid[i->di] |= mask;
   }
   EACH_LANE d[l] = KEEP(value[l], d[l]);
   uint64_t taint = warp->taint ? warp->taint[i->ai] : 0;
   set_defined(warp, i->di, defined & control, mask);
   set_taint(warp, i->di, taint, mask);
   taint_control(warp, i->bi);
   taint_control(warp, i->ci);
   if (i->flags & FLAG_SECOND) {
      set_predicate(warp, extras[0].offset, within, mask);
      set_defined(warp, extras[0].number, control, mask);
      set_taint(warp, extras[0].number, 0, mask);
   }
}

enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM, VOTE_BALLOT };

/* a is the predicate, b the member mask (as extras[0]); lanes with different masks vote apart. */
OP(vote) {
   const machine_slot_t *members = warp->program->extras + i->extra;
   if (!members_agree(warp, members->offset, members->number, mask))
      return;
   const uint32_t *m = LANES_OF(uint32_t, members->offset);
   uint32_t p = PREDICATE(i->a) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
   uint32_t defined = 0, truth = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      uint32_t voters = m[l] & mask, yes = p & voters;
      bool answer = i->operation == VOTE_ALL   ? yes == voters
                    : i->operation == VOTE_ANY ? yes != 0
                                               : yes == 0 || yes == voters;
      truth |= (uint32_t)answer << l;
      defined |= (uint32_t)((voters & ~warp->defined[i->ai]) == 0) << l;
      if (i->operation == VOTE_BALLOT && (mask >> l & 1))
         LANES_OF(uint32_t, i->d)[l] = yes;
   }
   if (i->operation != VOTE_BALLOT)
      set_predicate(warp, i->d, truth, mask);
   else if (warp->valid)
      warp->valid[i->di] &= ~mask;
   set_defined(warp, i->di, defined, mask);
   if (warp->taint)
      set_taint(warp, i->di, warp->taint[i->ai], mask);
}

OP(activemask) {
   uint32_t *d = LANES_OF(uint32_t, i->d);
   const uint32_t some = machine_lanes_active(warp, mask);
   EACH_LANE d[l] = KEEP(some >> l & 1 ? some : mask & ~some, d[l]);
   set_defined(warp, i->di, FULL_MASK, mask);
   set_taint(warp, i->di, 0, mask);
   if (warp->valid)
      warp->valid[i->di] &= ~mask;
}

static inline uint64_t read_value(machine_warp_t *warp, const machine_instruction_t *i, int lane) {
   return i->element_bytes == 8 ? LANES_OF(uint64_t, i->a)[lane] : LANES_OF(uint32_t, i->a)[lane];
}

/* match.any: which members hold the same value; match.all: the members if all do, else 0, and a predicate. */
OP(match) {
   const machine_slot_t *extras = warp->program->extras + i->extra;
   const machine_slot_t *members = &extras[i->extra_count - 1];
   if (!members_agree(warp, members->offset, members->number, mask))
      return;
   const uint32_t *m = LANES_OF(uint32_t, members->offset);
   for (uint32_t left = mask; left; left &= (left - 1) & ~m[__builtin_ctz(left)])
      machine_mbarriers_meet(warp, m[__builtin_ctz(left)] & mask);
   uint32_t result[LANES] = {0}, all = 0;
   for (int l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      for (int k = 0; k < LANES; k++)
         if (mask >> k & m[l] >> k & 1)
            result[l] |= (uint32_t)(read_value(warp, i, k) == read_value(warp, i, l)) << k;
      bool same = result[l] == (m[l] & mask);
      all |= (uint32_t)same << l;
      if (i->operation)
         result[l] = same ? m[l] & mask : 0;
   }
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE d[l] = KEEP(result[l], d[l]);
   uint32_t defined = (mask & ~warp->defined[i->ai]) ? 0 : FULL_MASK;
   set_defined(warp, i->di, defined, mask);
   uint64_t taint = warp->taint ? warp->taint[i->ai] : 0;
   set_taint(warp, i->di, taint, mask);
   if (i->flags & FLAG_SECOND) {
      set_predicate(warp, extras[0].offset, all, mask);
      set_defined(warp, extras[0].number, defined, mask);
      set_taint(warp, extras[0].number, taint, mask);
   }
}

static uint32_t reduced(const uint32_t *a, uint32_t lanes, uint32_t operation, bool is_signed) {
   uint32_t result = a[__builtin_ctz(lanes)];
   for (lanes &= lanes - 1; lanes; lanes &= lanes - 1) {
      uint32_t x = a[__builtin_ctz(lanes)];
      switch (operation) {
      case ATOMIC_ADD:
         result += x;
         break;
      case ATOMIC_AND:
         result &= x;
         break;
      case ATOMIC_OR:
         result |= x;
         break;
      case ATOMIC_XOR:
         result ^= x;
         break;
      case ATOMIC_MIN:
         result = is_signed ? ((int32_t)x < (int32_t)result ? x : result) : x < result ? x : result;
         break;
      default:
         result = is_signed ? ((int32_t)x > (int32_t)result ? x : result) : x > result ? x : result;
         break;
      }
   }
   return result;
}

/* Members of one mask get one result, which depends on the operand of each. */
OP(redux) {
   const machine_slot_t *members = warp->program->extras + i->extra;
   if (!members_agree(warp, members->offset, members->number, mask))
      return;
   const uint32_t *a = LANES_OF(uint32_t, i->a), *m = LANES_OF(uint32_t, members->offset);
   uint32_t result[LANES], defined = 0;
   for (uint32_t left = mask; left;) {
      uint32_t group = m[__builtin_ctz(left)] & left,
               value = reduced(a, group, i->operation, i->type == PTX_S32);
      for (uint32_t rest = group; rest; rest &= rest - 1)
         result[__builtin_ctz(rest)] = value;
      defined |= group & ~warp->defined[i->ai] ? 0 : group;
      left &= ~group;
   }
   uint32_t *d = LANES_OF(uint32_t, i->d);
   for (int l = 0; l < LANES; l++)
      d[l] = KEEP(result[l], d[l]);
   set_defined(warp, i->di, defined, mask);
   if (warp->taint)
      set_taint(warp, i->di, warp->taint[i->ai], mask);
   if (warp->valid)
      warp->valid[i->di] &= ~mask;
}

/* elect.sync d|p, members: the manual does not say which member is elected, only that it is always the same. */
OP(elect) {
   const machine_slot_t *extras = warp->program->extras + i->extra;
   const machine_slot_t *members = &extras[i->extra_count - 1];
   if (!members_agree(warp, members->offset, members->number, mask))
      return;
   const uint32_t *m = LANES_OF(uint32_t, members->offset);
   uint32_t *d = LANES_OF(uint32_t, i->d), elected = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      d[l] = machine_environment_elect(warp->run, m[l] & mask);
      elected |= 1u << d[l];
   }
   set_defined(warp, i->di, FULL_MASK, mask);
   set_taint(warp, i->di, 0, mask);
   set_predicate(warp, extras[0].offset, elected, mask);
   set_defined(warp, extras[0].number, FULL_MASK, mask);
   set_taint(warp, extras[0].number, 0, mask);
   if (warp->valid)
      warp->valid[i->di] &= ~mask;
}

/* Each group of lanes joins what its lanes know, by itself.  This is the work of each further group; a row of slow_instructions.c counts the first
 * group (docs/decisions/work.md). */
#define GROUP_BURDEN 24u

OP(warp_sync) {
   if (!members_agree(warp, i->a, i->ai, mask) || warp->block->races != RACES_CLOCKS)
      return;
   /* Several tiles of one warp may execute the instruction at once, each with its own mask. */
   for (uint32_t left = mask; left;) {
      uint32_t group = LANES_OF(uint32_t, i->a)[__builtin_ctz(left)] & left;
      machine_clocks_warp_sync(warp, group);
      left &= ~group;
      warp->run->work.burden += left ? GROUP_BURDEN : 0;
   }
}
