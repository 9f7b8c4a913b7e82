/* Writes the values of light nodes: loads, single-element operations, and moved elements.  One thread. */
#include "generator/text/writer.h"

#include <math.h>
#include <string.h>
#include "generator/graph/row_scaling.h"
#include "generator/graph/map_text.h"

static const rkb_term_t nothing = {"0.0f", 0, 0};

static const rkb_term_t *find_value(const rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at) {
   const uint32_t rank = writer->graph->nodes[node].rank;
   for (uint32_t i = writer->known_count; i-- > 0;) {
      const rkb_known_t *known = &writer->known[i];
      if (!known->index && known->node == node && known->term.depth <= writer->depth &&
          memcmp(known->at, at, rank * sizeof *at) == 0)
         return &known->term;
   }
   return NULL;
}

void rkb_operand_at(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which,
                    const rkb_index_t *const *at, const rkb_index_t **operand) {
   const rkb_node_t *from = &writer->graph->nodes[node->inputs[which]];
   for (uint32_t d = 0; d < from->rank; d++) {
      const rkb_size_t *size = &writer->graph->sizes.list[from->shape[d]];
      operand[d] = size->constant && size->at[0] == 1 ? rkb_index_constant(&writer->indices, 0)
                                                      : at[node->rank - from->rank + d];
   }
}

const rkb_index_t *rkb_flipped(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim,
                               const rkb_index_t *at) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *last = rkb_index_make(
      indices, RKB_INDEX_DIFFERENCE, rkb_index_size(indices, node->shape[dim]), rkb_index_constant(indices, 1));
   return rkb_index_make(indices, RKB_INDEX_DIFFERENCE, last, at);
}

void rkb_permuted_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                     const rkb_index_t **operand) {
   const rkb_size_t *sizes = writer->graph->sizes.list;
   rkb_indices_t *indices = &writer->indices;
   if (node->rank != 2 || sizes[node->integers[0]].constant) {
      for (uint32_t d = 0; d < node->rank; d++)
         operand[sizes[node->integers[d]].at[0]] = at[d];
      return;
   }
   /* The order of two dims is a number of the case, 0 or 1.  The coordinate is a sum of two terms, of which
    * one is 0. */
   for (uint32_t d = 0; d < 2; d++) {
      const rkb_index_t *first = rkb_index_size(indices, node->integers[1 - d]),
                        *second = rkb_index_size(indices, node->integers[d]);
      operand[d] = rkb_index_make(indices, RKB_INDEX_SUM,
                                  rkb_index_make(indices, RKB_INDEX_PRODUCT, at[0], first),
                                  rkb_index_make(indices, RKB_INDEX_PRODUCT, at[1], second));
   }
}

rkb_term_t rkb_write_float(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at) {
   rkb_term_t term = rkb_write_value(writer, node, at);
   if (!rkb_dtype_is_float(writer->graph->nodes[node].dtype))
      term.text = rkb_arena_format(writer->arena, "(float)%s", term.text);
   return term;
}

/* A number of an integer operation; the graph holds it as a real number.  NULL: there is no text. */
static const char *integer_text(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   const rkb_real_t *real = &node->reals[which];
   if (real->constant && real->value == nearbyint(real->value) && fabs(real->value) < 0x1p31)
      return rkb_arena_format(writer->arena, "%.0f", real->value);
   rkb_writer_fail(writer, "%s has a number that is no constant integer", node->operation);
   return "0";
}

/* The sum's reciprocal is a normal number. */
bool rkb_is_sum_of_powers(const rkb_graph_t *graph, uint32_t number) {
   const rkb_node_t *node = &graph->nodes[number];
   return node->kind == RKB_NODE_REDUCE && strcmp(node->operation, "sum") == 0 && rkb_is_operation(&graph->nodes[node->inputs[0]], "exp");
}

