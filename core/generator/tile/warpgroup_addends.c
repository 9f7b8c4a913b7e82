/* Matrices that are added to the sums of warpgroups (warpgroup_addends.h).  One thread. */
#include "generator/tile/warpgroup_addends.h"

#include <string.h>
#include "reference/dtype.h"

/* The most bytes that all matrices may have for each sum.  Two bytes for each sum take 16 registers of a thread. */
#define MOST_BYTES 6u

/* Whether there is room for another matrix; there always is for the first. */
static bool has_room(const rkb_writer_t *writer, const rkb_addends_t *addends, uint32_t node) {
   uint64_t bytes = rkb_dtype_bytes(writer->storage[node].dtype);
   for (uint32_t a = 0; a < addends->count; a++)
      bytes += rkb_dtype_bytes(writer->storage[addends->node[a]].dtype);
   return !addends->count || (addends->count < RKB_MOST_BESIDE && bytes <= MOST_BYTES);
}

/* Finds the matrices that memory has, of the root's shape, which a value needs element by element. */
static void find_beside(const rkb_writer_t *writer, uint32_t number, const rkb_node_t *root,
                        rkb_addends_t *addends) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   if (node->rank != root->rank || memcmp(node->shape, root->shape, root->rank * sizeof *root->shape) != 0)
      return;
   if (writer->storage[number].name) {
      for (uint32_t a = 0; a < addends->count; a++)
         if (addends->node[a] == number)
            return;
      if (has_room(writer, addends, number))
         addends->node[addends->count++] = number;
      return;
   }
   for (uint32_t i = 0; node->kind == RKB_NODE_MAP && i < node->input_count; i++)
      find_beside(writer, node->inputs[i], root, addends);
}

void rkb_addends_find(const rkb_writer_t *writer, const rkb_product_tile_t *tile, rkb_addends_t *addends) {
   const rkb_launch_t *launch = tile->launch;
   const rkb_node_t *node = &writer->graph->nodes[tile->product.node];
   *addends = (rkb_addends_t){0};
   if (launch->decisions[RKB_SPLIT] > 1 || tile->listed || node->kind != RKB_NODE_MATMUL || node->rank != 2 ||
       tile->m.which != 0 || tile->m.end)
      return;
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &writer->graph->nodes[launch->roots[r]];
      if (root->rank == 2 && memcmp(node->shape, root->shape, 2 * sizeof *root->shape) == 0)
         find_beside(writer, launch->roots[r], root, addends);
   }
}

void rkb_addends_declare(rkb_writer_t *writer, rkb_addends_t *addends, uint32_t width) {
   writer->width = width;
   for (uint32_t a = 0; a < addends->count; a++) {
      addends->name[a] = a ? rkb_arena_format(writer->arena, "ahead_%u", a + 1) : "ahead";
      rkb_write(writer, "%s %s[2][%u];%s", rkb_pack_type(writer, writer->storage[addends->node[a]].dtype),
                addends->name[a], 16 * RKB_ADDEND_COLUMNS / width / 32,
                a ? "" : " /* what sums are added to, on its way while the columns before are stored */");
   }
   writer->width = 1;
}

void rkb_addends_load(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_addends_t *addends,
                      uint32_t width, const char *place, const char *first, const char *slot) {
   if (!addends->count)
      return;
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int item = lane; item < %u; item += 32)",
                  3 * (int)(writer->depth + 1), "", 16 * RKB_ADDEND_COLUMNS / width);
   rkb_write(writer, "const index m = m_first + %s + item / %u, n = n_first + %sitem %% %u * %u;", place,
             RKB_ADDEND_COLUMNS / width, first, RKB_ADDEND_COLUMNS / width, width);
   const rkb_index_t *at[2] = {rkb_writer_variable(writer, "m", tile->m.total),
                               rkb_writer_variable(writer, "n", tile->n.total)};
   rkb_write_open(writer, true, "if (m < %s && n < %s)", rkb_writer_uniform(writer, tile->m.total),
                  rkb_writer_uniform(writer, tile->n.total));
   for (uint32_t a = 0; a < addends->count; a++) {
      const rkb_storage_t *storage = &writer->storage[addends->node[a]];
      const rkb_index_t *element =
         rkb_index_join(&writer->indices, 2, writer->graph->nodes[addends->node[a]].shape, at);
      const char *where = rkb_writer_index(writer, element);
      writer->width = width;
      rkb_write(writer, "%s[%s][item / 32] = *(const %s *)(%s + %s);", addends->name[a], slot,
                rkb_pack_type(writer, storage->dtype),
                rkb_writer_buffer(writer, storage->name, storage->dtype, false), where);
      writer->width = 1;
   }
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_addends_know(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_addends_t *addends) {
   tile->beside_count = addends->count;
   for (uint32_t a = 0; a < addends->count; a++)
      tile->beside[a] =
         (rkb_beside_t){addends->node[a],
                        rkb_loaded_text(writer, writer->storage[addends->node[a]].dtype,
                                        rkb_arena_format(writer->arena, "%s[j / %d %% 2][item / 32].at[lane]",
                                                         addends->name[a], RKB_ADDEND_COLUMNS))};
}
