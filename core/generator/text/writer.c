/* Blocks, names and parameters of a kernel's text.  One thread. */
#include "generator/text/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "generator/text/fragments.h"
#include "generator/graph/language_words.h"
#include "generator/graph/map_text.h"

const char *rkb_storage_type(uint32_t dtype) {
   static const char *const types[] = {[RKB_F16] = "__half", [RKB_BF16] = "__nv_bfloat16", [RKB_F32] = "float",
                                       [RKB_F64] = "double", [RKB_I32] = "int", [RKB_I64] = "long long",
                                       [RKB_U8] = "unsigned char", [RKB_I8] = "signed char",
                                       [RKB_E4M3] = "__nv_fp8_e4m3", [RKB_E5M2] = "__nv_fp8_e5m2"};
   return types[dtype];
}

const char *rkb_value_type(uint32_t dtype) {
   return rkb_dtype_is_float(dtype) ? "float" : dtype == RKB_I64 ? "long long" : "int";
}

bool rkb_writer_open(rkb_writer_t *writer, rkb_graph_t *graph, rkb_arena_t *arena,
                     const rkb_storage_t *storage, const rkb_condition_t *conditions,
                     uint32_t condition_count) {
   *writer =
      (rkb_writer_t){.graph = graph, .arena = arena, .storage = storage, .heavy = RKB_NO_NODE, .width = 1};
   for (uint32_t b = 0; b < RKB_MAX_BLOCKS; b++)
      rkb_text_init(&writer->blocks[b].text, RKB_KERNEL_BYTES);
   if (!rkb_indices_open(&writer->indices, graph, arena, conditions, condition_count))
      rkb_writer_fail(writer, "too few shapes satisfy the launch's conditions");
   return !writer->failed;
}

void rkb_writer_close(rkb_writer_t *writer) {
   for (uint32_t b = 0; b < RKB_MAX_BLOCKS; b++)
      rkb_text_free(&writer->blocks[b].text);
   free(writer->known);
   writer->known = NULL;
}

void rkb_writer_try(rkb_writer_t *writer, rkb_writer_t *trial) {
   *trial = *writer;
   trial->known = NULL;
   trial->known_count = trial->known_room = 0;
   for (uint32_t b = 0; b < RKB_MAX_BLOCKS; b++)
      rkb_text_init(&trial->blocks[b].text, RKB_KERNEL_BYTES);
}

void rkb_writer_tried(rkb_writer_t *writer, rkb_writer_t *trial) {
   memcpy(writer->indices.buckets, trial->indices.buckets, sizeof trial->indices.buckets);
   writer->indices.stream = trial->indices.stream;
   rkb_writer_close(trial);
}

struct rkb_local *rkb_writer_find_local(rkb_writer_t *writer, uint32_t node) {
   for (uint32_t l = 0; l < writer->local_count; l++)
      if (writer->locals[l].node == node)
         return &writer->locals[l];
   return NULL;
}

struct rkb_local *rkb_writer_local(rkb_writer_t *writer, uint32_t node, const char *text) {
   struct rkb_local *local = rkb_writer_find_local(writer, node);
   if (!local && writer->local_count == sizeof writer->locals / sizeof writer->locals[0]) {
      rkb_writer_fail(writer, "a thread holds too many values");
      return &writer->locals[0];
   }
   if (!local) {
      local = &writer->locals[writer->local_count++];
      *local = (struct rkb_local){.node = node};
   }
   local->text = text;
   return local;
}

void rkb_writer_forget_local(rkb_writer_t *writer, uint32_t node) {
   struct rkb_local *local = rkb_writer_find_local(writer, node);
   if (local)
      *local = writer->locals[--writer->local_count];
}

void rkb_writer_fail(rkb_writer_t *writer, const char *fmt, ...) {
   if (writer->failed)
      return;
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(writer->why, sizeof writer->why, fmt, ap);
   va_end(ap);
   writer->failed = true;
}

static rkb_text_t *indented(rkb_writer_t *writer) {
   rkb_text_t *text = &writer->blocks[writer->depth].text;
   for (uint32_t b = 0; b <= writer->depth; b++)
      rkb_text_add(text, "   ");
   return text;
}

