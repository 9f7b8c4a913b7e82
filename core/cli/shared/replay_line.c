/* Makes the command line that repeats a verdict (replay_line.h).  Only the main thread. */
#include "cli/shared/replay_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

#define MOST_LINE (1u << 20)

/* Adds a word for a POSIX shell.  It is put in single quotes, unless all its characters are harmless. */
static void add_word(rkb_text_t *line, const char *word) {
   static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
   if (word[0] && word[strspn(word, harmless)] == '\0') {
      rkb_text_add(line, " ");
      rkb_text_add(line, word);
      return;
   }
   rkb_text_add(line, " '");
   for (const char *c = word; *c; c++)
      if (*c == '\'')
         rkb_text_add(line, "'\\''");
      else
         rkb_text_format(line, "%c", *c);
   rkb_text_add(line, "'");
}

static void add_options(rkb_text_t *line, const rkb_arguments_t *arguments) {
   static const char *const deciding[] = {"task", "direction",   "target", "pipeline",
                                          "set",  "plugin-path", "tune"};
   for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++) {
      const char *const *values =
         rkb_argument_known(arguments, deciding[i]) ? rkb_argument_list(arguments, deciding[i]) : NULL;
      for (; values && *values; values++) {
         rkb_text_format(line, " --%s", deciding[i]);
         add_word(line, *values);
      }
   }
}

char *rkb_replay_line_of_file(const rkb_arguments_t *arguments, const char *path,
                              const rkb_secret_t *secret) {
   char text[RKB_HASH_TEXT];
   rkb_text_t line;
   rkb_text_init(&line, MOST_LINE);
   rkb_text_add(&line, "rkb replay");
   add_options(&line, arguments);
   rkb_secret_write(secret, text);
   rkb_text_format(&line, " --secret %s", text);
   add_word(&line, path);
   return rkb_text_take(&line);
}

char *rkb_replay_line_of_run(const rkb_arguments_t *arguments, const char *directory, int64_t number) {
   rkb_text_t line;
   rkb_text_init(&line, MOST_LINE);
   rkb_text_add(&line, "rkb replay");
   add_options(&line, arguments);
   add_word(&line, directory);
   rkb_text_format(&line, " %" PRId64, number);
   return rkb_text_take(&line);
}
