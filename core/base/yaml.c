/* Parses YAML into a tree that knows the place of every node, over libyaml's event API.  libyaml's document API is no use here: it
 * has no depth limit, silently accepts duplicate keys and cyclic aliases, and forgets places.  Owns nothing after the parse; one
 * thread at a time.
 *
 * libyaml counts lines, columns and offsets from 0, in characters.  Our places count from 1, in bytes. */
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/yaml_source.h"

#define FEW_KEYS 16u /* up to this count, compare every pair of keys; above it, use a hash set */

/* A list or map that is still open. */
typedef struct frame {
   rkb_yaml_t *node;
   size_t first_child; /* on the stack of nodes; a map's children alternate key, value */
} frame_t;

typedef struct builder {
   rkb_arena_t *arena;
   rkb_problems_t *problems;
   const rkb_yaml_source_t *source;
   frame_t frames[RKB_YAML_MAX_DEPTH];
   uint32_t depth;
   rkb_yaml_t **nodes; /* finished children of the open frames */
   size_t count, room;
   rkb_yaml_t *root;
   uint32_t made; /* nodes */
} builder_t;

static rkb_place_t place_of(const builder_t *builder, const yaml_mark_t *mark) {
   return rkb_yaml_source_place(builder->source, mark->index, mark->line, mark->column);
}

static int shown_length(const rkb_yaml_t *scalar) {
   return scalar->length < 60 ? (int)scalar->length : 60;
}

/* Makes a node.  NULL ends the parse; the reason is reported. */
static rkb_yaml_t *node_new(builder_t *builder, uint32_t kind, const yaml_mark_t *mark) {
   if (builder->made == RKB_YAML_MAX_VALUES) {
      rkb_problem(builder->problems, place_of(builder, mark),
                  "more than %u values come before this; no file of this kind needs that",
                  RKB_YAML_MAX_VALUES);
      return NULL;
   }
   builder->made++;
   rkb_yaml_t *node = rkb_arena_alloc(builder->arena, sizeof *node);
   node->kind = kind;
   node->place = place_of(builder, mark);
   node->text = "";
   return node;
}

static void push(builder_t *builder, rkb_yaml_t *node) {
   if (builder->depth == 0) {
      builder->root = node;
      return;
   }
   if (builder->count == builder->room) {
      size_t room = builder->room ? builder->room * 2 : 256;
      builder->nodes = rkb_grow(builder->nodes, room, sizeof *builder->nodes);
      builder->room = room;
   }
   builder->nodes[builder->count++] = node;
}

