/* rkb-bounds: do correct fp32 kernels stay inside both bounds, and do lower precisions fall outside?
 *
 *   rkb-bounds [--seeds N] [--first SEED] [--direction forward|backward] [--verbose] TASK_DIRECTORY...
 *
 * For every task, direction, check case and family: fp32 in several orders of summation, with and without
 * contraction, with rough approximate functions, with one-pass variances, and 3xTF32, as a share of each
 * bound (1 is the bound).  For matrix products and convolutions: TF32, bf16 and half, which must break hard
 * on the probes of every case, or stat on normal data. Tasks of other classes admit what their class does, and
 * what is lower than that must be seen.  Exit status 1 when a correct kernel is outside, or a lower precision
 * inside. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "float_program.h"
#include "reference/dtype.h"
#include "reference/operations/convert.h"

typedef struct worst {
   double hard, stat, most_ambiguous;
   uint64_t rejected, judged, ambiguous, dont_care;
   char where[160];
} worst_t;

typedef struct sweep {
   const rkb_task_t *task;
   float_plan_t *plan;  /* of the case at hand */
   uint64_t first, end; /* seeds, first included and end not */
   bool verbose;
   worst_t worst;
   uint64_t wanted,
      shown; /* lower precisions in products: those that some case must show, those that one did */
} sweep_t;

static void store_float(uint32_t dtype, const double *from, uint64_t count, void **out) {
   *out = malloc(count * 8 + 8);
   if (!*out)
      abort();
   rkb_dtype_store(dtype, from, count, *out);
}

/* Judges one run of one family; true when it is rejected or suspect. */
static bool judge_run(float_plan_t *plan, const rkb_inputs_t *inputs, const rkb_expected_t *expected,
                      const float_mode_t *mode, worst_t *worst, bool transform) {
   const rkb_case_t *view = &inputs->bound->view;
   double *outputs[3 * RKB_MAX_TENSORS];
   bool rejected = false;
   float_run(plan, inputs, mode, outputs);
   for (uint32_t t = 0; t < view->tensor_count; t++) {
      if (!outputs[t])
         continue;
      if (view->tensors[t].role == RKB_IN) { /* saved by the forward pass */
         free(outputs[t]);
         continue;
      }
      rkb_points_t points = rkb_task_expected_points(expected, t);
      rkb_judgement_t judgement;
      rkb_error_t err = {0};
      void *data;
      store_float(view->tensors[t].dtype, outputs[t], points.count, &data);
      if (rkb_task_judge(inputs, t, data, NULL, &points, NULL, transform, &judgement, &err) != RKB_OK) {
         printf("   REFUSED %s\n", err.message);
         if (worst)
            worst->rejected++;
      }
      rejected |= judgement.standing_is_reject;
      if (worst) {
         bool new_worst = judgement.worst_hard > worst->hard || judgement.worst_stat > worst->stat;
         worst->hard = fmax(worst->hard, judgement.worst_hard);
         worst->stat = fmax(worst->stat, judgement.worst_stat);
         worst->judged += judgement.judged;
         worst->ambiguous += judgement.ambiguous;
         if (points.count > 16)
            worst->most_ambiguous =
               fmax(worst->most_ambiguous, (double)judgement.ambiguous / (double)points.count);
         worst->dont_care += judgement.dont_care;
         worst->rejected += judgement.standing_is_reject;
         if (new_worst || judgement.standing_is_reject)
            snprintf(worst->where, sizeof worst->where, "%s %s, %s: %s element %llu%s%s", view->name,
                     inputs->family->view.name, mode->name, view->tensors[t].name,
                     (unsigned long long)judgement.element, *judgement.reason ? ", " : "", judgement.reason);
         if (judgement.standing_is_reject)
            printf("   REJECTED %s got %.9g want %.9g bound %.3g (%s)\n", worst->where, judgement.got,
                   judgement.want, judgement.bound, judgement.bound_name);
      }
      free(data);
      free(outputs[t]);
   }
   return rejected;
}