void rkb_write(rkb_writer_t *writer, const char *fmt, ...) {
   va_list ap;
   rkb_text_t *text = indented(writer);
   va_start(ap, fmt);
   rkb_text_vformat(text, fmt, ap);
   va_end(ap);
   rkb_text_add(text, "\n");
}

void rkb_write_unroll(rkb_writer_t *writer, const char *line) {
   writer->unroll = line;
}

void rkb_write_open(rkb_writer_t *writer, bool guard, const char *fmt, ...) {
   if (writer->depth + 1 >= RKB_MAX_BLOCKS) {
      rkb_writer_fail(writer, "blocks are nested too deep");
      return;
   }
   va_list ap;
   writer->depth++;
   rkb_block_text_t *block = &writer->blocks[writer->depth];
   rkb_text_clear(&block->text);
   block->guard = guard;
   block->lanes = NULL;
   /* The head line is part of the outer block, but lines that the block's body hoists must come before it, so the block holds it
    * back. */
   for (uint32_t b = 0; writer->unroll && b < writer->depth; b++)
      rkb_text_add(&block->text, "   ");
   if (writer->unroll)
      rkb_text_format(&block->text, "%s\n", writer->unroll);
   writer->unroll = NULL;
   for (uint32_t b = 0; b < writer->depth; b++)
      rkb_text_add(&block->text, "   ");
   va_start(ap, fmt);
   rkb_text_vformat(&block->text, fmt, ap);
   va_end(ap);
   rkb_text_add(&block->text, " {\n");
}

void rkb_write_guard(rkb_writer_t *writer, const char *lanes, const char *condition) {
   rkb_write_open(writer, true, "if (%s)", condition);
   writer->blocks[writer->depth].lanes = lanes;
}

void rkb_write_close(rkb_writer_t *writer) {
   rkb_write_close_with(writer, "}");
}

void rkb_write_close_with(rkb_writer_t *writer, const char *end) {
   if (writer->depth == 0)
      return;
   rkb_text_t *text = &writer->blocks[writer->depth].text;
   uint32_t kept = 0;
   for (uint32_t i = 0; i < writer->known_count; i++)
      if (writer->known[i].term.depth < writer->depth)
         writer->known[kept++] = writer->known[i];
   writer->known_count = kept;
   writer->depth--;
   rkb_text_t *outer = &writer->blocks[writer->depth].text;
   rkb_text_append(outer, rkb_text_get(text), text->length);
   for (uint32_t b = 0; b <= writer->depth; b++)
      rkb_text_add(outer, "   ");
   rkb_text_format(outer, "%s\n", end);
}

const char *rkb_writer_body(rkb_writer_t *writer) {
   if (writer->blocks[0].text.cut)
      rkb_writer_fail(writer, "the kernel's text is too long");
   return rkb_text_get(&writer->blocks[0].text);
}

rkb_known_t *rkb_writer_remember(rkb_writer_t *writer, const char *text, uint32_t depth) {
   if (writer->known_count == writer->known_room) {
      writer->known_room = 2 * writer->known_room + 64;
      writer->known = rkb_grow(writer->known, writer->known_room, sizeof *writer->known);
   }
   rkb_known_t *known = &writer->known[writer->known_count++];
   *known = (rkb_known_t){.node = RKB_NO_NODE, .term = {text, depth, 0}};
   return known;
}

void rkb_writer_know(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at, const char *text) {
   rkb_known_t *known = rkb_writer_remember(writer, text, writer->depth);
   known->node = node;
   memcpy(known->at, at, writer->graph->nodes[node].rank * sizeof *at);
}

rkb_term_t rkb_writer_once(rkb_writer_t *writer, const char *word, uint32_t depth, const char *text) {
   for (uint32_t i = 0; i < writer->known_count; i++)
      if (writer->known[i].once && strcmp(writer->known[i].once, text) == 0)
         return writer->known[i].term;
   const uint32_t inner = writer->depth;
   writer->depth = depth;
   const char *name = rkb_writer_name(writer, word);
   rkb_write(writer, "const float %s = %s;", name, text);
   writer->depth = inner;
   rkb_known_t *known = rkb_writer_remember(writer, name, depth);
   known->once = text;
   return known->term;
}

void rkb_writer_know_once(rkb_writer_t *writer, const char *text, const char *name) {
   rkb_writer_remember(writer, name, writer->depth)->once = text;
}

