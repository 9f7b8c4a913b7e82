/* rkb export --schedule: the kernel that the schedule in a file's manifest gives.  Owns nothing between calls; main thread only. */
#include "cli/export_schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "cli/shared/run_archive.h"
#include "cli/shared/schedule_text.h"

int export_schedule(const rkb_arguments_t *arguments, const rkb_candidate_file_t *file) {
   const char *path = rkb_argument(arguments, "out");
   char *text = NULL;
   unsigned line = 0;
   rkb_error_t err = {0};
   int code = RKB_EXIT_OK;
   if (rkb_schedule_text(file, &text, &line, &err) != RKB_OK) {
      fprintf(stderr, "%s: %s\n", file->path, err.message);
      return err.status == RKB_ERR_INVALID || err.status == RKB_ERR_LIMIT ? RKB_EXIT_NOTHING : RKB_EXIT_BROKEN;
   }
   if (line)
      fprintf(stderr, "%s: from line %u on, the file is not what its schedule gives: one of them was edited\n", file->path, line);
   if (!path)
      fputs(text, stdout);
   else if (rkb_file_write(path, text, strlen(text), &err) != RKB_OK)
      code = rkb_say_error(&err);
   free(text);
   return code;
}
