/* Parses each tests/base/yaml/<case>.yaml.  The result, a tree with its places or all problems, must be what
 * <case>.expected says.  Hostile bytes that do not belong in a source tree are made here. */
#include "check.h"
#include "base/file.h"
#include "base/yaml.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parsed {
   rkb_arena_t *arena;
   rkb_problems_t problems;
   rkb_yaml_t *root;
   rkb_text_t text; /* of the problems */
} parsed_t;

static parsed_t parse_at(const char *bytes, size_t length, uint32_t line, uint32_t column) {
   parsed_t parsed;
   parsed.arena = rkb_arena_new(0);
   rkb_problems_init(&parsed.problems);
   rkb_text_init(&parsed.text, 1 << 20);
   parsed.root = rkb_yaml_parse(parsed.arena, "f", bytes, length, line, column, &parsed.problems);
   rkb_problems_write(&parsed.problems, &parsed.text);
   return parsed;
}

static parsed_t parse(const char *text) {
   return parse_at(text, strlen(text), 1, 1);
}

static void finish(parsed_t *parsed) {
   rkb_text_free(&parsed->text);
   rkb_problems_free(&parsed->problems);
   rkb_arena_free(parsed->arena);
}

static void dump(const rkb_yaml_t *node, unsigned indent, const char *mark, rkb_text_t *out) {
   rkb_text_format(out, "%*s%s%u:%u ", (int)indent, "", mark, node->place.line, node->place.column);
   if (node->kind == RKB_YAML_SCALAR) {
      rkb_text_format(out, node->quoted ? "'%s'\n" : "%s\n", node->text);
      return;
   }
   rkb_text_format(out, "%s of %u\n", node->kind == RKB_YAML_LIST ? "list" : "map", node->count);
   for (uint32_t i = 0; i < node->count; i++) {
      if (node->kind == RKB_YAML_MAP)
         dump(node->keys[i], indent + 2, "? ", out);
      dump(node->items[i], indent + 2, node->kind == RKB_YAML_MAP ? ": " : "- ", out);
   }
}

static void check_case(const char *path) {
   rkb_error_t err;
   char expected_path[512], *bytes, *expected;
   size_t length, expected_length;
   snprintf(expected_path, sizeof expected_path, "%.*s.expected", (int)(strlen(path) - strlen(".yaml")),
            path);
   assert_int_equal(rkb_file_read(path, 1 << 20, &bytes, &length, &err), RKB_OK);
   assert_int_equal(rkb_file_read(expected_path, 1 << 20, &expected, &expected_length, &err), RKB_OK);
   parsed_t parsed = parse_at(bytes, length, 1, 1);
   if (parsed.root)
      dump(parsed.root, 0, "", &parsed.text);
   print_message("%s\n", path);
   assert_string_equal(rkb_text_get(&parsed.text), expected);
   finish(&parsed);
   free(bytes);
   free(expected);
}

