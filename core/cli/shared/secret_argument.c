/* Reads --secret (secret_argument.h). */
#include "cli/shared/secret_argument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

enum { MAX_FILE = 4096 };

int rkb_secret_from_file(const char *path, rkb_secret_t *room, rkb_error_t *err) {
   char *text = NULL;
   size_t length;
   int status = rkb_file_read(path, MAX_FILE, &text, &length, err);
   if (status == RKB_OK) {
      text[strcspn(text, " \t\r\n")] = '\0';
      status = rkb_secret_read(text, room, err);
   }
   free(text);
   return status;
}

int rkb_secret_argument(const rkb_arguments_t *arguments, rkb_secret_t *room, const rkb_secret_t **secret) {
   const char *text = rkb_argument(arguments, "secret");
   rkb_error_t err;
   *secret = NULL;
   int status = !text            ? RKB_OK
                : text[0] == '@' ? rkb_secret_from_file(text + 1, room, &err)
                                 : rkb_secret_read(text, room, &err);
   if (status != RKB_OK) {
      fprintf(stderr, "--secret: %s\n", err.message);
      return RKB_EXIT_USAGE;
   }
   if (text)
      *secret = room;
   return RKB_EXIT_OK;
}
