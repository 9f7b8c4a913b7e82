/* Moves of fragments: wmma.load and wmma.store (PTX ISA 9.0, 9.7.15.4).  Memory is read and written with the checks of ordinary loads and stores, by the
 * lane that holds the element.  While a record is repeated (state/recording.h) only values are moved, and nothing is checked again. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/moved_bytes.h"
#include "machine/lanes/whole_warp.h"

/* Updates the records about bytes that one lane stores. */
static void leave(machine_warp_t *warp, uint32_t lane, const machine_place_t *place, uint32_t bytes,
                  bool known) {
   if (place->defined)
      memset(place->defined, known ? 1 : UNDEFINED_STORE, bytes);
   if (!known && place->region)
      machine_undefined_store(warp, lane, place->region, place->offset, bytes);
}

typedef struct fragment_part { /* of a register: elements of one lane, one after the other in memory */
   uint32_t row, column;
} fragment_part_t;

/* Returns where the first element of lane 0 in register r is in its matrix. */
static fragment_part_t part_of(const machine_tensor_t *t, uint32_t r) {
   if (t->operand == TENSOR_A) {
      r %= t->row_tiles * t->blocks * t->halves; /* with halves some registers hold the same as others */
      const uint32_t half = r % t->halves, block = r / t->halves % t->blocks,
                     tile = r / t->halves / t->blocks;
      return (fragment_part_t){16 * tile + 8 * half, 4 * t->per_word * block};
   }
   if (t->operand == TENSOR_B) {
      r %= t->column_tiles * t->blocks;
      return (fragment_part_t){4 * t->per_word * (r % t->blocks), 8 * (r / t->blocks)};
   }
   const bool pairs = t->type[t->operand] == TENSOR_F16;
   const uint32_t column = pairs ? 0 : r % 2, row = pairs ? r : r / 2, half = row % t->halves,
                  tile = row / t->halves, column_tile = tile % t->column_tiles,
                  row_tile = tile / t->column_tiles;
   return (fragment_part_t){16 * row_tile + 8 * half, 8 * column_tile + column};
}

typedef struct fragment_walk {
   const machine_tensor_t *tensor;
   const machine_slot_t *parts;
   uint64_t address;               /* of the matrix, the same in all lanes */
   uint64_t row_step, column_step; /* elements from one row, or column, to the next */
   uint64_t group_step, lane_step,
      piece_step; /* from four lanes to the next four, from lane to lane of them, from piece to piece */
   uint32_t bits, pieces,
      bytes; /* of an element; pieces of a register that lie apart in memory, and their bytes */
} fragment_walk_t;

static uint32_t bits_of(uint32_t type) {
   return type == TENSOR_F64                                                                     ? 64
          : type == TENSOR_F16 || type == TENSOR_BF16                                            ? 16
          : type == TENSOR_S8 || type == TENSOR_U8 || type == TENSOR_E4M3 || type == TENSOR_E5M2 ? 8
          : type == TENSOR_S4 || type == TENSOR_U4                                               ? 4
          : type == TENSOR_B1                                                                    ? 1
                                                                                                 : 32;
}

/* Finds the lanes that may go on, their addresses and strides, and how a register is cut. */
static bool begin(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                  fragment_walk_t *walk) {
   const machine_tensor_t *tensor = &warp->program->tensors[i->target];
   *walk = (fragment_walk_t){.tensor = tensor, .parts = warp->program->extras + i->extra};
   uint64_t address[LANES];
   if (!whole_warp(warp, mask) || lane_addresses(warp, i, mask, address) != mask)
      return false;
   const uint32_t *stride = LANES_OF(uint32_t, i->b);
   if (warp->taint)
      warp->run->report.address_taint |= warp->taint[i->bi];
   if (warp->defined[i->bi] != FULL_MASK) {
      machine_undefined_address(warp, ~warp->defined[i->bi]);
      return false;
   }
   for (uint32_t l = 0; l < LANES; l++) {
      if (address[l] == address[0] && stride[l] == stride[0])
         continue;
      machine_find(warp, RKB_MACHINE_REJECT, "sync.warp", l,
                   "the address or the stride of a matrix is not the same in all lanes of the warp");
      return false;
   }
   const bool factor = tensor->operand == TENSOR_A || tensor->operand == TENSOR_B,
              follows = tensor->by_columns == (tensor->operand == TENSOR_B),
              pairs = !factor && tensor->type[tensor->operand] == TENSOR_F16;
   const uint32_t per_register = factor ? tensor->per_word : pairs ? 2 : 1;
   walk->address = address[0];
   walk->row_step = tensor->by_columns ? 1 : stride[0];
   walk->column_step = tensor->by_columns ? stride[0] : 1;
   walk->group_step = tensor->operand == TENSOR_B ? walk->column_step : walk->row_step;
   walk->piece_step = tensor->operand == TENSOR_B ? walk->row_step : walk->column_step;
   walk->lane_step = (factor ? tensor->per_word : 2) * walk->piece_step;
   walk->bits = bits_of(tensor->type[tensor->operand]);
   walk->pieces = follows ? 1 : per_register;
   walk->bytes = walk->bits * per_register / walk->pieces / 8;
   return true;
}

