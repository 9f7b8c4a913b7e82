/* Prompt files: each cases/NAME.md is a prompt, cases/NAME.values what a stage puts into its slots, and cases/NAME.expected the problems, or the filled
 * prompt.  Without values the stage may fill any slot and fills none.  One thread. */
#include "case_files.h"

#include <unistd.h>

#include "base/random.h"
#include "base/yaml.h"
#include "prompt/prompt.h"

#define FOLDER RKB_SOURCE_DIR "/tests/prompt/cases"
#define MARKER_BYTES 21 /* "data-" and sixteen digits */

typedef struct stage_values {
   const char *names[RKB_MAX_SLOTS + 1]; /* what the stage fills; NULL after the last */
   rkb_slot_value_t values[RKB_MAX_SLOTS];
   uint32_t count;
} stage_values_t;

static const char *text_of(const rkb_yaml_t *map, const char *key) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   return node ? node->text : NULL;
}

/* {slot: [{text, label, priority, fenced}]} */
static void read_values(rkb_arena_t *arena, const rkb_yaml_t *map, stage_values_t *out) {
   assert_true(map->kind == RKB_YAML_MAP && map->count <= RKB_MAX_SLOTS);
   for (uint32_t i = 0; i < map->count; i++) {
      const rkb_yaml_t *list = map->items[i];
      rkb_slot_entry_t *entries = rkb_arena_array(arena, list->count + 1, sizeof *entries);
      for (uint32_t j = 0; j < list->count; j++) {
         const char *priority = text_of(list->items[j], "priority"),
                    *fenced = text_of(list->items[j], "fenced");
         entries[j] = (rkb_slot_entry_t){.text = text_of(list->items[j], "text"),
                                         .label = text_of(list->items[j], "label"),
                                         .priority = priority ? atoi(priority) : 0,
                                         .fenced = fenced && strcmp(fenced, "true") == 0};
      }
      out->names[out->count] = map->keys[i]->text;
      out->values[out->count++] =
         (rkb_slot_value_t){.name = map->keys[i]->text, .entries = entries, .count = list->count};
   }
}

/* The marker is drawn by chance: MARKER in its place. */
static void add_marked(rkb_text_t *out, const char *text, const char *marker) {
   const char *at;
   while ((at = strstr(text, marker)) != NULL) {
      rkb_text_append(out, text, (size_t)(at - text));
      rkb_text_add(out, "MARKER");
      text = at + MARKER_BYTES;
   }
   rkb_text_add(out, text);
}

static void add_filled(rkb_text_t *out, const rkb_filled_prompt_t *filled) {
   char marker[MARKER_BYTES + 1];
   const char *at = strstr(filled->provenance, "\"marker\":\"data-");
   assert_non_null(at);
   snprintf(marker, sizeof marker, "%s", at + strlen("\"marker\":\""));
   rkb_text_add(out, "--- system\n");
   add_marked(out, filled->system, marker);
   rkb_text_add(out, "--- user\n");
   add_marked(out, filled->user, marker);
   rkb_text_format(out, "--- %u left out, provenance\n", filled->cut);
   add_marked(out, filled->provenance, marker);
   rkb_text_add(out, "\n");
}

static char *describe(const char *path) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_random_t stream = rkb_random_stream(1, "test", 0, 0);
   rkb_filled_prompt_t *filled = NULL;
   stage_values_t stage = {0};
   rkb_problems_t problems;
   rkb_error_t err = {0};
   rkb_text_t said, out;
   char values_path[4096], *text = NULL;
   size_t length;
   rkb_problems_init(&problems);
   rkb_text_init(&said, 1 << 16);
   rkb_text_init(&out, 1 << 20);
   snprintf(values_path, sizeof values_path, "%.*svalues", (int)strlen(path) - 2, path);
   const bool fills = access(values_path, R_OK) == 0;
   if (fills) {
      const rkb_yaml_t *values = rkb_yaml_load(arena, values_path, &problems);
      assert_non_null(values);
      read_values(arena, values, &stage);
   }
   assert_int_equal(rkb_file_read(path, 1 << 20, &text, &length, &err), RKB_OK);
   if (rkb_template_parse(arena, path, text, fills ? stage.names : NULL, &problems)) {
      const rkb_prompt_t prompt = {.path = path, .text = text, .hash = "the hash of the file"};
      if (rkb_prompt_fill(&prompt, stage.values, stage.count, &stream, &filled, &err) != RKB_OK)
         fail_msg("%s: %s", path, err.message);
      add_filled(&out, filled);
   }
   rkb_problems_write(&problems, &said);
   add_shortened(&out, rkb_text_get(&said), FOLDER);
   rkb_prompt_filled_free(filled);
   free(text);
   rkb_text_free(&said);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return rkb_text_take(&out);
}