static void files_give_what_is_expected(void **state) {
   (void)state;
   glob_t found;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tests/base/yaml/*.yaml", 0, NULL, &found), 0);
   for (size_t i = 0; i < found.gl_pathc; i++)
      check_case(found.gl_pathv[i]);
   assert_true(found.gl_pathc >= 10);
   globfree(&found);
}

static void bytes_that_are_no_text_are_pointed_at(void **state) {
   static const struct {
      const char *bytes;
      size_t length;
      const char *problem;
   } cases[] = {
      {"a: 1\nb: \0\n", 10, "f:2:4: byte 0x00 is NUL; save the file as plain UTF-8 text\n"},
      {"\xc3\xa9: \xff\n", 6, "f:1:5: byte 0xff is not UTF-8; save the file as plain UTF-8 text\n"},
      {"a: \xc3", 4, "f:1:4: byte 0xc3 is not UTF-8; save the file as plain UTF-8 text\n"},
      {"a: \xed\xa0\x80", 6, "f:1:4: byte 0xed is not UTF-8; save the file as plain UTF-8 text\n"},
      {"\r\n\r\xc0\x80", 5, "f:3:1: byte 0xc0 is not UTF-8; save the file as plain UTF-8 text\n"},
      {"a: \x1b[2J", 7, "f:1:4: byte 0x1b is a control character; save the file as plain UTF-8 text\n"},
      {"\xff\xfe"
       "a\0",
       4, "f:1:1: byte 0xff is not UTF-8; save the file as plain UTF-8 text\n"},
      {"a: \"x\\0y\"", 9, "f:1:4: a text may not hold a NUL byte; remove the \\0\n"},
   };
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      parsed_t parsed = parse_at(cases[i].bytes, cases[i].length, 1, 1);
      assert_null(parsed.root);
      assert_string_equal(rkb_text_get(&parsed.text), cases[i].problem);
      finish(&parsed);
   }
}

static void places_begin_where_the_bytes_do(void **state) {
   (void)state;
   const char text[] = "a: 1\nb: 2\na: 3\n";
   parsed_t parsed = parse_at(text + 5, 10, 7, 4);
   assert_int_equal(parsed.root->keys[0]->place.line, 7);
   assert_int_equal(parsed.root->keys[0]->place.column, 4);
   assert_int_equal(parsed.root->keys[1]->place.line, 8);
   assert_int_equal(parsed.root->keys[1]->place.column, 1);
   finish(&parsed);
}

/* unit repeated until the whole is nearly 1 MiB; %u in it is a running number. */
static char *repeated(const char *head, const char *unit, size_t *length) {
   rkb_text_t text;
   rkb_text_init(&text, RKB_YAML_MAX_BYTES - 64);
   rkb_text_add(&text, head);
   for (unsigned i = 0; !text.cut; i++) {
      if (strchr(unit, '%'))
         rkb_text_format(&text, "k%u: \n", i);
      else
         rkb_text_add(&text, unit);
   }
   *length = text.length;
   return rkb_text_take(&text);
}

/* None of these may take more than a fraction of a second.  The test's own time limit catches a quadratic
 * reader. */
static void large_hostile_files_are_answered(void **state) {
   static const struct {
      const char *head, *unit, *begins;
   } cases[] = {
      {"", "[", "f:1:33: nested deeper than 32 levels"},
      {"", "{", "f:1:33: nested deeper than 32 levels"},
      {"", "- ", "f:1:65: nested deeper than 32 levels"},
      {"", "? ", "f:1:65: nested deeper than 32 levels"},
      {"", "[{", "f:1:33: nested deeper than 32 levels"},
      {"a: &a [x]\nb: [", "*a,", "f:1:4: anchors (&a) are not accepted"},
      {"", "k: \n", "f:2:1: the key 'k' is already in this map (line 1)"},
      {"", "!t &a x: \n", "f:1:1: "},
      {"a: \"", "\\x", "f:1:7: not valid YAML"},
      {"", "a: ", "f:1:5: not valid YAML"},
      {"", "%", "f:65536:8: more than 131072 values"}, /* distinct keys */
      {"", "'", NULL},
      {"a: ", "\xe2\x80\xa8", NULL},
      {"[", "a,", "f:1:262144: more than 131072 values"},
      {"- ", "x\n- ", "f:131072:3: more than 131072 values"},
      {"# ", "#", NULL},
      {"", "\n", NULL},
      {"", "\"a\": ", "f:1:9: not valid YAML"},
      {"|\n", " x\n", NULL},
      {"", "#\n", NULL},
   };
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      size_t length;
      char *bytes = repeated(cases[i].head, cases[i].unit, &length);
      parsed_t parsed = parse_at(bytes, length, 1, 1);
      const char *begins = cases[i].begins ? cases[i].begins : "";
      print_message("%zu: %.70s\n", i, parsed.root ? "accepted" : rkb_text_get(&parsed.text));
      assert_memory_equal(rkb_text_get(&parsed.text), begins, strlen(begins));
      finish(&parsed);
      free(bytes);
   }
}

static void too_large_is_refused(void **state) {
   (void)state;
   char *bytes = malloc(RKB_YAML_MAX_BYTES + 1);
   memset(bytes, ' ', RKB_YAML_MAX_BYTES + 1);
   parsed_t parsed = parse_at(bytes, RKB_YAML_MAX_BYTES + 1, 1, 1);
   assert_string_equal(rkb_text_get(&parsed.text), "f: larger than 1 MiB; no file of this kind needs that\n");
   finish(&parsed);
   parsed = parse_at(bytes, RKB_YAML_MAX_BYTES, 1, 1);
   assert_non_null(parsed.root);
   finish(&parsed);
   free(bytes);
}

