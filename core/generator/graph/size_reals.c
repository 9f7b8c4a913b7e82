/* Finds the expressions of real numbers by their values in random cases, as graph_sizes.c does those of sizes.  One thread a graph. */
#include "generator/graph/size_expression.h"
#include "generator/graph/graph_sizes.h"

#include <math.h>

/* Whether factor * the expression has these values; kernels round them to single precision. */
static bool matches(const rkb_sizes_t *sizes, const rkb_expression_t *expression, double factor, bool inverse,
                    const double at[RKB_PROBES]) {
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      rkb_value_t value;
      if (!rkb_size_evaluate(sizes->probes[p], expression, &value))
         return false;
      double real = value.is_real ? value.real : (double)value.integer;
      real = factor * (inverse ? 1 / real : real);
      if (!(fabs(real - at[p]) <= 1e-12 * fabs(at[p])))
         return false;
   }
   return true;
}

static const char *real_text(const rkb_sizes_t *sizes, const rkb_expression_t *expression,
                             const double at[RKB_PROBES]) {
   const char *text = rkb_expression_text(expression);
   if (matches(sizes, expression, 1, false, at))
      return text;
   if (matches(sizes, expression, -1, false, at))
      return rkb_arena_format(sizes->arena, "0.0 - (%s)", text);
   if (matches(sizes, expression, 1, true, at))
      return rkb_arena_format(sizes->arena, "1.0 / (%s)", text);
   return NULL;
}

/* Numbers made of a size n: factor * n, factor / n, 1 / sqrt(n). */
typedef struct form {
   double factor;
   bool inverse, root;
} form_t;
static const form_t FORMS[] = {{1, false, false}, {1, true, false},  {2, true, false},
                               {-1, true, false}, {-2, true, false}, {1, true, true}};

static uint32_t size_in(rkb_sizes_t *sizes, const form_t *form, const double at[RKB_PROBES]) {
   int64_t values[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      const double inner = form->root      ? 1 / (at[p] * at[p])
                           : form->inverse ? form->factor / at[p]
                                           : at[p] / form->factor;
      values[p] = (int64_t)nearbyint(inner);
      if (!(fabs(inner - nearbyint(inner)) <= 1e-9 * fabs(inner)) || values[p] < 1 || inner > 1e15)
         return UINT32_MAX;
   }
   return rkb_sizes_find(sizes, values);
}

bool rkb_sizes_real(rkb_sizes_t *sizes, const double at[RKB_PROBES], rkb_real_t *real) {
   const rkb_definition_t *definition = sizes->probes[0]->definition;
   *real = (rkb_real_t){.constant = true, .value = at[0], .least = at[0], .root_of = UINT32_MAX};
   for (uint32_t p = 1; p < RKB_PROBES; p++) {
      real->constant &= at[p] == at[0];
      real->least = at[p] >= real->least ? real->least : at[p]; /* NaN counts as the least */
   }
   if (real->constant)
      return true;
   for (uint32_t i = 0; i < definition->attribute_count && !real->text; i++) {
      const rkb_expression_t *expression = rkb_size_expression(sizes->arena, definition->attributes[i].name);
      real->text = expression ? real_text(sizes, expression, at) : NULL;
   }
   for (uint32_t i = 0; i < definition->node_count; i++)
      for (uint32_t a = 0; a < RKB_MAX_FUNCTION_ATTRIBUTES; a++)
         for (uint32_t p = 0; p < definition->nodes[i].attributes[a].part_count && !real->text; p++)
            real->text = real_text(sizes, definition->nodes[i].attributes[a].parts[p], at);
   for (uint32_t i = 0; i < sizeof FORMS / sizeof FORMS[0] && !real->text && real->root_of == UINT32_MAX;
        i++) {
      const uint32_t size = size_in(sizes, &FORMS[i], at);
      if (size == UINT32_MAX)
         continue;
      if (FORMS[i].root)
         real->root_of = size;
      else
         real->text = rkb_arena_format(sizes->arena, FORMS[i].inverse ? "%.1f / (%s)" : "%.1f * (%s)",
                                       FORMS[i].factor, sizes->list[size].text);
   }
   return real->text || real->root_of != UINT32_MAX;
}
