/* Makes the tensor maps of a plan: those of a manifest's `maps:` that a launch uses, with every expression
 * evaluated and checked against the encoder's rules.  One thread per plan. */
#include "kernel/plan.h"
#include "kernel/tensor_map.h"

#include <string.h>

static bool natural(planner_t *planner, const rkb_expression_t *expression, const char *what, uint64_t most,
                    uint64_t *out) {
   int64_t value;
   if (!planner_integer(planner, expression, &value))
      return false;
   if (value < 0 || (uint64_t)value > most) {
      planner_find(planner, "plan.map", rkb_expression_place(expression), "%s is %lld; it is 0 to %llu", what,
                   (long long)value, (unsigned long long)most);
      return false;
   }
   *out = (uint64_t)value;
   return true;
}

/* Strides in bytes.  When the manifest has none, each dimension follows the previous one without a gap. */
static bool strides(planner_t *planner, const manifest_map_t *from, uint32_t element, rkb_plan_map_t *map) {
   uint64_t dense = map->interleave ? 8u << map->interleave : element; /* with an interleaved layout, an element is a slice of channels */
   for (uint32_t k = 1; k < map->rank; k++) {
      uint64_t elements;
      if (from->strides &&
          !natural(planner, from->strides[k - 1], "a stride", UINT32_MAX * UINT64_C(256), &elements))
         return false;
      dense =
         dense <= (UINT64_MAX >> 8) / (map->dims[k - 1] + 1) ? dense * map->dims[k - 1] : UINT64_MAX >> 8;
      map->strides[k - 1] = from->strides ? elements * element : dense;
   }
   return true;
}

/* A distance in pixels.  Only its range is checked here; the map's rules decide the rest. */
static bool corner(planner_t *planner, const rkb_expression_t *expression, int32_t *out) {
   int64_t value;
   if (!planner_integer(planner, expression, &value))
      return false;
   if (value != (int32_t)value) {
      planner_find(planner, "plan.map", rkb_expression_place(expression),
                   "a corner of the box of pixels is %lld", (long long)value);
      return false;
   }
   *out = (int32_t)value;
   return true;
}

static bool pixels(planner_t *planner, const manifest_map_t *from, rkb_plan_map_t *map) {
   uint64_t channels = 0, count = 0;
   for (uint32_t k = 0; k + 2 < map->rank; k++)
      if (!corner(planner, from->lower[k], &map->lower[k]) ||
          !corner(planner, from->upper[k], &map->upper[k]))
         return false;
   if (!natural(planner, from->channels, "the number of channels", UINT32_MAX, &channels) ||
       !natural(planner, from->pixels, "the number of pixels", UINT32_MAX, &count))
      return false;
   map->im2col = 1;
   map->channels = (uint32_t)channels;
   map->pixels = (uint32_t)count;
   return true;
}

static bool numbers(planner_t *planner, const manifest_map_t *from, rkb_plan_map_t *map) {
   const uint32_t element = rkb_tensor_map_element(map->type);
   uint64_t value = 0;
   if (from->pixels && !pixels(planner, from, map))
      return false;
   for (uint32_t k = 0; k < map->rank; k++) {
      if (!natural(planner, from->dims[k], "a dimension", UINT64_C(1) << 33, &map->dims[k]) ||
          (from->box && !natural(planner, from->box[k], "an extent of the box", UINT32_MAX, &value)))
         return false;
      map->box[k] = from->box ? (uint32_t)value : 0;
      map->element_strides[k] = 1;
      if (from->steps && !natural(planner, from->steps[k], "a step", UINT32_MAX, &value))
         return false;
      map->element_strides[k] = from->steps ? (uint32_t)value : 1;
   }
   if (from->offset && !natural(planner, from->offset, "an offset", UINT64_C(1) << 48, &value))
      return false;
   map->offset = from->offset ? value * element : 0;
   return strides(planner, from, element, map);
}

static rkb_place_t entry_place(rkb_expression_t *const *list, uint32_t entry, rkb_place_t otherwise) {
   return list ? rkb_expression_place(list[entry]) : otherwise;
}