/* Writes a node's value into the block of this depth. */
static rkb_term_t write_in(rkb_writer_t *writer, const rkb_node_t *node, uint32_t depth, const char *text) {
   const uint32_t inner = writer->depth;
   writer->depth = depth;
   const char *name = rkb_writer_name(writer, node->name);
   rkb_write(writer, "const float %s = %s;", name, text);
   writer->depth = inner;
   return (rkb_term_t){name, depth, 0};
}

/* If results are rounded to 11 bits or fewer and a row has the divisor only once, writes the division as a product
 * with the reciprocal.  This rounds once more. */
static rkb_term_t write_quotient(rkb_writer_t *writer, const rkb_node_t *node, rkb_term_t dividend,
                                 rkb_term_t divisor) {
   const rkb_term_t reciprocal = rkb_writer_once(
      writer, rkb_arena_format(writer->arena, "%s_reciprocal", writer->graph->nodes[node->inputs[1]].name),
      divisor.depth, rkb_arena_format(writer->arena, "1.0f / %s", divisor.text));
   return write_in(writer, node, dividend.depth,
                   rkb_arena_format(writer->arena, "%s * %s", dividend.text, reciprocal.text));
}

/* If an operand is itself computed from two values by this operation and is not written yet: those two
 * values.  False otherwise. */
static bool open_operand(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which,
                         const rkb_index_t *const *at, const char *operation, rkb_term_t terms[2]) {
   const uint32_t number = node->inputs[which];
   const rkb_node_t *inside = &writer->graph->nodes[number];
   const rkb_index_t *here[RKB_MAX_RANK], *behind[RKB_MAX_RANK];
   if (!rkb_is_operation(inside, operation) || inside->input_count != 2 || writer->storage[number].name)
      return false;
   rkb_operand_at(writer, node, which, at, here);
   if (find_value(writer, number, here))
      return false;
   for (uint32_t i = 0; i < 2; i++) {
      rkb_operand_at(writer, inside, i, here, behind);
      terms[i] = rkb_write_float(writer, inside->inputs[i], behind);
   }
   return true;
}

/* Writes the exponent of a power of e, without its factor.  *factor: the factor for a power of 2. */
static rkb_term_t write_exponent(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at,
                                 const char **factor) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const rkb_index_t *score_at[RKB_MAX_RANK], *largest_at[RKB_MAX_RANK];
   uint32_t largest = rkb_is_operation(node, "sub") ? node->inputs[1] : RKB_NO_NODE;
   while (largest != RKB_NO_NODE && rkb_node_is_view(&writer->graph->nodes[largest]))
      largest = writer->graph->nodes[largest].inputs[0];
   *factor = "1.44269504f";
   if (!writer->scale_part || largest != writer->scaled_largest)
      return rkb_write_float(writer, number, at);
   rkb_operand_at(writer, node, 0, at, score_at);
   rkb_operand_at(writer, node, 1, at, largest_at);
   const rkb_term_t score = rkb_write_float(writer, node->inputs[0], score_at),
                    below = rkb_write_float(writer, node->inputs[1], largest_at);
   *factor = "-184.664965f";
   return write_in(
      writer, node, score.depth > below.depth ? score.depth : below.depth,
      rkb_arena_format(writer->arena, "part_below(%s, %s, %s)", score.text, writer->scale_part, below.text));
}

