/* Sources that want to hang, crash, fill or read the machine.  Each file of hostile/ begins with `// expect:
 * REASON[|REASON]: TEXT` and is refused with one of the reasons (whole, or up to its dot) and a message that
 * holds the text; after each of them the pool still builds an honest candidate. */
#include "kernel_fixture.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static rkb_compilers_t *pool;

static double now(void) {
   struct timespec time;
   clock_gettime(CLOCK_MONOTONIC, &time);
   return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void attempt(const char *source, rkb_finding_t *finding) {
   rkb_build_t *build = NULL;
   rkb_error_t err = {0};
   int status = rkb_build_candidate(pool, fixture_device("h200"), source, NULL, 0, NULL, NULL, &build, NULL,
                                    finding, &err);
   if (status != RKB_OK)
      fail_msg("the tool failed: %s", err.message);
   if (build)
      snprintf(finding->message, sizeof finding->message, "it built");
   rkb_build_free(build);
}

static void pool_still_builds(const char *after) {
   size_t length;
   rkb_finding_t finding;
   char *honest = fixture_read("candidates/rmsnorm.cu", &length);
   attempt(honest, &finding);
   if (finding.reason[0])
      fail_msg("after %s an honest candidate does not build: %s: %s", after, finding.reason, finding.message);
   free(honest);
}

static bool reason_matches(const char *wanted, size_t length, const char *reason) {
   while (length) {
      const char *bar = memchr(wanted, '|', length);
      size_t one = bar ? (size_t)(bar - wanted) : length;
      if (strncmp(reason, wanted, one) == 0 && (reason[one] == '\0' || wanted[one - 1] == '.'))
         return true;
      length -= bar ? one + 1 : one;
      wanted += bar ? one + 1 : one;
   }
   return false;
}

static bool check_file(const char *path) {
   char relative[512], *source, *expect, *end, *colon;
   rkb_finding_t finding = {0};
   size_t length;
   bool passed;
   double start = now(), took;
   snprintf(relative, sizeof relative, "hostile/%s", strrchr(path, '/') + 1);
   source = fixture_read(relative, &length);
   expect = strstr(source, "// expect: ");
   assert_non_null(expect);
   expect += strlen("// expect: ");
   end = strchr(expect, '\n');
   colon = strstr(expect, ": ");
   if (!colon || colon > end)
      colon = end;
   attempt(source, &finding);
   took = now() - start;
   print_message("%-28s %5.2f s  %s: %.150s (%u:%u)\n", relative + 8, took, finding.reason, finding.message,
                 finding.line, finding.column);
   /* On an idle machine 10 s is the promise.  Here the limit on processor time decides, and this limit only
    * ends a hang. */
   passed = reason_matches(expect, (size_t)(colon - expect), finding.reason) && took < 120;
   *end = '\0';
   if (passed && colon + 2 < end)
      passed = strstr(finding.message, colon + 2) != NULL;
   passed = passed && !strstr(finding.message, "root:"); /* the first word of /etc/passwd */
   if (!passed)
      print_message("%s: wanted %s\n", relative, expect);
   free(source);
   pool_still_builds(relative);
   return passed;
}

static void each_file_is_refused(void **state) {
   uint32_t failed = 0;
   glob_t found;
   (void)state;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tests/kernel/hostile/*.cu", 0, NULL, &found), 0);
   for (size_t i = 0; i < found.gl_pathc; i++)
      failed += !check_file(found.gl_pathv[i]);
   globfree(&found);
   assert_int_equal(failed, 0);
}

static void a_literal_of_ten_megabytes_is_refused(void **state) {
   size_t bytes = 10u << 20, length;
   rkb_finding_t finding = {0};
   char *honest = fixture_read("candidates/rmsnorm.cu", &length), *source = malloc(length + bytes + 64);
   (void)state;
   memcpy(source, honest, length);
   strcpy(source + length, "\n__device__ const char text[] = \"");
   length = strlen(source);
   memset(source + length, 'a', bytes);
   strcpy(source + length + bytes, "\";\n");
   attempt(source, &finding);
   assert_string_equal(finding.reason, "build.error");
   assert_non_null(strstr(finding.message, "262144"));
   free(source);
   free(honest);
   pool_still_builds("a long literal");
}

int main(void) {
   const rkb_compilers_config_t config = {
      .processes = 1, .cache_directory = "", .cpu_limit_ns = 1500000000, .memory_limit = 1ull << 30};
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_file_is_refused),
      cmocka_unit_test(a_literal_of_ten_megabytes_is_refused),
   };
   rkb_error_t err;
   int failed;
   if (rkb_compilers_open(&config, &pool, &err) != RKB_OK)
      return 99;
   failed = RUN_TESTS(tests);
   rkb_compilers_close(pool);
   return failed;
}
