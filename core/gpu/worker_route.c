/* Makes the commands of workers (worker_route.h). */
#include "gpu/worker_route.h"

#include <stdlib.h>
#include "base/file.h"
#include "base/hash.h"

enum { MAX_TOOL_WORDS = 32 };

/* The command for a worker on this machine: the words of RKB_WORKER, or rkb-worker in this program's directory. */
static bool find_command(rkb_worker_route_t *route) {
   const char *given = getenv("RKB_WORKER");
   if (given && *given)
      return rkb_worker_command_add_split(&route->command, given);
   char *found = rkb_find_program("rkb-worker");
   const bool there =
      found && rkb_worker_command_add_words(&route->command, (const char *const[]){found, NULL});
   free(found);
   return there;
}

bool rkb_worker_route_set(rkb_worker_route_t *route, const char *const *command) {
   rkb_hasher_t *hasher;
   char hash[RKB_HASH_TEXT];
   if (!command)
      return find_command(route);
   hasher = rkb_hasher_new();
   for (const char *const *word = command; *word; word++)
      rkb_hasher_add_text(hasher, *word);
   rkb_hasher_finish(hasher, hash);
   snprintf(route->place, sizeof route->place, "%.16s", hash);
   return rkb_worker_command_add_words(&route->command, command);
}

int rkb_worker_route_launch(const rkb_worker_route_t *route, const char *number, const char *const *words,
                            int errors, rkb_device_worker_t *worker, rkb_error_t *err) {
   static const char *const none[] = {NULL};
   const rkb_worker_command_t *own = &route->command;
   const char *command[RKB_PEER_COMMAND_WORDS + MAX_TOOL_WORDS + 3];
   const bool under = words != NULL;
   uint32_t count = 0;
   for (uint32_t i = 0; i + 1 < own->word_count; i++)
      command[count++] = own->words[i];
   for (words = words ? words : none; *words && count < RKB_PEER_COMMAND_WORDS + MAX_TOOL_WORDS - 1; words++)
      command[count++] = *words;
   if (*words)
      return rkb_fail(err, RKB_ERR_INVALID, "a tool's command has more than %d words", MAX_TOOL_WORDS);
   command[count++] = own->words[own->word_count - 1];
   command[count++] = number;
   if (under)
      command[count++] = RKB_WORKER_UNDER_TOOL;
   command[count] = NULL;
   return rkb_device_worker_launch(worker, command, (const char *const *)own->environment, errors, err);
}