/* Writes a share of a sum of powers as one power.  False: the node is not a share of a sum of powers. */
static bool write_share_power(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                              rkb_term_t *share) {
   const rkb_index_t *power_at[RKB_MAX_RANK], *sum_at[RKB_MAX_RANK], *exponent_at[RKB_MAX_RANK];
   if (!rkb_is_operation(node, "div") || !rkb_is_sum_of_powers(writer->graph, node->inputs[1]))
      return false;
   const rkb_node_t *power = &writer->graph->nodes[node->inputs[0]];
   rkb_operand_at(writer, node, 0, at, power_at);
   rkb_operand_at(writer, node, 1, at, sum_at);
   if (!rkb_is_operation(power, "exp") || writer->storage[node->inputs[0]].name ||
       find_value(writer, node->inputs[0], power_at))
      return false;
   rkb_operand_at(writer, power, 0, power_at, exponent_at);
   const char *factor;
   const rkb_term_t exponent = write_exponent(writer, power->inputs[0], exponent_at, &factor),
                    sum = rkb_write_float(writer, node->inputs[1], sum_at),
                    logarithm = rkb_writer_once(
                       writer,
                       rkb_arena_format(writer->arena, "%s_log", writer->graph->nodes[node->inputs[1]].name),
                       sum.depth, rkb_arena_format(writer->arena, "logarithm(%s)", sum.text));
   *share = write_in(writer, node, exponent.depth > sum.depth ? exponent.depth : sum.depth,
                     rkb_arena_format(writer->arena, "power_of_two(fmaf(%s, %s, -%s))", exponent.text, factor,
                                      logarithm.text));
   return true;
}

/* Writes a share of a sum of powers, times a number that a row has once, as the power times the quotient of that
 * number and the sum.  False: the node has another form. */
static bool write_scaled_share(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                               rkb_term_t *product) {
   if (strcmp(node->operation, "mul") != 0)
      return false;
   for (uint32_t which = 0; which < 2; which++) {
      const rkb_node_t *share = &writer->graph->nodes[node->inputs[which]];
      const rkb_index_t *other[RKB_MAX_RANK];
      rkb_term_t terms[2];
      if (!rkb_is_operation(share, "div") || !rkb_is_sum_of_powers(writer->graph, share->inputs[1]))
         continue;
      rkb_operand_at(writer, node, 1 - which, at, other);
      const rkb_term_t factor = rkb_write_float(writer, node->inputs[1 - which], other);
      if (!open_operand(writer, node, which, at, "div", terms) || terms[1].depth >= terms[0].depth ||
          factor.depth >= terms[0].depth)
         continue;
      const rkb_term_t scale =
         rkb_writer_once(writer, rkb_arena_format(writer->arena, "%s_scale", share->name),
                         terms[1].depth > factor.depth ? terms[1].depth : factor.depth,
                         rkb_arena_format(writer->arena, "%s / %s", factor.text, terms[1].text));
      *product = write_in(writer, node, terms[0].depth,
                          rkb_arena_format(writer->arena, "%s * %s", terms[0].text, scale.text));
      return true;
   }
   return false;
}

