/* Screens a candidate's file, for rkb check and rkb replay. */
#ifndef RKB_CLI_SHARED_CANDIDATE_CHECK_H
#define RKB_CLI_SHARED_CANDIDATE_CHECK_H

#include "cli/shared/arguments.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/secret_argument.h"

/* The options that rkb_candidate_check reads. */
#define RKB_CHECK_OPTIONS                                                                                    \
   RKB_PIPELINE_OPTIONS,                                                                                     \
      {"pipeline", "FILE", "Use this pipeline's screen (default: the shipped stock.yaml).", false},          \
      {"profile", NULL, "Use the shipped profile.yaml: time it, count what limits it, and measure its energy, on a GPU.", false},          \
      {"tune", "NAME=VALUE", "Another value of a tune parameter; may be repeated.", true},                   \
      RKB_SECRET_OPTION, {"strict", NULL, "Exit with 1 for a suspect candidate, not with 4.", false}, {              \
      "json", NULL, "Print one JSON object.", false                                                          \
   }

/* Screens the file named by the first positional argument, without an archive, and prints the result.  Returns enum rkb_exit. */
int rkb_candidate_check(const rkb_arguments_t *arguments);

#endif
