/* Words of CUDA C++ itself: no parameter may have one of them as its name.  Any thread. */
#ifndef RKB_GENERATOR_LANGUAGE_WORDS_H
#define RKB_GENERATOR_LANGUAGE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a name is a word of the language, or of a function or type that generated kernels use. */
bool rkb_is_language_word(const char *name);

#endif