static rkb_term_t write_map(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const char *precision = writer->graph->precision;
   const bool converts = strcmp(node->operation, "convert") == 0, narrow = strcmp(precision, "bf16") == 0 || strcmp(precision, "fp16") == 0;
   const char *pattern = converts ? rkb_conversion_text(node->dtype) : rkb_map_text(node->operation, narrow), *operands[3] = {"", "", ""};
   rkb_term_t terms[3] = {0};
   uint32_t depth = 0;
   const bool integers = pattern && (strchr(pattern, '#') || (converts && !rkb_dtype_is_float(node->dtype)));
   if (!pattern || node->input_count > 3) {
      rkb_writer_fail(writer, "there is no text for the operation %s%s%s", node->operation, converts ? " to " : "",
                      converts ? rkb_dtype_name(node->dtype) : "");
      return nothing;
   }
   for (uint32_t p = 0; p < writer->passed_count; p++)
      if (writer->passed[p] == number)
         return rkb_write_float(writer, node->inputs[0], at);
   rkb_term_t product;
   if (writer->shares_are_powers && write_share_power(writer, node, at, &product))
      return product;
   if (narrow && !writer->shares_are_powers && write_scaled_share(writer, node, at, &product))
      return product;
   for (uint32_t i = 0; i < node->input_count; i++) {
      const rkb_index_t *operand[RKB_MAX_RANK];
      rkb_operand_at(writer, node, i, at, operand);
      if (integers && !converts && rkb_dtype_is_float(writer->graph->nodes[node->inputs[i]].dtype))
         rkb_writer_fail(writer, "%s of a number that is no integer", node->operation);
      const rkb_term_t term = integers ? rkb_write_value(writer, node->inputs[i], operand)
                                       : rkb_write_float(writer, node->inputs[i], operand);
      terms[i] = term;
      operands[i] = term.text;
      depth = term.depth > depth ? term.depth : depth;
   }
   if (strcmp(node->operation, "copy") == 0)
      return (rkb_term_t){operands[0], depth, 0};
   if (narrow && strcmp(node->operation, "div") == 0 && terms[1].depth < terms[0].depth &&
       rkb_is_sum_of_powers(writer->graph, node->inputs[1]))
      return write_quotient(writer, node, terms[0], terms[1]);
   rkb_text_t text;
   rkb_text_init(&text, 4096);
   for (const char *c = pattern; *c; c++) {
      if (*c != '$' && *c != '#') {
         rkb_text_append(&text, c, 1);
         continue;
      }
      if (*c++ == '#') {
         rkb_text_add(&text, integer_text(writer, node, (uint32_t)(*c - '0')));
         continue;
      }
      if (*c == '0' || *c == '1')
         rkb_text_add(&text, rkb_writer_real(writer, &node->reals[*c - '0']));
      else if (*c == 'n' && node->correction)
         rkb_text_format(&text, "%s - %u",
                         rkb_writer_uniform(writer, rkb_index_size(&writer->indices, node->count_of)),
                         node->correction);
      else if (*c == 'n')
         rkb_text_add(&text, rkb_writer_uniform(writer, rkb_index_size(&writer->indices, node->count_of)));
      else
         rkb_text_add(&text, operands[*c - 'a']);
   }
   const uint32_t inner = writer->depth;
   writer->depth = depth;
   const char *name = rkb_writer_name(writer, node->name);
   if (rkb_dtype_is_float(node->dtype))
      rkb_write(writer, "const float %s = %s;", name, rkb_text_get(&text));
   else
      rkb_write(writer, "const %s %s = (%s)(%s);", rkb_value_type(node->dtype), name,
                rkb_value_type(node->dtype), rkb_text_get(&text));
   writer->depth = inner;
   rkb_text_free(&text);
   return (rkb_term_t){name, depth, 0};
}

static const rkb_index_t *number_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   return rkb_index_size(&writer->indices, node->integers[which]);
}

static uint32_t constant_of(const rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   return (uint32_t)writer->graph->sizes.list[node->integers[which]].at[0];
}

/* The first lane's place, written before the loop over lanes.  If start and the size after it are multiples of the
 * width, a test of these bounds gives the same result for all lanes.  NULL: results may differ between lanes. */
static const char *first_lane(rkb_writer_t *writer, const rkb_index_t *place, const rkb_index_t *start, const rkb_index_t *size) {
   rkb_indices_t *indices = &writer->indices;
   if (!writer->lane)
      return NULL;
   const rkb_index_t *base = rkb_index_replace(indices, place, writer->lane, rkb_index_constant(indices, 0));
   if (base != place && (rkb_index_make(indices, RKB_INDEX_SUM, base, writer->lane) != place || !rkb_index_divides(base, writer->width) ||
                         !rkb_index_divides(start, writer->width) || !rkb_index_divides(size, writer->width)))
      return NULL;
   for (uint32_t i = 0; i < writer->known_count; i++)
      if (writer->known[i].index && writer->known[i].index->kind == RKB_INDEX_VARIABLE &&
          writer->known[i].term.depth >= writer->lane_depth && rkb_index_mentions(base, writer->known[i].index))
         return NULL;
   const uint32_t inner = writer->depth;
   writer->depth = writer->lane_depth - 1;
   const char *text = rkb_writer_index(writer, base);
   writer->depth = inner;
   return text;
}

