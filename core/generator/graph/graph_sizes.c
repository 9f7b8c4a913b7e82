/* Finds the expressions of sizes by their values in random cases.  One thread while a graph is read. */
#include "generator/graph/graph_sizes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "generator/graph/size_expression.h"

#define DRAWS 4000
#define PROBE_SEED 23

/* Compares what must be equal for two programs to be one program at different sizes. */
static bool same_structure(const rkb_program_t *a, const rkb_program_t *b) {
   if (a->node_count != b->node_count || a->value_count != b->value_count)
      return false;
   for (uint32_t i = 0; i < a->node_count; i++) {
      const rkb_program_node_t *left = &a->nodes[i], *right = &b->nodes[i];
      if (left->operation != right->operation || left->input_count != right->input_count ||
          left->output != right->output || left->integer_count != right->integer_count ||
          left->real_count != right->real_count ||
          memcmp(left->inputs, right->inputs, left->input_count * sizeof *left->inputs) != 0)
         return false;
   }
   for (uint32_t i = 0; i < a->value_count; i++)
      if (a->values[i].shape.rank != b->values[i].shape.rank || a->values[i].tensor != b->values[i].tensor)
         return false;
   return true;
}

/* Values of one dim in the cases that were drawn. */
typedef struct seen {
   int64_t values[3]; /* the first that differ */
   uint32_t count;
} seen_t;

static void see(seen_t *seen, int64_t value) {
   for (uint32_t i = 0; i < seen->count; i++)
      if (seen->values[i] == value)
         return;
   if (seen->count < 3)
      seen->values[seen->count++] = value;
}

/* Refuses a task whose structure holds for one size of a dim alone, as where each step of a short recurrent layer is an operation of its
 * own.  Two sizes are not enough: one of them may be the 1 of a stretched dim. */
static int check_structure(const rkb_sizes_t *sizes, const rkb_task_t *task, const seen_t *seen,
                           rkb_error_t *err) {
   const rkb_case_t *first = &sizes->probes[0]->view;
   for (uint32_t d = 0; d < first->dim_count && d < RKB_MAX_DIMS; d++) {
      bool moves = seen[d].count < 3;
      for (uint32_t p = 1; p < RKB_PROBES && !moves; p++)
         moves = sizes->probes[p]->view.dims[d].value != first->dims[d].value;
      if (!moves)
         return rkb_fail(
            err, RKB_ERR_INVALID,
            "no kernel can be written for task %s: the graph has other operations at other sizes of %s than %lld; "
            "a kernel of yours or of a language model is judged all the same",
            rkb_task_info(task)->name, first->dims[d].name, (long long)first->dims[d].value);
   }
   return RKB_OK;
}

static void free_probes(rkb_sizes_t *sizes, uint32_t count) {
   while (count > 0)
      rkb_bound_free(sizes->probes[--count]);
   memset(sizes->probes, 0, sizeof sizes->probes);
}

/* Draws probes whose programs have one structure.  If a dim is 1 in one probe and more in others (a stretched
 * dim), that probe's program has fewer sums.  So the structure with the most nodes is taken. */
