/* What a plugin declares, and what a person writes for it: each cases/NAME.yaml declares a stage with its options and gives values for them, and
 * cases/NAME.expected says why the declaration is refused, what is wrong with the values, or what stands in the stage's config.  One thread. */
#include "case_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include "plugin/declaration_check.h"
#include "plugin/declared_stage.h"
#include "plugin/options.h"

#define FOLDER RKB_SOURCE_DIR "/tests/plugin/cases"

static void add_values(rkb_text_t *out, const rkb_option_t *options, uint32_t count, const char *config,
                       int depth);

static void add_text(rkb_text_t *out, const char *text) {
   if (!text)
      rkb_text_add(out, "none");
   else
      add_shortened(out, text, FOLDER);
}

static void add_list(rkb_text_t *out, const char *const *list) {
   rkb_text_add(out, list ? "[" : "none");
   for (const char *const *one = list; one && *one; one++)
      rkb_text_format(out, "%s%s", one == list ? "" : ", ", *one);
   rkb_text_add(out, list ? "]" : "");
}

static void add_rows(rkb_text_t *out, const rkb_option_t *option, const rkb_table_list_t *list, int depth) {
   rkb_text_format(out, "%" PRIu64 " rows", list->count);
   for (uint64_t i = 0; i < list->count; i++) {
      rkb_text_add(out, i ? "\n" : "");
      add_values(out, option->members, option->member_count,
                 (const char *)list->rows + i * option->member_size, depth + 1);
   }
}

static void add_value(rkb_text_t *out, const rkb_option_t *option, const void *at, int depth) {
   const rkb_prompt_t *prompt = at;
   switch (option->type) {
   case RKB_OPT_BOOL:
      rkb_text_add(out, *(const bool *)at ? "true" : "false");
      break;
   case RKB_OPT_INT:
      rkb_text_format(out, "%" PRIi64, *(const int64_t *)at);
      break;
   case RKB_OPT_REAL:
      rkb_text_format(out, "%.17g", *(const double *)at);
      break;
   case RKB_OPT_DURATION:
      rkb_text_format(out, "%" PRIu64 " ns", *(const uint64_t *)at);
      break;
   case RKB_OPT_BYTES:
      rkb_text_format(out, "%" PRIu64 " bytes", *(const uint64_t *)at);
      break;
   case RKB_OPT_STRINGS:
      add_list(out, *(const char *const *const *)at);
      break;
   case RKB_OPT_PROMPT:
      add_text(out, prompt->path);
      rkb_text_format(out, ", %zu bytes, %.8s", prompt->text ? strlen(prompt->text) : 0,
                      prompt->hash ? prompt->hash : "");
      break;
   case RKB_OPT_TABLE:
      add_values(out, option->members, option->member_count, at, depth + 1);
      break;
   case RKB_OPT_TABLES:
      add_rows(out, option, at, depth);
      break;
   default:
      add_text(out, *(const char *const *)at);
   }
}

/* A line a value; those of tables are further in. */
static void add_values(rkb_text_t *out, const rkb_option_t *options, uint32_t count, const char *config,
                       int depth) {
   for (uint32_t i = 0; i < count; i++) {
      if (depth)
         rkb_text_format(out, "\n%*s", 3 * depth, "");
      rkb_text_format(out, "%s =%s", options[i].name, options[i].type == RKB_OPT_TABLE ? "" : " ");
      add_value(out, &options[i], config + options[i].offset, depth);
      if (!depth)
         rkb_text_add(out, "\n");
   }
}

static void add_hash(void *argument, const char *hash) {
   rkb_text_format(argument, "part of the pipeline's hash: %.8s\n", hash);
}

static void read_given(rkb_arena_t *arena, const rkb_yaml_t *file, const declared_t *declared,
                       rkb_problems_t *problems, rkb_text_t *out) {
   const rkb_yaml_t *models = rkb_yaml_get(file, "models");
   rkb_text_t hashes;
   bool used[64] = {false};
   assert_true(!models || models->count <= 64);
   rkb_text_init(&hashes, 1 << 16);
   char *config = rkb_arena_array(arena, 1, declared->config_size + 1);
   const rkb_options_context_t context = {.arena = arena,
                                          .models = models,
                                          .models_used = used,
                                          .stage = declared->id,
                                          .depends = add_hash,
                                          .argument = &hashes};
   if (rkb_options_read(&context, declared->options, declared->option_count, rkb_yaml_get(file, "given"),
                        file->place, config, problems)) {
      add_values(out, declared->options, declared->option_count, config, 0);
      rkb_text_add(out, rkb_text_get(&hashes));
      for (uint32_t i = 0; models && i < models->count; i++)
         rkb_text_format(out, "%s is %s\n", models->keys[i]->text, used[i] ? "used" : "not used");
      assert_int_equal(problems->errors, 0);
   } else {
      assert_int_not_equal(problems->errors, 0);
   }
   rkb_text_free(&hashes);
}

static char *describe(const char *path) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_text_t said, values, out;
   declared_t declared;
   rkb_error_t err = {0};
   const char *wrong = NULL;
   rkb_problems_init(&problems);
   rkb_text_init(&said, 1 << 16);
   rkb_text_init(&values, 1 << 16);
   rkb_text_init(&out, 1 << 16);
   const rkb_yaml_t *file = rkb_yaml_load(arena, path, &problems);
   if (file && !declare(arena, file, &declared, &wrong))
      fail_msg("%s: no case has '%s'", path, wrong);
   if (file && rkb_plugin_check(declared.plugin, &err))
      read_given(arena, file, &declared, &problems, &values);
   else if (file)
      rkb_text_format(&out, "refused: %s\n", err.message);
   rkb_problems_write(&problems, &said);
   add_shortened(&out, rkb_text_get(&said), FOLDER);
   rkb_text_add(&out, rkb_text_get(&values));
   rkb_text_free(&said);
   rkb_text_free(&values);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return rkb_text_take(&out);
}

static void declarations_and_options_are_read(void **state) {
   (void)state;
   assert_int_equal(setenv("RKB_TEST_WORD", "sesame", 1), 0);
   assert_int_equal(unsetenv("RKB_TEST_NO_WORD"), 0);
   hold_cases(FOLDER, ".yaml", 20, describe);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(declarations_and_options_are_read)};
   return RUN_TESTS(tests);
}
