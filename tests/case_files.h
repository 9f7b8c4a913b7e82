/* Cases that are files: beside NAME<ending> lies NAME.expected, which says what comes of it.  A new case is two new files; with RKB_UPDATE_EXPECTED in
 * the environment a test writes the second.  The program links rkb_base; one thread. */
#ifndef RKB_TESTS_CASE_FILES_H
#define RKB_TESTS_CASE_FILES_H

#include "check.h"

#include <dirent.h>
#include <string.h>
#include "base/file.h"
#include "base/text.h"

/* Adds a text without the paths of the folder: an expected text has none of this tree's. */
static inline void add_shortened(rkb_text_t *out, const char *text, const char *folder) {
   const size_t length = strlen(folder);
   const char *at = text;
   while ((at = strstr(at, folder)) != NULL) {
      if (at[length] != '/') {
         rkb_text_append(out, text, (size_t)(at + length - text));
      } else {
         rkb_text_append(out, text, (size_t)(at - text));
         at++;
      }
      at += length;
      text = at;
   }
   rkb_text_add(out, text);
}

/* Whether a case is as expected; prints both texts where it is not.  describe gives a malloc'd text. */
static inline bool hold_case(const char *path, const char *ending, char *(*describe)(const char *path)) {
   char expected_path[4096], *expected = NULL, *got = describe(path);
   size_t length = 0;
   rkb_error_t err = {0};
   snprintf(expected_path, sizeof expected_path, "%.*s.expected", (int)(strlen(path) - strlen(ending)), path);
   if (getenv("RKB_UPDATE_EXPECTED"))
      assert_int_equal(rkb_file_write(expected_path, got, strlen(got), &err), RKB_OK);
   if (rkb_file_read(expected_path, 1 << 20, &expected, &length, &err) != RKB_OK)
      fail_msg("%s: %s", path, err.message);
   const bool same = strcmp(expected, got) == 0;
   if (!same)
      print_message("%s: expected\n%s\ngot\n%s\n", path, expected, got);
   free(expected);
   free(got);
   return same;
}

/* Fails unless the folder has so many cases at least and all are as expected. */
static inline void hold_cases(const char *folder, const char *ending, int least,
                              char *(*describe)(const char *path)) {
   struct dirent **entries = NULL;
   const int count = scandir(folder, &entries, NULL, alphasort);
   int cases = 0, wrong = 0;
   for (int i = 0; i < count; i++) {
      const char *name = entries[i]->d_name;
      if (strlen(name) > strlen(ending) && strcmp(name + strlen(name) - strlen(ending), ending) == 0) {
         char *path = rkb_path_join(folder, name);
         cases++;
         wrong += !hold_case(path, ending, describe);
         free(path);
      }
      free(entries[i]);
   }
   free(entries);
   assert_true(cases >= least);
   assert_int_equal(wrong, 0);
}

#endif
