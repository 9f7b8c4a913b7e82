/* Options (options.h): one function for each type of value, one walk over the table. */
#include "plugin/options.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/units.h"
#include "prompt/prompt.h"

typedef struct reader {
   const rkb_options_context_t *context;
   rkb_problems_t *problems;
} reader_t;

static bool read_table(reader_t *reader, const rkb_option_t *options, uint32_t count, rkb_yaml_t *given,
                       rkb_place_t place, void *config);

static bool in_range(reader_t *reader, const rkb_option_t *option, rkb_place_t place, double value) {
   if (option->min == option->max || (value >= option->min && value <= option->max))
      return true;
   rkb_problem(reader->problems, place, "%s must be from %.15g to %.15g, not %.15g", option->name,
               option->min, option->max, value);
   return false;
}

static bool read_int(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   int64_t value;
   if (!rkb_yaml_int(node, option->name, &value, reader->problems) ||
       !in_range(reader, option, node->place, (double)value))
      return false;
   *(int64_t *)at = value;
   return true;
}

static bool read_real(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   double value;
   if (!rkb_yaml_real(node, option->name, &value, reader->problems) ||
       !in_range(reader, option, node->place, value))
      return false;
   *(double *)at = value;
   return true;
}

static bool read_quantity(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   bool duration = option->type == RKB_OPT_DURATION;
   const char *text;
   uint64_t value;
   if (!rkb_yaml_scalar(node, option->name, &text, reader->problems))
      return false;
   if (!(duration ? rkb_parse_duration(text, &value) : rkb_parse_bytes(text, &value))) {
      rkb_problem(reader->problems, node->place, "%s is '%s'; write %s", option->name, text,
                  duration ? "a duration, as in 250ms, 30s or 5m" : "a number of bytes, as in 64KiB or 1GiB");
      return false;
   }
   /* min and max of a duration are in seconds: what a person would write in the table. */
   if (!in_range(reader, option, node->place, duration ? (double)value / 1e9 : (double)value))
      return false;
   *(uint64_t *)at = value;
   return true;
}

