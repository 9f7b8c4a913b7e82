/* Quotes words (shell_words.h).  Any thread. */
#include "executor/shell_words.h"

static void add_word(rkb_text_t *text, const char *word) {
   rkb_text_add(text, "'");
   for (; *word; word++)
      if (*word == '\'')
         rkb_text_add(text, "'\\''");
      else
         rkb_text_append(text, word, 1);
   rkb_text_add(text, "'");
}

void rkb_shell_words(rkb_text_t *text, const char *const *words) {
   for (size_t i = 0; words[i]; i++) {
      if (i > 0)
         rkb_text_add(text, " ");
      add_word(text, words[i]);
   }
}
