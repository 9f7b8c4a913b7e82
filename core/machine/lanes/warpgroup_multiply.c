/* wgmma.mma_async and what orders it (PTX ISA 9.0, 9.7.15.5), setmaxnreg.  A warp computes its 16 of the 64 rows when it reaches the instruction.
 * No instruction may use these results before the warp waits; async/warpgroups.h checks this.  The product's operands are read when the warp
 * reaches the instruction too, and belong to the product until the wait (in_flight/operations.h). */
#include "machine/lanes/byte_products.h"
#include "machine/lanes/handlers.h"
#include "machine/lanes/half.h"
#include "machine/lanes/transpose.h"
#include "machine/lanes/warpgroup_operands.h"
#include "machine/lanes/warpgroup_product.h"
#include "machine/lanes/whole_warp.h"
#include "machine/in_flight/operations.h"
#include "machine/async/warpgroups.h"

#define NAMED(name) MACHINE_PASTE2(name, MACHINE_ISA)

/* What it is given ------------------------------------------------------------------------------------------------- */

static bool uniform(machine_warp_t *warp, uint32_t number, uint32_t offset, const char *what, uint64_t *out) {
   const uint64_t *lanes = LANES_OF(uint64_t, offset);
   if (warp->defined[number] != FULL_MASK) {
      machine_undefined_address(warp, ~warp->defined[number]);
      return false;
   }
   if (warp->taint)
      warp->run->report.address_taint |= warp->taint[number];
   *out = lanes[0];
   for (uint32_t l = 1; l < LANES; l++)
      if (lanes[l] != lanes[0]) {
         machine_find_other_at(machine_find(warp, RKB_MACHINE_REJECT, "sync.warpgroup", l,
                                            "%s is not the same in all lanes of the warp", what),
                               warp->block, warp->first_thread, warp->pc,
                               "the two lanes execute it together");
         return false;
      }
   return true;
}

static bool take_scale(machine_warp_t *warp, const machine_instruction_t *i, bool *adds) {
   const uint32_t lanes = PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
   if (machine_undefined_control(warp, ~warp->defined[i->ci], "whether a product is added"))
      return false;
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[i->ci];
   *adds = lanes != 0;
   if (lanes && lanes != FULL_MASK)
      machine_find_other_at(
         machine_find(warp, RKB_MACHINE_REJECT, "sync.warpgroup", (uint32_t)__builtin_ctz(~lanes),
                      "whether the product is added is not the same in all lanes of the warp"),
         warp->block, warp->first_thread + (uint32_t)__builtin_ctz(lanes), warp->pc,
         "the two lanes execute it together");
   return !lanes || lanes == FULL_MASK;
}

/* Whether the pieces lie in shared memory and are aligned as their swizzle requires; false after a finding. */
static bool check_matrix(machine_warp_t *warp, const char *name, const operand_pieces_t *pieces) {
   uint32_t outside = 0;
   const machine_matrix_descriptor_t *d = &pieces->descriptor;
   rkb_machine_finding_t *finding = NULL;
   if (!pieces_aligned(pieces))
      finding = machine_find(
         warp, RKB_MACHINE_REJECT, "memory.misaligned", 0,
         "the descriptor of %s starts at byte %u of shared memory with base offset %u: a pattern of a %u-byte swizzle "
         "begins at a multiple of %u bytes",
         name, d->start, d->base, d->swizzle, 8 * d->swizzle);
   else if (!pieces_inside(warp, pieces, &outside))
      finding = machine_find(
         warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", 0,
         "the descriptor of %s (start %u, leading offset %u, stride offset %u, swizzle %u) reaches byte %u: shared "
         "memory ends at byte %u%s",
         name, d->start, d->leading, d->stride, d->swizzle, pieces->address[outside],
         warp->block->cluster.shared_bytes,
         pieces->address[outside] < warp->block->cluster.shared_bytes
            ? ", and that one belongs to no variable"
            : "");
   else
      return true;
   if (finding) {
      snprintf(finding->space, sizeof finding->space, "shared");
      finding->offset = pieces->address[outside];
      finding->bytes = WARPGROUP_PIECE;
   }
   return false;
}

