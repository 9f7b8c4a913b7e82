/* The parts of a manifest that decide plans at shapes that were not planned yet: its expressions as they are written, and the tune values
 * that they name.  Two candidates with the same plans at all listed cases may differ at every other shape. */
#include "kernel/manifest.h"

#include <string.h>
#include "base/hash.h"

typedef struct naming {
   const rkb_manifest_t *manifest;
   const int64_t *tune;
   rkb_hasher_t *hasher;
} naming_t;

static void add_name(void *argument, const char *name) {
   const naming_t *naming = argument;
   for (uint32_t i = 0; i < naming->manifest->tune_count; i++)
      if (strcmp(naming->manifest->tune[i].name, name) == 0)
         rkb_hasher_add(naming->hasher, &naming->tune[i], sizeof naming->tune[i]);
}

static void add(naming_t *naming, const rkb_expression_t *expression) {
   rkb_hasher_add_text(naming->hasher, expression ? rkb_expression_text(expression) : "");
   if (expression)
      rkb_expression_names(expression, add_name, naming);
}

/* Hashes the number of expressions too, so that one list cannot hash like two lists. */
static void add_list(naming_t *naming, rkb_expression_t *const *list, uint32_t count) {
   const uint32_t present = list ? count : 0;
   rkb_hasher_add(naming->hasher, &present, sizeof present);
   for (uint32_t i = 0; i < present; i++)
      add(naming, list[i]);
}

static void add_arguments(naming_t *naming, const manifest_argument_t *list, uint32_t count) {
   rkb_hasher_add(naming->hasher, &count, sizeof count);
   for (uint32_t i = 0; i < count; i++) {
      rkb_hasher_add_text(naming->hasher, list[i].text ? list[i].text : "");
      add(naming, list[i].whole);
      add_arguments(naming, list[i].members, list[i].members ? list[i].member_count : 0);
   }
}

static void add_map(naming_t *naming, const manifest_map_t *map) {
   const uint32_t pixels = map->rank > 2 ? map->rank - 2 : 0;
   rkb_hasher_add_text(naming->hasher, map->name);
   rkb_hasher_add_text(naming->hasher, map->buffer ? map->buffer : "");
   add_list(naming, map->dims, map->rank);
   add_list(naming, map->strides, map->rank ? map->rank - 1 : 0);
   add_list(naming, map->box, map->rank);
   add_list(naming, map->steps, map->rank);
   add_list(naming, map->lower, pixels);
   add_list(naming, map->upper, pixels);
   add(naming, map->offset);
   add(naming, map->channels);
   add(naming, map->pixels);
}

void rkb_manifest_hash(const rkb_manifest_t *public, const int64_t *tune, rkb_hasher_t *hasher) {
   const manifest_t *manifest = (const manifest_t *)public;
   naming_t naming = {public, tune, hasher};
   for (uint32_t i = 0; i < manifest->let_count; i++) {
      rkb_hasher_add_text(hasher, manifest->lets[i].name);
      add(&naming, manifest->lets[i].value);
   }
   for (uint32_t i = 0; i < manifest->scratch_count; i++)
      add_list(&naming, manifest->scratch[i].shape, manifest->scratch[i].rank);
   for (uint32_t i = 0; i < manifest->map_count; i++)
      add_map(&naming, &manifest->maps[i]);
   for (uint32_t i = 0; i < public->launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      const uint32_t flags = launch->is_else | launch->cooperative << 1 | launch->dependent << 2;
      rkb_hasher_add(hasher, &flags, sizeof flags);
      rkb_hasher_add_text(hasher, launch->kernel);
      add(&naming, launch->when);
      add_list(&naming, launch->grid, launch->grid_count);
      add_list(&naming, launch->block, launch->block_count);
      add_list(&naming, launch->cluster, launch->cluster_count);
      add(&naming, launch->shared);
      add_arguments(&naming, launch->arguments, launch->argument_count);
   }
}
