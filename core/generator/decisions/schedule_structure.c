/* Structures of schedules.  Owns nothing. */
#include "generator/decisions/schedule_structure.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/yaml.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/graph/schedule.h"
#include "generator/decisions/schedule_block.h"

#define EXACT 0xffffffffffffu /* 48 bits, because a double holds such numbers exactly */

/* Decisions that say how something is done, not how much of it. */
static const uint32_t staging[] = {RKB_SPLIT,      RKB_PREFETCH, RKB_KEEP,     RKB_COPY,    RKB_STAGES,
                                   RKB_PERSISTENT, RKB_TAPS,     RKB_SEGMENTS, RKB_SHORTER, RKB_SMALL,
                                   RKB_BESIDE,     RKB_HELD,     RKB_CLUSTER,  RKB_PARTS};

static uint64_t hash_text(const char *text, uint64_t seed) {
   return rkb_hash64(text, strlen(text), seed);
}

static const char *scalar(const rkb_yaml_t *map, const char *key) {
   const rkb_yaml_t *value = rkb_yaml_get(map, key);
   return value && value->kind == RKB_YAML_SCALAR ? value->text : "";
}

/* Hashes a set of names; their order does not count. */
static uint64_t hash_names(const rkb_yaml_t *map, const char *key) {
   const rkb_yaml_t *list = rkb_yaml_get(map, key);
   uint64_t sum = hash_text(key, 1);
   for (uint32_t i = 0; list && list->kind == RKB_YAML_LIST && i < list->count; i++)
      if (list->items[i]->kind == RKB_YAML_SCALAR)
         sum += hash_text(list->items[i]->text, 2);
   return rkb_hash64(&sum, sizeof sum, 3);
}

/* Hashes the decisions that say how something is done.  A word counts as it is; a number counts only by whether it
 * is larger than the least value (one part, one stage, nothing kept). */
static uint64_t hash_staging(const rkb_yaml_t *map, uint64_t seed) {
   for (uint32_t i = 0; i < sizeof staging / sizeof staging[0]; i++) {
      const char *text = scalar(map, rkb_decision_name(staging[i]));
      const bool word = rkb_decision_word(staging[i], rkb_decision_values(staging[i])[0]) != NULL;
      const bool more = !word && strtoll(text, NULL, 10) > rkb_decision_values(staging[i])[0];
      seed = hash_text(word ? text : more ? "more" : "", seed);
   }
   return seed;
}

/* Adds a launch's hashes, so that the order of launches does not count. */
static void add_launch(const rkb_yaml_t *map, rkb_schedule_structure_t *structure) {
   const uint64_t nodes[] = {hash_names(map, "compute"), hash_names(map, "write")};
   const uint64_t plan = rkb_hash64(nodes, sizeof nodes, 4);
   structure->launches++;
   structure->plan += plan;
   structure->mapping += hash_text(scalar(map, rkb_decision_name(RKB_TENSOR)), hash_text(scalar(map, "map"), plan));
   structure->staging += hash_staging(map, plan);
}

void rkb_structure_of(const char *source, rkb_schedule_structure_t *structure) {
   rkb_arena_t *arena = rkb_arena_new(0);
   const rkb_yaml_t *launches = rkb_schedule_launches(arena, source);
   *structure = (rkb_schedule_structure_t){.size = sizeof *structure};
   for (uint32_t i = 0; launches && i < launches->count; i++)
      if (launches->items[i]->kind == RKB_YAML_MAP)
         add_launch(launches->items[i], structure);
   structure->plan &= EXACT;
   structure->mapping &= EXACT;
   structure->staging &= EXACT;
   rkb_arena_free(arena);
}