/* Names are compared with all that are taken, for each node of a graph and each launch that is written: most differ in their first letter. */
static bool is_same(const char *a, const char *b) {
   return *a == *b && strcmp(a, b) == 0;
}

static bool is_helper(const char *name) {
   for (uint32_t i = 0; rkb_helper_at(i); i++)
      if (is_same(rkb_helper_at(i)->name, name))
         return true;
   return rkb_fragment_has_helper(name);
}

static bool name_is_used(const rkb_writer_t *writer, const char *name) {
   for (uint32_t i = 0; i < writer->parameter_count; i++)
      if (is_same(writer->parameters[i].name, name))
         return true;
   for (uint32_t i = 0; i < writer->known_count; i++)
      if (is_same(writer->known[i].term.text, name))
         return true;
   for (uint32_t i = 0; i < writer->kept_count; i++)
      if (is_same(writer->kept[i].array, name))
         return true;
   /* A size that may become a parameter later. */
   for (uint32_t i = 0; i < writer->graph->sizes.count; i++)
      if (is_same(writer->graph->sizes.list[i].name, name))
         return true;
   for (uint32_t i = 0; i < writer->graph->node_count; i++)
      if ((writer->storage[i].name && is_same(writer->storage[i].name, name)) ||
          (writer->targets && writer->targets[i].name && is_same(writer->targets[i].name, name)))
         return true;
   return is_helper(name);
}

const char *rkb_writer_name(rkb_writer_t *writer, const char *wanted) {
   const char *name = wanted;
   for (uint32_t number = 2; name_is_used(writer, name); number++)
      name = rkb_arena_format(writer->arena, "%s_%u", wanted, number);
   return name;
}

const rkb_index_t *rkb_writer_variable(rkb_writer_t *writer, const char *name, const rkb_index_t *extent) {
   return rkb_writer_known_variable(writer, rkb_index_variable(&writer->indices, name, extent));
}

const rkb_index_t *rkb_writer_known_variable(rkb_writer_t *writer, const rkb_index_t *variable) {
   if (variable->kind == RKB_INDEX_VARIABLE) {
      rkb_known_t *known = rkb_writer_remember(writer, variable->name, writer->depth);
      known->index = variable;
   }
   return variable;
}

static rkb_parameter_text_t *parameter(rkb_writer_t *writer, enum rkb_parameter_type type,
                                       const char *argument) {
   for (uint32_t i = 0; i < writer->parameter_count; i++)
      if (strcmp(writer->parameters[i].argument, argument) == 0 &&
          (writer->parameters[i].type == type || type <= RKB_PARAMETER_OUTPUT))
         return &writer->parameters[i];
   if (writer->parameter_count == RKB_MAX_PARAMETERS) {
      rkb_writer_fail(writer, "more than %u parameters", RKB_MAX_PARAMETERS);
      return &writer->parameters[0];
   }
   rkb_parameter_text_t *made = &writer->parameters[writer->parameter_count++];
   *made = (rkb_parameter_text_t){.type = type, .argument = argument, .name = ""};
   return made;
}

const char *rkb_writer_buffer(rkb_writer_t *writer, const char *name, uint32_t dtype, bool written) {
   rkb_parameter_text_t *made = parameter(writer, written ? RKB_PARAMETER_OUTPUT : RKB_PARAMETER_INPUT, name);
   made->name = name;
   made->dtype = dtype;
   if (written)
      made->type = RKB_PARAMETER_OUTPUT;
   return name;
}

const char *rkb_writer_map(rkb_writer_t *writer, const char *name, const char *definition) {
   rkb_parameter_text_t *made = parameter(writer, RKB_PARAMETER_MAP, definition);
   if (!*made->name)
      made->name = rkb_writer_name(writer, name);
   return made->name;
}