/* The pieces of a matrix; NULL after a finding.  of_rank: room for the pieces of another block of the cluster than the first. */
static operand_pieces_t *find_matrix(machine_warp_t *warp, const char *name, uint64_t descriptor, bool across,
                                     uint32_t lines, operand_pieces_t *of_rank) {
   operand_pieces_t *kept = machine_warpgroup_matrix(warp->block, name[0] == 'b', descriptor, across, lines);
   const bool known =
      kept->count && kept->bits == descriptor && kept->across == across && kept->lines == lines;
   if (!known)
      find_pieces(descriptor, across, lines, kept);
   if ((pieces_have_leading(kept) &&
        !machine_warpgroup_leading(warp, name[0] == 'b', kept->descriptor.leading)) ||
       (!known && !check_matrix(warp, name, kept))) {
      kept->count = 0; /* the pieces were not found to be right */
      return NULL;
   }
   if (!warp->rank)
      return kept;
   *of_rank = *kept;
   of_rank->defined = of_rank->lines_known = 0; /* in another block */
   for (uint32_t n = 0; n < of_rank->count; n++)
      of_rank->address[n] += warp->rank * warp->block->cluster.shared_span;
   return of_rank;
}

/* Factors --------------------------------------------------------------------------------------------------------------- */

/* A row of bytes or of TF32 words. */
static void take_words(const machine_warpgroup_form_t *form, const uint8_t *line, float *value,
                       int16_t *exponent, bool *far) {
   uint32_t words[WARPGROUP_LINE / 4];
   memcpy(words, line, sizeof words);
   if (form->element_bits == 8)
      NAMED(machine_group_take_bytes)
   (form->type_a == TENSOR_E5M2, form->a_negated, line, WARPGROUP_LINE / 8, value, exponent, far);
   else NAMED(machine_group_take)(form->type_a, form->a_negated, words, form->k, value, exponent, far);
}

/* Columns of bytes: row by row of k, so that eight columns are taken apart at once. */
static void take_byte_columns(const product_t *p, uint32_t first, uint32_t count,
                              machine_column_factors_t *out) {
   const machine_warpgroup_form_t *form = p->form;
   uint8_t rows[WARPGROUP_LINE][GROUP_COLUMNS], line[WARPGROUP_LINE];
   for (uint32_t place = 0; place < count; place++) {
      take_line(p->warp->block, p->b, first + group_column(place), line);
      for (uint32_t k = 0; k < WARPGROUP_LINE; k++)
         rows[k][place] = line[k];
   }
   for (uint32_t k = 0; k < WARPGROUP_LINE; k++)
      NAMED(machine_group_take_bytes)
   (form->type_b == TENSOR_E5M2, form->b_negated, rows[k], count / 8, out->value[k], out->exponent[k],
    &out->far);
}

/* Columns of TF32 words: four pieces of four words are turned at once. */
static void take_word_columns(const product_t *p, uint32_t first, uint32_t count,
                              machine_column_factors_t *out) {
   const machine_warpgroup_form_t *form = p->form;
   uint32_t rows[WARPGROUP_LINE / 4][GROUP_COLUMNS] __attribute__((aligned(32)));
   word_four_t columns[4], turned[4];
   for (uint32_t half = 0; half < 2; half++)
      for (uint32_t place = 0; place < count; place += 4) {
         for (uint32_t c = 0; c < 4; c++)
            columns[c] = *(const word_four_t *)(const void *)(p->warp->block->shared +
                                                              p->b->address[half * p->b->lines + first +
                                                                            group_column(place + c)]);
         turn_words(columns, turned);
         for (uint32_t k = 0; k < 4; k++)
            *(word_four_t *)&rows[4 * half + k][place] = turned[k];
      }
   for (uint32_t k = 0; k < form->k; k++)
      for (uint32_t place = 0; place < count; place += 8)
         NAMED(machine_group_take)
   (form->type_b, form->b_negated, &rows[k][place], 8, &out->value[k][place], &out->exponent[k][place],
    &out->far);
}

