/* The cells of a sweep: every combination of seeds:, arms: and matrix:, each a pipeline of its own.  This file reads the three keys as
 * axes, opens every cell and keeps its resolved form; core/sweep runs them.  Loop thread. */
#include "pipeline/pipeline_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "pipeline/pipeline_subject.h"

#define MAX_CELLS 1000
#define MAX_AXES 18 /* seeds, arms and 16 paths */
#define MAX_NAME 4096
#define MAX_ARM_NAME 60

/* One axis: a list of choices, of which a cell has one. */
typedef struct axis {
   enum { AXIS_SEEDS, AXIS_ARMS, AXIS_PATH } kind;
   const rkb_yaml_t *values; /* the list of seeds, the mapping of arms, or a path's list */
   const rkb_yaml_t *path;   /* AXIS_PATH: the key */
   rkb_place_t place;
   uint32_t count;
   int64_t first_seed; /* AXIS_SEEDS with a number of seeds: the first of them; values is NULL */
} axis_t;

typedef struct axes {
   axis_t list[MAX_AXES]; /* the first varies slowest */
   uint32_t count;
   uint64_t cells;
} axes_t;

static bool add_axis(const rkb_pipeline_t *pipeline, axes_t *axes, axis_t axis, rkb_problems_t *problems) {
   axes->list[axes->count++] = axis;
   axes->cells *= axis.count;
   if (axes->cells <= MAX_CELLS)
      return true;
   rkb_problem(problems, axis.place, "%s makes more than %d combinations",
               pipeline->matrix ? "matrix" : "a sweep", MAX_CELLS);
   return false;
}

/* Reads seeds: [1, 2, 7], or a number of seeds, counted from `seed` on. */
static bool read_seeds(const rkb_pipeline_t *pipeline, axes_t *axes, rkb_problems_t *problems) {
   const rkb_yaml_t *seeds = pipeline->seeds;
   axis_t axis = {.kind = AXIS_SEEDS, .place = seeds->place, .first_seed = (int64_t)pipeline->seed};
   int64_t value;
   if (pipeline->matrix && rkb_yaml_get(pipeline->matrix, "seed")) {
      rkb_problem(problems, seeds->place, "write the seeds once: seeds: or a path 'seed' of matrix:");
      return false;
   }
   if (seeds->kind == RKB_YAML_LIST) {
      axis.values = seeds;
      axis.count = seeds->count;
      for (uint32_t i = 0; i < seeds->count; i++)
         if (!rkb_yaml_int(seeds->items[i], "seeds", &value, problems))
            return false;
      if (!seeds->count)
         rkb_problem(problems, seeds->place, "seeds: the list of values is empty");
      return seeds->count && add_axis(pipeline, axes, axis, problems);
   }
   if (!rkb_yaml_int(seeds, "seeds", &value, problems))
      return false;
   if (value < 1 || value > MAX_CELLS) {
      rkb_problem(problems, seeds->place, "seeds must be a list, or how many there are: 1 to %d", MAX_CELLS);
      return false;
   }
   axis.count = (uint32_t)value;
   return add_axis(pipeline, axes, axis, problems);
}

static bool arm_name_ok(const char *name) {
   return name[0] && name[0] != '.' && strlen(name) <= MAX_ARM_NAME && !strpbrk(name, "/\\ \t\n:=");
}

/* Reads arms: {name: {path: value, ...}, ...} */
static bool read_arms(const rkb_pipeline_t *pipeline, axes_t *axes, rkb_problems_t *problems) {
   const rkb_yaml_t *arms = pipeline->arms;
   uint32_t before = problems->errors;
   if (!rkb_yaml_expect(arms, RKB_YAML_MAP, "arms", problems))
      return false;
   if (!arms->count)
      rkb_problem(problems, arms->place,
                  "arms is empty; write names, each with paths and values: {narrow: {search.window: 4}}");
   for (uint32_t i = 0; i < arms->count; i++) {
      if (!arm_name_ok(arms->keys[i]->text))
         rkb_problem(problems, arms->keys[i]->place,
                     "'%.80s' is no arm's name; write at most %d letters, digits, '-' and '_'",
                     arms->keys[i]->text, MAX_ARM_NAME);
      if (!rkb_yaml_is_null(arms->items[i])) /* "plain:" changes nothing */
         rkb_yaml_expect(arms->items[i], RKB_YAML_MAP, arms->keys[i]->text, problems);
   }
   if (problems->errors != before)
      return false;
   return add_axis(pipeline, axes,
                   (axis_t){.kind = AXIS_ARMS, .values = arms, .count = arms->count, .place = arms->place},
                   problems);
}