const char *rkb_writer_real(rkb_writer_t *writer, const rkb_real_t *real) {
   if (real->constant) {
      if (isinf(real->value))
         return real->value < 0 ? "-INFINITY" : "INFINITY";
      char *text = rkb_arena_format(writer->arena, "%.9g", real->value);
      const bool whole = strpbrk(text, ".e") == NULL;
      return rkb_arena_format(writer->arena, real->value < 0 ? "(%s%s)" : "%s%s", text, whole ? ".0f" : "f");
   }
   if (!real->text)
      return rkb_arena_format(writer->arena, "(1.0f / sqrtf((float)%s))",
                              rkb_writer_uniform(writer, rkb_index_size(&writer->indices, real->root_of)));
   rkb_parameter_text_t *made = parameter(writer, RKB_PARAMETER_REAL, real->text);
   bool plain = true;
   for (const char *c = real->text; *c; c++)
      plain &= (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
               (c > real->text && *c >= '0' && *c <= '9');
   if (!*made->name) /* a size may be a parameter of this name too, of type index: the size keeps the name */
      made->name = plain && !name_is_used(writer, real->text)
                      ? rkb_writer_beside(writer->arena, real->text)
                      : rkb_arena_format(writer->arena, "number_%u", ++writer->names);
   return made->name;
}

/* Names that the generated kernels declare themselves.  A size or tensor with such a name, or a word of the language, gets another name as
 * a parameter. */
const char *rkb_writer_beside(rkb_arena_t *arena, const char *name) {
   static const char *const locals[] = {"m",           "n",          "k",          "i",
                                        "j",           "item",       "slot",       "row",
                                        "column",      "part",       "end",        "begin",
                                        "first",       "thread",     "rest",       "lane",
                                        "pack",        "place",      "sums",       "fetch",
                                        "index",       "m_first",    "n_first",    "thread_m",
                                        "thread_n",    "m_tile",     "n_tile",     "m_next",
                                        "n_next",      "m_terms",    "n_terms",    "group_number",
                                        "line",        "carried",    "whole",      "before",
                                        "base",        "found",      "same",       "next",
                                        "begins",      "link",       "from",       "other",
                                        "across",      "down",       "seen",       "first_seen",
                                        "n_first",     "u",          "e",          "brought",
                                        "left",        "right",      "tiles",      "peak",
                                        "factor",      "distance",   "warp_m",     "warp_n",
                                        "step",        "stage",      "stages",     "more",
                                        "bring",       "put",        "ahead",      "ahead_2",
                                        "ahead_3",     "band",       "m_stage",    "n_stage",
                                        "tile_number", "sums_tile",  "k_first",    "tap",
                                        "become",      "inverse",    "warpgroup",  "filled",
                                        "freed",       "turn",       "block",      "room",
                                        "warp",        "box",        "divided",    "high",
                                        "low",         "rounded",    "blocks_m",   "row_parts",
                                        "image",       "c_first",    "p_first",    "q_first",
                                        "half",        "own",        "taken",      "weights",
                                        "warp_down",   "warp_along", "part_stage", "part_turn",
                                        "part_filled", "part_freed", "unit",       "sequence",
                                        "sum",         "floats"};
   for (uint32_t l = 0; l < sizeof locals / sizeof locals[0]; l++)
      if (is_same(locals[l], name))
         return rkb_arena_format(arena, "%s_given", name);
   return rkb_is_language_word(name) || is_helper(name) ? rkb_arena_format(arena, "%s_given", name) : name;
}

const char *rkb_writer_uniform(rkb_writer_t *writer, const rkb_index_t *index) {
   if (index->kind == RKB_INDEX_CONSTANT)
      return rkb_arena_format(writer->arena, index->constant < 0 ? "(%lld)" : "%lld",
                              (long long)index->constant);
   rkb_parameter_text_t *made =
      parameter(writer, RKB_PARAMETER_INDEX, rkb_index_manifest(&writer->indices, index));
   if (!*made->name) {
      const char *word = rkb_index_word(&writer->indices, index);
      made->name = strlen(word) > 40 || (*word >= '0' && *word <= '9') ? rkb_arena_format(writer->arena, "extent_%u", ++writer->names)
                                     : rkb_writer_beside(writer->arena, word);
      for (uint32_t i = 0; i < writer->parameter_count; i++) /* names that were cut short may be equal */
         if (&writer->parameters[i] != made && strcmp(writer->parameters[i].name, made->name) == 0)
            made->name = rkb_arena_format(writer->arena, "extent_%u", ++writer->names);
   }
   return made->name;
}

const char *rkb_writer_number(rkb_writer_t *writer, const char *word, const char *expression) {
   rkb_parameter_text_t *made = parameter(writer, RKB_PARAMETER_INDEX, expression);
   if (!*made->name)
      made->name = rkb_writer_name(writer, word);
   return made->name;
}