/* The number, in the matrix, of the first element of register r of lane 0. */
static uint64_t first_element(const fragment_walk_t *walk, uint32_t r) {
   const fragment_part_t at = part_of(walk->tensor, r);
   return at.row * walk->row_step + at.column * walk->column_step;
}

static uint64_t address_of(const fragment_walk_t *walk, uint64_t first, uint32_t l, uint32_t piece) {
   const uint64_t element =
      first + l / 4 * walk->group_step + l % 4 * walk->lane_step + piece * walk->piece_step;
   return walk->address + element * walk->bits / 8;
}

/* Finds one piece of a register in all lanes, checked for bounds.  *left: each lane's access must still be recorded, just before it is made.  Only
 * then do the bytes in memory show whether a lane stores the value that another lane has just stored. */
static bool reach_lanes(machine_warp_t *warp, const machine_instruction_t *i, const fragment_walk_t *walk,
                        uint64_t first, uint32_t piece, bool store, machine_place_t place[LANES],
                        bool *left) {
   uint32_t offset[LANES];
   bool rows = records(warp) && machine_shared_rows(warp->block);
   for (uint32_t l = 0; l < LANES; l++) {
      if (!place_of(warp, l, address_of(walk, first, l, piece), i->space, walk->bytes, store, &place[l]))
         return false;
      rows &= place[l].window == WINDOW_SHARED;
      offset[l] = (uint32_t)place[l].offset;
   }
   *left = records(warp) &&
           !(rows && machine_shared_record_row(warp, offset, FULL_MASK, walk->bytes, false, store));
   return true;
}

/* Finds where all lanes' bytes of one piece lie, if they lie in the block's own shared memory and the lanes may access them.  *left: as above.
 * False: each lane must be looked at by itself. */
static inline bool reach_shared(machine_warp_t *warp, const machine_instruction_t *i,
                                const fragment_walk_t *walk, uint64_t first, uint32_t piece, bool store,
                                uint32_t offset[LANES], bool *left) {
   const machine_block_t *block = warp->block;
   const uint32_t bytes = walk->bytes;
   const uint64_t base = walk->address & ((UINT64_C(1) << WINDOW_SHIFT) - 1),
                  low = first + piece * walk->piece_step, begin = base + low * walk->bits / 8,
                  end = base + (low + 7 * walk->group_step + 3 * walk->lane_step) * walk->bits / 8 + bytes;
   if (walk->address >> WINDOW_SHIFT != WINDOW_SHARED ||
       (i->space != PTX_SHARED && i->space != PTX_GENERIC) || block->cluster.blocks != 1 || bytes == 0 ||
       end > block->cluster.shared_bytes ||
       machine_touches_gap(warp->program, begin, (uint32_t)(end - begin)))
      return false;
   uint32_t all = 0;
   const uint32_t bits = (uint32_t)walk->bits, lane_bits = (uint32_t)walk->lane_step * bits,
                  group_bits = (uint32_t)walk->group_step * bits,
                  first_bits = (uint32_t)low * bits; /* as `end`, none is beyond shared memory */
   for (uint32_t l = 0; l < LANES; l++) {
      offset[l] = (uint32_t)base + ((first_bits + l / 4 * group_bits + l % 4 * lane_bits) >> 3);
      all |= offset[l];
   }
   if (all & (bytes - 1))
      return false;
   *left = records(warp) && !(machine_shared_rows(block) &&
                              machine_shared_record_row(warp, offset, FULL_MASK, bytes, false, store));
   return true;
}

