/* rkb-lift: makes one structural edit of a kernel and prints the new text, or names the condition that does not hold.  The main thread alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/random.h"
#include "lift/rewrite.h"

static int list(const char *source, uint64_t seed) {
   rkb_error_t err = {0};
   for (uint32_t i = 0; i < LIFT_REWRITE_COUNT; i++) {
      rkb_random_t stream = rkb_random_stream(seed, LIFT_REWRITES[i].name, 0, 0);
      char *changed, note[400];
      if (lift_rewrite(source, LIFT_REWRITES[i].name, &stream, NULL, NULL, &changed, note, sizeof note, &err) != RKB_OK) {
         fprintf(stderr, "%s\n", err.message);
         return 3;
      }
      printf("%-8s %s\n", changed ? "holds" : "refused", note);
      free(changed);
   }
   return 0;
}

int main(int argc, char **argv) {
   rkb_error_t err = {0};
   char *source = NULL, *changed = NULL, note[400];
   size_t bytes;
   if (argc == 2 && strcmp(argv[1], "--help") == 0) {
      printf("usage: rkb-lift FILE.cu [REWRITE [SEED]]\n\nMake one structural edit of a kernel.\n\nWithout REWRITE: says of each structural edit whether it holds for this kernel, or which "
             "condition does not.\nWith one: prints the kernel after it.  Exit: 0 made, 1 refused, 2 usage, 3 a broken tool.\n\n");
      for (uint32_t i = 0; i < LIFT_REWRITE_COUNT; i++)
         printf("  %-16s %s\n", LIFT_REWRITES[i].name, LIFT_REWRITES[i].summary);
      return 0;
   }
   if (argc < 2 || argc > 4) {
      fprintf(stderr, "usage: rkb-lift FILE.cu [REWRITE [SEED]]; rkb-lift --help lists the rewrites\n");
      return 2;
   }
   if (rkb_file_read(argv[1], LIFT_MAX_TEXT, &source, &bytes, &err) != RKB_OK) {
      fprintf(stderr, "%s\n", err.message);
      return 2;
   }
   const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
   if (argc == 2) {
      const int code = list(source, seed);
      free(source);
      return code;
   }
   rkb_random_t stream = rkb_random_stream(seed, argv[2], 0, 0);
   const int status = lift_rewrite(source, argv[2], &stream, NULL, NULL, &changed, note, sizeof note, &err);
   if (changed)
      fputs(changed, stdout);
   fprintf(stderr, "%s\n", status != RKB_OK ? err.message : note);
   free(source);
   free(changed);
   return status != RKB_OK ? (status == RKB_ERR_INVALID ? 2 : 3) : changed ? 0 : 1;
}
