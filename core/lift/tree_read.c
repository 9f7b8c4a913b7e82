/* Reads the parser's answer.  Every number is checked, because the text that the parser read is hostile. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "kernel/byte_record.h"
#include "lift/tree.h"

static bool read_types(record_reader_t *in, lift_tree_t *tree) {
   tree->type_count = record_count(in, LIFT_MAX_TYPES, 8);
   if (in->bad)
      return false;
   tree->types = rkb_allocate(tree->type_count + 1, sizeof *tree->types);
   for (uint32_t i = 0; i < tree->type_count; i++) {
      tree->types[i] = record_text(in, LIFT_MAX_TYPE);
      if (in->bad)
         return false;
   }
   return true;
}

/* For each byte of the text, the node whose declared name begins there. */
static uint32_t *map_declarations(const lift_tree_t *tree) {
   uint32_t *map = rkb_allocate((size_t)tree->bytes + 1, sizeof *map);
   for (uint32_t i = 0; i <= tree->bytes; i++)
      map[i] = LIFT_NONE;
   for (uint32_t i = 0; i < tree->count; i++) {
      const lift_node_t *node = &tree->nodes[i];
      const bool declares = node->kind >= LIFT_FUNCTION && node->kind <= LIFT_SHARED;
      if (declares && map[node->name] == LIFT_NONE)
         map[node->name] = i;
   }
   return map;
}

static bool read_nodes(record_reader_t *in, lift_tree_t *tree) {
   tree->count = record_count(in, LIFT_MAX_NODES, LIFT_NODE_WORDS * sizeof(uint32_t));
   if (in->bad)
      return false;
   tree->nodes = rkb_allocate(tree->count + 1, sizeof *tree->nodes);
   for (uint32_t i = 0; i < tree->count; i++) {
      lift_node_t *node = &tree->nodes[i];
      const uint32_t kind = record_u32(in);
      node->kind = kind;
      node->start = record_u32(in);
      node->end = record_u32(in);
      node->name = record_u32(in);
      node->parent = record_u32(in);
      node->declaration = record_u32(in);
      const uint32_t type = record_u32(in);
      if (in->bad || kind >= LIFT_KINDS || node->start > node->end || node->end > tree->bytes || node->name < node->start ||
          node->name > node->end || node->parent > i || node->declaration > tree->bytes || type > tree->type_count)
         return false;
      node->parent = node->parent ? node->parent - 1 : LIFT_NONE;
      node->type = type ? tree->types[type - 1] : "";
      node->next = LIFT_NONE;
      node->last = i + 1;
   }
   return in->at == in->size;
}

/* Fills in siblings and ends.  False unless each node comes after its parent and inside the nodes that are open there. */
static bool link_nodes(lift_tree_t *tree) {
   /* The last child of each node; the entry at `count` is the last root. */
   uint32_t *newest = rkb_allocate((size_t)tree->count + 1, sizeof *newest);
   bool sound = true;
   for (uint32_t i = 0; i <= tree->count; i++)
      newest[i] = LIFT_NONE;
   for (uint32_t i = 0; i < tree->count && sound; i++) {
      lift_node_t *node = &tree->nodes[i];
      const uint32_t slot = node->parent == LIFT_NONE ? tree->count : node->parent;
      if (newest[slot] != LIFT_NONE)
         tree->nodes[newest[slot]].next = i;
      newest[slot] = i;
      sound = node->parent == LIFT_NONE || (tree->nodes[node->parent].last == i && node->start >= tree->nodes[node->parent].start &&
                                            node->end <= tree->nodes[node->parent].end);
      for (uint32_t up = node->parent; sound && up != LIFT_NONE; up = tree->nodes[up].parent)
         tree->nodes[up].last = i + 1;
   }
   free(newest);
   return sound;
}

static void resolve_names(lift_tree_t *tree) {
   uint32_t *map = map_declarations(tree);
   for (uint32_t i = 0; i < tree->count; i++) {
      const uint32_t at = tree->nodes[i].declaration;
      tree->nodes[i].declaration = at ? map[at - 1] : LIFT_NONE;
   }
   free(map);
}

int lift_tree_read(const void *bytes, size_t length, const char *text, lift_tree_t **out, char *refusal, size_t size, rkb_error_t *err) {
   record_reader_t in = {.data = bytes, .size = length};
   *out = NULL;
   if (record_u32(&in) == LIFT_REFUSED && !in.bad) {
      char *why = record_text(&in, 4096);
      snprintf(refusal, size, "%s", why ? why : "the parser refuses the text");
      free(why);
      return RKB_OK;
   }
   lift_tree_t *tree = rkb_allocate(1, sizeof *tree);
   tree->text = text;
   tree->bytes = (uint32_t)strlen(text);
   if (in.bad || !read_types(&in, tree) || !read_nodes(&in, tree) || !link_nodes(tree)) {
      lift_tree_free(tree);
      return rkb_fail(err, RKB_ERR_CONTRACT, "the answer of rkb-parser is no syntax tree of this text");
   }
   resolve_names(tree);
   *out = tree;
   return RKB_OK;
}

void lift_tree_free(lift_tree_t *tree) {
   if (!tree)
      return;
   for (uint32_t i = 0; tree->types && i < tree->type_count; i++)
      free(tree->types[i]);
   free(tree->types);
   free(tree->nodes);
   free(tree);
}