static void plain_values_are_strict(void **state) {
   (void)state;
   parsed_t parsed = parse("{i: 42, hex: 0x2a, octal: 010, real: 1e-6, yes: yes, on: true, text: 'true', "
                           "number: '1', none: ~, empty: , list: []}");
   const rkb_yaml_t *root = parsed.root;
   rkb_problems_t *problems = &parsed.problems;
   int64_t integer = 0;
   double real = 0;
   bool boolean = false;
   const char *text = NULL;
   assert_true(rkb_yaml_int(rkb_yaml_get(root, "i"), "i", &integer, problems) && integer == 42);
   assert_true(rkb_yaml_int(rkb_yaml_get(root, "hex"), "hex", &integer, problems) && integer == 42);
   assert_true(rkb_yaml_real(rkb_yaml_get(root, "real"), "real", &real, problems) && real == 1e-6);
   assert_true(rkb_yaml_real(rkb_yaml_get(root, "i"), "i", &real, problems) && real == 42);
   assert_true(rkb_yaml_bool(rkb_yaml_get(root, "on"), "on", &boolean, problems) && boolean);
   assert_true(rkb_yaml_scalar(rkb_yaml_get(root, "text"), "text", &text, problems));
   assert_string_equal(text, "true");
   assert_int_equal(problems->errors, 0);
   assert_false(rkb_yaml_int(rkb_yaml_get(root, "octal"), "octal", &integer, problems));
   assert_false(rkb_yaml_int(rkb_yaml_get(root, "number"), "number", &integer, problems));
   assert_false(rkb_yaml_int(rkb_yaml_get(root, "real"), "real", &integer, problems));
   assert_false(rkb_yaml_bool(rkb_yaml_get(root, "yes"), "yes", &boolean, problems));
   assert_false(rkb_yaml_bool(rkb_yaml_get(root, "text"), "text", &boolean, problems));
   assert_false(rkb_yaml_scalar(rkb_yaml_get(root, "none"), "none", &text, problems));
   assert_false(rkb_yaml_scalar(rkb_yaml_get(root, "list"), "list", &text, problems));
   assert_false(rkb_yaml_expect(rkb_yaml_get(root, "i"), RKB_YAML_LIST, "i", problems));
   assert_false(rkb_yaml_real(rkb_yaml_get(root, "missing"), "missing", &real, problems));
   assert_true(rkb_yaml_is_null(rkb_yaml_get(root, "empty")));
   assert_true(rkb_yaml_expect(rkb_yaml_get(root, "list"), RKB_YAML_LIST, "list", problems));
   rkb_text_clear(&parsed.text);
   rkb_problems_write(problems, &parsed.text);
   assert_string_equal(
      rkb_text_get(&parsed.text),
      "f:1:5: i should be a list ('- item' lines, or [a, b]), but this is a text: '42'\n"
      "f:1:27: octal should be a 64-bit integer such as 42 or 0x2a, but this is a text: '010'\n"
      "f:1:38: real should be a 64-bit integer such as 42 or 0x2a, but this is a text: '1e-6'\n"
      "f:1:49: yes should be true or false, but this is a text: 'yes'\n"
      "f:1:70: text should be true or false, but this is a text in quotes: 'true'\n"
      "f:1:86: number should be a 64-bit integer such as 42 or 0x2a, but this is a text in quotes: '1'\n"
      "f:1:97: none should be a text, but there is nothing\n"
      "f:1:115: list should be a text, but this is a list\n"
      "missing should be a finite number such as 0.5 or 1e-6, but there is nothing\n");
   finish(&parsed);
}

static void unknown_keys_get_the_nearest_known_one(void **state) {
   static const char *const known[] = {"tolerance", "trials", NULL};
   (void)state;
   parsed_t parsed = parse("trials: 1\ntoleranse: 2\nother: 3\n");
   rkb_yaml_only(parsed.root, "the stage", known, &parsed.problems);
   rkb_problems_write(&parsed.problems, &parsed.text);
   assert_string_equal(rkb_text_get(&parsed.text),
                       "f:2:1: the stage has no key 'toleranse'; did you mean 'tolerance'?\n"
                       "f:3:1: the stage has no key 'other'\n");
   finish(&parsed);
}

static void a_missing_file_is_one_problem(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   assert_null(rkb_yaml_load(arena, "/nowhere/x.yaml", &problems));
   assert_string_equal(problems.list[0].message, "cannot open /nowhere/x.yaml: No such file or directory");
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(files_give_what_is_expected),
                                      cmocka_unit_test(bytes_that_are_no_text_are_pointed_at),
                                      cmocka_unit_test(places_begin_where_the_bytes_do),
                                      cmocka_unit_test(large_hostile_files_are_answered),
                                      cmocka_unit_test(too_large_is_refused),
                                      cmocka_unit_test(plain_values_are_strict),
                                      cmocka_unit_test(unknown_keys_get_the_nearest_known_one),
                                      cmocka_unit_test(a_missing_file_is_one_problem)};
   return RUN_TESTS(tests);
}