/* Loads a piece of a register from there; returns the lanes in which it is defined. */
static inline __attribute__((always_inline)) uint32_t take_piece(const machine_block_t *block,
                                                                 const uint32_t offset[LANES], uint32_t bytes,
                                                                 uint8_t *to, uint32_t apart, bool looks) {
   const uint64_t defined = EACH_BYTE >> (64 - 8 * bytes);
   uint32_t lanes = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      write_element(to + apart * l, read_element(block->shared + offset[l], bytes), bytes);
      lanes |= (uint32_t)(!looks || read_element(block->shared_defined + offset[l], bytes) == defined) << l;
   }
   return lanes;
}

static uint32_t load_piece(machine_warp_t *warp, const machine_slot_t *part, const fragment_walk_t *walk,
                           uint32_t piece, const uint32_t offset[LANES], bool left, uint32_t *valid) {
   const machine_block_t *block = warp->block;
   const uint32_t bytes = walk->bytes;
   uint8_t *to = warp->registers + part->offset + bytes * piece;
   const bool looks = !repeats(warp);
   if (left && !(block->races == RACES_FAST && record_granules(warp, offset, FULL_MASK, bytes, false)))
      for (uint32_t l = 0; l < LANES; l++)
         record_shared(warp, l, offset[l], bytes, NULL);
   for (uint32_t l = 0; warp->shadow && bytes == 4 && walk->bits == 32 && l < LANES; l++) {
      const double wide = block->shared_shadow ? block->shared_shadow[offset[l] >> 2] : machine_no_shadow();
      SHADOW_OF(part->offset)[l] = wide;
      *valid |= (uint32_t)machine_has_shadow(wide) << l;
   }
   return bytes == 4   ? take_piece(block, offset, 4, to, part->bytes, looks)
          : bytes == 2 ? take_piece(block, offset, 2, to, part->bytes, looks)
          : bytes == 8 ? take_piece(block, offset, 8, to, part->bytes, looks)
                       : take_piece(block, offset, 1, to, part->bytes, looks);
}

static inline __attribute__((always_inline)) void put_piece(machine_warp_t *warp,
                                                            const uint32_t offset[LANES], uint32_t bytes,
                                                            const uint8_t *from, uint32_t apart,
                                                            uint32_t known, bool left) {
   const machine_block_t *block = warp->block;
   const bool leaves = !repeats(warp);
   for (uint32_t l = 0; l < LANES; l++) {
      if (left)
         record_shared(warp, l, offset[l], bytes, from + apart * l);
      write_element(block->shared + offset[l], read_element(from + apart * l, bytes), bytes);
      if (leaves)
         write_element(block->shared_defined + offset[l], EACH_BYTE * (known >> l & 1 ? 1 : UNDEFINED_STORE),
                       bytes);
   }
}

static void store_piece(machine_warp_t *warp, const machine_slot_t *part, const fragment_walk_t *walk,
                        uint32_t piece, const uint32_t offset[LANES], bool left) {
   machine_block_t *block = warp->block;
   const uint32_t bytes = walk->bytes, known = warp->defined[part->number];
   const uint8_t *from = warp->registers + part->offset + bytes * piece;
   const bool doubles = warp->shadow && walk->bits == 32;
   if (bytes == 4)
      put_piece(warp, offset, 4, from, part->bytes, known, left);
   else if (bytes == 2)
      put_piece(warp, offset, 2, from, part->bytes, known, left);
   else if (bytes == 8)
      put_piece(warp, offset, 8, from, part->bytes, known, left);
   else
      put_piece(warp, offset, 1, from, part->bytes, known, left);
   for (uint32_t l = 0; block->shared_shadow && l < LANES; l++)
      for (uint32_t n = 0; n < (bytes + 3) / 4; n++)
         block->shared_shadow[(offset[l] >> 2) + n] =
            doubles ? SHADOW_OF(part->offset)[l] : machine_no_shadow();
   if (warp->taint)
      block->shared_taint |= warp->taint[part->number];
   warp->run->undefinings += LANES;
}