/* The columns of b from first on; those past n are zeros. */
static void take_columns(const product_t *p, uint32_t first, machine_column_factors_t *out) {
   const machine_warpgroup_form_t *form = p->form;
   const machine_block_t *block = p->warp->block;
   const uint32_t count = form->n - first < GROUP_COLUMNS ? form->n - first : GROUP_COLUMNS;
   out->far = false;
   if (count < GROUP_COLUMNS) {
      memset(out->value, 0, sizeof out->value);
      memset(out->wide, 0, sizeof out->wide);
      for (uint32_t k = 0; k < form->k; k++)
         for (uint32_t c = 8; c < GROUP_COLUMNS; c++)
            out->exponent[k][c] = TERM_ZERO;
   }
   if (form->element_bits == 16) {
      const bool bfloat = form->type_b == TENSOR_BF16;
      for (uint32_t tile = 0; tile < count / 8; tile++) {
         eight_t columns[8], rows[16];
         for (uint32_t half = 0; half < 2; half++)
            if (p->b->across) {
               for (uint32_t k = 0; k < 8; k++) {
                  const eight_t row =
                     *(const eight_t *)(const void *)(block->shared +
                                                      p->b->address[(first / 8 + tile) * 16 + 8 * half + k]);
                  rows[8 * half + k] = __builtin_shufflevector(row, row, 0, 2, 4, 6, 1, 3, 5, 7);
               }
            } else {
               for (uint32_t c = 0; c < 8; c++)
                  columns[c] = *(const eight_t *)(const void *)(block->shared +
                                                                p->b->address[half * form->n + first +
                                                                              8 * tile + group_column(c)]);
               turn(columns, rows + 8 * half);
            }
         NAMED(machine_group_take_halves)
         (bfloat, form->b_negated, (const uint16_t *)rows, 16, GROUP_COLUMNS, &out->value[0][8 * tile],
          &out->exponent[0][8 * tile], &out->far);
      }
   } else if (form->element_bits == 8) {
      take_byte_columns(p, first, count, out);
   } else {
      take_word_columns(p, first, count, out);
   }
}

static double word_double(const product_t *p, uint32_t at, float value, bool negated) {
   const double *shadow = p->warp->block->shared_shadow;
   if (!shadow || !machine_has_shadow(shadow[at / 4]))
      return value;
   return negated ? -shadow[at / 4] : shadow[at / 4];
}

/* TF32 factors have doubles of their own, narrower ones are what their bits say. */
static void widen_columns(const product_t *p, uint32_t first, machine_column_factors_t *out) {
   const uint32_t columns = p->form->n - first < GROUP_COLUMNS ? p->form->n - first : GROUP_COLUMNS;
   for (uint32_t k = 0; k < p->form->k; k++)
      for (uint32_t c = 0; c < GROUP_COLUMNS; c++)
         out->wide[k][c] = (double)out->value[k][c];
   for (uint32_t c = 0; p->form->type_b == TENSOR_TF32 && c < columns; c++)
      for (uint32_t k = 0; k < p->form->k; k++)
         out->wide[k][c] = word_double(p, word_place(p->b, first + group_column(c), k), out->value[k][c],
                                       p->form->b_negated);
}

/* The bytes of the warp's row of a: 32 of them, from registers as lanes hold them (9.7.15.5.1.1), or from memory. */
static void take_row(const product_t *p, uint32_t row, uint8_t *out) {
   machine_warp_t *warp = p->warp;
   const uint32_t first = warp->number % WARPGROUP_WARPS * WARP_ROWS;
   if (p->form->a_in_registers) {
      for (uint32_t block = 0; block < 2; block++)
         memcpy(out + 16 * block,
                LANES_OF(uint32_t, p->a_registers[2 * block + row / 8].offset) + 4 * (row % 8), 16);
   } else if (!p->a->across) {
      take_line(warp->block, p->a, first + row, out);
   } else {
      for (uint32_t k = 0; k < 16; k++) {
         const uint16_t bits = take_element(warp->block, p->a, first + row, k);
         memcpy(out + 2 * k, &bits, sizeof bits);
      }
   }
}

static void take_rows(const product_t *p, machine_row_factors_t *out) {
   const machine_warpgroup_form_t *form = p->form;
   const machine_warp_t *warp = p->warp;
   for (uint32_t row = 0; row < WARP_ROWS; row++) {
      uint8_t line[WARPGROUP_LINE] __attribute__((aligned(32)));
      out->far[row] = false;
      if (!(p->rows >> row & 1) && !warp->shadow)
         continue;
      take_row(p, row, line);
      if (form->element_bits == 16)
         NAMED(machine_group_take_halves)
      (form->type_a == TENSOR_BF16, form->a_negated, (const uint16_t *)(const void *)line, 2, 8,
       out->value[row], out->exponent[row], &out->far[row]);
      else take_words(form, line, out->value[row], out->exponent[row], &out->far[row]);
   }
}

