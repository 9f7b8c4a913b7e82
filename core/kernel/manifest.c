/* The `rkb-kernel: 1` comment of a .cu: found in the token stream, read as YAML that keeps the .cu's lines
 * and columns, and checked as far as it can be without a task.  Everything parsed lives in one arena owned by
 * the manifest; one thread while parsing, any afterwards. */
#include "kernel/manifest.h"
#include "kernel/token_text.h"
#include "base/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const top_keys[] = {"rkb-kernel", "task",    "direction", "algorithm", "tune",
                                       "let",        "scratch", "fill",      "launches",  NULL};
static const char *const tune_keys[] = {"default", "choices", NULL};
static const char *const scratch_keys[] = {"dtype", "shape", "init", NULL};
static const char *const launch_keys[] = {"kernel",  "when",        "else", "grid",      "block", "shared",
                                          "cluster", "cooperative", "args", "constants", NULL};

typedef struct parser {
   manifest_t *manifest;
   rkb_arena_t *arena;
   rkb_problems_t *problems;
   const char *path;
} parser_t;

bool manifest_is_name(const char *name) {
   const char *c = name;
   if (!*name || (*name >= '0' && *name <= '9') || strlen(name) > 64)
      return false;
   for (; *c; c++)
      if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_'))
         return false;
   return true;
}

/* Words of our expressions and manifests, which no name may hide. */
static bool is_reserved(const char *name) {
   static const char *const words[] = {"and",     "or",   "not",  "if",    "min", "max",
                                       "ceildiv", "null", "true", "false", NULL};
   for (uint32_t i = 0; words[i]; i++)
      if (strcmp(name, words[i]) == 0)
         return true;
   return false;
}

/* Where the text of a scalar begins: past its opening quote. */
static rkb_place_t text_place(const rkb_yaml_t *node) {
   rkb_place_t place = node->place;
   if (node->quoted)
      place.column++;
   return place;
}

static bool check_name(parser_t *parser, const rkb_yaml_t *key, const char *what) {
   if (!manifest_is_name(key->text)) {
      rkb_problem(parser->problems, key->place,
                  "'%.64s' cannot name a %s; use letters, digits and _, at most 64", key->text, what);
      return false;
   }
   if (is_reserved(key->text)) {
      rkb_problem(parser->problems, key->place, "'%s' is a word of expressions and cannot name a %s",
                  key->text, what);
      return false;
   }
   return true;
}

/* A scalar that holds an expression, or a sentence on what stands there instead. */
static const char *expression_text(parser_t *parser, const rkb_yaml_t *node, const char *what) {
   if (node->kind == RKB_YAML_LIST || node->kind == RKB_YAML_MAP) {
      rkb_problem(parser->problems, node->place, "%s is one string, not a YAML %s; write it as \"a, b\"",
                  what, node->kind == RKB_YAML_LIST ? "list" : "mapping");
      return NULL;
   }
   return rkb_yaml_is_null(node) ? "" : node->text;
}

static bool expressions(parser_t *parser, const rkb_yaml_t *map, const char *key, rkb_expression_t ***list,
                        uint32_t *count, const char **written) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   const char *text;
   *list = NULL;
   *count = 0;
   *written = "";
   if (!node)
      return true;
   text = expression_text(parser, node, key);
   if (!text)
      return false;
   *written = rkb_arena_text(parser->arena, text, strlen(text));
   return rkb_expression_list(parser->arena, text, strlen(text), text_place(node), list, count,
                              parser->problems);
}

static bool one_expression(parser_t *parser, const rkb_yaml_t *map, const char *key, rkb_expression_t **value,
                           const char **written) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   const char *text;
   *value = NULL;
   *written = "";
   if (!node)
      return true;
   text = expression_text(parser, node, key);
   if (!text)
      return false;
   *written = rkb_arena_text(parser->arena, text, strlen(text));
   *value = rkb_expression_parse(parser->arena, text, strlen(text), text_place(node), parser->problems);
   return *value != NULL;
}

