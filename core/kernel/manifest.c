/* Reads the `rkb-kernel: 1` comment of a .cu: finds it in the token stream, parses it as YAML with the .cu's lines and columns, and
 * checks what can be checked without a task.  The manifest owns one arena with everything parsed.  One thread while parsing, any
 * afterwards. */
#include "kernel/manifest_keys.h"
#include "kernel/manifest_parser.h"
#include "kernel/token_text.h"

#include <stdlib.h>
#include <string.h>

/* tune: {NAME: {default: 256, choices: [64, 128]}} */
static void parse_choices(manifest_parser_t *parser, const rkb_yaml_t *map, rkb_tune_parameter_t *tune) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "choices");
   uint32_t count = manifest_entries(parser, node, RKB_YAML_LIST, "choices", RKB_MANIFEST_MAX_CHOICES);
   int64_t *choices = rkb_arena_array(parser->arena, count ? count : 1, sizeof *choices);
   if (!node || !count)
      rkb_problem(parser->problems, node ? node->place : map->place,
                  "tune parameter '%s' needs choices: [1, 2, ...]", tune->name);
   for (uint32_t i = 0; i < count; i++) {
      if (!rkb_yaml_int(node->items[i], "a choice", &choices[i], parser->problems))
         continue;
      for (uint32_t k = 0; k < i; k++)
         if (choices[k] == choices[i])
            rkb_problem(parser->problems, node->items[i]->place, "'%s' lists the choice %lld twice",
                        tune->name, (long long)choices[i]);
   }
   tune->choices = choices;
   tune->choice_count = count;
}

static void parse_tune(manifest_parser_t *parser, const rkb_yaml_t *node) {
   uint32_t count = manifest_entries(parser, node, RKB_YAML_MAP, "tune", RKB_MANIFEST_MAX_ENTRIES);
   rkb_tune_parameter_t *list = rkb_arena_array(parser->arena, count + 1, sizeof *list);
   rkb_place_t *places = rkb_arena_array(parser->arena, count + 1, sizeof *places);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_yaml_t *map = node->items[i], *fallback;
      bool listed = false;
      list[i].name = node->keys[i]->text;
      list[i].line = node->keys[i]->place.line;
      list[i].column = node->keys[i]->place.column;
      if (manifest_check_name(parser, node->keys[i], "tune parameter") && manifest_is_keyword(list[i].name))
         rkb_problem(
            parser->problems, node->keys[i]->place,
            "plan.name_collision: tune parameter '%s' would replace a word of CUDA C++; choose another name",
            list[i].name);
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "a tune parameter", parser->problems))
         continue;
      rkb_keys_only(RKB_MANIFEST_KEYS, map, "a tune parameter", RKB_MANIFEST_TUNE, parser->problems);
      parse_choices(parser, map, &list[i]);
      fallback = rkb_yaml_get(map, "default");
      if (!fallback) {
         rkb_problem(parser->problems, map->place, "tune parameter '%s' needs a default", list[i].name);
         continue;
      }
      places[i] = fallback->place;
      if (!rkb_yaml_int(fallback, "default", &list[i].fallback, parser->problems))
         continue;
      for (uint32_t k = 0; k < list[i].choice_count; k++)
         listed = listed || list[i].choices[k] == list[i].fallback;
      if (!listed && list[i].choice_count)
         rkb_problem(parser->problems, fallback->place, "the default %lld of '%s' is not one of its choices",
                     (long long)list[i].fallback, list[i].name);
   }
   parser->manifest->public.tune = list;
   parser->manifest->public.tune_count = count;
   parser->manifest->fallback_places = places;
}

static void parse_lets(manifest_parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   uint32_t count = manifest_entries(parser, node, RKB_YAML_MAP, "let", RKB_MANIFEST_MAX_ENTRIES);
   manifest->lets = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->lets);
   for (uint32_t i = 0; i < count; i++) {
      const char *text = manifest_expression_text(parser, node->items[i], "a let value");
      manifest->lets[i].name = node->keys[i]->text;
      manifest->lets[i].place = node->keys[i]->place;
      manifest_check_name(parser, node->keys[i], "let value");
      for (uint32_t k = 0; k < manifest->public.tune_count; k++)
         if (strcmp(manifest->public.tune[k].name, node->keys[i]->text) == 0)
            rkb_problem(parser->problems, node->keys[i]->place,
                        "plan.name_collision: '%s' is a tune parameter already", node->keys[i]->text);
      if (text)
         manifest->lets[i].value = rkb_expression_parse(
            parser->arena, text, strlen(text), manifest_text_place(node->items[i]), parser->problems);
   }
   manifest->let_count = count;
}

/* Zero, or a float literal.  An absent fill (NULL) stays undeclared. */
static void parse_fill(manifest_parser_t *parser, const rkb_yaml_t *node, const char *what,
                       manifest_fill_t *fill) {
   if (!node)
      return;
   if (node->kind == RKB_YAML_SCALAR && strcmp(node->text, "zero") == 0)
      fill->declared = true;
   else if (node->kind != RKB_YAML_SCALAR || node->quoted)
      rkb_problem(parser->problems, node->place, "%s is 'zero' or a number", what);
   else
      fill->declared = rkb_yaml_real(node, what, &fill->value, parser->problems);
}

