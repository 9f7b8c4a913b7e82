/* A product of wgmma.mma_async while a warp executes it, and what its results carry beside their values: whether they have one, and which inputs they come
 * from.  On the machine's thread. */
#ifndef RKB_MACHINE_LANES_WARPGROUP_PRODUCT_H
#define RKB_MACHINE_LANES_WARPGROUP_PRODUCT_H

#include "machine/lanes/handlers.h"
#include "machine/lanes/warpgroup_operands.h"

typedef struct product { /* being executed */
   machine_warp_t *warp;
   const machine_warpgroup_form_t *form;
   const machine_slot_t *d, *a_registers;
   uint64_t descriptor_a, descriptor_b;
   bool adds;
   operand_pieces_t *a, *b;
   operand_pieces_t of_rank[2]; /* in a cluster: among the bytes of all its blocks */
   /* The warp's rows of a and the columns of b that hold values, a bit each.  The results of the other rows and columns are undefined. */
   uint32_t rows, columns[WARPGROUP_MOST_COLUMNS / 32];
} product_t;

/* The warp's rows of a that hold values. */
static inline uint32_t defined_rows(const product_t *p) {
   machine_warp_t *warp = p->warp;
   uint32_t rows = 0;
   if (!p->form->a_in_registers) {
      uint32_t lines[WARPGROUP_ROWS / 32];
      const uint32_t first = warp->number % WARPGROUP_WARPS * WARP_ROWS;
      find_defined_lines(warp->block, p->a, lines);
      return lines[first / 32] >> first % 32 & 0xffff;
   }
   for (uint32_t half = 0; half < 2; half++) {
      const uint32_t lanes =
         warp->defined[p->a_registers[half].number] & warp->defined[p->a_registers[half + 2].number];
      for (uint32_t g = 0; g < 8; g++)
         rows |= (uint32_t)((lanes >> 4 * g & 15) == 15) << (8 * half + g);
   }
   return rows;
}

/* The lanes that hold those of eight rows whose bits are set; four lanes hold a row. */
static inline uint32_t lanes_of_rows(uint32_t rows) {
   uint32_t lanes = 0;
   for (uint32_t g = 0; g < 8; g++)
      lanes |= (rows >> g & 1) * 15u << 4 * g;
   return lanes;
}

/* The lanes that hold those of the columns 0, 2, 4 and 6 whose bits are set. */
static inline uint32_t lanes_of_columns(uint32_t columns) {
   return ((columns & 1) | (columns >> 1 & 2) | (columns >> 2 & 4) | (columns >> 3 & 8)) * 0x11111111u;
}

/* Whether none of the results is defined, so that the numbers need not be computed.  This happens in a block whose factors come from blocks that
 * are not executed. */
static inline bool none_defined(const product_t *p) {
   const uint32_t *together = p->warp->defined + p->form->least;
   uint32_t defined = 0;
   for (uint32_t n = 0; p->form->together && n < p->form->results; n++)
      defined |= together[n];
   for (uint32_t n = 0; !p->form->together && n < p->form->results; n++)
      defined |= p->warp->defined[p->d[n].number];
   return !defined;
}

