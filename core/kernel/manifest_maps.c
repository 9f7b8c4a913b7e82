/* `maps:` of a manifest: tensor maps, as expressions (docs/kernel-format.md).  Everything parsed lives in the manifest's arena; one
 * thread. */
#include "kernel/manifest_keys.h"
#include "kernel/manifest_parser.h"

#include <string.h>

/* Reads one of several words; its number is the driver's.  An absent word means the first. */
static void parse_word(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                       const char *const *words, const char *allowed, uint32_t *number, rkb_place_t *place) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   const char *text;
   *number = 0;
   if (node)
      *place = node->place;
   if (!node || !rkb_yaml_scalar(node, key, &text, parser->problems))
      return;
   for (uint32_t n = 0; words[n]; n++)
      if (strcmp(words[n], text) == 0) {
         *number = n;
         return;
      }
   rkb_problem(parser->problems, node->place, "unknown %s '%.32s'; use %s", key, text, allowed);
}

static void parse_type(manifest_parser_t *parser, const rkb_yaml_t *map, manifest_map_t *out) {
   out->typed = rkb_yaml_get(map, "dtype") != NULL;
   parse_word(
      parser, map, "dtype", RKB_MAP_TYPES,
      "uint8, uint16, uint32, int32, uint64, int64, float16, float32, float64, bfloat16, float32_ftz, tfloat32 or "
      "tfloat32_ftz",
      &out->type, &out->type_place);
}

/* Reads a list of expressions, one per dimension. */
static void parse_list(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key, uint32_t wanted,
                       rkb_expression_t ***list) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   const char *written;
   uint32_t count = 0;
   *list = NULL;
   if (!node || !manifest_expressions(parser, map, key, list, &count, &written))
      return;
   if (count != wanted)
      rkb_problem(parser->problems, node->place, "%s has %u entries; this map needs %u", key, count, wanted);
}

/* Reads a map whose copies take pixels: the corners of their box, and how many channels of how many pixels. */
static void parse_pixels(manifest_parser_t *parser, const rkb_yaml_t *map, manifest_map_t *out) {
   static const char *const needed[] = {"lower", "upper", "channels", "pixels"};
   const char *written;
   if (rkb_yaml_get(map, "box"))
      rkb_problem(parser->problems, map->place,
                  "the tensor map '%s' has a box and pixels; a copy takes the one or the other", out->name);
   for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
      if (!rkb_yaml_get(map, needed[n]))
         rkb_problem(parser->problems, map->place, "the tensor map '%s' takes pixels and needs %s", out->name,
                     needed[n]);
   if (out->rank && out->rank < 3) {
      rkb_problem(parser->problems, map->place, "dims has %u entries; a map of pixels has 3 to %d dimensions",
                  out->rank, RKB_MAP_MOST_RANK);
      return;
   }
   parse_list(parser, map, "lower", out->rank ? out->rank - 2 : 0, &out->lower);
   parse_list(parser, map, "upper", out->rank ? out->rank - 2 : 0, &out->upper);
   manifest_one_expression(parser, map, "channels", &out->channels, &written);
   manifest_one_expression(parser, map, "pixels", &out->pixels, &written);
}

static void parse_map(manifest_parser_t *parser, const rkb_yaml_t *map, manifest_map_t *out) {
   const rkb_yaml_t *buffer = rkb_yaml_get(map, "buffer"), *dims = rkb_yaml_get(map, "dims");
   const bool pixels = rkb_yaml_get(map, "pixels") || rkb_yaml_get(map, "channels") ||
                       rkb_yaml_get(map, "lower") || rkb_yaml_get(map, "upper");
   const char *written;
   rkb_keys_only(RKB_MANIFEST_KEYS, map, "a tensor map", RKB_MANIFEST_TENSORS, parser->problems);
   if (!buffer || !dims || !(pixels || rkb_yaml_get(map, "box")))
      rkb_problem(parser->problems, map->place, "the tensor map '%s' needs %s", out->name,
                  !buffer ? "a buffer"
                  : !dims ? "dims"
                          : "a box, or pixels");
   else
      rkb_yaml_scalar(buffer, "buffer", &out->buffer, parser->problems);
   manifest_expressions(parser, map, "dims", &out->dims, &out->rank, &written);
   if (out->rank > RKB_MAP_MOST_RANK) {
      rkb_problem(parser->problems, dims->place, "dims has %u entries; a tensor map has 1 to %d dimensions",
                  out->rank, RKB_MAP_MOST_RANK);
      out->rank = 0;
      return;
   }
   parse_list(parser, map, "strides", out->rank ? out->rank - 1 : 0, &out->strides);
   if (pixels)
      parse_pixels(parser, map, out);
   else
      parse_list(parser, map, "box", out->rank, &out->box);
   parse_list(parser, map, "steps", out->rank, &out->steps);
   manifest_one_expression(parser, map, "offset", &out->offset, &written);
   parse_type(parser, map, out);
   parse_word(parser, map, "interleave", RKB_MAP_INTERLEAVES, "none, 16 or 32", &out->interleave,
              &out->interleave_place);
   parse_word(parser, map, "swizzle", RKB_MAP_SWIZZLES, "none, 32, 64 or 128", &out->swizzle,
              &out->swizzle_place);
   parse_word(parser, map, "fill", RKB_MAP_FILLS, "zero or nan", &out->fill, &out->fill_place);
}

void manifest_parse_maps(manifest_parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   const uint32_t count = manifest_entries(parser, node, RKB_YAML_MAP, "maps", RKB_MANIFEST_MAX_ENTRIES);
   const char **names = rkb_arena_array(parser->arena, count + 1, sizeof *names);
   manifest->maps = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->maps);
   for (uint32_t i = 0; i < count; i++) {
      manifest->maps[i].name = names[i] = node->keys[i]->text;
      manifest->maps[i].place = node->keys[i]->place;
      manifest_check_name(parser, node->keys[i], "tensor map");
      if (rkb_yaml_expect(node->items[i], RKB_YAML_MAP, "a tensor map", parser->problems))
         parse_map(parser, node->items[i], &manifest->maps[i]);
   }
   manifest->map_count = manifest->public.map_count = count;
   manifest->public.maps = names;
}