static uint32_t entries(parser_t *parser, const rkb_yaml_t *node, uint32_t kind, const char *what,
                        uint32_t most) {
   if (!node || rkb_yaml_is_null(node) || !rkb_yaml_expect(node, kind, what, parser->problems))
      return 0;
   if (node->count > most) {
      rkb_problem(parser->problems, node->place, "%s has %u entries; at most %u are allowed", what,
                  node->count, most);
      return most;
   }
   return node->count;
}

/* tune: {NAME: {default: 256, choices: [64, 128]}} */
static void parse_choices(parser_t *parser, const rkb_yaml_t *map, rkb_tune_parameter_t *tune) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "choices");
   uint32_t count = entries(parser, node, RKB_YAML_LIST, "choices", RKB_MANIFEST_MAX_CHOICES);
   int64_t *choices = rkb_arena_array(parser->arena, count ? count : 1, sizeof *choices);
   if (!choices)
      return;
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

static void parse_tune(parser_t *parser, const rkb_yaml_t *node) {
   uint32_t count = entries(parser, node, RKB_YAML_MAP, "tune", RKB_MANIFEST_MAX_ENTRIES);
   rkb_tune_parameter_t *list = rkb_arena_array(parser->arena, count + 1, sizeof *list);
   if (!list)
      return;
   for (uint32_t i = 0; i < count; i++) {
      const rkb_yaml_t *map = node->items[i], *fallback;
      bool listed = false;
      list[i].name = node->keys[i]->text;
      list[i].line = node->keys[i]->place.line;
      list[i].column = node->keys[i]->place.column;
      if (check_name(parser, node->keys[i], "tune parameter") && manifest_is_keyword(list[i].name))
         rkb_problem(
            parser->problems, node->keys[i]->place,
            "plan.name_collision: tune parameter '%s' would replace a word of CUDA C++; choose another name",
            list[i].name);
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "a tune parameter", parser->problems))
         continue;
      rkb_yaml_only(map, "a tune parameter", tune_keys, parser->problems);
      parse_choices(parser, map, &list[i]);
      fallback = rkb_yaml_get(map, "default");
      if (!fallback) {
         rkb_problem(parser->problems, map->place, "tune parameter '%s' needs a default", list[i].name);
         continue;
      }
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
}

static void parse_lets(parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   uint32_t count = entries(parser, node, RKB_YAML_MAP, "let", RKB_MANIFEST_MAX_ENTRIES);
   manifest->lets = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->lets);
   if (!manifest->lets)
      return;
   for (uint32_t i = 0; i < count; i++) {
      const char *text = expression_text(parser, node->items[i], "a let value");
      manifest->lets[i].name = node->keys[i]->text;
      manifest->lets[i].place = node->keys[i]->place;
      check_name(parser, node->keys[i], "let value");
      for (uint32_t k = 0; k < manifest->public.tune_count; k++)
         if (strcmp(manifest->public.tune[k].name, node->keys[i]->text) == 0)
            rkb_problem(parser->problems, node->keys[i]->place,
                        "plan.name_collision: '%s' is a tune parameter already", node->keys[i]->text);
      if (text)
         manifest->lets[i].value = rkb_expression_parse(parser->arena, text, strlen(text),
                                                        text_place(node->items[i]), parser->problems);
   }
   manifest->let_count = count;
}

/* zero, or a float literal.  Absent (NULL) stays undeclared. */
static void parse_fill(parser_t *parser, const rkb_yaml_t *node, const char *what, manifest_fill_t *fill) {
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
   static const struct {
      const char *name;
      uint32_t dtype;
   } names[] = {{"float32", RKB_F32}, {"float64", RKB_F64}, {"float16", RKB_F16}, {"bfloat16", RKB_BF16},
                {"int32", RKB_I32},   {"int64", RKB_I64},   {"uint8", RKB_U8}};
   for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strcmp(names[i].name, name) == 0)
         return names[i].dtype;
   return 0;
}