/* A result is defined if its row of a, its column of b and its addend are. */
static inline void carry_definedness(product_t *p) {
   machine_warp_t *warp = p->warp;
   const machine_warpgroup_form_t *form = p->form;
   const bool pairs = form->type_d == TENSOR_F16;
   if (p->adds && none_defined(p)) { /* to nothing */
      p->rows = 0;
      memset(p->columns, 0, sizeof p->columns);
      return;
   }
   const uint32_t each = pairs ? 2 : 4; /* registers of eight columns */
   p->rows = defined_rows(p);
   memset(p->columns, 0, sizeof p->columns);
   if (p->rows)
      find_defined_lines(warp->block, p->b, p->columns);
   uint32_t any = 0;
   for (uint32_t n = 0; n < sizeof p->columns / sizeof *p->columns; n++)
      any |= p->columns[n];
   if (!any) { /* as of most warps where few elements are asked for */
      for (uint32_t n = 0; n < form->results; n++)
         warp->defined[p->d[n].number] = 0;
      return;
   }
   const uint32_t lanes_of_half[2] = {lanes_of_rows(p->rows), lanes_of_rows(p->rows >> 8)};
   for (uint32_t tile = 0; tile < form->n / 8u; tile++) {
      const uint32_t columns = p->columns[tile / 4] >> 8 * (tile % 4), even = lanes_of_columns(columns),
                     odd = lanes_of_columns(columns >> 1);
      for (uint32_t n = 0; n < each; n++) {
         uint32_t *defined = &warp->defined[p->d[each * tile + n].number];
         const uint32_t half = pairs ? n : n / 2, of_columns = pairs ? even & odd : n % 2 ? odd : even;
         *defined = lanes_of_half[half] & of_columns & (p->adds ? *defined : FULL_MASK);
      }
   }
}

static inline bool all_defined(const product_t *p) {
   const machine_warp_t *warp = p->warp;
   const uint32_t *together = warp->defined + p->form->least, count = p->adds ? p->form->results : 0;
   uint32_t defined = FULL_MASK;
   for (uint32_t n = 0; p->form->together && n < count; n++)
      defined &= together[n];
   for (uint32_t n = 0; !p->form->together && n < count; n++)
      defined &= warp->defined[p->d[n].number];
   for (uint32_t n = 0; p->form->a_in_registers && n < WARPGROUP_A_REGISTERS; n++)
      defined &= warp->defined[p->a_registers[n].number];
   return defined == FULL_MASK && pieces_defined(warp->block, p->b) &&
          (p->form->a_in_registers || pieces_defined(warp->block, p->a));
}

static inline uint64_t taint_of(const product_t *p) {
   const machine_warp_t *warp = p->warp;
   uint64_t taint = warp->block->shared_taint;
   const uint64_t *together = warp->taint ? warp->taint + p->form->least : NULL;
   const uint32_t count = warp->taint && p->adds ? p->form->results : 0;
   for (uint32_t n = 0; p->form->together && n < count; n++)
      taint |= together[n];
   for (uint32_t n = 0; !p->form->together && n < count; n++)
      taint |= warp->taint[p->d[n].number];
   for (uint32_t n = 0; warp->taint && p->form->a_in_registers && n < WARPGROUP_A_REGISTERS; n++)
      taint |= warp->taint[p->a_registers[n].number];
   return taint;
}

/* The same, where the numbers of the registers follow each other. */
static inline void carry_together(const product_t *p, uint64_t taint, bool defined) {
   machine_warp_t *warp = p->warp;
   const uint32_t first = p->form->least, count = p->form->results,
                  valid = p->form->type_d == TENSOR_F32 ? FULL_MASK : 0;
   uint32_t *defined_lanes = warp->defined + first, *valid_lanes = warp->valid ? warp->valid + first : NULL;
   uint64_t *taints = warp->taint ? warp->taint + first : NULL;
   for (uint32_t n = 0; defined && n < count; n++)
      defined_lanes[n] = FULL_MASK;
   for (uint32_t n = 0; taints && n < count; n++)
      taints[n] = taint;
   for (uint32_t n = 0; valid_lanes && n < count; n++)
      valid_lanes[n] = valid;
}

static inline void carry(const product_t *p, uint64_t taint, bool defined) {
   machine_warp_t *warp = p->warp;
   if (!defined && !warp->taint && !warp->valid)
      return;
   if (p->form->together) {
      carry_together(p, taint, defined);
      return;
   }
   for (uint32_t n = 0; n < p->form->results; n++) {
      if (defined)
         warp->defined[p->d[n].number] = FULL_MASK;
      set_taint(warp, p->d[n].number, taint, FULL_MASK);
      if (warp->valid)
         warp->valid[p->d[n].number] = p->form->type_d == TENSOR_F32 ? FULL_MASK : 0;
   }
}

#endif
