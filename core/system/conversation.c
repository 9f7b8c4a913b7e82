/* Questions and answers in lines, over child processes (conversation.h).  The mutex guards the list of free processes; a process
 * that is being asked belongs to the thread that asks. */
#include "system/conversation.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/text.h"
#include "system/loop.h"
#include "system/line_process.h"

enum { MOST_WORDS = 256 };

struct rkb_conversation {
   pthread_mutex_t mutex;
   line_process_t **free_ones;
   size_t free_count;
   char **command, **environment;
   char *directory, *greeting, *name;
   rkb_conversation_read_t greeted;
   void *argument;
   uint64_t wait_ns;
   size_t line_limit;
};

static char **copy_list(const char *const *list, char *(*copy)(const char *)) {
   size_t count = 0, kept = 0;
   while (list && list[count])
      count++;
   char **own = rkb_allocate(count + 2, sizeof *own); /* room for one more variable, and the NULL */
   for (size_t i = 0; i < count; i++) {
      own[kept] = copy(list[i]);
      kept += own[kept] != NULL;
   }
   return own;
}

static void free_list(char **list) {
   for (char **text = list; text && *text; text++)
      free(*text);
   free(list);
}

static char *plain_copy(const char *text) {
   return rkb_duplicate(text);
}

static char *variable(const char *name) {
   const char *value = getenv(name);
   return value ? rkb_format("%s=%s", name, value) : NULL;
}

/* The command as one text, for messages. */
static char *spell(const char *const *command) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_WORDS);
   for (const char *const *word = command; *word; word++)
      rkb_text_format(&text, "%s%s", word == command ? "" : " ", *word);
   return rkb_text_take(&text);
}

int conversation_open(const rkb_conversation_spec_t *spec, rkb_conversation_t **conversation, rkb_error_t *err) {
   if (!spec->command || !spec->command[0] || !spec->greeting || !spec->greeted || !spec->line_limit || !spec->wait_ns)
      return rkb_fail(err, RKB_ERR_INVALID, "a conversation needs a command, a greeting, a limit for lines and one for waiting");
   rkb_conversation_t *own = rkb_allocate(1, sizeof *own);
   pthread_mutex_init(&own->mutex, NULL);
   own->command = copy_list(spec->command, plain_copy);
   own->environment = copy_list(spec->environment, variable);
   char **last = own->environment;
   while (*last)
      last++;
   *last = variable("PATH");
   own->directory = spec->directory ? rkb_duplicate(spec->directory) : NULL;
   own->greeting = rkb_duplicate(spec->greeting);
   own->name = spell(spec->command);
   own->greeted = spec->greeted;
   own->argument = spec->argument;
   own->wait_ns = spec->wait_ns;
   own->line_limit = spec->line_limit;
   *conversation = own;
   return RKB_OK;
}

static line_process_t *take_free(rkb_conversation_t *conversation) {
   pthread_mutex_lock(&conversation->mutex);
   line_process_t *talker =
      conversation->free_count ? conversation->free_ones[--conversation->free_count] : NULL;
   pthread_mutex_unlock(&conversation->mutex);
   return talker;
}

static void give_back(rkb_conversation_t *conversation, line_process_t *talker) {
   pthread_mutex_lock(&conversation->mutex);
   conversation->free_ones =
      rkb_grow(conversation->free_ones, conversation->free_count + 1, sizeof(line_process_t *));
   conversation->free_ones[conversation->free_count++] = talker;
   pthread_mutex_unlock(&conversation->mutex);
}

static int greet(rkb_conversation_t *conversation, const talker_wait_t *wait, line_process_t **talker,
                 rkb_error_t *err) {
   const talker_program_t program = {(const char *const *)conversation->command, (const char *const *)conversation->environment,
                                     conversation->directory, conversation->name, conversation->line_limit};
   int status = line_process_start(&program, talker, err);
   if (status == RKB_OK)
      status = line_process_ask(*talker, conversation->greeting, wait, conversation->greeted,
                                conversation->argument, err);
   if (status != RKB_OK) {
      line_process_end(*talker);
      *talker = NULL;
   }
   return status;
}

int conversation_ask(rkb_conversation_t *conversation, const char *line, uint64_t deadline_ns, bool (*cancelled)(void *), void *whom,
                     rkb_conversation_read_t read, void *argument, rkb_error_t *err) {
   talker_wait_t wait = {rkb_now_ns() + conversation->wait_ns, cancelled, whom};
   if (deadline_ns && deadline_ns < wait.until_ns)
      wait.until_ns = deadline_ns;
   line_process_t *talker = take_free(conversation);
   int status = talker ? RKB_OK : greet(conversation, &wait, &talker, err);
   if (status != RKB_OK)
      return status;
   status = line_process_ask(talker, line, &wait, read, argument, err);
   if (status == RKB_OK)
      give_back(conversation, talker);
   else
      line_process_end(talker);
   return status;
}

void conversation_close(rkb_conversation_t *conversation) {
   if (!conversation)
      return;
   while (conversation->free_count)
      line_process_end(conversation->free_ones[--conversation->free_count]);
   free(conversation->free_ones);
   pthread_mutex_destroy(&conversation->mutex);
   free_list(conversation->command);
   free_list(conversation->environment);
   free(conversation->directory);
   free(conversation->greeting);
   free(conversation->name);
   free(conversation);
}
