/* Populations in rank order. */
#include "island.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "shared/weighted_draw.h"

int island_init(island_t *island, const island_rules_t *rules, rkb_error_t *err) {
   *island = (island_t){.members = calloc(rules->size + 1, sizeof *island->members)};
   if (!island->members)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate an island of %u members", rules->size);
   return RKB_OK;
}

void island_free(island_t *island) {
   free(island->members);
   *island = (island_t){0};
}

static void remove_member(island_t *island, uint32_t index) {
   memmove(&island->members[index], &island->members[index + 1],
           (island->count - index - 1) * sizeof island->members[0]);
   island->count--;
}

static void insert_member(island_t *island, const individual_t *individual, uint32_t cell) {
   uint32_t at = island->count;
   while (at > 0 && individual_compare(individual, &island->members[at - 1].individual) < 0)
      at--;
   memmove(&island->members[at + 1], &island->members[at], (island->count - at) * sizeof island->members[0]);
   island->members[at] = (member_t){*individual, cell, island->births++};
   island->count++;
}

static uint32_t who_leaves(const island_t *island, const island_rules_t *rules) {
   uint32_t leaving = island->count - 1;
   if (!rules->oldest_leaves)
      return leaving;
   for (uint32_t i = rules->elites; i < island->count; i++)
      if (island->members[i].born < island->members[leaving].born)
         leaving = i;
   return leaving;
}

void island_add(island_t *island, const island_rules_t *rules, const individual_t *individual,
                uint32_t cell) {
   for (uint32_t i = 0; i < island->count; i++) {
      const member_t *member = &island->members[i];
      if (member->individual.number == individual->number)
         return;
      if (rules->one_per_cell && member->cell == cell) {
         if (individual_compare(individual, &member->individual) >= 0)
            return;
         remove_member(island, i);
         break;
      }
   }
   insert_member(island, individual, cell);
   if (island->count > rules->size)
      remove_member(island, who_leaves(island, rules));
}

static uint32_t draw_rank(const island_t *island, const island_rules_t *rules, const rkb_random_api_t *random,
                          rkb_random_t *stream) {
   uint32_t best = (uint32_t)random->below(stream, island->count);
   if (rules->selection == SELECT_TOURNAMENT) { /* members are in rank order: the least index wins */
      for (uint32_t i = 1; i < rules->tournament; i++) {
         uint32_t other = (uint32_t)random->below(stream, island->count);
         best = other < best ? other : best;
      }
   } else if (rules->selection == SELECT_POWER_LAW) {
      double weights[ISLAND_SIZE_MAX];
      for (uint32_t i = 0; i < island->count; i++)
         weights[i] = pow(i + 1.0, -rules->exponent);
      best = weighted_draw(random, stream, weights, island->count);
   }
   return best;
}

const individual_t *island_select(const island_t *island, const island_rules_t *rules,
                                  const rkb_random_api_t *random, rkb_random_t *stream, int64_t except) {
   if (island->count == 0)
      return NULL;
   uint32_t rank = draw_rank(island, rules, random, stream);
   if (island->members[rank].individual.number == except && island->count > 1)
      rank = rank + 1 < island->count ? rank + 1 : rank - 1;
   return &island->members[rank].individual;
}

const individual_t *island_mate(const island_t *island, const island_rules_t *rules,
                                const rkb_random_api_t *random, rkb_random_t *stream, int64_t except) {
   if (island->guest_count && random->below(stream, 2) == 0)
      return &island->guests[random->below(stream, island->guest_count)];
   return island_select(island, rules, random, stream, except);
}
