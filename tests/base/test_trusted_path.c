/* Files that a group may write to (base/trusted_path.h), as another user sees them, whom this test becomes if root runs it. */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/trusted_path.h"
#include "check.h"

enum { USER = 54321, SHARED = 54322 };

typedef struct trial {
   const char *what;
   gid_t group;
   mode_t folder, file;
   const char *why; /* NULL: trusted */
} trial_t;

static const trial_t trials[] = {
   {"nobody else writes", SHARED, 0755, 0644, NULL},
   {"the private group writes", USER, 0775, 0664, NULL},
   {"a shared group writes to the file", SHARED, 0755, 0664, "its group"},
   {"a shared group writes to the folder", SHARED, 0775, 0644, "its group"},
   {"a shared group writes to a sticky folder", SHARED, 01775, 0644, NULL},
   {"everybody writes to the file", USER, 0755, 0666, "by others"},
};

/* In a process of its own.  Returns 0 if it goes as the trial says, 2 if this user cannot make such a file. */
static int try(const trial_t *trial, const char *folder) {
   char path[256], why[512] = "";
   snprintf(path, sizeof path, "%s/plugin.so", folder);
   const int file = open(path, O_WRONLY | O_CREAT, 0600);
   if (file < 0 || chown(folder, USER, trial->group) != 0 || fchown(file, USER, trial->group) != 0)
      return 2;
   close(file);
   if (chmod(folder, trial->folder) != 0 || chmod(path, trial->file) != 0 || setgroups(0, NULL) != 0 ||
       setgid(SHARED) != 0 || setuid(USER) != 0)
      return 2;
   const bool trusted = rkb_path_trusted(path, why, sizeof why);
   const bool right = trial->why ? !trusted && strstr(why, trial->why) && strstr(why, "chmod go-w") : trusted;
   if (!right)
      fprintf(stderr, "%s: %s %s\n", trial->what, trusted ? "trusted" : "not trusted:", why);
   return right ? 0 : 1;
}

static void groups_that_write(void **state) {
   (void)state;
   if (geteuid() != 0)
      skip(); /* only root can give files to other groups */
   for (size_t n = 0; n < sizeof trials / sizeof *trials; n++) {
      char folder[] = "/tmp/rkb-trusted-XXXXXX", path[256];
      int status = -1;
      assert_non_null(mkdtemp(folder));
      const pid_t child = fork();
      if (child == 0)
         _exit(try(&trials[n], folder));
      assert_true(child > 0 && waitpid(child, &status, 0) == child);
      snprintf(path, sizeof path, "%s/plugin.so", folder);
      unlink(path);
      rmdir(folder);
      assert_true(WIFEXITED(status));
      assert_int_equal(WEXITSTATUS(status), 0);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(groups_that_write)};
   return RUN_TESTS(tests);
}
