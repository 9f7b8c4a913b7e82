/* Any bytes as YAML: either a tree in which every place and text is sound, or at least one problem. */
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"

static void check(const rkb_yaml_t *node, unsigned depth, rkb_problems_t *problems) {
   static const char *const known[] = {"rkb", "name", NULL};
   int64_t integer;
   double real;
   bool boolean;
   const char *text;
   if (depth > RKB_YAML_MAX_DEPTH + 1 || node->place.line == 0 || node->place.column == 0 || !node->text ||
       strlen(node->text) != node->length)
      abort();
   rkb_yaml_int(node, "value", &integer, problems);
   rkb_yaml_real(node, "value", &real, problems);
   rkb_yaml_bool(node, "value", &boolean, problems);
   rkb_yaml_scalar(node, "value", &text, problems);
   rkb_yaml_only(node, "map", known, problems);
   for (uint32_t i = 0; i < node->count; i++) {
      check(node->items[i], depth + 1, problems);
      if (node->kind != RKB_YAML_MAP)
         continue;
      check(node->keys[i], depth + 1, problems);
      /* Keys are distinct, so each finds its own value. */
      if (rkb_yaml_get(node, node->keys[i]->text) != node->items[i])
         abort();
   }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_problems_t problems;
   rkb_text_t out;
   rkb_arena_t *arena = rkb_arena_new(256u << 20);
   rkb_problems_init(&problems);
   rkb_text_init(&out, 1 << 20);
   const rkb_yaml_t *root = rkb_yaml_parse(arena, "f", (const char *)data, size, 3, 5, &problems);
   if ((root == NULL) != (problems.errors > 0))
      abort();
   if (root)
      check(root, 1, &problems);
   rkb_problems_write(&problems, &out);
   rkb_text_free(&out);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return 0;
}