static int draw_probes(rkb_sizes_t *sizes, const rkb_task_t *task, rkb_error_t *err) {
   rkb_random_t stream = rkb_random_stream(PROBE_SEED, "probes", 0, 0);
   rkb_bound_t *common = NULL;
   uint32_t count = 0;
   seen_t seen[RKB_MAX_DIMS] = {0};
   for (uint32_t draw = 0; draw < DRAWS && count < RKB_PROBES; draw++) {
      rkb_bound_t *probe = rkb_task_draw_distinct_sizes(task, &stream, draw);
      if (!probe)
         continue;
      for (uint32_t d = 0; d < probe->view.dim_count && d < RKB_MAX_DIMS; d++)
         see(&seen[d], probe->view.dims[d].value);
      if (common && !same_structure(common->program, probe->program)) {
         if (probe->program->node_count <= common->program->node_count) {
            rkb_bound_free(probe);
            continue;
         }
         while (count > 0)
            rkb_bound_free(sizes->probes[--count]);
      }
      common = count == 0 ? probe : common;
      sizes->probes[count++] = probe;
   }
   if (count < RKB_PROBES) {
      free_probes(sizes, count);
      return rkb_fail(err, RKB_ERR_LIMIT, "fewer than %u of %d random cases of the task have one structure",
                      RKB_PROBES, DRAWS);
   }
   const int status = check_structure(sizes, task, seen, err);
   if (status != RKB_OK) {
      free_probes(sizes, count);
      return status;
   }
   for (uint32_t draw = 0; draw < RKB_LARGEST; draw++) {
      rkb_bound_t *probe = rkb_task_draw_largest_distinct_sizes(task, &stream, draw);
      if (probe)
         sizes->largest[sizes->largest_count++] = probe;
   }
   return RKB_OK;
}

static bool evaluate_all(const rkb_sizes_t *sizes, const rkb_expression_t *expression,
                         int64_t at[RKB_PROBES]) {
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      rkb_value_t value;
      if (!rkb_size_evaluate(sizes->probes[p], expression, &value) || value.is_real)
         return false;
      at[p] = value.integer;
   }
   return true;
}

static bool is_name(const char *text) {
   for (const char *c = text; *c; c++)
      if (!isalnum((unsigned char)*c) && *c != '_')
         return false;
   return !isdigit((unsigned char)*text);
}

/* "(H + 2 * padding - 3) / stride + 1" gets the name H_plus_2_times_padding_...: names and operators only,
 * cut at a reasonable length. */
static const char *name_of(rkb_sizes_t *sizes, const char *text) {
   static const struct {
      char sign;
      const char *word;
   } words[] = {{'+', "_plus_"}, {'-', "_minus_"}, {'*', "_"}, {'/', "_by_"}};
   char name[33];
   size_t length = 0;
   for (const char *c = text; *c && length < sizeof name - 8; c++) {
      if (isalnum((unsigned char)*c) || *c == '_')
         name[length++] = *c;
      for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
         if (*c == words[i].sign)
            length += (size_t)snprintf(name + length, sizeof name - length, "%s", words[i].word);
   }
   name[length] = '\0';
   const char *start = isdigit((unsigned char)name[0]) || name[0] == '_' ? "size_" : "";
   char *given = rkb_arena_format(sizes->arena, "%s%s", start, name);
   for (uint32_t i = 0, again = 0; i < sizes->count; i++)
      if (strcmp(sizes->list[i].name, given) == 0) { /* two texts were cut to the same name */
         given = rkb_arena_format(sizes->arena, "%s%s_%u", start, name, ++again + 1);
         i = UINT32_MAX;
      }
   return given;
}

static uint32_t add(rkb_sizes_t *sizes, const char *text, const int64_t at[RKB_PROBES]) {
   if (sizes->count == sizes->room) {
      rkb_size_t *larger = rkb_arena_array(sizes->arena, 2 * sizes->room + 64, sizeof *larger);
      if (sizes->count)
         memcpy(larger, sizes->list, sizes->count * sizeof *larger);
      sizes->list = larger;
      sizes->room = 2 * sizes->room + 64;
   }
   rkb_size_t *size = &sizes->list[sizes->count];
   *size = (rkb_size_t){.constant = true};
   memcpy(size->at, at, sizeof size->at);
   for (uint32_t p = 1; p < RKB_PROBES; p++)
      size->constant &= at[p] == at[0];
   size->text = size->constant ? rkb_arena_format(sizes->arena, "%lld", (long long)at[0])
                               : rkb_arena_text(sizes->arena, text, strlen(text));
   size->name = is_name(size->text) ? size->text : size->constant ? "" : name_of(sizes, size->text);
   return sizes->count++;
}

