/* Options that both stages of the plugin have, written once.  place: of the option's value in the stage's configuration. */
#ifndef MACHINE_STAGE_OPTIONS_H
#define MACHINE_STAGE_OPTIONS_H

#include <rkb/plugin.h>

#define OPTION_BUDGET(place)                                                                                 \
   {                                                                                                         \
      .name = "budget", .type = RKB_OPT_INT, .offset = (place), .fallback = "0", .min = 0, .max = 1e15,      \
      .help =                                                                                                \
         "Most work for one candidate, in thread-instructions of full warps; 0: what limits.execute gives."  \
   }

#define OPTION_MEMORY(place)                                                                                 \
   {                                                                                                         \
      .name = "memory", .type = RKB_OPT_BYTES, .offset = (place), .fallback = "1GiB", .min = 1 << 20,        \
      .max = 1e12, .help = "Most memory for executing one plan."                                             \
   }

#endif