static void widen_rows(const product_t *p, machine_row_factors_t *out) {
   machine_warp_t *warp = p->warp;
   const bool own = p->form->type_a == TENSOR_TF32;
   for (uint32_t row = 0; row < WARP_ROWS; row++)
      for (uint32_t k = 0; k < p->form->k; k++) {
         double *wide = &out->wide[row][k];
         *wide = (double)out->value[row][k];
         if (own && p->form->a_in_registers)
            *wide = (p->form->a_negated ? -1 : 1) *
                    SHADOW_OF(p->a_registers[2 * (k / 4) + row / 8].offset)[4 * (row % 8) + k % 4];
         else if (own)
            *wide = word_double(p, word_place(p->a, warp->number % WARPGROUP_WARPS * WARP_ROWS + row, k),
                                out->value[row][k], p->form->a_negated);
      }
}

/* Sums ------------------------------------------------------------------------------------------------------------------- */

/* Finds the registers of 16 columns; for columns past the last one it gives a place that is never read. */
static void find_results(const product_t *p, uint32_t first, float *nowhere, double *nowhere_wide,
                         float *results[GROUP_REGISTERS], double *wide[GROUP_REGISTERS]) {
   machine_warp_t *warp = p->warp;
   for (uint32_t n = 0; n < GROUP_REGISTERS; n++) {
      const uint32_t number = first / 2 + n;
      const bool there = number < p->form->results;
      results[n] = there ? LANES_OF(float, p->d[number].offset) : nowhere;
      wide[n] = there && warp->shadow ? SHADOW_OF(p->d[number].offset) : nowhere_wide;
   }
}

static void sum_halves(const product_t *p, const machine_group_rule_t *rule, const machine_row_factors_t *a,
                       uint32_t first, const machine_column_factors_t *b) {
   machine_warp_t *warp = p->warp;
   for (uint32_t place = 0; place < GROUP_COLUMNS && first + group_column(place) < p->form->n; place++)
      for (uint32_t row = 0; row < WARP_ROWS; row++) {
         if (!(p->rows >> row & 1))
            continue;
         const uint32_t column = first + group_column(place), number = column / 8 * 2 + row / 8,
                        lane = row % 8 * 4 + column % 8 / 2;
         uint16_t *at = (uint16_t *)(void *)LANES_OF(uint32_t, p->d[number].offset) + 2 * lane + column % 2;
         *at = (uint16_t)NAMED(machine_group_sum_one)(rule, a, row, b, place, true, p->adds ? *at : 0);
      }
}

/* Results that are summed one by one take far longer than their multiply-adds count: halves, and results of factors that float32 cannot hold. */
#define ONE_BY_ONE 24u
static void count_apart(const product_t *p, const machine_row_factors_t *a,
                        const machine_column_factors_t *b) {
   uint32_t rows = p->form->type_d == TENSOR_F16 || b->far ? WARP_ROWS : 0;
   for (uint32_t n = 0; rows < WARP_ROWS && n < WARP_ROWS; n++)
      rows += a->far[n];
   p->warp->run->work.burden += ONE_BY_ONE * rows * GROUP_COLUMNS;
}