/* Returns the place of the key that breaks a rule.  If the manifest does not have this key, returns the place of the key from which its value follows. */
static rkb_place_t part_place(const manifest_map_t *map, const rkb_map_part_t *part) {
   rkb_place_t place = map->place;
   switch (part->key) {
   case RKB_MAP_KEY_DTYPE:
      place = map->type_place;
      break;
   case RKB_MAP_KEY_INTERLEAVE:
      place = map->interleave_place;
      break;
   case RKB_MAP_KEY_SWIZZLE:
      place = map->swizzle_place;
      break;
   case RKB_MAP_KEY_FILL:
      place = map->fill_place;
      break;
   case RKB_MAP_KEY_DIMS:
      place = entry_place(map->dims, part->entry, place);
      break;
   case RKB_MAP_KEY_STRIDES:
      place = entry_place(map->strides ? map->strides : map->dims, part->entry, place);
      break;
   case RKB_MAP_KEY_BOX:
      place = entry_place(map->box, part->entry, place);
      break;
   case RKB_MAP_KEY_STEPS:
      place = entry_place(map->steps, part->entry, place);
      break;
   case RKB_MAP_KEY_LOWER:
      place = entry_place(map->lower, part->entry, place);
      break;
   case RKB_MAP_KEY_UPPER:
      place = entry_place(map->upper, part->entry, place);
      break;
   case RKB_MAP_KEY_OFFSET:
      place = map->offset ? rkb_expression_place(map->offset) : place;
      break;
   case RKB_MAP_KEY_CHANNELS:
      place = map->channels ? rkb_expression_place(map->channels) : place;
      break;
   case RKB_MAP_KEY_PIXELS:
      place = map->pixels ? rkb_expression_place(map->pixels) : place;
      break;
   }
   return place.line ? place : map->place;
}

static bool add_map(planner_t *planner, const manifest_map_t *from) {
   rkb_plan_map_t *map;
   rkb_map_part_t part;
   char problem[256];
   if (!planner->maps)
      planner->maps =
         rkb_arena_array(planner->arena, planner->manifest->map_count + 1, sizeof *planner->maps);
   map = &planner->maps[planner->map_count];
   const uint32_t buffer = from->buffer ? planner_buffer(planner, from->buffer) : UINT32_MAX;
   rkb_value_t unused;
   if (planner_buffer(planner, from->name) != UINT32_MAX ||
       planner->lookup(planner->argument, from->name, &unused)) {
      planner_find(planner, "plan.name_collision", from->place,
                   "the tensor map '%s' has the name of something else", from->name);
      return false;
   }
   if (buffer == UINT32_MAX) {
      planner_find(planner, "plan.map", from->place,
                   "the tensor map '%s' is of '%.64s', which is no tensor or scratch buffer", from->name,
                   from->buffer ? from->buffer : "");
      return false;
   }
   *map =
      (rkb_plan_map_t){.name = rkb_arena_text(planner->arena, from->name, strlen(from->name)),
                       .buffer = buffer,
                       .type = from->typed ? from->type : rkb_tensor_map_type(planner->buffers[buffer].dtype),
                       .interleave = from->interleave,
                       .swizzle = from->swizzle,
                       .fill = from->fill,
                       .rank = from->rank,
                       .line = from->place.line};
   if (!numbers(planner, from, map))
      return false;
   if (rkb_tensor_map_problem(map, planner->buffers[buffer].bytes, planner->buffers[buffer].alignment, &part,
                              problem, sizeof problem)) {
      planner_find(planner, "plan.map", part_place(from, &part), "the tensor map '%s' cannot be encoded: %s",
                   from->name, problem);
      return false;
   }
   planner->map_count++;
   return true;
}

uint32_t planner_map(planner_t *planner, const char *name) {
   const manifest_t *manifest = planner->manifest;
   for (uint32_t i = 0; i < planner->map_count; i++)
      if (strcmp(planner->maps[i].name, name) == 0)
         return i;
   for (uint32_t i = 0; i < manifest->map_count; i++)
      if (strcmp(manifest->maps[i].name, name) == 0)
         return add_map(planner, &manifest->maps[i]) ? planner->map_count - 1 : PLANNER_WRONG_MAP;
   return UINT32_MAX;
}