static bool read_matrix(const rkb_pipeline_t *pipeline, axes_t *axes, rkb_problems_t *problems) {
   const rkb_yaml_t *matrix = pipeline->matrix;
   if (!rkb_yaml_expect(matrix, RKB_YAML_MAP, "matrix", problems))
      return false;
   if (!matrix->count || matrix->count > 16) {
      rkb_problem(problems, matrix->place, "matrix takes 1 to 16 paths, each with a list of values");
      return false;
   }
   for (uint32_t i = 0; i < matrix->count; i++) {
      if (!rkb_yaml_expect(matrix->items[i], RKB_YAML_LIST, matrix->keys[i]->text, problems))
         return false;
      if (!matrix->items[i]->count) {
         rkb_problem(problems, matrix->items[i]->place, "%s: the list of values is empty",
                     matrix->keys[i]->text);
         return false;
      }
      if (!add_axis(pipeline, axes,
                    (axis_t){.kind = AXIS_PATH,
                             .path = matrix->keys[i],
                             .values = matrix->items[i],
                             .count = matrix->items[i]->count,
                             .place = matrix->place},
                    problems))
         return false;
   }
   return true;
}

/* Reads the axes.  Seeds vary slowest, so that a sweep that ends early has every arm of its first seeds. */
static bool read_axes(const rkb_pipeline_t *pipeline, axes_t *axes, rkb_problems_t *problems) {
   axes->cells = 1;
   return (!pipeline->seeds || read_seeds(pipeline, axes, problems)) &&
          (!pipeline->arms || read_arms(pipeline, axes, problems)) &&
          (!pipeline->matrix || read_matrix(pipeline, axes, problems));
}

/* Whether the axis is a task, a direction, a target or a seed.  Values of such an axis are not compared with each other. */
static bool is_subject(const axis_t *axis) {
   static const char *const keys[] = {"seed", "task", "direction", "target"};
   for (size_t i = 0; axis->kind == AXIS_PATH && i < sizeof keys / sizeof *keys; i++)
      if (strcmp(axis->path->text, keys[i]) == 0)
         return true;
   return axis->kind == AXIS_SEEDS;
}

static void add_choice(const axis_t *axis, uint32_t chosen, rkb_text_t *name) {
   const rkb_yaml_t *value;
   if (name->length)
      rkb_text_add(name, " ");
   switch (axis->kind) {
   case AXIS_SEEDS:
      if (axis->values)
         rkb_text_format(name, "seed=%s", axis->values->items[chosen]->text);
      else
         rkb_text_format(name, "seed=%lld", (long long)axis->first_seed + chosen);
      return;
   case AXIS_ARMS:
      rkb_text_add(name, axis->values->keys[chosen]->text);
      return;
   case AXIS_PATH:
      value = axis->values->items[chosen];
      rkb_text_format(name, "%s=", axis->path->text);
      if (value->kind == RKB_YAML_SCALAR)
         rkb_text_add(name, value->text);
      else
         rkb_text_format(name, "#%u", chosen + 1);
   }
}

/* Returns a cell's name: the arm, then task, direction and target, then the seed.  arm_alone: only the arm. */
static char *name_of(const axes_t *axes, const uint32_t *chosen, bool arm_alone) {
   rkb_text_t name;
   rkb_text_init(&name, MAX_NAME);
   for (uint32_t i = 0; i < axes->count; i++)
      if (axes->list[i].kind != AXIS_SEEDS && !(arm_alone && is_subject(&axes->list[i])))
         add_choice(&axes->list[i], chosen[i], &name);
   for (uint32_t i = 0; i < axes->count && !arm_alone; i++)
      if (axes->list[i].kind == AXIS_SEEDS)
         add_choice(&axes->list[i], chosen[i], &name);
   return rkb_text_take(&name);
}

static bool apply_choice(rkb_arena_t *arena, rkb_yaml_t *root, const axis_t *axis, uint32_t chosen,
                         rkb_problems_t *problems) {
   const rkb_yaml_t *edits;
   char seed[32];
   bool ok = true;
   switch (axis->kind) {
   case AXIS_SEEDS:
      snprintf(seed, sizeof seed, "%lld", (long long)axis->first_seed + chosen);
      return rkb_tree_set(arena, root, "seed",
                          axis->values ? axis->values->items[chosen]
                                       : rkb_tree_scalar(arena, seed, false, axis->place),
                          axis->place, problems);
   case AXIS_ARMS:
      edits = axis->values->items[chosen];
      for (uint32_t i = 0; ok && edits->kind == RKB_YAML_MAP && i < edits->count; i++)
         ok =
            rkb_tree_set(arena, root, edits->keys[i]->text, edits->items[i], edits->keys[i]->place, problems);
      return ok;
   case AXIS_PATH:
      return rkb_tree_set(arena, root, axis->path->text, axis->values->items[chosen], axis->path->place,
                          problems);
   }
   return false;
}

