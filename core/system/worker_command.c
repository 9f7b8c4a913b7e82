/* The command that starts a worker (worker_command.h).  Owns its texts. */
#include "system/worker_command.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

bool rkb_worker_command_add_words(rkb_worker_command_t *command, const char *const *words) {
   for (; words && *words && command->word_count < RKB_PEER_COMMAND_WORDS - 1; words++)
      command->words[command->word_count++] = rkb_duplicate(*words);
   return command->word_count > 0 && (!words || !*words);
}

bool rkb_worker_command_add_split(rkb_worker_command_t *command, const char *text) {
   while (*(text += strspn(text, " ")) && command->word_count < RKB_PEER_COMMAND_WORDS - 1) {
      const size_t length = strcspn(text, " ");
      command->words[command->word_count++] = rkb_duplicate_part(text, length);
      text += length;
   }
   return command->word_count > 0 && !*text;
}

bool rkb_worker_command_add_setting(rkb_worker_command_t *command, const char *setting) {
   if (command->variable_count == RKB_PEER_COMMAND_VARIABLES)
      return false;
   command->environment[command->variable_count++] = rkb_duplicate(setting);
   return true;
}

bool rkb_worker_command_pass(rkb_worker_command_t *command, const char *const *names) {
   for (; names && *names && command->variable_count < RKB_PEER_COMMAND_VARIABLES; names++)
      if (getenv(*names))
         command->environment[command->variable_count++] = rkb_format("%s=%s", *names, getenv(*names));
   return !names || !*names;
}

void rkb_worker_command_clear(rkb_worker_command_t *command) {
   for (uint32_t i = 0; i < command->word_count; i++)
      free(command->words[i]);
   for (uint32_t i = 0; i < command->variable_count; i++)
      free(command->environment[i]);
   *command = (rkb_worker_command_t){.word_count = 0};
}

/* Without these options a client waits for ever when its connection is cut silently (ssh_config(5)). */
static const char *const alive[] = {"-oServerAliveInterval=15", "-oServerAliveCountMax=4"};
enum { ALIVE_WORDS = sizeof alive / sizeof *alive };

/* Whether the command is ssh without ServerAlive options of its own. */
static bool may_wait_for_ever(const rkb_worker_command_t *command) {
   const char *name = command->word_count ? strrchr(command->words[0], '/') : NULL;
   if (!command->word_count || strcmp(name ? name + 1 : command->words[0], "ssh") != 0)
      return false;
   for (uint32_t i = 1; i < command->word_count; i++)
      if (strstr(command->words[i], "ServerAlive"))
         return false;
   return true;
}

int rkb_worker_command_start(const rkb_worker_command_t *command, const char *last, rkb_pipe_process_t *peer,
                             rkb_error_t *err) {
   const char *words[RKB_PEER_COMMAND_WORDS + ALIVE_WORDS + 2], *environment[RKB_PEER_COMMAND_VARIABLES + 1];
   uint32_t count = 0;
   for (uint32_t i = 0; i < command->word_count; i++) {
      words[count++] = command->words[i];
      for (uint32_t j = 0; i == 0 && j < ALIVE_WORDS && may_wait_for_ever(command); j++)
         words[count++] = alive[j];
   }
   words[count] = last;
   words[count + 1] = NULL;
   for (uint32_t i = 0; i <= command->variable_count; i++)
      environment[i] = i < command->variable_count ? command->environment[i] : NULL;
   return rkb_pipe_process_start(peer, words, environment, -1, err);
}