#define MOST_PRODUCTS 10u
#define LOW_BITS 6u /* low modes: a bit of each product */

/* Whether a value is a task tensor, through operations that only move elements and conversions to a wider type. */
static bool is_tensor(const rkb_program_t *program, uint32_t value) {
   while (program->values[value].node >= 0) {
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      if (!node->operation->moves && !rkb_program_widens(program, node))
         return false;
      value = node->inputs[0];
   }
   return true;
}

/* Significant bits of the numbers of a type. */
static int significant_bits(uint32_t dtype) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   return narrow ? narrow->bits : rkb_dtype_bytes(dtype) == 1 ? 8 : 24;
}

/* Whether a correct kernel of the class may compute its products so; half has tf32's significand, so that it is
 * neither demanded nor forbidden there. */
static bool admits(const char *precision, enum float_products products) {
   if (strcmp(precision, "tf32") == 0)
      return products == PRODUCTS_TF32;
   if (strcmp(precision, "fp16") == 0)
      return products == PRODUCTS_TF32 || products == PRODUCTS_HALF;
   if (strcmp(precision, "fp8") == 0)
      return products == PRODUCTS_TF32 || products == PRODUCTS_BF16 || products == PRODUCTS_EIGHTH_SUMS;
   return strcmp(precision, "bf16") == 0 && (products == PRODUCTS_TF32 || products == PRODUCTS_BF16);
}

/* Whether a kernel that computes a product so has to be seen: one that holds a factor in fewer bits than it has and the class
 * admits, or that adds in the type of factors stored narrow. */
static bool is_lower(const char *precision, const rkb_program_t *program, const rkb_program_node_t *node,
                     enum float_products products) {
   const uint32_t left = rkb_program_kept_type(program, node->inputs[0]),
                  right = rkb_program_kept_type(program, node->inputs[1]);
   const bool tensors = is_tensor(program, node->inputs[0]) && is_tensor(program, node->inputs[1]);
   if (products == PRODUCTS_NARROW_SUMS)
      return tensors && rkb_dtype_narrow(left) && rkb_dtype_narrow(right) &&
             node->operation->depth(program, node) > 16;
   if (products == PRODUCTS_EIGHTH_SUMS)
      return false;
   const int bits =
      significant_bits(left) > significant_bits(right) ? significant_bits(left) : significant_bits(right);
   if (bits <= (products == PRODUCTS_FP8 ? 4 : products == PRODUCTS_BF16 ? 8 : 11))
      return false;
   if (strcmp(precision, "bf16") == 0)
      return products == PRODUCTS_FP8;
   if (strncmp(precision, "fp32", 4) == 0 || strcmp(precision, "int8") == 0)
      return products != PRODUCTS_FP8; /* TF32, bf16 and half are said; what is lower still follows */
   return products == (strcmp(precision, "fp8") == 0 ? PRODUCTS_FP8 : PRODUCTS_BF16);
}

/* The lower precisions that a product has to show, a bit each. */
static uint64_t low_of(const rkb_bound_t *bound, const rkb_program_node_t *node) {
   uint64_t low = 0;
   for (uint32_t m = 0; low_modes[m].name; m++)
      low |= (uint64_t)is_lower(bound->definition->precision, bound->program, node, low_modes[m].products)
             << m;
   return low;
}

static uint32_t products_of(const rkb_program_t *program) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < program->node_count && count < MOST_PRODUCTS; i++)
      count += program->nodes[i].operation->depth != NULL;
   return count;
}