static void parse_scratch(parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   uint32_t count = entries(parser, node, RKB_YAML_MAP, "scratch", RKB_MANIFEST_MAX_ENTRIES);
   manifest->scratch = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->scratch);
   if (!manifest->scratch)
      return;
   for (uint32_t i = 0; i < count; i++) {
      manifest_scratch_t *scratch = &manifest->scratch[i];
      const rkb_yaml_t *map = node->items[i], *dtype;
      const char *text = NULL, *written;
      scratch->name = node->keys[i]->text;
      scratch->place = node->keys[i]->place;
      check_name(parser, node->keys[i], "scratch buffer");
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "a scratch buffer", parser->problems))
         continue;
      rkb_yaml_only(map, "a scratch buffer", scratch_keys, parser->problems);
      dtype = rkb_yaml_get(map, "dtype");
      if (!dtype || !rkb_yaml_get(map, "shape"))
         rkb_problem(parser->problems, map->place, "scratch buffer '%s' needs %s", scratch->name,
                     dtype ? "a shape" : "a dtype");
      if (dtype && rkb_yaml_scalar(dtype, "dtype", &text, parser->problems)) {
         scratch->dtype = parse_dtype(text);
         if (!scratch->dtype)
            rkb_problem(
               parser->problems, dtype->place,
               "unknown dtype '%.32s'; use float32, float64, float16, bfloat16, int32, int64 or uint8", text);
      }
      expressions(parser, map, "shape", &scratch->shape, &scratch->rank, &written);
      if (scratch->rank > RKB_MAX_RANK)
         rkb_problem(parser->problems, map->place,
                     "scratch buffer '%s' has %u dimensions; at most %d are allowed", scratch->name,
                     scratch->rank, RKB_MAX_RANK);
      parse_fill(parser, rkb_yaml_get(map, "init"), "init", &scratch->init);
   }
   manifest->scratch_count = count;
}

static void parse_fills(parser_t *parser, const rkb_yaml_t *node) {
   manifest_t *manifest = parser->manifest;
   uint32_t count = entries(parser, node, RKB_YAML_MAP, "fill", RKB_MANIFEST_MAX_ENTRIES);
   manifest->fills = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->fills);
   if (!manifest->fills)
      return;
   for (uint32_t i = 0; i < count; i++) {
      manifest->fills[i].name = node->keys[i]->text;
      manifest->fills[i].place = node->keys[i]->place;
      parse_fill(parser, node->items[i], "a fill", &manifest->fills[i].fill);
   }
   manifest->fill_count = count;
}

/* One argument: `null`, `name`, `name + rest`, or any expression.  Which of them is a pointer is known once
 * the case's tensors are. */
static void parse_argument(parser_t *parser, rkb_expression_t *whole, manifest_argument_t *argument) {
   const char *text = rkb_expression_text(whole), *end = text;
   rkb_place_t place = rkb_expression_place(whole);
   argument->whole = whole;
   argument->place = place;
   while (manifest_is_name((char[]){*end, '\0'}) || (end > text && *end >= '0' && *end <= '9'))
      end++;
   if (end == text)
      return;
   argument->head = rkb_arena_text(parser->arena, text, (size_t)(end - text));
   while (*end == ' ' || *end == '\t')
      end++;
   argument->simple = *end == '\0' || *end == '+';
   argument->null = *end == '\0' && argument->head && strcmp(argument->head, "null") == 0;
   if (*end == '+') {
      place.column += (uint32_t)(end + 1 - text);
      argument->tail = rkb_expression_parse(parser->arena, end + 1, strlen(end + 1), place, parser->problems);
   }
}

static void parse_arguments(parser_t *parser, const rkb_yaml_t *map, manifest_launch_t *launch,
                            rkb_launch_text_t *text) {
   rkb_expression_t **list;
   uint32_t count;
   if (!rkb_yaml_get(map, "args"))
      rkb_problem(parser->problems, map->place,
                  "this launch needs args: (write args: \"\" for a kernel without parameters)");
   if (!expressions(parser, map, "args", &list, &count, &text->args))
      return;
   launch->arguments = rkb_arena_array(parser->arena, count + 1, sizeof *launch->arguments);
   if (!launch->arguments)
      return;
   launch->argument_count = count;
   for (uint32_t i = 0; i < count; i++)
      parse_argument(parser, list[i], &launch->arguments[i]);
}

