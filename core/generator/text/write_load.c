/* Writes loads from memory, and keeps what they load for a thread's later passes over a row.  One thread. */
#include "generator/text/writer.h"

#include <string.h>

/* Whether a guard is about the places of a cluster's thread, and the whole row has one element: then every thread
 * may load it once. */
static bool is_guard_of_places(const rkb_writer_t *writer, uint32_t block, const rkb_index_t *element) {
   return writer->keep_threads && writer->keep_variable && block == writer->keep_depth && !rkb_index_mentions(element, writer->keep_variable);
}

/* Returns the block that knows an index, and that is inside all guards that are open now. */
static uint32_t load_depth(rkb_writer_t *writer, const rkb_index_t *element) {
   rkb_writer_index(writer, element); /* the parts of the index are written now, each in its block */
   uint32_t depth = 0;
   for (uint32_t i = 0; i < writer->known_count; i++)
      if (writer->known[i].index && writer->known[i].term.depth > depth &&
          rkb_index_mentions(element, writer->known[i].index))
         depth = writer->known[i].term.depth;
   for (uint32_t b = writer->depth; b > depth; b--)
      if (writer->blocks[b].guard && !is_guard_of_places(writer, b, element))
         return b;
   return depth;
}

const char *rkb_loaded_text(rkb_writer_t *writer, uint32_t dtype, const char *text) {
   switch (dtype) {
   case RKB_F16:
      return rkb_arena_format(writer->arena, "__half2float(%s)", text);
   case RKB_BF16:
      return rkb_arena_format(writer->arena, "__bfloat162float(%s)", text);
   case RKB_F64:
   case RKB_E4M3:
   case RKB_E5M2:
      return rkb_arena_format(writer->arena, "(float)%s", text);
   default:
      return text;
   }
}

static const char *kept_element(rkb_writer_t *writer, const char *array, int64_t threads) {
   if (threads < 0)
      return array;
   return threads
             ? rkb_arena_format(writer->arena, "%s[%s * %lld]", array, writer->keep_item, (long long)threads)
             : rkb_arena_format(writer->arena, "%s[%s]", array, writer->keep_item);
}

/* Returns the text of a load that an earlier pass keeps.  NULL: there is none, or this one may not be kept. */
static const char *kept_text(rkb_writer_t *writer, const char *buffer, const rkb_index_t *element) {
   if (!writer->keep || !writer->keep_variable || !rkb_index_mentions(element, writer->keep_variable))
      return NULL;
   for (uint32_t i = 0; i < writer->kept_count; i++) {
      const struct rkb_kept *kept = &writer->kept[i];
      if (strcmp(kept->buffer, buffer) == 0 &&
          rkb_index_replace(&writer->indices, element, writer->keep_variable, kept->variable) ==
             kept->element)
         return kept_element(writer, kept->array, kept->threads);
   }
   return NULL;
}

const char *rkb_kept_address(rkb_writer_t *writer, const struct rkb_kept *kept, const rkb_index_t *element) {
   const char *buffer = rkb_writer_buffer(writer, kept->buffer, kept->dtype, false);
   return rkb_arena_format(writer->arena, "%s + %s", buffer, rkb_writer_index(writer, element));
}

const char *rkb_kept_load(rkb_writer_t *writer, const struct rkb_kept *kept, const rkb_index_t *element) {
   const char *buffer = rkb_writer_buffer(writer, kept->buffer, kept->dtype, false), *where = rkb_writer_index(writer, element);
   return strcmp(kept->type, rkb_value_type(kept->dtype)) == 0
             ? rkb_loaded_text(writer, kept->dtype, rkb_arena_format(writer->arena, "%s[%s]", buffer, where))
             : rkb_arena_format(writer->arena, "*(const %s *)(%s + %s)", kept->type, buffer, where);
}

/* Keeps under a name what was just loaded.  bytes: of the type. */
static void keep(rkb_writer_t *writer, const char *buffer, uint32_t dtype, const rkb_index_t *element, const char *type, uint32_t bytes,
                 const char *name) {
   if (!writer->keep || !writer->keep_variable || !rkb_index_mentions(element, writer->keep_variable) ||
       writer->kept_count == sizeof writer->kept / sizeof writer->kept[0])
      return;
   const uint32_t inner = writer->depth;
   const char *array = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_kept", buffer));
   rkb_write(writer, "%s = %s;", kept_element(writer, array, writer->keep_threads), name);
   writer->depth = 0;
   if (writer->keep_threads) {
      if (!writer->keep_memory) {
         writer->keep_memory = rkb_writer_name(writer, "kept");
         rkb_write(writer, "extern __shared__ __align__(16) unsigned char %s[];", writer->keep_memory);
      }
      rkb_write(writer, "%s *const %s = (%s *)(%s + %lld) + threadIdx.x;", type, array, type, writer->keep_memory, (long long)writer->keep_bytes);
      writer->keep_bytes += writer->keep * writer->keep_threads * bytes;
   } else
      rkb_write(writer, "%s %s[%u];", type, array, writer->keep);
   writer->depth = inner;
   bool guarded = false;
   for (uint32_t b = writer->keep_depth + 1; b <= inner; b++)
      guarded |= writer->blocks[b].guard;
   writer->kept[writer->kept_count++] = (struct rkb_kept){
      buffer, array, type, dtype, guarded, writer->keep_threads, element, writer->keep_variable};
}

/* Returns the condition of all guards that are open in the loop over lanes, as written before this loop.  NULL: a guard
 * may differ between lanes, or the address needs something that is known only inside. */