static void multiply_floats(const product_t *p) {
   const machine_warpgroup_form_t *form = p->form;
   machine_warp_t *warp = p->warp;
   const bool halves = form->type_d == TENSOR_F16, doubles = warp->shadow && !halves;
   const machine_group_rule_t rule = {.terms = form->k,
                                      .fraction = form->fraction,
                                      .kept_fraction = form->kept_fraction,
                                      .adds = p->adds,
                                      .left_out = doubles ? 0 : (uint16_t)~p->rows,
                                      .exact_factors = form->type_a != TENSOR_TF32};
   machine_group_sum_t *const sum = NAMED(machine_group_sum_chosen)();
   machine_row_factors_t a;
   machine_column_factors_t b;
   float nowhere[LANES] __attribute__((aligned(64))) = {0}, *results[GROUP_REGISTERS];
   double nowhere_wide[LANES] __attribute__((aligned(64))) = {0}, *wide[GROUP_REGISTERS];
   for (uint32_t n = 0; doubles && p->adds && n < form->results; n++)
      machine_shadow_fill(warp, p->d[n].offset, p->d[n].number);
   for (uint32_t n = 0;
        doubles && form->a_in_registers && form->type_a == TENSOR_TF32 && n < WARPGROUP_A_REGISTERS; n++)
      machine_shadow_fill(warp, p->a_registers[n].offset, p->a_registers[n].number);
   take_rows(p, &a);
   if (doubles)
      widen_rows(p, &a);
   for (uint32_t first = 0; first < form->n; first += GROUP_COLUMNS) {
      if (!(p->columns[first / 32] >> first % 32 & 0xffff) && !doubles)
         continue;
      take_columns(p, first, &b);
      count_apart(p, &a, &b);
      if (doubles)
         widen_columns(p, first, &b);
      if (halves) {
         sum_halves(p, &rule, &a, first, &b);
      } else {
         find_results(p, first, nowhere, nowhere_wide, results, wide);
         sum(&rule, &a, &b, results, doubles ? wide : NULL);
      }
   }
}

/* Lines of 32 bytes, and their bytes as numbers where they are not single bits. */
typedef struct integer_lines {
   uint8_t bytes[WARP_ROWS][WARPGROUP_LINE];
   wide_line_t wide[WARP_ROWS];
} integer_lines_t;

#define COLUMN_GROUP 8u /* columns whose results are in the same registers */
#define EVEN_COLUMNS 0x55u

/* A lane holds two neighbouring columns of a group.  The even columns come first, then the odd ones.  If one of the four even columns holds
 * values, all four are taken; the same holds for the odd ones. */
static void take_column_group(const product_t *p, uint32_t first, uint32_t columns, integer_lines_t *out) {
   for (uint32_t n = 0; n < COLUMN_GROUP; n++) {
      const uint32_t place = n % 2 * (COLUMN_GROUP / 2) + n / 2;
      if (!(columns & EVEN_COLUMNS << n % 2))
         continue;
      take_line(p->warp->block, p->b, first + n, out->bytes[place]);
      widen_line(out->bytes[place], p->form->type_b == TENSOR_S8, &out->wide[place]);
   }
}

/* The sums of products of a row with four columns. */
static void sum_columns(const product_t *p, const integer_lines_t *a, uint32_t row, const integer_lines_t *b,
                        uint32_t place, int32_t sums[4]) {
   if (p->form->type_a != TENSOR_B1) {
      sum_line_products(&a->wide[row], &b->wide[place], sums);
      return;
   }
   for (uint32_t c = 0; c < 4; c++) {
      sums[c] = 0;
      for (uint32_t n = 0; n < WARPGROUP_LINE; n++)
         sums[c] += __builtin_popcount(a->bytes[row][n] & b->bytes[place + c][n]);
   }
}

static void multiply_integers(const product_t *p) {
   machine_warp_t *warp = p->warp;
   integer_lines_t a, b;
   int32_t sums[4];
   for (uint32_t row = 0; row < WARP_ROWS; row++) {
      if (!(p->rows >> row & 1))
         continue;
      take_row(p, row, a.bytes[row]);
      widen_line(a.bytes[row], p->form->type_a == TENSOR_S8, &a.wide[row]);
   }
   for (uint32_t first = 0; first < p->form->n; first += COLUMN_GROUP) {
      const uint32_t columns = p->columns[first / 32] >> first % 32 & 0xff;
      if (!columns)
         continue;
      take_column_group(p, first, columns, &b);
      for (uint32_t n = 0; n < 2 * WARP_ROWS; n++) { /* a row with the even columns, then with the odd ones */
         const uint32_t row = n / 2, odd = n % 2;
         if (!(p->rows >> row & 1) || !(columns & EVEN_COLUMNS << odd))
            continue;
         int32_t *at = LANES_OF(int32_t, p->d[first / 2 + row / 8 * 2 + odd].offset) + row % 8 * 4;
         sum_columns(p, &a, row, &b, odd * (COLUMN_GROUP / 2), sums);
         for (uint32_t c = 0; c < 4; c++) {
            int64_t total = (p->adds ? (int64_t)at[c] : 0) + sums[c];
            if (p->form->saturates)
               total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
            at[c] = (int32_t)total;
         }
      }
   }
}