/* Tries each lower precision in each product alone; shown has a bit for each that was seen. */
static void show_low(float_plan_t *plan, const rkb_inputs_t *inputs, const rkb_expected_t *expected,
                     uint64_t *shown) {
   const rkb_program_t *program = inputs->bound->program;
   for (uint32_t i = 0, p = 0; i < program->node_count && p < MOST_PRODUCTS; i++) {
      if (!program->nodes[i].operation->depth)
         continue;
      const uint64_t low = low_of(inputs->bound, &program->nodes[i]);
      for (uint32_t m = 0; low_modes[m].name; m++) {
         uint64_t bit = UINT64_C(1) << (LOW_BITS * p + m);
         if (!(low >> m & 1))
            continue;
         float_mode_t mode = low_modes[m];
         mode.only = p + 1;
         if (!(*shown & bit) && judge_run(plan, inputs, expected, &mode, NULL, false))
            *shown |= bit;
      }
      p++;
   }
}

/* Bits of the products whose numbers reach an output, rather than only a decision (the sign a relu's gradient
 * asks for, which element was the largest): a lower precision that moves no decision past its bounds is no
 * fault. */
static uint64_t all_shown(const rkb_case_t *the_case) {
   const rkb_program_t *program = rkb_bound_of(the_case)->program;
   bool *reaches = calloc(program->value_count + 1, sizeof *reaches);
   uint64_t bits = 0;
   uint32_t product = 0;
   if (!reaches)
      abort();
   for (uint32_t i = 0; i < program->tensor_count; i++)
      if (program->outputs[i] != RKB_NO_VALUE)
         reaches[program->outputs[i]] = true;
   for (uint32_t i = program->node_count; i-- > 0;) {
      const rkb_program_node_t *node = &program->nodes[i];
      bool step = strcmp(node->operation->name, "step") == 0,
           first = strcmp(node->operation->name, "max_pool_gradient") == 0 ||
                   strcmp(node->operation->name, "allowance") == 0; /* its other operands widen bounds */
      for (uint32_t j = 0; reaches[node->output] && !step && j < (first ? 1 : node->input_count); j++)
         reaches[node->inputs[j]] = true;
   }
   for (uint32_t i = 0; i < program->node_count && product < MOST_PRODUCTS; i++)
      if (program->nodes[i].operation->depth)
         bits |= (reaches[program->nodes[i].output] ? low_of(rkb_bound_of(the_case), &program->nodes[i]) : 0)
                 << LOW_BITS * product++;
   free(reaches);
   return bits;
}

#define EXTRA_SEEDS 8 /* a case of one element shows nothing while its relu is shut */

/* Lower precisions alone, on further seeds, until all are shown. */
static uint64_t show_more(const sweep_t *sweep, const rkb_case_t *the_case, uint64_t shown) {
   const rkb_family_t *family;
   for (uint64_t seed = sweep->end;
        (shown & all_shown(the_case)) != all_shown(the_case) && seed < sweep->end + EXTRA_SEEDS; seed++)
      for (uint32_t f = 0; (family = rkb_task_family(sweep->task, the_case, f)) != NULL; f++) {
         rkb_inputs_t *inputs;
         rkb_expected_t *expected;
         rkb_error_t err = {0};
         if (!family->decides_precision)
            continue;
         if (rkb_task_inputs_open(sweep->task, the_case, family, seed, &inputs, &err) != RKB_OK ||
             rkb_task_expect(inputs, &expected, &err) != RKB_OK)
            abort();
         show_low(sweep->plan, inputs, expected, &shown);
         rkb_task_expected_free(expected);
         rkb_task_inputs_free(inputs);
      }
   return shown;
}

/* Lower precisions that pass the probes of this case, whatever its depth: bits of the products whose factors are task
 * tensors, which probes can choose. */