static uint32_t parse_dtype(const char *name) {
   static const uint32_t types[] = {RKB_F32,  RKB_F64, RKB_F16, RKB_BF16, RKB_E4M3,
                                    RKB_E5M2, RKB_I8,  RKB_U8,  RKB_I32,  RKB_I64};
   for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
      if (strcmp(RKB_MANIFEST_TYPES[i], name) == 0)
         return types[i];
   return 0;
}

static void parse_scratch(manifest_parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   uint32_t count = manifest_entries(parser, node, RKB_YAML_MAP, "scratch", RKB_MANIFEST_MAX_SCRATCH);
   manifest->scratch = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->scratch);
   for (uint32_t i = 0; i < count; i++) {
      manifest_scratch_t *scratch = &manifest->scratch[i];
      const rkb_yaml_t *map = node->items[i], *dtype;
      const char *text = NULL, *written;
      scratch->name = node->keys[i]->text;
      scratch->place = node->keys[i]->place;
      manifest_check_name(parser, node->keys[i], "scratch buffer");
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "a scratch buffer", parser->problems))
         continue;
      rkb_keys_only(RKB_MANIFEST_KEYS, map, "a scratch buffer", RKB_MANIFEST_SCRATCH, parser->problems);
      dtype = rkb_yaml_get(map, "dtype");
      if (!dtype || !rkb_yaml_get(map, "shape"))
         rkb_problem(parser->problems, map->place, "scratch buffer '%s' needs %s", scratch->name,
                     dtype ? "a shape" : "a dtype");
      if (dtype && rkb_yaml_scalar(dtype, "dtype", &text, parser->problems)) {
         scratch->dtype = parse_dtype(text);
         if (!scratch->dtype)
            rkb_problem(
               parser->problems, dtype->place,
               "unknown dtype '%.32s'; use float32, float64, float16, bfloat16, float8_e4m3fn, float8_e5m2, int8, "
               "uint8, int32 or int64",
               text);
      }
      manifest_expressions(parser, map, "shape", &scratch->shape, &scratch->rank, &written);
      if (scratch->rank > RKB_MAX_RANK)
         rkb_problem(parser->problems, map->place,
                     "scratch buffer '%s' has %u dimensions; at most %d are allowed", scratch->name,
                     scratch->rank, RKB_MAX_RANK);
      parse_fill(parser, rkb_yaml_get(map, "init"), "init", &scratch->init);
   }
   manifest->scratch_count = count;
}

static void parse_fills(manifest_parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   uint32_t count = manifest_entries(parser, node, RKB_YAML_MAP, "fill", RKB_MANIFEST_MAX_ENTRIES);
   manifest->fills = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->fills);
   for (uint32_t i = 0; i < count; i++) {
      manifest->fills[i].name = node->keys[i]->text;
      manifest->fills[i].place = node->keys[i]->place;
      parse_fill(parser, node->items[i], "a fill", &manifest->fills[i].fill);
   }
   manifest->fill_count = count;
}

static void parse_head(manifest_parser_t *parser, const rkb_yaml_t *root) {
   rkb_manifest_t *public = &parser->manifest->public;
   const rkb_yaml_t *version = rkb_yaml_get(root, "rkb-kernel"), *task = rkb_yaml_get(root, "task"),
                    *direction = rkb_yaml_get(root, "direction"),
                    *algorithm = rkb_yaml_get(root, "algorithm");
   int64_t number = 0;
   const char *text = "";
   public->task = public->direction = "";
   if (version && rkb_yaml_int(version, "rkb-kernel", &number, parser->problems) && number != 1)
      rkb_problem(parser->problems, version->place,
                  "manifest version %lld is not known; this program reads version 1", (long long)number);
   if (!task)
      rkb_problem(parser->problems, root->place, "the manifest needs task: NAME");
   else if (rkb_yaml_scalar(task, "task", &public->task, parser->problems) && !manifest_is_name(public->task))
      rkb_problem(parser->problems, task->place, "'%.64s' cannot name a task", public->task);
   if (!direction)
      rkb_problem(parser->problems, root->place, "the manifest needs direction: forward or backward");
   else if (rkb_yaml_scalar(direction, "direction", &public->direction, parser->problems) &&
            strcmp(public->direction, "forward") != 0 && strcmp(public->direction, "backward") != 0)
      rkb_problem(parser->problems, direction->place, "'%.64s' is not a direction; use forward or backward",
                  public->direction);
   if (algorithm && rkb_yaml_scalar(algorithm, "algorithm", &text, parser->problems)) {
      public->transform = strcmp(text, "transform") == 0;
      if (!public->transform)
         rkb_problem(parser->problems, algorithm->place,
                     "'%.64s' is not a known algorithm; write transform, or leave it out", text);
   }
}

