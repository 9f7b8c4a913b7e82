/* Tokens: kinds, true positions, and what the identity of a text ignores. */
#include "kernel_fixture.h"

#include <stdlib.h>
#include <string.h>

typedef struct expected {
   uint32_t kind;
   const char *text;
   uint32_t line, column, depth;
} expected_t;

static void compare(const char *text, const expected_t *expected, uint32_t wanted) {
   rkb_tokens_t *tokens = rkb_tokens_new(text, strlen(text));
   uint32_t count;
   const rkb_token_t *list = rkb_tokens_at(tokens, &count);
   for (uint32_t i = 0; i < count && i < wanted; i++) {
      if (strlen(expected[i].text) != list[i].length ||
          memcmp(text + list[i].start, expected[i].text, list[i].length) != 0)
         fail_msg("token %u is '%.*s', not '%s'", i, (int)list[i].length, text + list[i].start,
                  expected[i].text);
      assert_int_equal(list[i].kind, expected[i].kind);
      assert_int_equal(list[i].line, expected[i].line);
      assert_int_equal(list[i].column, expected[i].column);
      assert_int_equal(list[i].depth, expected[i].depth);
   }
   assert_int_equal(count, wanted);
   rkb_tokens_free(tokens);
}

static void kinds_and_places(void **state) {
   static const expected_t expected[] = {
      {RKB_TOKEN_DIRECTIVE, "#define A \\\n  b /* x\n */ c", 1, 1, 0},
      {RKB_TOKEN_COMMENT, "// end", 3, 7, 0},
      {RKB_TOKEN_IDENTIFIER, "void", 4, 1, 0},
      {RKB_TOKEN_IDENTIFIER, "f", 4, 6, 0},
      {RKB_TOKEN_PUNCTUATION, "(", 4, 7, 0},
      {RKB_TOKEN_PUNCTUATION, ")", 4, 8, 0},
      {RKB_TOKEN_PUNCTUATION, "{", 4, 10, 0},
      {RKB_TOKEN_IDENTIFIER, "x", 4, 12, 1},
      {RKB_TOKEN_PUNCTUATION, "<<=", 4, 14, 1},
      {RKB_TOKEN_NUMBER, "0x1.8p+3f", 4, 18, 1},
      {RKB_TOKEN_PUNCTUATION, ";", 4, 27, 1},
      {RKB_TOKEN_PUNCTUATION, "}", 4, 29, 0},
      {RKB_TOKEN_STRING, "R\"x(a\\\n)\" )x\"", 5, 1, 0},
      {RKB_TOKEN_CHARACTER, "'\\''", 7, 1, 0},
      {RKB_TOKEN_NUMBER, "1'000", 7, 6, 0},
      {RKB_TOKEN_UNKNOWN, "@", 7, 12, 0},
   };
   (void)state;
   compare("#define A \\\n  b /* x\n */ c // end\nvoid f() { x <<= 0x1.8p+3f; }\nR\"x(a\\\n)\" )x\"\n'\\'' "
           "1'000 @\n",
           expected, sizeof expected / sizeof *expected);
}

static void a_continuation_inside_a_name(void **state) {
   static const expected_t expected[] = {{RKB_TOKEN_IDENTIFIER, "a\\\nb", 1, 1, 0},
                                         {RKB_TOKEN_IDENTIFIER, "c", 2, 3, 0}};
   (void)state;
   compare("a\\\nb c", expected, 2);
}

static void a_hash_is_a_directive_only_at_the_start_of_a_line(void **state) {
   static const expected_t expected[] = {
      {RKB_TOKEN_IDENTIFIER, "a", 1, 1, 0},    {RKB_TOKEN_PUNCTUATION, "#", 1, 3, 0},
      {RKB_TOKEN_IDENTIFIER, "b", 1, 5, 0},    {RKB_TOKEN_COMMENT, "/* */", 2, 1, 0},
      {RKB_TOKEN_DIRECTIVE, "#if 0", 2, 7, 0}, {RKB_TOKEN_IDENTIFIER, "don", 3, 1, 0},
      {RKB_TOKEN_CHARACTER, "'t", 3, 4, 0},    {RKB_TOKEN_DIRECTIVE, "#endif", 4, 1, 0}};
   (void)state;
   compare("a # b\n/* */ #if 0\ndon't\n#endif", expected, 8);
}

static void same(const char *left, const char *right, bool wanted) {
   char a[RKB_HASH_TEXT], b[RKB_HASH_TEXT];
   rkb_tokens_hash(left, strlen(left), a);
   rkb_tokens_hash(right, strlen(right), b);
   if ((strcmp(a, b) == 0) != wanted)
      fail_msg("'%s' and '%s' should%s be the same", left, right, wanted ? "" : " not");
}

