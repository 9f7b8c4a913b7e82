/* The names of a folder's entries.  One thread. */
#include "check.h"
#include "base/folder_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/rkb-names-XXXXXX";

static int make_folder(void **state) {
   static const char *const names[] = {"b.cu", "a.cu", ".cu", "B.cu", ".hidden.cu", "a.cu.txt", "cu"};
   char path[64];
   (void)state;
   if (!mkdtemp(folder))
      return -1;
   for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      snprintf(path, sizeof path, "%s/%s", folder, names[i]);
      FILE *file = fopen(path, "w");
      if (!file || fclose(file) != 0)
         return -1;
   }
   return 0;
}

static int remove_folder(void **state) {
   (void)state;
   char command[64];
   snprintf(command, sizeof command, "rm -r %s", folder);
   return system(command);
}

static void expect(const char *ending, const char *const *wanted) {
   char **names = rkb_folder_names(folder, ending);
   size_t i = 0;
   assert_non_null(names);
   for (; wanted[i]; i++) {
      assert_non_null(names[i]);
      assert_string_equal(names[i], wanted[i]);
   }
   assert_null(names[i]);
   rkb_folder_names_free(names);
}

static void names_come_in_the_order_of_their_bytes(void **state) {
   (void)state;
   expect(NULL, (const char *const[]){"B.cu", "a.cu", "a.cu.txt", "b.cu", "cu", NULL});
}

static void an_ending_alone_is_no_name(void **state) {
   (void)state;
   expect(".cu", (const char *const[]){"B.cu", "a.cu", "b.cu", NULL});
   expect("cu", (const char *const[]){"B.cu", "a.cu", "b.cu", NULL});
   expect(".so", (const char *const[]){NULL});
}

static void a_folder_that_is_not_there_is_told_apart_from_an_empty_one(void **state) {
   (void)state;
   errno = 0;
   assert_null(rkb_folder_names("/nonexistent/folder", NULL));
   assert_int_equal(errno, ENOENT);
   rkb_folder_names_free(NULL);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_come_in_the_order_of_their_bytes),
      cmocka_unit_test(an_ending_alone_is_no_name),
      cmocka_unit_test(a_folder_that_is_not_there_is_told_apart_from_an_empty_one),
   };
   return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