static uint64_t pass_probes(const sweep_t *sweep, const rkb_case_t *the_case) {
   const rkb_program_t *program = rkb_bound_of(the_case)->program;
   const rkb_family_t *family;
   uint64_t wanted = 0, shown = 0;
   uint32_t product = 0;
   for (uint32_t i = 0; i < program->node_count && product < MOST_PRODUCTS; i++)
      if (program->nodes[i].operation->depth) {
         bool chosen = is_tensor(program, program->nodes[i].inputs[0]) &&
                       is_tensor(program, program->nodes[i].inputs[1]);
         wanted |= chosen ? ((UINT64_C(1) << LOW_BITS) - 1) << LOW_BITS * product : 0;
         product++;
      }
   wanted &= all_shown(the_case);
   for (uint32_t p = 0; p < product;
        p++) /* probes have few terms a sum: where they are added is for normal data to show */
      for (uint32_t m = 0; low_modes[m].name; m++)
         if (low_modes[m].products == PRODUCTS_NARROW_SUMS)
            wanted &= ~(UINT64_C(1) << (LOW_BITS * p + m));
   for (uint32_t i = 0; i < program->node_count; i++)
      if (strcmp(program->nodes[i].operation->name, "softmax") ==
          0) /* a row of one key hides what is before it */
         wanted = 0;
   for (uint64_t seed = 0; (wanted & ~shown) && seed < EXTRA_SEEDS; seed++)
      for (uint32_t f = 0; (family = rkb_task_family(sweep->task, the_case, f)) != NULL; f++) {
         rkb_inputs_t *inputs;
         rkb_expected_t *expected;
         rkb_error_t err = {0};
         if (strncmp(family->name, "probe_", 6) != 0)
            continue;
         if (rkb_task_inputs_open(sweep->task, the_case, family, seed, &inputs, &err) != RKB_OK ||
             rkb_task_expect(inputs, &expected, &err) != RKB_OK)
            abort();
         show_low(sweep->plan, inputs, expected, &shown);
         rkb_task_expected_free(expected);
         rkb_task_inputs_free(inputs);
      }
   return wanted & ~shown;
}

/* One seed of one case: correct modes, and which lower precisions some family shows (bits). */
static uint64_t sweep_case(sweep_t *sweep, const rkb_case_t *the_case, uint64_t seed) {
   const rkb_family_t *family;
   uint64_t shown = 0;
   for (uint32_t f = 0; (family = rkb_task_family(sweep->task, the_case, f)) != NULL; f++) {
      rkb_inputs_t *inputs;
      rkb_expected_t *expected;
      rkb_error_t err = {0};
      if (rkb_task_inputs_open(sweep->task, the_case, family, seed, &inputs, &err) != RKB_OK ||
          rkb_task_expect(inputs, &expected, &err) != RKB_OK) {
         printf("%s\n", err.message);
         exit(1);
      }
      for (uint32_t m = 0; float_modes[m].name; m++) {
         /* Splitting is inexact on exact data, which is what "algorithm: transform" declares. */
         bool transform = float_modes[m].products != PRODUCTS_FULL;
         if (m > 0 &&
             (m + f + seed) % 3 != 0) /* plain fp32 always, a third of the others a family and seed */
            continue;
         judge_run(sweep->plan, inputs, expected, &float_modes[m], &sweep->worst, transform);
      }
      const char *precision = inputs->bound->definition->precision;
      for (uint32_t m = 0; low_modes[m].name; m++)
         if (admits(precision, low_modes[m].products))
            judge_run(sweep->plan, inputs, expected, &low_modes[m], &sweep->worst, true);
      if (strcmp(precision, "fp32-fast") == 0)
         judge_run(sweep->plan, inputs, expected, &fast_mode, &sweep->worst, false);
      if (family->decides_precision)
         show_low(sweep->plan, inputs, expected, &shown);
      rkb_task_expected_free(expected);
      rkb_task_inputs_free(inputs);
   }
   return shown;
}

