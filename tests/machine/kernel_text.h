/* A kernel's text for tests that judge whole files. */
#ifndef TESTS_MACHINE_KERNEL_TEXT_H
#define TESTS_MACHINE_KERNEL_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include "check.h"

/* malloc'd; the test fails when the file cannot be read. */
static inline char *read_text(const char *path) {
   char *text = calloc(1, 1 << 16);
   FILE *in = fopen(path, "r");
   assert_non_null(text);
   assert_non_null(in);
   assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
   fclose(in);
   return text;
}

#endif
