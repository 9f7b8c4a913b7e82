/* How a worker is started (peer_command.h).  Owns its texts. */
#include "system/peer_command.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

bool rkb_peer_command_add_words(rkb_peer_command_t *command, const char *const *words) {
   for (; words && *words && command->word_count < RKB_PEER_COMMAND_WORDS - 1; words++)
      command->words[command->word_count++] = rkb_duplicate(*words);
   return command->word_count > 0 && (!words || !*words);
}

bool rkb_peer_command_add_split(rkb_peer_command_t *command, const char *text) {
   while (*(text += strspn(text, " ")) && command->word_count < RKB_PEER_COMMAND_WORDS - 1) {
      const size_t length = strcspn(text, " ");
      command->words[command->word_count++] = rkb_duplicate_part(text, length);
      text += length;
   }
   return command->word_count > 0 && !*text;
}

bool rkb_peer_command_add_setting(rkb_peer_command_t *command, const char *setting) {
   if (command->variable_count == RKB_PEER_COMMAND_VARIABLES)
      return false;
   command->environment[command->variable_count++] = rkb_duplicate(setting);
   return true;
}

bool rkb_peer_command_pass(rkb_peer_command_t *command, const char *const *names) {
   for (; names && *names && command->variable_count < RKB_PEER_COMMAND_VARIABLES; names++)
      if (getenv(*names))
         command->environment[command->variable_count++] = rkb_format("%s=%s", *names, getenv(*names));
   return !names || !*names;
}

void rkb_peer_command_clear(rkb_peer_command_t *command) {
   for (uint32_t i = 0; i < command->word_count; i++)
      free(command->words[i]);
   for (uint32_t i = 0; i < command->variable_count; i++)
      free(command->environment[i]);
   *command = (rkb_peer_command_t){.word_count = 0};
}

int rkb_peer_command_start(const rkb_peer_command_t *command, const char *last, rkb_peer_t *peer, rkb_error_t *err) {
   const char *words[RKB_PEER_COMMAND_WORDS + 2], *environment[RKB_PEER_COMMAND_VARIABLES + 1];
   for (uint32_t i = 0; i < command->word_count; i++)
      words[i] = command->words[i];
   words[command->word_count] = last;
   words[command->word_count + 1] = NULL;
   for (uint32_t i = 0; i <= command->variable_count; i++)
      environment[i] = i < command->variable_count ? command->environment[i] : NULL;
   return rkb_peer_start(peer, words, environment, -1, err);
}
