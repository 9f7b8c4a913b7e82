/* Indices as text.  If an open block declares an index, its name is used; else the text is made from its parts.  One thread. */
#include "generator/text/writer.h"

#include <string.h>

static const rkb_term_t *find_index(const rkb_writer_t *writer, const rkb_index_t *index) {
   for (uint32_t i = writer->known_count; i-- > 0;)
      if (writer->known[i].index == index && writer->known[i].term.depth <= writer->depth)
         return &writer->known[i].term;
   return NULL;
}

bool rkb_writer_knows(const rkb_writer_t *writer, const rkb_index_t *index) {
   return find_index(writer, index) != NULL;
}

/* The depth of the block that knows all variables of an index. */
static uint32_t depth_of(const rkb_writer_t *writer, const rkb_index_t *index) {
   const rkb_term_t *term = find_index(writer, index);
   if (term)
      return term->depth;
   if (!index->left)
      return 0;
   const uint32_t left = depth_of(writer, index->left), right = depth_of(writer, index->right);
   return left > right ? left : right;
}

const char *rkb_writer_index(rkb_writer_t *writer, const rkb_index_t *index) {
   static const char signs[] = {[RKB_INDEX_SUM] = '+',
                                [RKB_INDEX_DIFFERENCE] = '-',
                                [RKB_INDEX_PRODUCT] = '*',
                                [RKB_INDEX_QUOTIENT] = '/',
                                [RKB_INDEX_REMAINDER] = '%'};
   const rkb_term_t *term = find_index(writer, index);
   if (term)
      return term->text;
   if (index->uniform)
      return rkb_writer_uniform(writer, index);
   if (index->kind == RKB_INDEX_VARIABLE) {
      rkb_writer_fail(writer, "%s is not known here", index->name);
      return "0";
   }
   if (index->kind < RKB_INDEX_QUOTIENT)
      return rkb_arena_format(writer->arena, "(%s %c %s)", rkb_writer_index(writer, index->left),
                              signs[index->kind], rkb_writer_index(writer, index->right));
   /* Quotients and remainders get a name in the outermost block that can declare them. */
   const uint32_t inner = writer->depth, depth = depth_of(writer, index);
   writer->depth = depth;
   const char *left = rkb_writer_index(writer, index->left), *right = rkb_writer_index(writer, index->right);
   const char *name = rkb_writer_name(writer, index->name                         ? index->name
                                              : index->kind == RKB_INDEX_QUOTIENT ? "quotient"
                                                                                  : "remainder");
   rkb_write(writer, "const index %s = %s %c %s;", name, left, signs[index->kind], right);
   rkb_known_t *known = rkb_writer_remember(writer, name, depth);
   known->index = index;
   writer->depth = inner;
   return name;
}

void rkb_writer_reshape(rkb_writer_t *writer, const rkb_node_t *from, const rkb_index_t *const *at,
                        const rkb_node_t *to, const rkb_index_t **out) {
   const rkb_index_t *extents[RKB_MAX_RANK];
   const uint32_t count =
      rkb_index_reshape(&writer->indices, from->rank, from->shape, at, to->rank, to->shape, out, extents);
   for (uint32_t e = 0; e < count; e++) {
      bool known = false;
      for (uint32_t i = 0; i < writer->joined_count; i++)
         known |= writer->joined[i] == extents[e];
      if (!known && writer->joined_count == sizeof writer->joined / sizeof writer->joined[0])
         rkb_writer_fail(writer, "too many reshapes in one launch");
      else if (!known)
         writer->joined[writer->joined_count++] = extents[e];
   }
}

const char *rkb_write_inside(rkb_writer_t *writer, const rkb_node_t *from, const char *guard,
                             const rkb_index_t **at) {
   const char *inside = rkb_writer_name(writer, "inside");
   char *all = rkb_arena_format(writer->arena, "%s", guard); /* comparisons are cheaper than branches */
   for (char *and = strstr(all, "&&"); and; and = strstr(and, "&&"))
      memmove(and, and+1, strlen(and));
   rkb_write(writer, "const bool %s = %s;", inside, all);
   for (uint32_t d = 2; d < from->rank; d++) {
      const char *place = rkb_writer_name(writer, "place");
      rkb_write(writer, "const index %s = %s ? %s : 0;", place, inside, rkb_writer_index(writer, at[d]));
      at[d] = rkb_writer_variable(writer, place, rkb_index_size(&writer->indices, from->shape[d]));
   }
   return inside;
}
