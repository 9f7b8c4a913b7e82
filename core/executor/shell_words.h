/* Quotes words for a POSIX shell.  sshd passes one line to the user's shell, and a batch job is a script.  Any thread. */
#ifndef RKB_EXECUTOR_SHELL_WORDS_H
#define RKB_EXECUTOR_SHELL_WORDS_H

#include "base/text.h"

/* Appends the words in single quotes with blanks between them, so that a shell reads exactly these words (POSIX.1-2017, 2.2.2). */
void rkb_shell_words(rkb_text_t *text, const char *const *words);

#endif