OP(fragment_load) {
   fragment_walk_t walk;
   if (!begin(warp, i, mask, &walk))
      return;
   uint64_t taint = warp->taint ? warp->taint[i->ai] | warp->taint[i->bi] : 0;
   for (uint32_t r = 0; r < i->elements; r++) {
      const machine_slot_t *part = &walk.parts[r];
      const uint64_t first = first_element(&walk, r);
      uint32_t defined = FULL_MASK, valid = 0;
      for (uint32_t piece = 0; piece < walk.pieces; piece++) {
         uint32_t offset[LANES];
         machine_place_t place[LANES];
         bool left;
         if (reach_shared(warp, i, &walk, first, piece, false, offset, &left)) {
            defined &= load_piece(warp, part, &walk, piece, offset, left, &valid);
            taint |= warp->taint ? warp->block->shared_taint : 0;
            continue;
         }
         if (!reach_lanes(warp, i, &walk, first, piece, false, place, &left))
            return;
         for (uint32_t l = 0; l < LANES; l++) {
            if (left)
               record(warp, l, &place[l], walk.bytes, NULL);
            memcpy(warp->registers + part->offset + part->bytes * l + walk.bytes * piece, place[l].data,
                   walk.bytes);
            if (!repeats(warp) && !all_defined(place[l].defined, walk.bytes))
               defined &= ~(1u << l);
            taint |= memory_taint(warp, &place[l]);
            if (warp->shadow && walk.bytes == 4 && walk.bits == 32) {
               const double wide = place[l].shadow ? *place[l].shadow : machine_no_shadow();
               SHADOW_OF(part->offset)[l] = wide;
               valid |= (uint32_t)machine_has_shadow(wide) << l;
            }
         }
      }
      warp->defined[part->number] = defined;
      if (warp->valid)
         warp->valid[part->number] = valid;
   }
   for (uint32_t r = 0; r < i->elements; r++)
      set_taint(warp, walk.parts[r].number, taint, FULL_MASK);
   if (warp->block->measured && !repeats(warp))
      for (uint32_t r = 0; r < i->elements; r++) {
         const uint64_t first = first_element(&walk, r);
         uint64_t address[LANES];
         EACH_LANE address[l] = address_of(&walk, first, (uint32_t)l, 0);
         machine_count_request(warp, address, FULL_MASK, walk.bytes, false);
      }
}

OP(fragment_store) {
   fragment_walk_t walk;
   if (!begin(warp, i, mask, &walk))
      return;
   warp->run->changes++;
   for (uint32_t r = 0; r < i->elements; r++) {
      const machine_slot_t *part = &walk.parts[r];
      const uint64_t first = first_element(&walk, r);
      uint64_t address[LANES];
      if (warp->shadow && walk.bits == 32)
         machine_shadow_fill(warp, part->offset, part->number);
      EACH_LANE address[l] = address_of(&walk, first, (uint32_t)l, 0);
      for (uint32_t piece = 0; piece < walk.pieces; piece++) {
         const uint8_t *values = warp->registers + part->offset + walk.bytes * piece;
         uint32_t offset[LANES];
         machine_place_t place[LANES];
         bool left;
         if (reach_shared(warp, i, &walk, first, piece, true, offset, &left)) {
            store_piece(warp, part, &walk, piece, offset, left);
            continue;
         }
         if (!reach_lanes(warp, i, &walk, first, piece, true, place, &left))
            return;
         for (uint32_t l = 0; l < LANES; l++) {
            const uint8_t *value = values + (size_t)part->bytes * l;
            if (left)
               record(warp, l, &place[l], walk.bytes, value);
            memcpy(place[l].data, value, walk.bytes);
            if (!repeats(warp))
               leave(warp, l, &place[l], walk.bytes, warp->defined[part->number] >> l & 1);
            for (uint32_t n = 0; place[l].shadow && n < (walk.bytes + 3) / 4; n++)
               place[l].shadow[n] =
                  warp->shadow && walk.bits == 32 ? SHADOW_OF(part->offset)[l] : machine_no_shadow();
            if (warp->taint)
               *taint_of_place(warp, &place[l]) |= warp->taint[part->number];
         }
      }
      if (warp->block->measured && !repeats(warp))
         machine_count_request(warp, address, FULL_MASK, walk.bytes, true);
   }
}