/* Reports a cell's first problem under the cell's name, unless another cell had the same one. */
static void report(const rkb_problems_t *own, const char *name, const rkb_pipeline_t *pipeline,
                   rkb_place_t place, rkb_problems_t *problems) {
   for (uint32_t i = 0; i < own->count; i++) {
      const rkb_problem_t *problem = &own->list[i];
      if (problem->warning)
         continue;
      for (uint32_t at = 0; at < problems->count; at++) {
         const char *said = strstr(problems->list[at].message, ": ");
         if (problems->list[at].line == problem->line && said && strcmp(said + 2, problem->message) == 0)
            return;
      }
      if (problem->file)
         place = (rkb_place_t){.file = problem->file, .line = problem->line, .column = problem->column};
      else if (!place.file)
         place.file = pipeline->path;
      rkb_problem(problems, place, "with %s: %s", name, problem->message);
      return;
   }
}

/* Opens one cell as a pipeline, without plugins of its own, and keeps its resolved form. */
static void open_cell(const rkb_pipeline_t *pipeline, const axes_t *axes, const uint32_t *chosen,
                      rkb_pipeline_cell_t *cell, rkb_problems_t *problems) {
   rkb_problems_t own;
   rkb_error_t err;
   rkb_pipeline_t *open = rkb_pipeline_new(pipeline->path);
   rkb_problems_init(&own);
   open->registry = pipeline->registry;
   open->borrowed_registry = true;
   open->root = rkb_tree_copy(open->arena, pipeline->root);
   for (uint32_t i = 0; i < axes->count; i++)
      if (!apply_choice(open->arena, open->root, &axes->list[i], chosen[i], &own))
         break;
   bool ok = !own.errors && rkb_pipeline_read(open, &own) && rkb_subject_load(open, &own) &&
             rkb_pipeline_resolve(open);
   if (ok) {
      cell->text = rkb_duplicate(rkb_text_get(&open->text));
      cell->seed = open->seed;
      cell->task = rkb_duplicate(rkb_subject_task_name(open));
      cell->direction = rkb_duplicate(rkb_subject_direction(open));
      cell->target = rkb_duplicate(open->target ? open->target : "");
   } else if (!own.errors && rkb_arena_fail(open->arena, "the pipeline", &err) != RKB_OK) {
      rkb_problem(&own, axes->list[0].place, "%s", err.message);
   }
   report(&own, cell->name, pipeline, axes->list[0].place, problems);
   rkb_pipeline_close(open);
   rkb_problems_free(&own);
}

/* Refuses two cells with the same text, which would be the same run twice. */
static void refuse_equal_cells(const rkb_pipeline_t *pipeline, const axes_t *axes, rkb_problems_t *problems) {
   for (uint32_t i = 0; i < pipeline->cell_count; i++)
      for (uint32_t earlier = 0; earlier < i; earlier++)
         if (strcmp(pipeline->cells[i].text, pipeline->cells[earlier].text) == 0) {
            rkb_problem(problems, axes->list[0].place, "'%s' and '%s' are the same pipeline; leave one out",
                        pipeline->cells[earlier].name, pipeline->cells[i].name);
            return;
         }
}

bool rkb_pipeline_expand(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   axes_t axes = {.count = 0};
   if (!rkb_pipeline_is_sweep(pipeline))
      return true;
   if (!read_axes(pipeline, &axes, problems))
      return false;
   pipeline->cells = rkb_allocate(axes.cells, sizeof *pipeline->cells);
   for (uint64_t at = 0; at < axes.cells; at++) {
      uint32_t chosen[MAX_AXES];
      uint64_t rest = at;
      rkb_pipeline_cell_t *cell = &pipeline->cells[pipeline->cell_count++];
      for (uint32_t i = axes.count; i-- > 0;) { /* the last axis varies fastest */
         chosen[i] = (uint32_t)(rest % axes.list[i].count);
         rest /= axes.list[i].count;
      }
      cell->name = name_of(&axes, chosen, false);
      cell->arm = name_of(&axes, chosen, true);
      if (!cell->arm[0]) { /* there is only one arm: the sweep repeats one pipeline */
         free(cell->arm);
         cell->arm = rkb_duplicate(pipeline->name);
      }
      open_cell(pipeline, &axes, chosen, cell, problems);
   }
   if (problems->errors == before)
      refuse_equal_cells(pipeline, &axes, problems);
   return problems->errors == before;
}
