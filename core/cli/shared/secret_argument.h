/* The option --secret of the commands that judge candidates.  The main thread alone. */
#ifndef RKB_CLI_SHARED_SECRET_ARGUMENT_H
#define RKB_CLI_SHARED_SECRET_ARGUMENT_H

#include "base/secret.h"
#include "cli/shared/arguments.h"

#define RKB_SECRET_OPTION                                                                                    \
   {                                                                                                         \
      "secret", "HEX",                                                                                       \
         "What decides which blocks, inputs and shapes are sampled: 64 hex digits, or @FILE that holds them (default: drawn).", false  \
   }

/* Reads a file's text up to its first white space. */
int rkb_secret_from_file(const char *path, rkb_secret_t *room, rkb_error_t *err);
/* Reads the option into room.  *secret is room, or NULL when the option is absent.  Prints errors; returns enum rkb_exit. */
int rkb_secret_argument(const rkb_arguments_t *arguments, rkb_secret_t *room, const rkb_secret_t **secret);

#endif