static const char *lanes_guard(rkb_writer_t *writer, const rkb_index_t *element) {
   const char *all = NULL;
   for (uint32_t i = 0; i < writer->known_count; i++)
      if (writer->known[i].index && writer->known[i].index->kind == RKB_INDEX_VARIABLE &&
          writer->known[i].term.depth >= writer->lane_depth && rkb_index_mentions(element, writer->known[i].index))
         return NULL;
   for (uint32_t b = writer->lane_depth; b <= writer->depth; b++) {
      if (!writer->blocks[b].guard)
         continue;
      if (!writer->blocks[b].lanes)
         return NULL;
      all = all ? rkb_arena_format(writer->arena, "%s && %s", all, writer->blocks[b].lanes) : writer->blocks[b].lanes;
   }
   return all;
}

/* Writes a load of one vector before the loop over lanes; its lanes are side by side and aligned. */
static const char *load_vector(rkb_writer_t *writer, uint32_t node, const rkb_index_t *element, uint32_t *known_depth) {
   const rkb_storage_t *storage = &writer->storage[node];
   if (!writer->lane || writer->width == 1 || !rkb_index_mentions(element, writer->lane))
      return NULL;
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *base =
      rkb_index_replace(indices, element, writer->lane, rkb_index_constant(indices, 0));
   if (rkb_index_make(indices, RKB_INDEX_SUM, base, writer->lane) != element ||
       !rkb_index_divides(base, writer->width))
      return NULL;
   const uint32_t inner = writer->depth;
   const char *guard = NULL;
   uint32_t depth = load_depth(writer, base);
   if (depth >= writer->lane_depth && !(guard = lanes_guard(writer, base)))
      return NULL; /* a guard is in between, or the address needs the lane after all */
   *known_depth = guard ? depth : writer->lane_depth; /* what the text declares after a guard is known only inside it */
   writer->depth = depth = guard ? writer->lane_depth - 1 : depth;
   const char *name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_pack", storage->name));
   const char *held = kept_text(writer, storage->name, base), *type = rkb_pack_type(writer, storage->dtype);
   if (held)
      rkb_write(writer, "const %s %s = %s;", type, name, held);
   else if (guard) {
      const char *where = rkb_writer_index(writer, base);
      rkb_write(writer, "%s %s;", type, name);
      rkb_write(writer, "if (%s)", guard);
      rkb_write(writer, "   %s = *(const %s *)(%s + %s);", name, type,
                rkb_writer_buffer(writer, storage->name, storage->dtype, false), where);
   } else {
      rkb_write(writer, "const %s %s = *(const %s *)(%s + %s);", type, name, type,
                rkb_writer_buffer(writer, storage->name, storage->dtype, false), rkb_writer_index(writer, base));
      keep(writer, storage->name, storage->dtype, base, type, writer->width * rkb_dtype_bytes(storage->dtype), name);
   }
   writer->vector_node = node;
   writer->vector = name;
   /* The name is in use from now on. */
   rkb_writer_know(writer, node, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   const char *at_lane = rkb_arena_format(writer->arena, "%s.at[%s]", name, writer->lane->name),
              *value = rkb_loaded_text(writer, storage->dtype, at_lane);
   if (value != at_lane) {
      writer->depth = *known_depth;
      at_lane = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", storage->name));
      rkb_write(writer, "const float %s = %s;", at_lane, value);
   }
   writer->depth = inner;
   return at_lane;
}

rkb_term_t rkb_write_load(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at) {
   const rkb_node_t *from = &writer->graph->nodes[node];
   const rkb_storage_t *storage = &writer->storage[node];
   const rkb_index_t *element = rkb_index_join(&writer->indices, from->rank, from->shape, at);
   uint32_t known_depth = 0;
   const char *vector = load_vector(writer, node, element, &known_depth);
   if (vector)
      return (rkb_term_t){vector, known_depth, 0};
   const uint32_t inner = writer->depth, nearest = load_depth(writer, element);
   /* A value that is the same for all lanes is loaded once before them. */
   const char *guard = writer->lane && nearest >= writer->lane_depth ? lanes_guard(writer, element) : NULL;
   const uint32_t depth = guard ? writer->lane_depth - 1 : nearest;
   writer->depth = depth;
   const char *buffer = rkb_writer_buffer(writer, storage->name, storage->dtype, false);
   const char *where = rkb_writer_index(writer, element);
   const char *name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", storage->name));
   if (guard) {
      rkb_write(writer, "%s %s = 0;", rkb_value_type(from->dtype), name);
      rkb_write(writer, "if (%s)", guard);
      rkb_write(writer, "   %s = %s;", name,
                rkb_loaded_text(writer, storage->dtype, rkb_arena_format(writer->arena, "%s[%s]", buffer, where)));
      /* The name is in use now. */
      rkb_writer_know(writer, node, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
      writer->depth = inner;
      return (rkb_term_t){name, nearest, nearest - depth};
   }
   const char *held = writer->width == 1 ? kept_text(writer, storage->name, element) : NULL;
   rkb_write(
      writer, "const %s %s = %s;", rkb_value_type(from->dtype), name,
      held ? held
           : rkb_loaded_text(writer, storage->dtype, rkb_arena_format(writer->arena, "%s[%s]", buffer, where)));
   if (!held && writer->width == 1)
      /* Bytes of the widest type. */
      keep(writer, storage->name, storage->dtype, element, rkb_value_type(from->dtype), 8, name);
   writer->depth = inner;
   return (rkb_term_t){name, depth, 0};
}
