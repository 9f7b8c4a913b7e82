/* The price table (pipelines/models/prices.yaml): USD per million tokens, by provider and model. */
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"
#include "llm/model_entry.h"

struct rkb_prices {
   const rkb_yaml_t *table; /* the map "prices", or NULL */
};

bool rkb_price_read(const rkb_yaml_t *yaml, rkb_price_t *price, rkb_problems_t *problems) {
   /* Two keys are for readers: `source` says where a price comes from; `unchecked` lists the numbers that the
    * source does not give. */
   static const char *const known[] = {"input", "cached", "output", "source", "unchecked", NULL};
   double *const values[] = {&price->input_usd, &price->cached_usd, &price->output_usd};
   uint32_t before = problems->errors;
   *price = (rkb_price_t){0};
   if (!rkb_yaml_expect(yaml, RKB_YAML_MAP, "price", problems))
      return false;
   rkb_yaml_only(yaml, "price", known, problems);
   for (int i = 0; i < 3; i++) {
      const rkb_yaml_t *node = rkb_yaml_get(yaml, known[i]);
      if (rkb_yaml_is_null(node)) {
         if (i != 1)
            rkb_problem(problems, yaml->place, "price needs %s: USD for a million tokens", known[i]);
         continue;
      }
      if (!rkb_yaml_real(node, known[i], values[i], problems))
         continue;
      if (*values[i] < 0)
         rkb_problem(problems, node->place, "%s must be 0 or more", known[i]);
      *values[i] *= 1e-6;
   }
   if (rkb_yaml_is_null(rkb_yaml_get(yaml, "cached")))
      price->cached_usd = price->input_usd;
   return problems->errors == before;
}

rkb_prices_t *rkb_prices_load(rkb_arena_t *arena, void (*depends)(void *, const char *), void *argument,
                              rkb_problems_t *problems) {
   rkb_prices_t *prices = rkb_arena_alloc(arena, sizeof *prices);
   char *folder = rkb_find_data("pipelines"),
        *path = folder ? rkb_path_join(folder, "models/prices.yaml") : NULL;
   if (path && rkb_path_exists(path)) {
      static const char *const known[] = {"dated", "prices", NULL};
      char *bytes = NULL, hash[RKB_HASH_TEXT];
      size_t length = 0;
      rkb_error_t err = {0};
      if (depends && rkb_file_read(path, RKB_YAML_MAX_BYTES, &bytes, &length, &err) == RKB_OK) {
         rkb_hash_text(bytes, length, hash);
         depends(argument, hash);
      }
      free(bytes);
      const rkb_yaml_t *root = rkb_yaml_load(arena, path, problems);
      if (!root || !rkb_yaml_expect(root, RKB_YAML_MAP, "a price table", problems))
         prices = NULL;
      else {
         rkb_yaml_only(root, "a price table", known, problems);
         prices->table = rkb_yaml_get(root, "prices");
      }
   }
   free(path);
   free(folder);
   return prices;
}

bool rkb_prices_find(const rkb_prices_t *prices, const char *provider, const char *model,
                     rkb_price_t *price) {
   rkb_problems_t ignored;
   const rkb_yaml_t *of_provider = prices && prices->table ? rkb_yaml_get(prices->table, provider) : NULL;
   const rkb_yaml_t *found =
      of_provider && of_provider->kind == RKB_YAML_MAP ? rkb_yaml_get(of_provider, model) : NULL;
   if (!found)
      return false;
   rkb_problems_init(&ignored);
   bool ok = rkb_price_read(found, price, &ignored);
   rkb_problems_free(&ignored);
   return ok;
}
