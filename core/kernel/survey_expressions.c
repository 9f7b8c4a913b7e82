/* The expressions of a manifest that a survey evaluates (survey_expressions.h). */
#include "kernel/survey_expressions.h"

#include "base/name_table.h"

/* State of going through a manifest.  This is done twice: first to count expressions, without a list, then to fill the list. */
typedef struct walk {
   survey_expressions_t *list; /* NULL: only counts */
   rkb_name_table_t texts;     /* texts of expressions of launches that always run, and of tensor maps */
   uint32_t *of_texts;         /* the expression that has a text */
   uint32_t expression_count;
   bool always; /* whether the expressions mentioned now are evaluated at each shape */
   rkb_lookup_t is_value;
   void *argument;
   uint32_t count; /* mentions so far */
} walk_t;

/* Returns the number of the expression with the same text. */
static uint32_t number_of(walk_t *walk, const rkb_expression_t *expression) {
   const char *text = rkb_expression_text(expression);
   const uint32_t known = walk->always ? rkb_name_table_find(&walk->texts, text) : UINT32_MAX;
   if (known != UINT32_MAX)
      return walk->of_texts[known];
   const uint32_t number = walk->expression_count++;
   walk->list->expressions[number].expression = expression;
   if (walk->always) {
      walk->of_texts[walk->texts.count] = number;
      rkb_name_table_add(&walk->texts, text);
   }
   return number;
}

/* Mentions expressions of which no other expression needs the value. */
static void mention(walk_t *walk, rkb_expression_t *const *expressions, uint32_t count) {
   for (uint32_t i = 0; expressions && i < count; i++) {
      if (!expressions[i] || !rkb_expression_can_decide(expressions[i]))
         continue;
      if (walk->list)
         walk->list->mentions[walk->count] = number_of(walk, expressions[i]);
      walk->count++;
   }
}

/* Mentions an argument's expression.  If its head is the name of no number, the head is a buffer or a tensor map. */
static void mention_argument(walk_t *walk, const manifest_argument_t *argument) {
   rkb_value_t value;
   for (uint32_t i = 0; i < argument->member_count; i++)
      mention_argument(walk, &argument->members[i]);
   if (argument->members || argument->null)
      return;
   const bool points =
      argument->head && argument->simple && !walk->is_value(walk->argument, argument->head, &value);
   mention(walk, points ? &argument->tail : &argument->whole, 1);
}

static void mention_launch(walk_t *walk, const manifest_launch_t *launch) {
   mention(walk, launch->grid, launch->grid_count);
   mention(walk, launch->block, launch->block_count);
   mention(walk, &launch->shared, 1);
   mention(walk, launch->cluster, launch->cluster_count);
   for (uint32_t i = 0; i < launch->argument_count; i++)
      mention_argument(walk, &launch->arguments[i]);
}

static void mention_map(walk_t *walk, const manifest_map_t *map) {
   const uint32_t rank = map->rank, pixel_rank = rank > 2 ? rank - 2 : 0;
   rkb_expression_t *const others[] = {map->offset, map->channels, map->pixels};
   mention(walk, map->dims, rank);
   mention(walk, map->strides, rank ? rank - 1 : 0);
   mention(walk, map->box, rank);
   mention(walk, map->steps, rank);
   mention(walk, map->lower, pixel_rank);
   mention(walk, map->upper, pixel_rank);
   mention(walk, others, 3);
}

static void walk_manifest(walk_t *walk, const manifest_t *manifest) {
   walk->count = 0;
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      walk->always = !launch->when && !launch->is_else;
      mention_launch(walk, launch);
      if (!walk->list)
         continue;
      walk->list->whens[i] = launch->when ? number_of(walk, launch->when) : SURVEY_NO_EXPRESSION;
      walk->list->ends[i] = walk->count;
   }
   walk->always = true;
   for (uint32_t i = 0; i < manifest->map_count; i++)
      mention_map(walk, &manifest->maps[i]);
}

void survey_expressions_make(survey_expressions_t *list, const manifest_t *manifest, rkb_lookup_t is_value,
                             void *argument, rkb_arena_t *arena) {
   const uint32_t launches = manifest->public.launch_count;
   walk_t walk = {.is_value = is_value, .argument = argument};
   walk_manifest(&walk, manifest);
   const uint32_t most = walk.count + launches;
   *list = (survey_expressions_t){
      .expressions = rkb_arena_array(arena, most + 1, sizeof *list->expressions),
      .mentions = rkb_arena_array(arena, walk.count + 1, sizeof *list->mentions),
      .whens = rkb_arena_array(arena, launches + 1, sizeof *list->whens),
      .ends = rkb_arena_array(arena, launches + 1, sizeof *list->ends),
      .mention_count = walk.count,
   };
   walk.of_texts = rkb_arena_array(arena, most + 1, sizeof *walk.of_texts);
   rkb_name_table_make(&walk.texts, arena, most);
   walk.list = list;
   walk_manifest(&walk, manifest);
}