static bool read_enum(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   const char *text;
   if (!rkb_yaml_scalar(node, option->name, &text, reader->problems))
      return false;
   for (const char *const *choice = option->choices; *choice; choice++) {
      if (strcmp(*choice, text) == 0) {
         *(const char **)at = *choice;
         return true;
      }
   }
   rkb_text_t list;
   rkb_text_init(&list, 256);
   for (const char *const *choice = option->choices; *choice; choice++)
      rkb_text_format(&list, "%s%s", choice == option->choices ? "" : ", ", *choice);
   const char *near = rkb_nearest(text, option->choices);
   rkb_problem(reader->problems, node->place, "%s cannot be '%s'; %s%s%swrite one of: %s", option->name, text,
               near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", rkb_text_get(&list));
   rkb_text_free(&list);
   return false;
}

/* {env: NAME} or {file: PATH}; the value itself never enters the tree, a message or the archive. */
static bool read_secret(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   static const char *const known[] = {"env", "file", NULL};
   rkb_arena_t *arena = reader->context->arena;
   if (node->kind != RKB_YAML_MAP || node->count != 1) {
      rkb_problem(reader->problems, node->place,
                  "%s is secret; write {env: NAME} or {file: PATH}, never the value itself", option->name);
      return false;
   }
   rkb_yaml_t *env = rkb_yaml_get(node, "env"), *file = rkb_yaml_get(node, "file");
   rkb_yaml_t *source = env ? env : file;
   const char *name;
   if (!source) {
      rkb_yaml_only(node, option->name, known, reader->problems);
      return false;
   }
   if (!rkb_yaml_scalar(source, option->name, &name, reader->problems))
      return false;
   if (env) {
      const char *value = getenv(name);
      if (!value || !*value) {
         rkb_problem(reader->problems, source->place, "%s: the environment has no %s", option->name, name);
         return false;
      }
      *(const char **)at = rkb_arena_text(arena, value, strlen(value));
      return true;
   }
   char *bytes = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   char *directory = source->place.file ? rkb_path_directory(source->place.file) : rkb_duplicate(".");
   char *path = rkb_path_join(directory, name);
   int status = rkb_file_read(path, 64 << 10, &bytes, &length, &err);
   if (status == RKB_OK) {
      while (length && strchr("\r\n", bytes[length - 1]))
         length--; /* editors end a file with a newline that is no part of the secret */
      *(const char **)at = rkb_arena_text(arena, bytes, length);
      explicit_bzero(bytes, length);
   } else {
      rkb_problem(reader->problems, source->place, "%s: %s", option->name, err.message);
   }
   free(bytes);
   free(path);
   free(directory);
   return status == RKB_OK;
}

/* A path against the file it is written in, absolute; replaces the text in the tree, so that the resolved form opens from
 * anywhere. */
static const char *absolute(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node) {
   const char *text;
   if (!rkb_yaml_scalar(node, option->name, &text, reader->problems))
      return NULL;
   if (!*text) {
      rkb_problem(reader->problems, node->place, "%s is empty; write a path", option->name);
      return NULL;
   }
   char *directory =
      node->place.file && text[0] != '/' ? rkb_path_directory(node->place.file) : rkb_duplicate(".");
   char *joined = rkb_path_join(directory, text);
   char *real = realpath(joined, NULL);
   const char *chosen = real ? real : joined;
   char *copy = rkb_arena_text(reader->context->arena, chosen, strlen(chosen));
   free(real);
   free(joined);
   free(directory);
   node->text = copy;
   node->length = strlen(copy);
   node->quoted = true;
   return copy;
}

static bool read_path(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   const char *path = absolute(reader, option, node);
   *(const char **)at = path;
   return path != NULL;
}

/* A shipped prompt, when a pipeline elsewhere names none of its own. */
static void find_shipped(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node) {
   char *folder =
      option->fallback && strcmp(node->text, option->fallback) == 0 ? rkb_find_data("pipelines") : NULL;
   char *path = folder ? rkb_path_join(folder, option->fallback) : NULL;
   if (path) {
      node->text = rkb_arena_text(reader->context->arena, path, strlen(path));
      node->length = strlen(path);
   }
   free(path);
   free(folder);
}

static bool check_prompt(reader_t *reader, const rkb_option_t *option, const rkb_prompt_t *prompt) {
   rkb_arena_t *scratch = rkb_arena_new(0);
   bool ok = rkb_template_parse(scratch, prompt->path, prompt->text, option->choices, reader->problems);
   rkb_arena_free(scratch);
   return ok;
}

static bool read_prompt(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   rkb_prompt_t *prompt = at;
   rkb_arena_t *arena = reader->context->arena;
   rkb_error_t err = {0};
   char *bytes = NULL;
   size_t length = 0;
   char hash[RKB_HASH_TEXT];
   if (node->kind == RKB_YAML_SCALAR)
      find_shipped(reader, option, node);
   prompt->path = absolute(reader, option, node);
   if (!prompt->path)
      return false;
   if (rkb_file_read(prompt->path, RKB_MAX_PROMPT_BYTES, &bytes, &length, &err) != RKB_OK) {
      rkb_problem(reader->problems, node->place, "%s: %s", option->name, err.message);
      return false;
   }
   rkb_hash_text(bytes, length, hash);
   prompt->text = rkb_arena_text(arena, bytes, length);
   prompt->hash = rkb_arena_text(arena, hash, strlen(hash));
   free(bytes);
   if (reader->context->depends)
      reader->context->depends(reader->context->argument, hash);
   return check_prompt(reader, option, prompt);
}

static bool read_model(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   const rkb_yaml_t *models = reader->context->models;
   const char *names[65];
   const char *text;
   uint32_t count = 0;
   if (!rkb_yaml_scalar(node, option->name, &text, reader->problems))
      return false;
   for (uint32_t i = 0; models && models->kind == RKB_YAML_MAP && i < models->count && count < 64; i++) {
      names[count++] = models->keys[i]->text;
      if (strcmp(names[count - 1], text) == 0) {
         if (reader->context->models_used)
            reader->context->models_used[i] = true;
         *(const char **)at = rkb_arena_text(reader->context->arena, text, strlen(text));
         return true;
      }
   }
   names[count] = NULL;
   const char *near = rkb_nearest(text, names);
   rkb_problem(reader->problems, node->place, "%s: the pipeline has no model '%s'%s%s%s", option->name, text,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "; list it under models:");
   return false;
}

static bool read_strings(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   if (!rkb_yaml_expect(node, RKB_YAML_LIST, option->name, reader->problems))
      return false;
   const char **list = rkb_arena_array(reader->context->arena, node->count + 1, sizeof *list);
   bool ok = true;
   for (uint32_t i = 0; i < node->count; i++)
      ok &= rkb_yaml_scalar(node->items[i], option->name, &list[i], reader->problems);
   *(const char *const **)at = list;
   return ok;
}

static bool read_tables(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   rkb_table_list_t *list = at;
   if (!rkb_yaml_expect(node, RKB_YAML_LIST, option->name, reader->problems))
      return false;
   if (node->count > RKB_MAX_TABLE_ROWS) {
      rkb_problem(reader->problems, node->place, "%s has %u entries; the most is %d", option->name,
                  node->count, RKB_MAX_TABLE_ROWS);
      return false;
   }
   char *rows = rkb_arena_array(reader->context->arena, node->count ? node->count : 1, option->member_size);
   bool ok = true;
   for (uint32_t i = 0; i < node->count; i++)
      ok &= read_table(reader, option->members, option->member_count, node->items[i], node->items[i]->place,
                       rows + (size_t)i * option->member_size);
   list->rows = rows;
   list->count = node->count;
   return ok;
}

static bool read_value(reader_t *reader, const rkb_option_t *option, rkb_yaml_t *node, void *at) {
   if (option->flags & RKB_OPT_SECRET)
      return read_secret(reader, option, node, at);
   switch (option->type) {
   case RKB_OPT_BOOL:
      return rkb_yaml_bool(node, option->name, at, reader->problems);
   case RKB_OPT_INT:
      return read_int(reader, option, node, at);
   case RKB_OPT_REAL:
      return read_real(reader, option, node, at);
   case RKB_OPT_STRING:
      return rkb_yaml_scalar(node, option->name, at, reader->problems);
   case RKB_OPT_PATH:
      return read_path(reader, option, node, at);
   case RKB_OPT_DURATION:
   case RKB_OPT_BYTES:
      return read_quantity(reader, option, node, at);
   case RKB_OPT_ENUM:
      return read_enum(reader, option, node, at);
   case RKB_OPT_STRINGS:
      return read_strings(reader, option, node, at);
   case RKB_OPT_PROMPT:
      return read_prompt(reader, option, node, at);
   case RKB_OPT_MODEL:
      return read_model(reader, option, node, at);
   case RKB_OPT_TABLE:
      return read_table(reader, option->members, option->member_count, node, node->place, at);
   default:
      return read_tables(reader, option, node, at);
   }
}

/* A default is written as YAML in the table, so it takes the same way as a person's value. */
static bool read_fallback(reader_t *reader, const rkb_option_t *option, rkb_place_t place, void *at) {
   rkb_yaml_t *node = rkb_yaml_parse(reader->context->arena, reader->context->stage, option->fallback,
                                     strlen(option->fallback), 1, 1, reader->problems);
   if (!node)
      return false;
   if (node->kind == RKB_YAML_SCALAR)
      node->place = place;
   return read_value(reader, option, node, at);
}

static bool read_table(reader_t *reader, const rkb_option_t *options, uint32_t count, rkb_yaml_t *given,
                       rkb_place_t place, void *config) {
   const char *names[257];
   bool ok = true;
   if (rkb_yaml_is_null(given))
      given = NULL;
   if (given && !rkb_yaml_expect(given, RKB_YAML_MAP, reader->context->stage, reader->problems))
      return false;
   for (uint32_t i = 0; i < count; i++)
      names[i] = options[i].name;
   names[count] = NULL;
   uint32_t before = reader->problems->errors;
   if (given)
      rkb_yaml_only(given, reader->context->stage, names, reader->problems);
   ok = reader->problems->errors == before;
   for (uint32_t i = 0; i < count; i++) {
      const rkb_option_t *option = &options[i];
      void *at = (char *)config + option->offset;
      rkb_yaml_t *node = given ? rkb_yaml_get(given, option->name) : NULL;
      if (node && !rkb_yaml_is_null(node)) {
         if (option->flags & RKB_OPT_DEPRECATED)
            rkb_problem_warning(reader->problems, node->place, "%s: '%s' is deprecated; %s",
                                reader->context->stage, option->name,
                                option->help ? option->help : "see its help");
         ok &= read_value(reader, option, node, at);
      } else if (option->flags & RKB_OPT_REQUIRED) {
         rkb_problem(reader->problems, given ? given->place : place, "%s needs '%s': %s",
                     reader->context->stage, option->name, option->help ? option->help : "see its help");
         ok = false;
      } else if (option->fallback) {
         ok &= read_fallback(reader, option, given ? given->place : place, at);
      } else if (option->type == RKB_OPT_TABLE) {
         ok &= read_table(reader, option->members, option->member_count, NULL, place, at);
      }
   }
   return ok;
}

size_t rkb_option_bytes(const rkb_option_t *option) {
   switch (option->type) {
   case RKB_OPT_BOOL:
      return sizeof(bool);
   case RKB_OPT_PROMPT:
      return sizeof(rkb_prompt_t);
   case RKB_OPT_TABLE:
      return option->member_size;
   case RKB_OPT_TABLES:
      return sizeof(rkb_table_list_t);
   default:
      return 8; /* a pointer, an int64_t, a double, a uint64_t */
   }
}

bool rkb_options_read(const rkb_options_context_t *context, const rkb_option_t *options, uint32_t count,
                      rkb_yaml_t *given, rkb_place_t place, void *config, rkb_problems_t *problems) {
   reader_t reader = {.context = context, .problems = problems};
   return read_table(&reader, options, count, given, place, config);
}