static void parse_constants(parser_t *parser, const rkb_yaml_t *node, manifest_launch_t *launch) {
   uint32_t count = entries(parser, node, RKB_YAML_MAP, "constants", RKB_MANIFEST_MAX_ENTRIES);
   launch->constants = rkb_arena_array(parser->arena, count + 1, sizeof *launch->constants);
   if (!launch->constants)
      return;
   for (uint32_t i = 0; i < count; i++) {
      launch->constants[i].symbol = node->keys[i]->text;
      launch->constants[i].place = node->keys[i]->place;
      check_name(parser, node->keys[i], "constant symbol");
      rkb_yaml_scalar(node->items[i], "the tensor of a constant", &launch->constants[i].tensor,
                      parser->problems);
   }
   launch->constant_count = count;
}

static bool parse_dimensions(parser_t *parser, const rkb_yaml_t *map, const char *key,
                             rkb_expression_t ***list, uint32_t *count, const char **written, bool required) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   if (!expressions(parser, map, key, list, count, written))
      return false;
   if (*count > 3)
      rkb_problem(parser->problems, node->place, "%s has %u dimensions; at most 3 are allowed", key, *count);
   else if (!*count && (required || node))
      rkb_problem(parser->problems, node ? node->place : map->place,
                  "this launch needs %s: with 1 to 3 expressions", key);
   return *count >= 1 && *count <= 3;
}

static void parse_kernel(parser_t *parser, const rkb_yaml_t *map, manifest_launch_t *launch,
                         rkb_launch_text_t *text) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "kernel");
   const char *why = NULL;
   if (!node) {
      rkb_problem(parser->problems, map->place, "this launch needs kernel: NAME");
      return;
   }
   launch->kernel_place = text_place(node);
   if (!rkb_yaml_scalar(node, "kernel", &launch->kernel, parser->problems))
      return;
   text->kernel = launch->kernel;
   if (!manifest_kernel_name(launch->kernel, &why))
      rkb_problem(parser->problems, launch->kernel_place, "'%.64s' cannot name a kernel: %s", launch->kernel,
                  why);
}

static void parse_launch(parser_t *parser, const rkb_yaml_t *map, uint32_t index, manifest_launch_t *launch,
                         rkb_launch_text_t *text) {
   const rkb_yaml_t *otherwise = rkb_yaml_get(map, "else"), *cooperative = rkb_yaml_get(map, "cooperative");
   *text = (rkb_launch_text_t){
      .kernel = "", .when = "", .grid = "", .block = "", .shared = "", .cluster = "", .args = ""};
   launch->place = map->place;
   text->line = map->place.line;
   text->column = map->place.column;
   rkb_yaml_only(map, "a launch", launch_keys, parser->problems);
   parse_kernel(parser, map, launch, text);
   one_expression(parser, map, "when", &launch->when, &text->when);
   if (otherwise) {
      bool value = true;
      if (!rkb_yaml_is_null(otherwise) &&
          (!rkb_yaml_bool(otherwise, "else", &value, parser->problems) || !value))
         rkb_problem(parser->problems, otherwise->place, "else: stands alone; put a condition into when:");
      if (index == 0)
         rkb_problem(parser->problems, otherwise->place,
                     "else: joins the launch before it, and this is the first");
      launch->is_else = true;
   }
   parse_dimensions(parser, map, "grid", &launch->grid, &launch->grid_count, &text->grid, true);
   parse_dimensions(parser, map, "block", &launch->block, &launch->block_count, &text->block, true);
   parse_dimensions(parser, map, "cluster", &launch->cluster, &launch->cluster_count, &text->cluster, false);
   one_expression(parser, map, "shared", &launch->shared, &text->shared);
   if (cooperative)
      rkb_yaml_bool(cooperative, "cooperative", &launch->cooperative, parser->problems);
   text->is_else = launch->is_else;
   text->cooperative = launch->cooperative;
   parse_arguments(parser, map, launch, text);
   parse_constants(parser, rkb_yaml_get(map, "constants"), launch);
}

