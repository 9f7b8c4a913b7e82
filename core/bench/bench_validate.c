/* rkb-bench-validate: how long `rkb validate` takes to refuse hostile files of 1 MiB.  For each file, prints
 * the processor time of the whole command in milliseconds, with the loading of plugins: the least of three
 * runs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/usage.h"
#include "pipeline/hostile_documents.h"

enum { TRIES = 3 };
static const double wanted = 100; /* ms */

static double children_ms(void) {
   struct rusage usage;
   getrusage(RUSAGE_CHILDREN, &usage);
   return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
          (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

static double validate(const char *path) {
   double before = children_ms();
   int how = 0;
   pid_t child = fork();
   if (child == 0) {
      if (!freopen("/dev/null", "w", stderr))
         _exit(126);
      execl(RKB_PROGRAM, "rkb", "validate", path, (char *)NULL);
      _exit(127);
   }
   if (child < 0 || waitpid(child, &how, 0) != child || !WIFEXITED(how) || WEXITSTATUS(how) != 2) {
      fprintf(stderr, "rkb validate did not refuse the file\n");
      exit(1);
   }
   return children_ms() - before;
}

int main(int argc, char **argv) {
   const int over = rkb_usage(argc, argv, 0,
                              "usage: rkb-bench-validate\n"
                              "How long 'rkb validate' takes to refuse hostile files of 1 MiB.\n");
   if (over >= 0)
      return over;
   char directory[] = "/tmp/rkb-bench-validate-XXXXXX";
   double worst = 0;
   if (!mkdtemp(directory)) {
      perror(directory);
      return 1;
   }
   setenv("RKB_PLUGIN_PATH", RKB_TEST_PLUGINS, 1);
   char *path = rkb_path_join(directory, "hostile.yaml");
   for (size_t i = 0; i < hostile_count; i++) {
      rkb_error_t err = {0};
      size_t length;
      char *bytes = hostile_text(&hostile_files[i], &length);
      if (rkb_file_write(path, bytes, length, &err) != RKB_OK) {
         fprintf(stderr, "%s\n", err.message);
         return 1;
      }
      double best = validate(path);
      for (int again = 1; again < TRIES; again++) {
         double took = validate(path);
         best = took < best ? took : best;
      }
      printf("%-22s %6.1f ms\n", hostile_files[i].name, best);
      worst = best > worst ? best : worst;
      free(bytes);
   }
   unlink(path);
   rmdir(directory);
   free(path);
   printf("worst %.1f ms; wanted under %.0f: %.2f of that\n", worst, wanted, worst / wanted);
   return 0;
}