static void sweep_task(sweep_t *sweep, const char *directory, const char *direction, bool *failed) {
   const rkb_case_t *the_case;
   for (uint32_t i = 0; (the_case = rkb_task_case(sweep->task, RKB_CASE_CHECK, i)) != NULL; i++) {
      uint64_t shown = 0;
      sweep->plan = float_plan_new(rkb_bound_of(the_case)->program);
      for (uint64_t seed = sweep->first; seed < sweep->end; seed++)
         shown |= sweep_case(sweep, the_case, seed);
      if (products_of(rkb_bound_of(the_case)->program)) {
         sweep->wanted |= all_shown(the_case);
         if ((sweep->shown & sweep->wanted) != sweep->wanted)
            shown = show_more(sweep, the_case, shown);
         sweep->shown |= shown;
         uint64_t passed = pass_probes(sweep, the_case);
         for (uint32_t bit = 0; bit < LOW_BITS * MOST_PRODUCTS; bit++)
            if (passed >> bit & 1)
               printf("   %s in product %u passes the probes of %s\n", low_modes[bit % LOW_BITS].name,
                      bit / LOW_BITS + 1, the_case->name);
         *failed |= passed != 0;
      }
      float_plan_free(sweep->plan);
   }
   uint64_t missed = sweep->wanted & ~sweep->shown;
   for (uint32_t bit = 0; bit < LOW_BITS * MOST_PRODUCTS; bit++)
      if (missed >> bit & 1)
         printf("   %s in product %u passes unseen\n", low_modes[bit % LOW_BITS].name, bit / LOW_BITS + 1);
   const char *name = strrchr(directory, '/');
   const worst_t *worst = &sweep->worst;
   printf("%-26s %-9s %8.3f %8.3f  %6.4f%% %6.2f%% %6.2f%%  %3u/%-3u  %s\n", name ? name + 1 : directory,
          direction, worst->hard, worst->stat, 100.0 * (double)worst->ambiguous / (double)(worst->judged + 1),
          100 * worst->most_ambiguous,
          100.0 * (double)worst->dont_care / (double)(worst->judged + worst->dont_care + 1),
          (uint32_t)__builtin_popcountll(sweep->wanted & sweep->shown),
          (uint32_t)__builtin_popcountll(sweep->wanted), sweep->verbose ? worst->where : "");
   fflush(stdout);
   *failed |= worst->rejected > 0 || missed > 0;
}

int main(int argc, char **argv) {
   uint64_t seeds = 1, first = 0;
   bool verbose = false, failed = false;
   const char *only = NULL; /* direction */
   printf("%-26s %-9s %8s %8s  %7s %7s %7s  %7s\n", "task", "", "hard", "stat", "ambig", "at most", "no care",
          "caught");
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
         seeds = strtoull(argv[++i], NULL, 10);
         continue;
      }
      if (strcmp(argv[i], "--direction") == 0 && i + 1 < argc) {
         only = argv[++i];
         continue;
      }
      if (strcmp(argv[i], "--first") == 0 && i + 1 < argc) {
         first = strtoull(argv[++i], NULL, 10);
         continue;
      }
      if (strcmp(argv[i], "--verbose") == 0) {
         verbose = true;
         continue;
      }
      for (int backward = 0; backward < 2; backward++) {
         if (only && strcmp(only, backward ? "backward" : "forward") != 0)
            continue;
         rkb_problems_t problems;
         rkb_text_t text;
         rkb_problems_init(&problems);
         rkb_task_t *task = rkb_task_load(argv[i], backward ? "backward" : "forward", 0, &problems);
         rkb_text_init(&text, 1 << 16);
         rkb_problems_write(&problems, &text);
         if (task) {
            sweep_t sweep = {.task = task, .first = first, .end = first + seeds, .verbose = verbose};
            sweep_task(&sweep, argv[i], backward ? "backward" : "forward", &failed);
         } else if (only || !backward || !strstr(rkb_text_get(&text), "has no direction")) {
            printf("%s", rkb_text_get(&text));
            failed = true;
         }
         rkb_text_free(&text);
         rkb_problems_free(&problems);
         rkb_task_free(task);
      }
   }
   return failed;
}