static void parse_launches(parser_t *parser, const rkb_yaml_t *root) {
   manifest_t *manifest = parser->manifest;
   const rkb_yaml_t *node = rkb_yaml_get(root, "launches");
   uint32_t count = entries(parser, node, RKB_YAML_LIST, "launches", RKB_MANIFEST_MAX_LAUNCHES);
   rkb_launch_text_t *texts = rkb_arena_array(parser->arena, count + 1, sizeof *texts);
   manifest->launches = rkb_arena_array(parser->arena, count + 1, sizeof *manifest->launches);
   if (!texts || !manifest->launches)
      return;
   if (!count)
      rkb_problem(parser->problems, node ? node->place : root->place,
                  "the manifest needs launches: with at least one entry");
   for (uint32_t i = 0; i < count; i++) {
      if (rkb_yaml_expect(node->items[i], RKB_YAML_MAP, "a launch", parser->problems))
         parse_launch(parser, node->items[i], i, &manifest->launches[i], &texts[i]);
   }
   manifest->public.launches = texts;
   manifest->public.launch_count = count;
}

static void parse_head(parser_t *parser, const rkb_yaml_t *root) {
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
      rkb_problem(parser->problems, direction->place, "'%.64s' is no direction; use forward or backward",
                  public->direction);
   if (algorithm && rkb_yaml_scalar(algorithm, "algorithm", &text, parser->problems)) {
      public->transform = strcmp(text, "transform") == 0;
      if (!public->transform)
         rkb_problem(parser->problems, algorithm->place,
                     "'%.64s' is no known algorithm; write transform, or leave it out", text);
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

/* The YAML between the comment's ends.  It starts at the mark itself, wherever in the line that stands, so
 * that the first key is in YAML's first column like the others. */
static const rkb_yaml_t *read_yaml(parser_t *parser, const char *source, const rkb_token_t *comment) {
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

rkb_manifest_t *rkb_manifest_parse(const char *path, const char *source, size_t bytes,
                                   rkb_problems_t *problems) {
   uint32_t count = 0, errors = problems->errors;
   const rkb_token_t *list, *comment;
   const rkb_yaml_t *root;
   parser_t parser = {.problems = problems};
   rkb_tokens_t *tokens = rkb_tokens_new(source, bytes);
   parser.arena = rkb_arena_new(16u << 20);
   parser.manifest = parser.arena ? rkb_arena_alloc(parser.arena, sizeof *parser.manifest) : NULL;
   if (!tokens || !parser.manifest) {
      rkb_problem(problems, (rkb_place_t){NULL, 0, 0}, "out of memory");
      goto failed;
   }
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
   rkb_yaml_only(root, "the manifest", top_keys, problems);
   parse_head(&parser, root);
   parse_tune(&parser, rkb_yaml_get(root, "tune"));
   parse_lets(&parser, rkb_yaml_get(root, "let"));
   parse_scratch(&parser, rkb_yaml_get(root, "scratch"));
   parse_fills(&parser, rkb_yaml_get(root, "fill"));
   parse_launches(&parser, root);
   manifest_find_collisions(parser.manifest, parser.path, source, list, count, problems);
   if (problems->errors != errors)
      goto failed;
   rkb_tokens_free(tokens);
   return &parser.manifest->public;
failed:
   if (problems->errors == errors) /* the arena's limit, which leaves no message of its own */
      rkb_problem(problems, (rkb_place_t){NULL, 0, 0}, "the manifest needs too much memory");
   rkb_tokens_free(tokens);
   rkb_arena_free(parser.arena);
   return NULL;
}

void rkb_manifest_free(rkb_manifest_t *manifest) {
   if (manifest)
      rkb_arena_free(((manifest_t *)manifest)->arena);
}