static bool same_text(const rkb_yaml_t *a, const rkb_yaml_t *b) {
   return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void report_duplicate(builder_t *builder, const rkb_yaml_t *first, const rkb_yaml_t *again) {
   rkb_problem(
      builder->problems, again->place,
      "the key '%.*s' is already in this map (line %u); write it once, or give this one another name",
      shown_length(again), again->text, first->place.line);
}

/* Finds duplicate keys with a hash table of twice as many slots as keys.  The seed keeps a hostile file from choosing keys that
 * collide. */
static void find_duplicates_hashed(builder_t *builder, rkb_yaml_t *const *keys, uint32_t count) {
   size_t slots = 64;
   while (slots < (size_t)count * 2)
      slots *= 2;
   rkb_yaml_t **table = rkb_allocate(slots, sizeof *table);
   uint64_t seed = (uint64_t)(uintptr_t)table;
   for (uint32_t i = 0; i < count; i++) {
      if (keys[i]->length == 0)
         continue;
      size_t slot = rkb_hash64(keys[i]->text, keys[i]->length, seed) & (slots - 1);
      while (table[slot] && !same_text(table[slot], keys[i]))
         slot = (slot + 1) & (slots - 1);
      if (table[slot])
         report_duplicate(builder, table[slot], keys[i]);
      else
         table[slot] = keys[i];
   }
   free(table);
}

/* Skips keys that are no text: each was reported already. */
static void find_duplicates(builder_t *builder, rkb_yaml_t *const *keys, uint32_t count) {
   if (count > FEW_KEYS) {
      find_duplicates_hashed(builder, keys, count);
      return;
   }
   for (uint32_t i = 1; i < count; i++) {
      uint32_t j = 0;
      while (j < i && !same_text(keys[j], keys[i]))
         j++;
      if (j < i && keys[i]->length != 0)
         report_duplicate(builder, keys[j], keys[i]);
   }
}

/* A key must be a text that is not empty. */
static void check_key(builder_t *builder, const rkb_yaml_t *key) {
   if (key->kind != RKB_YAML_SCALAR) {
      rkb_problem(builder->problems, key->place, "a key is a plain text, not a %s; write 'name: value'",
                  key->kind == RKB_YAML_LIST ? "list" : "map");
   } else if (key->length == 0) {
      rkb_problem(builder->problems, key->place, "the key before ':' is missing; write 'name: value'");
   }
}

/* Moves the children of the innermost frame from the stack into its node. */
static void close_frame(builder_t *builder) {
   frame_t *frame = &builder->frames[builder->depth - 1];
   rkb_yaml_t *node = frame->node;
   size_t count = builder->count - frame->first_child;
   builder->count = frame->first_child;
   builder->depth--;
   if (count == 0) {
      push(builder, node);
      return;
   }
   rkb_yaml_t **children = builder->nodes + frame->first_child;
   if (node->kind == RKB_YAML_LIST) {
      node->items = rkb_arena_array(builder->arena, count, sizeof *children);
      memcpy(node->items, children, count * sizeof *children);
      node->count = (uint32_t)count;
   } else {
      node->count = (uint32_t)(count / 2); /* if the parse ended early, the last key may have no value */
      node->keys = rkb_arena_array(builder->arena, node->count, sizeof *children);
      node->items = rkb_arena_array(builder->arena, node->count, sizeof *children);
      for (uint32_t i = 0; i < node->count; i++) {
         check_key(builder, children[2 * i]);
         node->keys[i] = children[2 * i];
         node->items[i] = children[2 * i + 1];
      }
   }
   if (node->kind == RKB_YAML_MAP)
      find_duplicates(builder, node->keys, node->count);
   push(builder, node);
}

static void refuse_properties(builder_t *builder, const yaml_mark_t *mark, const yaml_char_t *anchor,
                              const yaml_char_t *tag) {
   if (anchor)
      rkb_problem(builder->problems, place_of(builder, mark),
                  "anchors (&%.60s) are not accepted; write the value where it is used",
                  (const char *)anchor);
   if (tag) {
      /* The beginning of standard tags: libyaml has already expanded "!!". */
      static const char standard[] = "tag:yaml.org,2002:";
      const char *text = (const char *)tag;
      bool is_standard = strncmp(text, standard, sizeof standard - 1) == 0;
      rkb_problem(builder->problems, place_of(builder, mark),
                  "tags (%s%.60s) are not accepted; write the value alone, in quotes when it begins with '!'",
                  is_standard ? "!!" : "", is_standard ? text + sizeof standard - 1 : text);
   }
}

static bool add_scalar(builder_t *builder, const yaml_event_t *event) {
   const char *value = (const char *)event->data.scalar.value;
   size_t length = event->data.scalar.length;
   refuse_properties(builder, &event->start_mark, event->data.scalar.anchor, event->data.scalar.tag);
   rkb_yaml_t *node = node_new(builder, RKB_YAML_SCALAR, &event->start_mark);
   if (!node)
      return false;
   if (memchr(value, '\0', length)) {
      rkb_problem(builder->problems, node->place, "a text may not hold a NUL byte; remove the \\0");
      length = strlen(value);
   }
   node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
   node->length = length;
   node->text = rkb_arena_text(builder->arena, value, length);
   push(builder, node);
   return true;
}

static bool open_frame(builder_t *builder, uint32_t kind, const yaml_mark_t *mark) {
   if (builder->depth == RKB_YAML_MAX_DEPTH) {
      rkb_problem(builder->problems, place_of(builder, mark),
                  "nested deeper than %d levels; nothing here needs that", RKB_YAML_MAX_DEPTH);
      return false;
   }
   rkb_yaml_t *node = node_new(builder, kind, mark);
   if (!node)
      return false;
   builder->frames[builder->depth++] = (frame_t){.node = node, .first_child = builder->count};
   return true;
}

/* Reports an alias and puts its own text in its place, so that the rest of the file can still be checked. */
static bool add_alias(builder_t *builder, const yaml_event_t *event) {
   rkb_problem(builder->problems, place_of(builder, &event->start_mark),
               "aliases (*%.60s) are not accepted; write the value here, in quotes when it begins with '*'",
               (const char *)event->data.alias.anchor);
   rkb_yaml_t *node = node_new(builder, RKB_YAML_SCALAR, &event->start_mark);
   if (!node)
      return false;
   node->text = rkb_arena_format(builder->arena, "*%.60s", (const char *)event->data.alias.anchor);
   node->length = strlen(node->text);
   push(builder, node);
   return true;
}

/* Returns false to end the parse. */
static bool take_event(builder_t *builder, const yaml_event_t *event) {
   switch (event->type) {
   case YAML_DOCUMENT_START_EVENT:
      if (!builder->root)
         return true;
      rkb_problem(builder->problems, place_of(builder, &event->start_mark),
                  "a second document begins here; keep one document a file, without '---' between");
      return false;
   case YAML_ALIAS_EVENT:
      return add_alias(builder, event);
   case YAML_SCALAR_EVENT:
      return add_scalar(builder, event);
   case YAML_SEQUENCE_START_EVENT:
      refuse_properties(builder, &event->start_mark, event->data.sequence_start.anchor,
                        event->data.sequence_start.tag);
      return open_frame(builder, RKB_YAML_LIST, &event->start_mark);
   case YAML_MAPPING_START_EVENT:
      refuse_properties(builder, &event->start_mark, event->data.mapping_start.anchor,
                        event->data.mapping_start.tag);
      return open_frame(builder, RKB_YAML_MAP, &event->start_mark);
   case YAML_SEQUENCE_END_EVENT:
   case YAML_MAPPING_END_EVENT:
      close_frame(builder);
      return true;
   case YAML_STREAM_END_EVENT:
      return false;
   default:
      return true;
   }
}

/* Advice to add where libyaml's own message is not enough. */
static const char *syntax_hint(const builder_t *builder, const char *problem, rkb_place_t place) {
   if (strstr(problem, "mapping values are not allowed"))
      return "; put a text that holds ': ' in quotes, and indent keys of one map alike";
   if (strstr(problem, "cannot start any token"))
      return rkb_yaml_source_byte(builder->source, place) == '\t' ? "; indent with spaces, not tabs"
                                                                  : "; put the text in quotes";
   if (strstr(problem, "could not find expected ':'"))
      return "; write 'name: value'";
   return "";
}

static void report_syntax(builder_t *builder, const yaml_parser_t *parser) {
   const char *problem = parser->problem ? parser->problem : "not valid YAML";
   const yaml_mark_t *mark = &parser->problem_mark;
   if (parser->error == YAML_MEMORY_ERROR)
      rkb_end_without_memory(0);
   if (parser->error == YAML_READER_ERROR) /* does not happen, because the bytes were checked; this error has no mark */
      mark = &parser->mark;
   rkb_place_t place = place_of(builder, mark);
   const char *hint = syntax_hint(builder, problem, place);
   uint32_t context_line = place_of(builder, &parser->context_mark).line;
   if (parser->context && context_line != place.line)
      rkb_problem(builder->problems, place, "not valid YAML: %s, %s that begins at line %u%s", problem,
                  parser->context, context_line, hint);
   else
      rkb_problem(builder->problems, place, "not valid YAML: %s%s", problem, hint);
}

static void take_events(builder_t *builder, yaml_parser_t *parser) {
   bool more = true;
   while (more) {
      yaml_event_t event;
      if (!yaml_parser_parse(parser, &event)) {
         report_syntax(builder, parser);
         break;
      }
      more = take_event(builder, &event);
      yaml_event_delete(&event);
   }
   /* After a fault, the parts of open maps that were read are still checked. */
   while (builder->depth)
      close_frame(builder);
}

rkb_yaml_t *rkb_yaml_parse(rkb_arena_t *arena, const char *file, const char *bytes, size_t length,
                           uint32_t first_line, uint32_t first_column, rkb_problems_t *problems) {
   uint32_t errors = problems->errors;
   rkb_yaml_source_t source;
   builder_t builder = {.arena = arena, .problems = problems, .source = &source};
   yaml_parser_t parser;
   const char *name = rkb_arena_text(arena, file, strlen(file));
   rkb_yaml_source_open(&source, name, bytes, length, first_line, first_column);
   if (!rkb_yaml_source_check(&source, problems))
      goto close_source;
   if (!yaml_parser_initialize(&parser))
      rkb_end_without_memory(0);
   yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
   yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
   take_events(&builder, &parser);
   if (!builder.root && problems->errors == errors)
      builder.root = node_new(&builder, RKB_YAML_SCALAR, &(yaml_mark_t){0});
   yaml_parser_delete(&parser);
   free(builder.nodes);
close_source:
   rkb_yaml_source_close(&source);
   return problems->errors == errors ? builder.root : NULL;
}

rkb_yaml_t *rkb_yaml_load(rkb_arena_t *arena, const char *path, rkb_problems_t *problems) {
   rkb_error_t err;
   char *bytes;
   size_t length;
   if (rkb_file_read(path, RKB_YAML_MAX_BYTES, &bytes, &length, &err) != RKB_OK) {
      rkb_problem(problems, (rkb_place_t){0}, "%s", err.message);
      return NULL;
   }
   rkb_yaml_t *root = rkb_yaml_parse(arena, path, bytes, length, 1, 1, problems);
   free(bytes);
   return root;
}