static void prompt_files_are_read_and_filled(void **state) {
   (void)state;
   hold_cases(FOLDER, ".md", 15, describe);
}

/* What the stage's stream gives decides the marker, and nothing else does. */
static void markers_come_from_the_stream(void **state) {
   static const rkb_prompt_t PROMPT = {
      .path = "p.md", .hash = "h", .text = "---\nslots: {}\n---\n# user\n{{marker}}\n"};
   rkb_random_t stream = rkb_random_stream(1, "test", 0, 0), same = stream,
                other = rkb_random_stream(1, "test", 1, 0);
   rkb_random_t *const streams[] = {&stream, &same, &other};
   rkb_filled_prompt_t *filled[3] = {NULL};
   rkb_error_t err = {0};
   (void)state;
   for (size_t i = 0; i < 3; i++)
      assert_int_equal(rkb_prompt_fill(&PROMPT, NULL, 0, streams[i], &filled[i], &err), RKB_OK);
   assert_string_equal(filled[0]->user, filled[1]->user);
   assert_string_not_equal(filled[0]->user, filled[2]->user);
   assert_int_equal(strlen(filled[0]->user), MARKER_BYTES + 1);
   for (size_t i = 0; i < 3; i++)
      rkb_prompt_filled_free(filled[i]);
}

static int fill_with(const char *text, rkb_error_t *err) {
   static const rkb_prompt_t PROMPT = {
      .path = "p.md", .hash = "h", .text = "---\nslots:\n  task: 3MiB\n---\n# user\n{{task}}\n"};
   const rkb_slot_entry_t entry = {.text = text};
   const rkb_slot_value_t value = {.name = "task", .entries = &entry, .count = 1};
   rkb_random_t stream = rkb_random_stream(1, "test", 0, 0);
   rkb_filled_prompt_t *filled = NULL;
   int status = rkb_prompt_fill(&PROMPT, &value, 1, &stream, &filled, err);
   assert_true((status == RKB_OK) == (filled != NULL));
   rkb_prompt_filled_free(filled);
   return status;
}

/* A value that is as long as the limit, and a line's end after it. */
static void what_is_too_long_is_an_error(void **state) {
   enum { MOST = 2 << 20 };
   rkb_error_t err = {0};
   rkb_text_t large;
   (void)state;
   rkb_text_init(&large, MOST);
   for (size_t i = 0; i < MOST; i += 8)
      rkb_text_add(&large, "01234567");
   assert_int_equal(fill_with(rkb_text_get(&large), &err), RKB_ERR_LIMIT);
   assert_string_equal(err.message, "a filled prompt is larger than 2097152 bytes");
   assert_int_equal(fill_with("short", &err), RKB_OK);
   rkb_text_free(&large);
}

/* JSON holds UTF-8 alone, and the record of what was asked is JSON. */
static void what_is_not_utf8_is_an_error(void **state) {
   rkb_error_t err = {0};
   (void)state;
   assert_int_equal(fill_with("caf\xc3\xa9", &err), RKB_OK);
   assert_int_equal(fill_with("caf\xe9", &err), RKB_ERR_INVALID);
   assert_string_equal(err.message, "p.md: the value of slot 'task' is not UTF-8");
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(prompt_files_are_read_and_filled),
      cmocka_unit_test(markers_come_from_the_stream),
      cmocka_unit_test(what_is_too_long_is_an_error),
      cmocka_unit_test(what_is_not_utf8_is_an_error),
   };
   return RUN_TESTS(tests);
}