static uint32_t known(const rkb_sizes_t *sizes, const int64_t at[RKB_PROBES]) {
   for (uint32_t i = 0; i < sizes->count; i++)
      if (memcmp(sizes->list[i].at, at, sizeof sizes->list[i].at) == 0)
         return i;
   return UINT32_MAX;
}

static void learn(rkb_sizes_t *sizes, const rkb_expression_t *expression) {
   int64_t at[RKB_PROBES];
   if (evaluate_all(sizes, expression, at) && known(sizes, at) == UINT32_MAX)
      add(sizes, rkb_expression_text(expression), at);
}

static void learn_text(rkb_sizes_t *sizes, const char *text) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text);
   if (expression)
      learn(sizes, expression);
}

static void read_vocabulary(rkb_sizes_t *sizes) {
   const rkb_definition_t *definition = sizes->probes[0]->definition;
   for (uint32_t i = 0; i < definition->dim_count; i++)
      learn_text(sizes, definition->dims[i].name);
   for (uint32_t i = 0; i < definition->let_count; i++)
      learn_text(sizes, definition->lets[i].name);
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      for (uint32_t d = 0; d < definition->tensors[i].rank; d++)
         learn(sizes, definition->tensors[i].shape[d]);
   for (uint32_t i = 0; i < definition->node_count; i++) {
      const rkb_graph_node_t *node = &definition->nodes[i];
      for (uint32_t o = 0; o < node->output_count; o++)
         for (uint32_t d = 0; d < node->outputs[o].rank; d++)
            learn(sizes, node->outputs[o].shape[d]);
      for (uint32_t a = 0; a < RKB_MAX_FUNCTION_ATTRIBUTES; a++)
         for (uint32_t p = 0; p < node->attributes[a].part_count; p++)
            learn(sizes, node->attributes[a].parts[p]);
   }
   sizes->vocabulary = sizes->count;
}

int rkb_sizes_open(rkb_sizes_t *sizes, rkb_arena_t *arena, const rkb_task_t *task, rkb_error_t *err) {
   *sizes = (rkb_sizes_t){.arena = arena, .task = task};
   int status = draw_probes(sizes, task, err);
   if (status == RKB_OK)
      read_vocabulary(sizes);
   return status;
}

void rkb_sizes_close(rkb_sizes_t *sizes) {
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      rkb_bound_free(sizes->probes[p]);
   for (uint32_t p = 0; p < sizes->largest_count; p++)
      rkb_bound_free(sizes->largest[p]);
   for (uint32_t c = 0; c < sizes->corner_count; c++)
      rkb_bound_free(sizes->corners[c]);
   *sizes = (rkb_sizes_t){0};
}

uint32_t rkb_sizes_constant(rkb_sizes_t *sizes, int64_t value) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = value;
   const uint32_t found = known(sizes, at);
   return found != UINT32_MAX ? found : add(sizes, "", at);
}

static const char *wrapped(const rkb_sizes_t *sizes, const char *text) {
   return is_name(text) || strspn(text, "0123456789") == strlen(text) ? text
                                                         : rkb_arena_format(sizes->arena, "(%s)", text);
}

static const char OPERATORS[] = "*/-+";

/* Computes a operation b, if that is a whole number in all probes. */
static bool combine(char operation, const int64_t *a, const int64_t *b, int64_t out[RKB_PROBES]) {
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      if (operation == '/' && (b[p] == 0 || a[p] % b[p] != 0))
         return false;
      if (operation == '*' && __builtin_mul_overflow(a[p], b[p], &out[p]))
         return false;
      if (operation != '*')
         out[p] = operation == '/' ? a[p] / b[p] : operation == '-' ? a[p] - b[p] : a[p] + b[p];
   }
   return true;
}

