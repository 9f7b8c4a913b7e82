/* Writing a tune assignment into a candidate's text: every seed of every task, each parameter at its last choice. */
#include "check.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "kernel/kernel.h"

enum { MAX_SOURCE = 1 << 20 };

/* The same text with every run of digits and signs after "default:" taken out. */
static char *without_defaults(const char *text) {
   char *out = calloc(strlen(text) + 1, 1), *end = out;
   while (*text) {
      const char *mark = strstr(text, "default:");
      size_t kept = mark ? (size_t)(mark - text) + strlen("default:") : strlen(text);
      memcpy(end, text, kept);
      end += kept;
      text += kept;
      if (mark)
         text += strspn(text, " +-0123456789");
   }
   return out;
}

static void write_last_choices(const char *path, int *parameters) {
   rkb_problems_t problems;
   rkb_error_t err;
   char *source = NULL, *written = NULL, *tune;
   size_t length;
   rkb_problems_init(&problems);
   assert_int_equal(rkb_file_read(path, MAX_SOURCE, &source, &length, &err), RKB_OK);
   rkb_manifest_t *manifest = rkb_manifest_parse(path, source, length, &problems);
   assert_non_null(manifest);
   int64_t *values = calloc(manifest->tune_count + 1, sizeof *values);
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      values[i] = manifest->tune[i].choices[manifest->tune[i].choice_count - 1];
   tune = rkb_tune_canonical(manifest, values);
   assert_int_equal(rkb_tune_write(source, tune, &written, &err), RKB_OK);
   rkb_manifest_t *again = rkb_manifest_parse(path, written, strlen(written), &problems);
   assert_non_null(again);
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      assert_int_equal(again->tune[i].fallback, values[i]);
   char *before = without_defaults(source), *after = without_defaults(written);
   assert_string_equal(before, after);
   *parameters += (int)manifest->tune_count;
   free(before);
   free(after);
   free(tune);
   free(values);
   free(written);
   free(source);
   rkb_manifest_free(manifest);
   rkb_manifest_free(again);
   rkb_problems_free(&problems);
}

static void every_seed(void **state) {
   glob_t found;
   int parameters = 0;
   (void)state;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tasks/*/seeds/*/*.cu", 0, NULL, &found), 0);
   for (size_t i = 0; i < found.gl_pathc; i++)
      write_last_choices(found.gl_pathv[i], &parameters);
   assert_true(parameters > (int)found.gl_pathc / 2);
   globfree(&found);
}

static const char odd[] =
   "// first\n"
   "/* \xc3\xa9 rkb-kernel: 1\r\n*/ /* rkb-kernel: 1\n"
   "task: t\ndirection: forward\ntune:\n  A: {choices: [1, -2, 0x10], default: 0x10}\n"
   "  \"B\":\n    default:\n       1\n    choices: [1, 1024]\n"
   "launches:\n  - kernel: k\n    grid: 1\n    block: 32\n    args: x\n*/\n__global__ void k(float *x) {}\n";

static void odd_spellings(void **state) {
   rkb_error_t err = {0};
   char *written = NULL;
   (void)state;
   assert_int_equal(rkb_tune_write(odd, "{\"A\":-2,\"B\":1024}", &written, &err), RKB_OK);
   assert_non_null(strstr(written, "choices: [1, -2, 0x10], default: -2}"));
   assert_non_null(strstr(written, "default:\n       1024\n"));
   assert_int_equal(strlen(written), strlen(odd) - strlen("0x10") + strlen("-2") + strlen("024"));
   free(written);
}

static void refusals(void **state) {
   rkb_error_t err = {0};
   char *written = NULL;
   (void)state;
   assert_int_equal(rkb_tune_write("int x;", "{}", &written, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "no manifest"));
   assert_int_equal(rkb_tune_write(odd, "{\"A\":3}", &written, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "3 is not one of the choices"));
   assert_int_equal(rkb_tune_write(odd, "{\"C\":3}", &written, &err), RKB_ERR_INVALID);
   assert_null(written);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_seed), cmocka_unit_test(odd_spellings),
                                      cmocka_unit_test(refusals)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