/* Instructions --------------------------------------------------------------------------------------------------------- */

/* Which registers it takes, which bytes it reads; false after a finding. */
static bool start(product_t *p, const machine_instruction_t *i) {
   machine_warp_t *warp = p->warp;
   if (!machine_warpgroup_start(warp, i))
      return false;
   if (!warp->block->operations)
      return true;
   const uint32_t operation = machine_warpgroup_operation(warp);
   if (!machine_operation_reads_pieces(warp, 0, operation, p->descriptor_b, p->b->address, p->b->count))
      return false;
   /* Of a, only the warp's own rows; the other warps look at theirs. */
   const uint32_t first = warp->number % WARPGROUP_WARPS;
   for (uint32_t n = 0; n < 2 && !p->form->a_in_registers; n++) {
      const uint32_t at = p->a->across ? (2 * first + n) * 16 : n * WARPGROUP_ROWS + first * WARP_ROWS;
      if (!machine_operation_reads_pieces(warp, 0, operation, 0, p->a->address + at, 16))
         return false;
   }
   return true;
}

OP(warpgroup_multiply) {
   product_t p;
   p.warp = warp;
   p.form = &warp->program->warpgroup_forms[i->immediate];
   p.d = warp->program->extras + i->extra;
   p.a_registers = p.d + p.form->results;
   p.descriptor_a = 0;
   const bool repeats = warp->run->repeats;
   if (!whole_warp(warp, mask) || !take_scale(warp, i, &p.adds) ||
       !uniform(warp, i->bi, i->b, "the descriptor of b", &p.descriptor_b) ||
       (!p.form->a_in_registers && !uniform(warp, i->ai, i->a, "the descriptor of a", &p.descriptor_a)) ||
       (!repeats && !machine_warpgroup_arrive(warp, p.descriptor_a, p.descriptor_b, p.adds)) ||
       !(p.b = find_matrix(warp, "b", p.descriptor_b, p.form->b_across, p.form->n, &p.of_rank[0])) ||
       (!p.form->a_in_registers &&
        !(p.a = find_matrix(warp, "a", p.descriptor_a, p.form->a_across, WARPGROUP_ROWS, &p.of_rank[1]))) ||
       (!repeats && !start(&p, i)))
      return;
   const bool defined = repeats || all_defined(&p);
   if (defined) {
      p.rows = 0xffff;
      memset(p.columns, 0xff, sizeof p.columns);
   } else {
      carry_definedness(&p);
   }
   /* A product of constants is computed even if it is not needed, because no taint would show where it decides something. */
   const uint64_t taint = taint_of(&p);
   const bool unasked = machine_unasked(warp->run, taint) || (!defined && (!p.rows || none_defined(&p)));
   if (!unasked || warp->run->options.asked || warp->run->options.charged)
      machine_count_products(warp->run, (uint64_t)WARP_ROWS * p.form->n * p.form->k);
   if (p.form->type_d == TENSOR_S32 && !unasked)
      multiply_integers(&p);
   else if (!unasked)
      multiply_floats(&p);
   carry(&p, taint, defined);
}

OP(warpgroup_fence) {
   if (whole_warp(warp, mask) && machine_warpgroup_arrive(warp, 0, 0, false))
      machine_warpgroup_fence(warp);
}

OP(warpgroup_commit) {
   if (whole_warp(warp, mask) && machine_warpgroup_arrive(warp, 0, 0, false))
      machine_warpgroup_commit(warp);
}

OP(warpgroup_wait) {
   if (whole_warp(warp, mask) && machine_warpgroup_arrive(warp, 0, 0, false))
      machine_warpgroup_wait(warp, (uint32_t)i->immediate);
}

OP(warpgroup_registers) {
   if (whole_warp(warp, mask) && machine_warpgroup_arrive(warp, 0, 0, false))
      machine_warpgroup_registers(warp, (uint32_t)i->immediate, i->operation);
}