/* Writes x operation constant, where the constant is found from the values: at - x, at / x, x / at. */
static const char *with_constant(rkb_sizes_t *sizes, const rkb_size_t *x, const int64_t at[RKB_PROBES]) {
   const int64_t apart = at[0] - x->at[0], times = x->at[0] ? at[0] / x->at[0] : 0,
                 part = at[0] ? x->at[0] / at[0] : 0;
   bool sum = true, product = times > 1, quotient = part > 1;
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      sum &= at[p] - x->at[p] == apart;
      product = product && at[p] == times * x->at[p];
      quotient = quotient && at[p] == x->at[p] / part;
   }
   const char *name = wrapped(sizes, x->text);
   if (sum)
      return rkb_arena_format(sizes->arena, "%s %c %lld", name, apart < 0 ? '-' : '+', llabs(apart));
   if (product)
      return rkb_arena_format(sizes->arena, "%s * %lld", name, (long long)times);
   return quotient ? rkb_arena_format(sizes->arena, "%s / %lld", name, (long long)part) : NULL;
}

/* Finds an expression of one to three words of the vocabulary that has these values. */
static const char *search(rkb_sizes_t *sizes, const int64_t at[RKB_PROBES], uint32_t words, int depth) {
   int64_t rest[RKB_PROBES];
   for (uint32_t i = 0; i < words; i++) {
      const char *text = sizes->list[i].constant ? NULL : with_constant(sizes, &sizes->list[i], at);
      if (text)
         return text;
   }
   for (uint32_t i = 0; i < words; i++)
      for (const char *operation = OPERATORS; *operation; operation++) {
         const rkb_size_t *last = &sizes->list[i];
         /* at = rest operation last */
         const char inverse = *operation == '*'   ? '/'
                              : *operation == '/' ? '*'
                              : *operation == '-' ? '+'
                                                  : '-';
         if (last->constant || !combine(inverse, at, last->at, rest))
            continue;
         const uint32_t found = known(sizes, rest);
         const char *text = found != UINT32_MAX ? sizes->list[found].text
                            : depth > 0         ? search(sizes, rest, words, depth - 1)
                                                : NULL;
         if (text)
            return rkb_arena_format(sizes->arena, "%s %c %s",
                                    *operation == '*' && strpbrk(text, "+-/") == NULL ? text
                                                                                      : wrapped(sizes, text),
                                    *operation, wrapped(sizes, last->text));
      }
   return NULL;
}

/* Finds a product of many words of the vocabulary; at most one word has a constant.  A word that divides the
 * values in all cases is nearly always a factor, so the search follows few branches. */
static const char *search_product(rkb_sizes_t *sizes, const int64_t at[RKB_PROBES], uint32_t first, uint32_t words, int depth) {
   int64_t rest[RKB_PROBES];
   const uint32_t found = known(sizes, at);
   if (found != UINT32_MAX)
      return wrapped(sizes, sizes->list[found].text);
   for (uint32_t i = 0; i < words; i++) {
      const char *text = sizes->list[i].constant ? NULL : with_constant(sizes, &sizes->list[i], at);
      if (text)
         return wrapped(sizes, text);
   }
   for (uint32_t i = first; depth > 0 && i < words; i++) {
      if (sizes->list[i].constant || !combine('/', at, sizes->list[i].at, rest))
         continue;
      const char *text = search_product(sizes, rest, i, words, depth - 1);
      if (text)
         return rkb_arena_format(sizes->arena, "%s * %s", text, wrapped(sizes, sizes->list[i].text));
   }
   return NULL;
}

uint32_t rkb_sizes_find(rkb_sizes_t *sizes, const int64_t at[RKB_PROBES]) {
   const uint32_t found = known(sizes, at);
   if (found != UINT32_MAX)
      return found;
   bool constant = true;
   for (uint32_t p = 1; p < RKB_PROBES; p++)
      constant &= at[p] == at[0];
   const char *text = constant ? "" : search(sizes, at, sizes->vocabulary, 0);
   if (!text)
      text = search(sizes, at, sizes->vocabulary, 1);
   if (!text)
      text = search_product(sizes, at, 0, sizes->vocabulary, 6);
   if (!text)
      text = search(sizes, at, sizes->vocabulary, 2);
   return text ? add(sizes, text, at) : UINT32_MAX;
}
