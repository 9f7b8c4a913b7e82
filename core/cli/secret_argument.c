/* Reads --secret (secret_argument.h). */
#include "cli/secret_argument.h"

#include <stdio.h>

int rkb_secret_argument(const rkb_arguments_t *arguments, rkb_secret_t *room, const rkb_secret_t **secret) {
   const char *text = rkb_argument(arguments, "secret");
   rkb_error_t err;
   *secret = NULL;
   if (text && rkb_secret_read(text, room, &err) != RKB_OK) {
      fprintf(stderr, "--secret: %s\n", err.message);
      return RKB_EXIT_USAGE;
   }
   if (text)
      *secret = room;
   return RKB_EXIT_OK;
}