static void identity_ignores_layout_and_comments(void **state) {
   (void)state;
   same("int a = 1; // one", "int  a=1 ;", true);
   same("int a = 1;", "int b = 1;", false);
   same("in\\\nt a;", "int a;", true);
   same("ab", "a b", false);
   same("/* rkb-kernel: 1\ntask: a\n*/", "/* rkb-kernel: 1\ntask: b\n*/", false);
   same("/* rkb-kernel: 1\n\n# why\ntask: a  \n*/", "/* rkb-kernel: 1\ntask: a\n*/", true);
   same("char *s = \"a b\";", "char *s = \"a  b\";", false);
}

/* sizeof(S(a+b)) is another number than sizeof(S(a + b)). */
static void blanks_count_where_macros_make_strings(void **state) {
   (void)state;
   same("#define S(x) #x\nint a = sizeof(S(a+b));", "#define S(x) #x\nint a = sizeof(S(a + b));", false);
   same("#define S(x) #x\nint a = sizeof(S(a+b));", "#define S(x) #x\nint a = sizeof(S(a/**/+b));", false);
   same("%:define S(x) %:x\nint a = sizeof(S(a+b));", "%:define S(x) %:x\nint a = sizeof(S(a + b));", false);
   same("#define S(x) x\nint a = S(a+b);", "#define S(x) x\nint a = S(a + b);", true);
}

static void ptx_identity_ignores_names_and_lines(void **state) {
   static const char one[] =
      ".visible .entry _Z1kPf(\n\t.param .u64 _Z1kPf_param_0\n)\n{\n\t.reg .b64 %rd<3>;\n\t.loc 1 3 4\n"
      "\tld.param.u64 %rd1, [_Z1kPf_param_0];\n$L__BB0_1:\n\tbra $L__BB0_1;\n}\n";
   static const char renamed[] =
      "// a comment\n.visible .entry other(\n\t.param .u64 other_param_0\n)\n{\n\t.reg .b64 %rd<3>;\n"
      "\tld.param.u64 %rd1, [other_param_0];\n$L__BB7_9:\n\tbra $L__BB7_9;\n}\n\t.file 1 \"x.cu\"\n"
      "\t.section .debug_str\n\t{\ninfo_string0:\n.b8 95\n\t}\n";
   static const char different[] =
      ".visible .entry _Z1kPf(\n\t.param .u64 _Z1kPf_param_0\n)\n{\n\t.reg .b64 %rd<3>;\n"
      "\tld.global.u64 %rd1, [_Z1kPf_param_0];\n$L__BB0_1:\n\tbra $L__BB0_1;\n}\n";
   char a[RKB_HASH_TEXT], b[RKB_HASH_TEXT];
   (void)state;
   rkb_ptx_identity(one, strlen(one), a);
   rkb_ptx_identity(renamed, strlen(renamed), b);
   assert_string_equal(a, b);
   rkb_ptx_identity(different, strlen(different), b);
   assert_string_not_equal(a, b);
}

/* What a candidate's own PTX may hold beside a comment or a place, and the assembler executes. */
static void ptx_identity_reads_what_the_assembler_reads(void **state) {
   static const char *const pairs[][2] = {
      {"{\n /* // */ mul.f32 %f1, %f1, 0f3F800000;\n}\n", "{\n /* // */ mul.f32 %f1, %f1, 0f40000000;\n}\n"},
      {"{\n.loc 1 1 1 mul.f32 %f1, %f1, 0f3F800000;\n}\n",
       "{\n.loc 1 1 1 mul.f32 %f1, %f1, 0f40000000;\n}\n"},
      {"{\n.file 1 \"x\" mov.u32 %r1, 1;\n}\n", "{\n.file 1 \"x\" mov.u32 %r1, 2;\n}\n"}};
   static const char place[] = "{\n.loc 1 5 3, function_name $L__info_string0, inlined_at 1 12 3\n ret;\n}\n",
                     none[] = "{\n /* a */ ret; // b\n}\n";
   char a[RKB_HASH_TEXT], b[RKB_HASH_TEXT];
   (void)state;
   for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++) {
      rkb_ptx_identity(pairs[n][0], strlen(pairs[n][0]), a);
      rkb_ptx_identity(pairs[n][1], strlen(pairs[n][1]), b);
      assert_string_not_equal(a, b);
   }
   rkb_ptx_identity(place, strlen(place), a);
   rkb_ptx_identity(none, strlen(none), b);
   assert_string_equal(a, b);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(blanks_count_where_macros_make_strings),
      cmocka_unit_test(ptx_identity_reads_what_the_assembler_reads),
      cmocka_unit_test(kinds_and_places),
      cmocka_unit_test(a_continuation_inside_a_name),
      cmocka_unit_test(a_hash_is_a_directive_only_at_the_start_of_a_line),
      cmocka_unit_test(identity_ignores_layout_and_comments),
      cmocka_unit_test(ptx_identity_ignores_names_and_lines),
   };
   return RUN_TESTS(tests);
}
