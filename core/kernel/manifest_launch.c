/* The launches of a manifest: kernels, conditions, dimensions; manifest_arguments.c has their arguments.  Everything parsed lives in the
 * manifest's arena; one thread. */
#include "kernel/manifest_keys.h"
#include "kernel/manifest_parser.h"

#include <string.h>

static void parse_constants(manifest_parser_t *parser, const rkb_yaml_t *node, manifest_launch_t *launch) {
   uint32_t count = manifest_entries(parser, node, RKB_YAML_MAP, "constants", RKB_MANIFEST_MAX_ENTRIES);
   launch->constants = rkb_arena_array(parser->arena, count + 1, sizeof *launch->constants);
   for (uint32_t i = 0; i < count; i++) {
      launch->constants[i].symbol = node->keys[i]->text;
      launch->constants[i].place = node->keys[i]->place;
      manifest_check_name(parser, node->keys[i], "constant symbol");
      rkb_yaml_scalar(node->items[i], "the tensor of a constant", &launch->constants[i].tensor,
                      parser->problems);
   }
   launch->constant_count = count;
}

static bool parse_dimensions(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                             rkb_expression_t ***list, uint32_t *count, const char **written, bool required) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   if (!manifest_expressions(parser, map, key, list, count, written))
      return false;
   if (*count > 3)
      rkb_problem(parser->problems, node->place, "%s has %u dimensions; at most 3 are allowed", key, *count);
   else if (!*count && (required || node))
      rkb_problem(parser->problems, node ? node->place : map->place,
                  "this launch needs %s: with 1 to 3 expressions", key);
   return *count >= 1 && *count <= 3;
}

static void parse_kernel(manifest_parser_t *parser, const rkb_yaml_t *map, manifest_launch_t *launch,
                         rkb_launch_text_t *text) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "kernel");
   const char *why = NULL;
   if (!node) {
      rkb_problem(parser->problems, map->place, "this launch needs kernel: NAME");
      return;
   }
   launch->kernel_place = manifest_text_place(node);
   if (!rkb_yaml_scalar(node, "kernel", &launch->kernel, parser->problems))
      return;
   text->kernel = launch->kernel;
   if (!manifest_kernel_name(launch->kernel, &why))
      rkb_problem(parser->problems, launch->kernel_place, "'%.64s' cannot name a kernel: %s", launch->kernel,
                  why);
}

static void parse_launch(manifest_parser_t *parser, const rkb_yaml_t *map, uint32_t index,
                         manifest_launch_t *launch, rkb_launch_text_t *text) {
   const rkb_yaml_t *otherwise = rkb_yaml_get(map, "else"), *cooperative = rkb_yaml_get(map, "cooperative"),
                    *dependent = rkb_yaml_get(map, "dependent");
   *text = (rkb_launch_text_t){
      .kernel = "", .when = "", .grid = "", .block = "", .shared = "", .cluster = "", .args = ""};
   launch->place = map->place;
   text->line = map->place.line;
   text->column = map->place.column;
   rkb_keys_only(RKB_MANIFEST_KEYS, map, "a launch", RKB_MANIFEST_LAUNCHES, parser->problems);
   parse_kernel(parser, map, launch, text);
   manifest_one_expression(parser, map, "when", &launch->when, &text->when);
   if (otherwise) {
      bool value = true;
      if (!rkb_yaml_is_null(otherwise) &&
          (!rkb_yaml_bool(otherwise, "else", &value, parser->problems) || !value))
         rkb_problem(parser->problems, otherwise->place, "else: stands alone; put a condition into when:");
      if (index == 0)
         rkb_problem(parser->problems, otherwise->place,
                     "else: joins the launch before it, and this is the first");
      launch->is_else = true;
   }
   parse_dimensions(parser, map, "grid", &launch->grid, &launch->grid_count, &text->grid, true);
   parse_dimensions(parser, map, "block", &launch->block, &launch->block_count, &text->block, true);
   parse_dimensions(parser, map, "cluster", &launch->cluster, &launch->cluster_count, &text->cluster, false);
   manifest_one_expression(parser, map, "shared", &launch->shared, &text->shared);
   if (cooperative)
      rkb_yaml_bool(cooperative, "cooperative", &launch->cooperative, parser->problems);
   if (dependent && rkb_yaml_bool(dependent, "dependent", &launch->dependent, parser->problems) &&
       launch->dependent && index == 0)
      rkb_problem(parser->problems, dependent->place,
                  "dependent: this is the first launch, and depends on none");
   text->dependent = launch->dependent;
   text->is_else = launch->is_else;
   text->cooperative = launch->cooperative;
   manifest_parse_arguments(parser, map, launch, text);
   parse_constants(parser, rkb_yaml_get(map, "constants"), launch);
}

void manifest_parse_launches(manifest_parser_t *parser, const rkb_yaml_t *root) {
   manifest_t *manifest = parser->manifest;
   const rkb_yaml_t *node = rkb_yaml_get(root, "launches");
   uint32_t count = manifest_entries(parser, node, RKB_YAML_LIST, "launches", RKB_MANIFEST_MAX_LAUNCHES);
   rkb_launch_text_t *texts = rkb_arena_array(parser->arena, count + 1, sizeof *texts);
   manifest->launches = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->launches);
   if (!count)
      rkb_problem(parser->problems, node ? node->place : root->place,
                  "the manifest needs launches: with at least one entry");
   for (uint32_t i = 0; i < count; i++) {
      if (rkb_yaml_expect(node->items[i], RKB_YAML_MAP, "a launch", parser->problems))
         parse_launch(parser, node->items[i], i, &manifest->launches[i], &texts[i]);
   }
   manifest->public.launches = texts;
   manifest->public.launch_count = count;
}
