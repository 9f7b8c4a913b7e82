/* The macros that a candidate's text defines (defined_names.h).  An exported file has the candidate's text, and then code of its own.  A macro of the
 * text, for a number's type or a size, would rewrite that code, and the file would launch something that was never checked.  So the exported file first has
 * an #undef for each macro. Everything that looks like a directive counts, even in comments, because a text may hide a directive better than this file can
 * find one.  An #undef of a macro that does not exist does nothing.  Owns nothing; any thread. */
#include "kernel/defined_names.h"
#include "kernel/candidate_finding.h"
#include "kernel/token_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define LONGEST 256u /* bytes of a name; nvcc knows longer ones, but no export has them */

static const char letters[] = "_$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* The text without line continuations; NULL when memory ran out. */
static char *fold(const char *source, size_t bytes) {
   char *text = rkb_try_uncleared(bytes + 1, 1, NULL);
   size_t length = 0;
   for (size_t at = 0; text && at < bytes; at++) {
      at = rkb_fold(source, bytes, at);
      if (at < bytes && source[at])
         text[length++] = source[at];
   }
   if (text)
      text[length] = '\0';
   return text;
}

/* Whether a word may belong to a directive: before it stands '#', "%:", the trigraph for '#', or the end of a comment. */
static bool may_direct(const char *text, const char *word) {
   while (word > text && strchr(" \t\f\v\r", word[-1]))
      word--;
   return word > text && strchr("#:=/", word[-1]);
}

/* The next name from *at on, NUL-terminated; false: there is none. */
static bool next_name(const char *text, const char **at, char name[LONGEST]) {
   static const char define[] = "define";
   const char *found;
   while ((found = strstr(*at, define)) != NULL) {
      const char *c = rkb_skip_blank(found + strlen(define));
      const size_t length = strspn(c, letters);
      *at = found + strlen(define);
      if (!may_direct(text, found) || c == *at || !length || length >= LONGEST || (*c >= '0' && *c <= '9'))
         continue;
      memcpy(name, c, length);
      name[length] = '\0';
      return true;
   }
   return false;
}

static bool has_word(const char *text, const char *word) {
   const size_t length = strlen(word);
   for (const char *c = text; *c;) {
      c += strcspn(c, letters);
      const size_t own = strspn(c, letters);
      if (own == length && memcmp(c, word, length) == 0)
         return true;
      c += own;
   }
   return false;
}

void defined_names_check(const char *source, size_t bytes, const manifest_t *manifest,
                         rkb_finding_t *finding) {
   char *text = fold(source, bytes), name[LONGEST];
   const char *at = text;
   if (!text)
      rkb_finding_set(finding, "tool.memory", 0, 0, "memory ran out while the macros of the text were read");
   while (text && !finding->reason[0] && next_name(text, &at, name))
      for (uint32_t i = 0; i < manifest->public.launch_count && !finding->reason[0]; i++)
         if (has_word(manifest->launches[i].kernel, name))
            rkb_finding_set(
               finding, "build.error", manifest->launches[i].kernel_place.line,
               manifest->launches[i].kernel_place.column,
               "'%.100s' is a macro of the text; a launch names its kernel and its template arguments themselves",
               name);
   free(text);
}

/* Words that can be no macros; an #undef of them is an error. */
static bool is_no_macro(const char *name) {
   static const char *const words[] = {"and",    "and_eq",  "bitand",      "bitor", "compl",
                                       "not",    "not_eq",  "or",          "or_eq", "xor",
                                       "xor_eq", "defined", "__VA_ARGS__", NULL};
   for (uint32_t i = 0; words[i]; i++)
      if (strcmp(words[i], name) == 0)
         return true;
   return false;
}

void defined_names_forget(const char *source, size_t bytes, rkb_text_t *out) {
   char *text = fold(source, bytes), name[LONGEST], line[LONGEST + 16];
   const size_t first = out->length;
   const char *at = text;
   if (!text)
      out->cut = true; /* writes no file, because a file without this #undef would be wrong */
   while (text && !out->cut && next_name(text, &at, name)) {
      const int length = snprintf(line, sizeof line, "#undef %s\n", name);
      if (!is_no_macro(name) && !(out->length > first && strstr(out->data + first, line)))
         rkb_text_append(out, line, (size_t)length);
   }
   free(text);
}
