/* Plugins that are refused before any of their code runs, one fault each: bad_objects/NAME.c breaks a rule, and NAME.expected has the sentence that its
 * author reads, and the stages that are there all the same.  One thread. */
#include "case_files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include "plugin/registry.h"

#define SOURCES RKB_SOURCE_DIR "/tests/plugin/bad_objects"
#define QUOTED(number) #number
#define DOTTED(major, minor) QUOTED(major) "." QUOTED(minor)
#define VERSION DOTTED(RKB_ABI_MAJOR, RKB_ABI_MINOR)

static char *object(const char *name) {
   char file[100];
   snprintf(file, sizeof file, "%s.so", name);
   return rkb_path_join(RKB_BAD_OBJECTS, file);
}

/* What is said of these objects, and the owner "bad"'s stages of them. */
static char *load(const char *const *paths, uint32_t *errors) {
   rkb_problems_t problems;
   rkb_text_t said, out;
   rkb_problems_init(&problems);
   rkb_text_init(&said, 1 << 16);
   rkb_text_init(&out, 1 << 16);
   rkb_registry_t *registry = rkb_registry_open(paths, NULL, &problems);
   rkb_problems_write(&problems, &said);
   add_shortened(&out, rkb_text_get(&said), RKB_BAD_OBJECTS);
   for (uint32_t i = 0; i < rkb_registry_count(registry); i++) {
      const rkb_stage_t *const *stage = rkb_registry_at(registry, i)->plugin->stages;
      for (; stage && *stage; stage++)
         if (strncmp((*stage)->id, "bad.", 4) == 0)
            rkb_text_format(&out, "stage %s\n", (*stage)->id);
   }
   *errors = problems.errors;
   rkb_registry_free(registry);
   rkb_text_free(&said);
   rkb_problems_free(&problems);
   return rkb_text_take(&out);
}

/* This program's version of the interface rises; VERSION stands for it. */
static char *without_version(char *text) {
   static const char HAS[] = "this program has " VERSION;
   rkb_text_t out;
   rkb_text_init(&out, 1 << 16);
   const char *at = strstr(text, HAS);
   if (at) {
      rkb_text_append(&out, text, (size_t)(at - text));
      rkb_text_add(&out, "this program has VERSION");
      rkb_text_add(&out, at + strlen(HAS));
   } else {
      rkb_text_add(&out, text);
   }
   free(text);
   return rkb_text_take(&out);
}

static char *describe(const char *path) {
   const char *base = strrchr(path, '/') + 1;
   char name[100];
   uint32_t errors;
   snprintf(name, sizeof name, "%.*s", (int)(strlen(base) - 2), base);
   char *built = object(name);
   const char *const paths[] = {built, NULL};
   char *text = load(paths, &errors);
   assert_int_equal(errors, 0); /* a bad object that no pipeline uses does no harm */
   free(built);
   return without_version(text);
}

static void bad_objects_get_one_sentence(void **state) {
   (void)state;
   hold_cases(SOURCES, ".c", 17, describe);
}

static void twins_are_both_named(void **state) {
   char *one = object("first_twin"), *two = object("twin");
   const char *const paths[] = {one, two, NULL};
   uint32_t errors;
   (void)state;
   char *text = load(paths, &errors);
   assert_int_equal(errors, 1);
   assert_non_null(strstr(text, "twin.so: bad.verifier.twin is also in first_twin.so"));
   free(text);
   free(one);
   free(two);
}

static void one_that_others_can_write_is_not_trusted(void **state) {
   char directory[] = "/tmp/rkb-test-plugin-XXXXXX", *path = object("first_twin"), *bytes = NULL;
   size_t length;
   rkb_error_t err = {0};
   uint32_t errors;
   (void)state;
   assert_non_null(mkdtemp(directory));
   char *copy = rkb_path_join(directory, "copy.so");
   const char *const paths[] = {copy, NULL};
   assert_int_equal(rkb_file_read(path, 64 << 20, &bytes, &length, &err), RKB_OK);
   assert_int_equal(rkb_file_write(copy, bytes, length, &err), RKB_OK);
   assert_int_equal(chmod(copy, 0777), 0);
   char *text = load(paths, &errors);
   assert_non_null(strstr(text, "can be written to by others"));
   assert_null(strstr(text, "stage "));
   free(text);
   assert_int_equal(remove(copy), 0);
   assert_int_equal(remove(directory), 0);
   free(bytes);
   free(copy);
   free(path);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_objects_get_one_sentence),
      cmocka_unit_test(twins_are_both_named),
      cmocka_unit_test(one_that_others_can_write_is_not_trusted),
   };
   return RUN_TESTS(tests);
}