static const rkb_token_t *find_comment(const char *path, const char *source, const rkb_token_t *tokens,
                                       uint32_t count, rkb_problems_t *problems) {
   const rkb_token_t *found = NULL;
   for (uint32_t i = 0; i < count; i++) {
      if (!rkb_token_is_manifest(source, &tokens[i]))
         continue;
      if (found) {
         rkb_problem(problems, (rkb_place_t){path, tokens[i].line, tokens[i].column},
                     "a second manifest; the first is in line %u", found->line);
         return found;
      }
      found = &tokens[i];
   }
   if (!found)
      rkb_problem(problems, (rkb_place_t){path, 1, 1},
                  "no manifest; begin the file with /* rkb-kernel: 1 (docs/kernel-format.md)");
   return found;
}

/* Reads the YAML between the comment's ends.  It starts at the mark itself, at any place in its line, so that
 * the first key is in YAML's first column like the others. */
static const rkb_yaml_t *read_yaml(manifest_parser_t *parser, const char *source,
                                   const rkb_token_t *comment) {
   const char *start = source + comment->start, *end = start + comment->length, *text = start + 2,
              *line_start = NULL;
   uint32_t line = comment->line, column;
   if (comment->length >= 4 && end[-1] == '/' && end[-2] == '*')
      end -= 2;
   else {
      rkb_problem(parser->problems, (rkb_place_t){parser->path, comment->line, comment->column},
                  "this comment is never closed with */");
      return NULL;
   }
   for (; *text != 'r'; text++) {
      if (*text == '\n') {
         line++;
         line_start = text + 1;
      }
   }
   column = line_start ? (uint32_t)(text - line_start) + 1 : comment->column + (uint32_t)(text - start);
   return rkb_yaml_parse(parser->arena, parser->path, text, (size_t)(end - text), line, column,
                         parser->problems);
}

static bool fixes_shapes(const char *source, const rkb_token_t *list, uint32_t count) {
   bool fixes = false;
   for (uint32_t i = 0; i < count && !fixes; i++)
      fixes = rkb_token_is(source, &list[i], "__cluster_dims__") ||
              rkb_token_is(source, &list[i], "__block_size__");
   return fixes;
}

rkb_manifest_t *manifest_from_tokens(const char *path, const char *source, const rkb_tokens_t *tokens,
                                     rkb_problems_t *problems) {
   uint32_t count = 0, errors = problems->errors;
   const rkb_token_t *list, *comment;
   const rkb_yaml_t *root;
   manifest_parser_t parser = {.problems = problems};
   parser.arena = rkb_arena_new(0);
   parser.manifest = rkb_arena_alloc(parser.arena, sizeof *parser.manifest);
   parser.manifest->arena = parser.arena;
   parser.path = rkb_arena_text(parser.arena, path, strlen(path));
   list = rkb_tokens_at(tokens, &count);
   comment = find_comment(parser.path, source, list, count, problems);
   if (!comment)
      goto failed;
   parser.manifest->public.comment_start = comment->start;
   parser.manifest->public.comment_length = comment->length;
   root = read_yaml(&parser, source, comment);
   if (!root || !rkb_yaml_expect(root, RKB_YAML_MAP, "the manifest", problems))
      goto failed;
   rkb_keys_only(RKB_MANIFEST_KEYS, root, "the manifest", RKB_MANIFEST_FILE, problems);
   parse_head(&parser, root);
   parse_tune(&parser, rkb_yaml_get(root, "tune"));
   parse_lets(&parser, rkb_yaml_get(root, "let"));
   parse_scratch(&parser, rkb_yaml_get(root, "scratch"));
   manifest_parse_maps(&parser, rkb_yaml_get(root, "maps"));
   parse_fills(&parser, rkb_yaml_get(root, "fill"));
   manifest_parse_launches(&parser, root);
   manifest_find_collisions(parser.manifest, parser.path, source, list, count, problems);
   parser.manifest->fixes_shapes = fixes_shapes(source, list, count);
   if (problems->errors != errors)
      goto failed;
   return &parser.manifest->public;
failed:
   rkb_arena_free(parser.arena);
   return NULL;
}

rkb_manifest_t *rkb_manifest_parse(const char *path, const char *source, size_t bytes,
                                   rkb_problems_t *problems) {
   rkb_tokens_t *tokens = rkb_tokens_new(source, bytes);
   rkb_manifest_t *manifest = manifest_from_tokens(path, source, tokens, problems);
   rkb_tokens_free(tokens);
   return manifest;
}

rkb_manifest_t *rkb_manifest_ref(rkb_manifest_t *manifest) {
   if (manifest)
      __atomic_fetch_add(&((manifest_t *)manifest)->more_holders, 1, __ATOMIC_RELAXED);
   return manifest;
}

void rkb_manifest_free(rkb_manifest_t *manifest) {
   if (manifest && __atomic_fetch_sub(&((manifest_t *)manifest)->more_holders, 1, __ATOMIC_ACQ_REL) == 0)
      rkb_arena_free(((manifest_t *)manifest)->arena);
}