void rkb_sliced_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                   const rkb_index_t **operand) {
   const uint32_t dim = constant_of(writer, node, 0);
   memcpy(operand, at, node->rank * sizeof *at);
   operand[dim] = rkb_index_make(
      &writer->indices, RKB_INDEX_SUM, number_of(writer, node, 1),
      rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, at[dim], number_of(writer, node, 2)));
}

/* Writes a value that is the operand's inside a guard, and the node's constant otherwise. */
static rkb_term_t write_guarded(rkb_writer_t *writer, uint32_t number, const char *lanes, const char *guard,
                                const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const rkb_real_t zero = {.constant = true};
   const char *name = rkb_writer_name(writer, node->name);
   rkb_write(writer, "float %s = %s;", name,
             rkb_writer_real(writer, node->real_count ? &node->reals[0] : &zero));
   /* While the operand is written, no other variable may take the name. */
   const uint32_t depth = writer->depth;
   rkb_writer_know(writer, number, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   rkb_write_guard(writer, lanes, guard);
   const rkb_term_t term = rkb_write_float(writer, node->inputs[0], at);
   rkb_write(writer, "%s = %s;", name, term.text);
   rkb_write_close(writer);
   return (rkb_term_t){name, depth, 0};
}

enum { SOMETIMES, ALWAYS, NEVER };

/* Whether a place lies in [start, end).  Each of a thread's places is known to belong to one part. */
static int lies_in(const rkb_writer_t *writer, const rkb_index_t *place, const rkb_index_t *start, const rkb_index_t *end) {
   uint32_t inside = 0;
   for (uint32_t s = 0; s < RKB_SAMPLES && writer->placed; s++)
      inside += place->at[s] >= start->at[s] && place->at[s] < end->at[s];
   return !writer->placed ? SOMETIMES : inside == RKB_SAMPLES ? ALWAYS : inside == 0 ? NEVER : SOMETIMES;
}

static rkb_term_t write_embed(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   rkb_graph_t *graph = writer->graph;
   const rkb_node_t *node = &graph->nodes[number], *from = &graph->nodes[node->inputs[0]];
   rkb_indices_t *indices = &writer->indices;
   const uint32_t dim = constant_of(writer, node, 0);
   const rkb_index_t *inner[RKB_MAX_RANK], *step = number_of(writer, node, 2);
   memcpy(inner, at, sizeof inner);
   const rkb_index_t *place =
      rkb_index_make(indices, RKB_INDEX_DIFFERENCE, at[dim], number_of(writer, node, 1));
   inner[dim] = rkb_index_make(indices, RKB_INDEX_QUOTIENT, place, step);
   const rkb_index_t *part = rkb_index_size(indices, from->shape[dim]);
   const int lies = rkb_index_is(step, 1) ? lies_in(writer, place, rkb_index_constant(indices, 0), part) : SOMETIMES;
   if (lies == ALWAYS)
      return rkb_write_float(writer, node->inputs[0], inner);
   if (lies == NEVER)
      return (rkb_term_t){rkb_writer_real(writer, node->real_count ? &node->reals[0] : &(rkb_real_t){.constant = true}), 0, 0};
   const char *text = rkb_writer_index(writer, place), *quotient = rkb_writer_index(writer, inner[dim]);
   const char *size = rkb_writer_uniform(writer, part);
   const char *guard = rkb_index_is(step, 1)
                          ? rkb_arena_format(writer->arena, "%s >= 0 && %s < %s", text, text, size)
                          : rkb_arena_format(writer->arena, "%s >= 0 && %s %% %s == 0 && %s < %s", text, text,
                                             rkb_writer_uniform(writer, step), quotient, size);
   const char *first = rkb_index_is(step, 1) ? first_lane(writer, at[dim], number_of(writer, node, 1), rkb_index_size(indices, from->shape[dim])) : NULL;
   const char *start = rkb_writer_uniform(writer, number_of(writer, node, 1));
   const char *lanes = first ? rkb_arena_format(writer->arena, "%s >= %s && %s - %s < %s", first, start, first, start, size) : NULL;
   return write_guarded(writer, number, lanes, guard, inner);
}

static rkb_term_t write_triangle(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const bool upper = constant_of(writer, node, 1) != 0;
   for (uint32_t s = 0; writer->shown && s < writer->shown_count; s++) {
      const struct rkb_shown *shown = &writer->shown_places[s];
      if (shown->row == at[node->rank - 2] && shown->column == at[node->rank - 1] &&
          shown->diagonal == number_of(writer, node, 0) && shown->upper == upper)
         return rkb_write_value(writer, node->inputs[0], at);
   }
   const char *column = rkb_writer_index(writer, at[node->rank - 1]),
              *row = rkb_writer_index(writer, at[node->rank - 2]);
   const char *guard =
      rkb_arena_format(writer->arena, "%s - %s %s %s", column, row,
                       upper ? ">=" : "<=", rkb_writer_uniform(writer, number_of(writer, node, 0)));
   return write_guarded(writer, number, NULL, guard, at);
}

/* The condition that a place of a joined dim belongs to the i-th operand. */
static const char *cat_guard(rkb_writer_t *writer, const rkb_node_t *node, uint32_t i, const char *place, const rkb_index_t *start,
                             const rkb_index_t *end) {
   if (i + 1 == node->input_count)
      return rkb_arena_format(writer->arena, "%s >= %s", place, rkb_writer_uniform(writer, start));
   if (i == 0)
      return rkb_arena_format(writer->arena, "%s < %s", place, rkb_writer_uniform(writer, end));
   return rkb_arena_format(writer->arena, "%s >= %s && %s < %s", place, rkb_writer_uniform(writer, start), place,
                           rkb_writer_uniform(writer, end));
}

/* Writes a chain of guards, one for each operand except the last. */
static rkb_term_t write_cat(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   rkb_graph_t *graph = writer->graph;
   const rkb_node_t *node = &graph->nodes[number];
   const uint32_t dim = constant_of(writer, node, 0), depth = writer->depth;
   const rkb_index_t *inner[RKB_MAX_RANK], *start = rkb_index_constant(&writer->indices, 0);
   for (uint32_t i = 0; i < node->input_count && writer->placed; i++) {
      const rkb_index_t *end = rkb_index_make(&writer->indices, RKB_INDEX_SUM, start,
                                              rkb_index_size(&writer->indices, graph->nodes[node->inputs[i]].shape[dim]));
      memcpy(inner, at, sizeof inner);
      inner[dim] = rkb_index_make(&writer->indices, RKB_INDEX_DIFFERENCE, at[dim], start);
      if (lies_in(writer, at[dim], start, end) == ALWAYS)
         return rkb_write_value(writer, node->inputs[i], inner);
      start = end;
   }
   start = rkb_index_constant(&writer->indices, 0);
   const char *name = rkb_writer_name(writer, node->name), *type = rkb_value_type(node->dtype);
   rkb_write(writer, "%s %s;", type, name);
   rkb_writer_know(writer, number, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   for (uint32_t i = 0; i < node->input_count; i++) {
      const rkb_index_t *size = rkb_index_size(&writer->indices, graph->nodes[node->inputs[i]].shape[dim]);
      const rkb_index_t *end = rkb_index_make(&writer->indices, RKB_INDEX_SUM, start, size);
      const char *place = rkb_writer_index(writer, at[dim]);
      memcpy(inner, at, sizeof inner);
      inner[dim] = rkb_index_make(&writer->indices, RKB_INDEX_DIFFERENCE, at[dim], start);
      const char *first = first_lane(writer, at[dim], start, size), *lanes = first ? cat_guard(writer, node, i, first, start, end) : NULL;
      rkb_write_guard(writer, lanes, cat_guard(writer, node, i, place, start, end));
      const rkb_term_t term = rkb_write_value(writer, node->inputs[i], inner);
      rkb_write(writer, "%s = %s;", name, term.text);
      rkb_write_close(writer);
      start = end;
   }
   return (rkb_term_t){name, depth, 0};
}

static rkb_term_t write_arange(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const char *start = rkb_writer_real(writer, &node->reals[0]);
   if (node->real_count < 2 || (node->reals[1].constant && node->reals[1].value == 0))
      return (rkb_term_t){rkb_dtype_is_float(node->dtype)
                             ? start
                             : rkb_arena_format(writer->arena, "(%s)%s", rkb_value_type(node->dtype), start),
                          0, 0};
   const char *element =
      rkb_writer_index(writer, rkb_index_join(&writer->indices, node->rank, node->shape, at));
   const char *name = rkb_writer_name(writer, node->name), *type = rkb_value_type(node->dtype);
   rkb_write(writer, "const %s %s = (%s)(%s + %s * (float)%s);", type, name, type, start,
             rkb_writer_real(writer, &node->reals[1]), element);
   return (rkb_term_t){name, writer->depth, 0};
}

const rkb_index_t *rkb_writer_picked(rkb_writer_t *writer, rkb_term_t pick, const rkb_index_t *extent, const char *wanted) {
   for (uint32_t i = 0; i < writer->pick_count; i++)
      if (strcmp(writer->picks[i].text, pick.text) == 0 && writer->picks[i].extent == extent &&
          rkb_writer_knows(writer, writer->picks[i].variable))
         return writer->picks[i].variable;
   const uint32_t inner = writer->depth;
   writer->depth = (pick.depth < inner ? pick.depth : inner) - pick.hoisted;
   const char *name = rkb_writer_name(writer, wanted);
   rkb_write(writer, "const index %s = (index)%s;", name, pick.text);
   const rkb_index_t *variable = rkb_writer_variable(writer, name, extent);
   writer->depth = inner;
   if (variable->kind == RKB_INDEX_VARIABLE && writer->pick_count < sizeof writer->picks / sizeof writer->picks[0])
      writer->picks[writer->pick_count++] = (struct rkb_pick){pick.text, extent, variable};
   return variable;
}

void rkb_gathered_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at, const rkb_index_t **operand) {
   const rkb_node_t *from = &writer->graph->nodes[node->inputs[0]];
   const uint32_t dim = constant_of(writer, node, 0);
   const rkb_term_t pick = rkb_write_value(writer, node->inputs[1], at);
   memcpy(operand, at, from->rank * sizeof *at);
   operand[dim] = rkb_writer_picked(writer, pick, rkb_index_size(&writer->indices, from->shape[dim]), "picked");
}

static rkb_term_t write_gather(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const rkb_index_t *inner[RKB_MAX_RANK];
   memcpy(inner, at, sizeof inner);
   rkb_gathered_at(writer, node, at, inner);
   return rkb_write_value(writer, node->inputs[0], inner);
}

/* Writes the element that goes to this place, or nothing. */
static rkb_term_t write_put(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const uint32_t dim = constant_of(writer, node, 0);
   const rkb_index_t *inner[RKB_MAX_RANK];
   const rkb_term_t below = node->input_count > 2 ? rkb_write_float(writer, node->inputs[2], at) : nothing;
   memcpy(inner, at, sizeof inner);
   inner[dim] = rkb_index_constant(&writer->indices, 0);
   const rkb_term_t pick = rkb_write_value(writer, node->inputs[1], inner), put = rkb_write_float(writer, node->inputs[0], inner);
   const char *picked = pick.text;
   /* One number for all lanes, which then compare indices instead of 64 bits each. */
   if (writer->lane && pick.depth < writer->lane_depth)
      picked = rkb_writer_index(writer, rkb_writer_picked(writer, pick, rkb_index_size(&writer->indices, node->shape[dim]), "picked"));
   const char *place = rkb_writer_index(writer, at[dim]), *name = rkb_writer_name(writer, node->name);
   if (rkb_node_overwrites(node))
      rkb_write(writer, "const float %s = %s == %s ? %s : %s;", name, picked, place, put.text, below.text);
   else if (node->input_count > 2)
      rkb_write(writer, "const float %s = %s == %s ? %s + %s : %s;", name, picked, place, below.text, put.text, below.text);
   else
      rkb_write(writer, "const float %s = %s == %s ? %s : 0.0f;", name, picked, place, put.text);
   return (rkb_term_t){name, writer->depth, 0};
}

static rkb_term_t write_moved(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   rkb_graph_t *graph = writer->graph;
   const rkb_node_t *node = &graph->nodes[number], *from = &graph->nodes[node->inputs[0]];
   const rkb_index_t *inner[RKB_MAX_RANK];
   memcpy(inner, at, sizeof inner);
   switch (node->kind) {
   case RKB_NODE_RESHAPE:
      rkb_writer_reshape(writer, node, at, from, inner);
      break;
   case RKB_NODE_EXPAND:
      rkb_operand_at(writer, node, 0, at, inner);
      break;
   case RKB_NODE_PERMUTE:
      rkb_permuted_at(writer, node, at, inner);
      break;
   case RKB_NODE_SLICE:
      rkb_sliced_at(writer, node, at, inner);
      break;
   default: /* flip */
      for (uint32_t d = 0; d < node->rank; d++)
         if (node->mask >> d & 1)
            inner[d] = rkb_flipped(writer, node, d, at[d]);
   }
   return rkb_write_value(writer, node->inputs[0], inner);
}

rkb_term_t rkb_write_value(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   struct rkb_local *local = writer->local_count ? rkb_writer_find_local(writer, number) : NULL;
   if (local) {
      if (!local->placed)
         memcpy(local->at, at, node->rank * sizeof *at);
      else if (memcmp(local->at, at, node->rank * sizeof *at) != 0)
         rkb_writer_fail(writer, "%s is needed at other places than those that a thread has", node->name);
      local->placed = true;
      return (rkb_term_t){local->text, writer->depth, 0};
   }
   const rkb_term_t *found = find_value(writer, number, at);
   if (found || writer->failed)
      return found ? *found : nothing;
   rkb_term_t term;
   if (writer->storage[number].name)
      term = rkb_write_load(writer, number, at);
   else if (!rkb_node_is_light(node)) {
      if (writer->heavy != number) {
         rkb_writer_fail(writer, "%s would be computed again for every element that needs it", node->name);
         return nothing;
      }
      term = rkb_write_heavy(writer, number, at);
   } else
      switch (node->kind) {
      case RKB_NODE_MAP:
         term = write_map(writer, number, at);
         break;
      case RKB_NODE_EMBED:
         term = write_embed(writer, number, at);
         break;
      case RKB_NODE_TRIANGLE:
         term = write_triangle(writer, number, at);
         break;
      case RKB_NODE_CAT:
         term = write_cat(writer, number, at);
         break;
      case RKB_NODE_ARANGE:
         term = write_arange(writer, number, at);
         break;
      case RKB_NODE_GATHER:
         term = write_gather(writer, number, at);
         break;
      case RKB_NODE_PUT:
         term = write_put(writer, number, at);
         break;
      case RKB_NODE_INPUT:
         rkb_writer_fail(writer, "%s lies nowhere", node->name);
         return nothing;
      default:
         term = write_moved(writer, number, at);
      }
   if (writer->failed)
      return nothing;
   const uint32_t inner = writer->depth;
   writer->depth = term.depth < inner ? term.depth : inner;
   rkb_writer_know(writer, number, at, term.text);
   writer->depth = inner;
   return term;
}
