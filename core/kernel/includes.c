/* The include policy.  A header outside the list could put a file of this machine into the compiler's messages, and so into a prompt or a report, or let
 * the compile hang on a device file.  The text is read twice: as tokens, and line by line without regard to strings and comments.  The reason: our tokeniser
 * may read a text differently than the compiler does, and such a text must be refused.  The compiler process's Landlock rules are a second barrier.  Owns
 * nothing; any thread. */
#include "kernel/includes.h"
#include "kernel/candidate_finding.h"
#include "kernel/token_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

/* Headers whose text rkb itself gives to the compiler, and which need no file of the toolkit
 * (core/kernel/compiler/headers.c). */
static const char *const plain[] = {"stdint.h",
                                    "cstdint",
                                    "stddef.h",
                                    "cstddef",
                                    "limits.h",
                                    "climits",
                                    "float.h",
                                    "cfloat",
                                    "math.h",
                                    "cmath",
                                    "stdbool.h",
                                    "stdio.h",
                                    "cstdio",
                                    "stdlib.h",
                                    "cstdlib",
                                    "string.h",
                                    "cstring",
                                    "assert.h",
                                    "cassert",
                                    "cuda.h",
                                    "cuda_runtime.h",
                                    "cuda_runtime_api.h",
                                    "device_launch_parameters.h",
                                    NULL};
/* Headers of the toolkit, or rkb's versions of them: names, or folders that end in '/'. */
static const char *const toolkit[] = {"type_traits",
                                      "limits",
                                      "utility",
                                      "algorithm",
                                      "array",
                                      "tuple",
                                      "cuda_fp16.h",
                                      "cuda_bf16.h",
                                      "cuda_fp8.h",
                                      "mma.h",
                                      "cooperative_groups.h",
                                      "cooperative_groups/",
                                      "cuda_pipeline.h",
                                      "cuda_pipeline_primitives.h",
                                      "cuda_awbarrier.h",
                                      "cuda_awbarrier_primitives.h",
                                      "math_constants.h",
                                      "vector_types.h",
                                      "cuComplex.h",
                                      "cuda/",
                                      "cub/",
                                      "nv/target",
                                      NULL};

static bool is_listed(const char *const *list, const char *name) {
   for (uint32_t i = 0; list[i]; i++) {
      size_t length = strlen(list[i]);
      if (list[i][length - 1] == '/' ? strncmp(name, list[i], length) == 0 && name[length]
                                     : strcmp(name, list[i]) == 0)
         return true;
   }
   return false;
}

static bool is_allowed(const char *name) {
   if (name[0] == '/' || strstr(name, "..") || strchr(name, '\\') || strstr(name, "//"))
      return false;
   return is_listed(plain, name) || is_listed(toolkit, name);
}

static void refuse(rkb_finding_t *finding, uint32_t line, uint32_t column, const char *what) {
   rkb_finding_set(finding, "build.error", line, column,
                   "%.120s is refused; a candidate may include cuda_fp16.h, cuda_bf16.h, mma.h, "
                   "cooperative_groups.h, cuda/..., cub/... and "
                   "the C headers, each named in the #include itself",
                   what);
}

enum directive { DIRECTIVE_OTHER, DIRECTIVE_INCLUDE, DIRECTIVE_FOREIGN };

/* text: a directive from its '#' or "%:" on, with continuations folded, NUL-terminated.  If the directive is
 * an #include that names a header, copies the header's name.  If it opens files in another way, copies the
 * words for the message. */
static enum directive read_directive(const char *text, char *name, size_t room) {
   static const char *const opening[] = {"include_next", "include", "import", "embed", NULL};
   const char *c = rkb_skip_blank(text + (text[0] == '#' ? 1 : text[0] == '?' ? 3 : 2)), *end;
   uint32_t word = 0;
   while (opening[word] && strncmp(c, opening[word], strlen(opening[word])) != 0)
      word++;
   if (!opening[word])
      return DIRECTIVE_OTHER;
   c = rkb_skip_blank(c + strlen(opening[word]));
   end = *c == '<' ? strchr(c, '>') : *c == '"' ? strchr(c + 1, '"') : NULL;
   if (word != 1 || !end || (size_t)(end - c) >= room) {
      snprintf(name, room, word == 1 ? "an #include whose header is not spelt out" : "#%s", opening[word]);
      return DIRECTIVE_FOREIGN;
   }
   memcpy(name, c + 1, (size_t)(end - c) - 1);
   name[end - c - 1] = '\0';
   return DIRECTIVE_INCLUDE;
}

static void check_directive(const char *text, uint32_t line, uint32_t column, rkb_finding_t *finding) {
   char name[256], shown[300];
   const enum directive what = read_directive(text, name, sizeof name);
   if (what == DIRECTIVE_OTHER || (what == DIRECTIVE_INCLUDE && is_allowed(name)))
      return;
   snprintf(shown, sizeof shown, what == DIRECTIVE_INCLUDE ? "#include of '%s'" : "%s", name);
   refuse(finding, line, column, shown);
}

/* PTX in asm strings is assembled in the same process.  No kernel needs any of these words. */
static bool names_a_file(const char *text, size_t length) {
   static const char *const words[] = {".incbin", "#include", ".include", NULL};
   for (uint32_t i = 0; words[i]; i++)
      if (memmem(text, length, words[i], strlen(words[i])))
         return true;
   return false;
}

static const char *const circumstances[] = {
#include "kernel/circumstances.def"
   NULL};
static const char exported[] = "rkb_";

static bool is_letter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void refuse_circumstance(rkb_finding_t *finding, const rkb_token_t *token, const char *name) {
   if (strncmp(name, exported, strlen(exported)) == 0)
      rkb_finding_set(finding, "build.error", token->line, token->column,
                      "%.100s is refused: names that begin with %s belong to the files that rkb exports",
                      name, exported);
   else
      rkb_finding_set(
         finding, "build.error", token->line, token->column,
         "%s is refused: what a candidate compiles to may depend neither on the time, nor on the compiler or the machine that it runs on, nor on where its text stands",
         name);
}

static bool is_circumstance(const char *name, const char *word) {
   const size_t length = strlen(word);
   const bool whole = length < 2 || strncmp(word, "__", 2) != 0 || strcmp(word + length - 2, "__") == 0 ||
                      strncmp(word, "__builtin", 9) == 0;
   return whole ? strcmp(name, word) == 0 : strncmp(name, word, length) == 0;
}

/* What a directive asks, if it is a question (#if, #ifdef, #elif, ...); else NULL. */
static char *question_of(char *directive) {
   char *c = directive + (rkb_skip_blank(directive + (directive[0] == '#'   ? 1
                                                      : directive[0] == '?' ? 3
                                                                            : 2)) -
                          directive);
   return strncmp(c, "if", 2) == 0 || strncmp(c, "elif", 4) == 0 ? c : NULL;
}

/* Takes names out of a directive's question whose answer is the same for NVRTC and for every host's compiler that builds an exported file: pointers have 64 bits, and
 * C++ has had references to temporaries since 2011.  They contain names whose answer is not. */
static void leave_out_constants(char *directive) {
   static const char *const constant[] = {"__LP64__", "__cpp_rvalue_references", NULL};
   char *question = question_of(directive);
   for (uint32_t n = 0; question && constant[n]; n++)
      for (char *at = question; (at = strstr(at, constant[n])) != NULL; at++) {
         const size_t length = strlen(constant[n]);
         if (!is_letter(at[-1]) && !is_letter(at[length]))
            memset(at, ' ', length);
      }
}

/* Whether a directive asks for one of the words without underscores that GCC defines.  Elsewhere they are words like any other. */
static const char *asked_for(char *directive) {
   static const char *const words[] = {"linux", "unix", NULL};
   const char *c = question_of(directive);
   if (!c)
      return NULL;
   for (uint32_t n = 0; words[n]; n++)
      for (const char *at = strstr(c, words[n]); at; at = strstr(at + 1, words[n]))
         if (!is_letter(at[-1]) && !is_letter(at[strlen(words[n])]))
            return words[n];
   return NULL;
}

static void check_circumstances(const char *source, const rkb_token_t *token, rkb_finding_t *finding) {
   char text[4096];
   if (token->kind != RKB_TOKEN_DIRECTIVE && token->kind != RKB_TOKEN_IDENTIFIER)
      return;
   const size_t length = rkb_token_folded(source, token, text, sizeof text);
   if (token->kind == RKB_TOKEN_IDENTIFIER && strncmp(text, exported, strlen(exported)) == 0)
      refuse_circumstance(finding, token, text);
   if (token->kind == RKB_TOKEN_IDENTIFIER && text[0] != '_')
      return; /* as all other words do */
   if (token->kind == RKB_TOKEN_DIRECTIVE && length < sizeof text && length)
      leave_out_constants(text);
   for (uint32_t i = 0; circumstances[i]; i++)
      if (token->kind == RKB_TOKEN_IDENTIFIER ? is_circumstance(text, circumstances[i])
                                              : strstr(text, circumstances[i]) != NULL)
         refuse_circumstance(finding, token, circumstances[i]);
   if (token->kind == RKB_TOKEN_DIRECTIVE && length < sizeof text && length && asked_for(text))
      refuse_circumstance(finding, token, asked_for(text));
   if (length >= sizeof text && token->kind == RKB_TOKEN_DIRECTIVE)
      rkb_finding_set(finding, "build.error", token->line, token->column, "a directive of more than %zu bytes is refused", sizeof text - 1);
}

static void check_token(const char *source, const rkb_token_t *token, rkb_finding_t *finding) {
   static const char *const probes[] = {"__has_include", "__has_include_next", "__has_embed", NULL};
   char text[1024];
   if (token->kind == RKB_TOKEN_DIRECTIVE) {
      rkb_token_folded(source, token, text, sizeof text);
      check_directive(text, token->line, token->column, finding);
      for (uint32_t i = 0; probes[i]; i++)
         if (memmem(source + token->start, token->length, probes[i], strlen(probes[i])))
            refuse(finding, token->line, token->column, probes[i]);
   } else if (token->kind == RKB_TOKEN_IDENTIFIER) {
      for (uint32_t i = 0; probes[i]; i++)
         if (rkb_token_is(source, token, probes[i]))
            refuse(finding, token->line, token->column, probes[i]);
   } else if (token->kind == RKB_TOKEN_STRING && names_a_file(source + token->start, token->length))
      rkb_finding_set(finding, "build.error", token->line, token->column,
                      "a string that names a file to the assembler is refused");
}

/* Checks every logical line that begins like a directive, even if our tokeniser sees it inside a string or a comment. */
static void check_lines(const char *source, size_t bytes, rkb_finding_t *finding) {
   size_t at = 0;
   uint32_t line = 1;
   while (at < bytes && !finding->reason[0]) {
      char text[1024];
      size_t length = 0;
      const uint32_t first_line = line;
      const char *c;
      while (at < bytes) {
         size_t next = rkb_fold(source, bytes, at);
         for (; at < next; at++)
            line += source[at] == '\n';
         if (at >= bytes || source[at] == '\n')
            break;
         if (length + 1 < sizeof text && source[at])
            text[length++] = source[at];
         at++;
      }
      text[length] = '\0';
      at++;
      line++;
      c = rkb_skip_blank(text);
      if (*c == '#' || strncmp(c, "%:", 2) == 0 || strncmp(c, "\?\?=", 3) == 0)
         check_directive(c, first_line, (uint32_t)(c - text) + 1, finding);
   }
}

/* Pasting ------------------------------------------------------------------------------------------------------------- */

/* Pasting (##) makes a word from other words, and no token shows the result.  So a text that pastes is refused if one of the words above can be composed
 * of words in the text, although only the preprocessor knows whether it is. */
#define LONGEST_NAME 32

/* starts[i][k]: a bit for each length of a word of the text that stands in name i at place k. */
static void note_word(const char *word, size_t length, uint32_t starts[][LONGEST_NAME]) {
   for (uint32_t i = 0; circumstances[i]; i++)
      for (size_t at = 0; at + length <= strlen(circumstances[i]); at++)
         if (memcmp(circumstances[i] + at, word, length) == 0)
            starts[i][at] |= 1u << length;
}

static void note_words(const char *source, const rkb_token_t *token, uint32_t starts[][LONGEST_NAME]) {
   char text[4096];
   rkb_token_folded(source, token, text, sizeof text);
   for (const char *at = text; *at;) {
      size_t length = 0;
      while (is_letter(at[length]))
         length++;
      if (length && length < LONGEST_NAME)
         note_word(at, length, starts);
      at += length ? length : 1;
   }
}

static bool is_put_together(const char *name, const uint32_t *starts) {
   const size_t length = strlen(name);
   bool reached[LONGEST_NAME + 1] = {true};
   for (size_t at = 0; at < length; at++)
      for (size_t bytes = 1; reached[at] && at + bytes <= length; bytes++)
         reached[at + bytes] |= starts[at] >> bytes & 1;
   return reached[length];
}

/* Whether ## occurs anywhere, in any spelling, with line continuations folded. */
static bool pastes(const char *source, size_t bytes) {
   char *text = rkb_try_uncleared(bytes + 1, 1, NULL);
   size_t length = 0;
   if (!text)
      return true; /* assume that it pastes; the words then decide */
   for (size_t at = 0; at < bytes; at++) {
      at = rkb_fold(source, bytes, at);
      if (at < bytes && source[at])
         text[length++] = source[at];
   }
   text[length] = '\0';
   const bool found = strstr(text, "##") || strstr(text, "%:%:") || strstr(text, "\?\?=\?\?=");
   free(text);
   return found;
}

static void check_pasting(const char *source, size_t bytes, const rkb_token_t *tokens, uint32_t count,
                          rkb_finding_t *finding) {
   uint32_t starts[sizeof circumstances / sizeof *circumstances][LONGEST_NAME] = {{0}};
   if (!pastes(source, bytes))
      return;
   for (uint32_t i = 0; i < count; i++)
      if (tokens[i].kind == RKB_TOKEN_DIRECTIVE || tokens[i].kind == RKB_TOKEN_IDENTIFIER)
         note_words(source, &tokens[i], starts);
   for (uint32_t i = 0; count && circumstances[i] && !finding->reason[0]; i++)
      if (is_put_together(circumstances[i], starts[i]))
         refuse_circumstance(finding, &tokens[0], circumstances[i]);
}

void includes_check(const char *source, size_t bytes, const rkb_token_t *tokens, uint32_t count,
                    rkb_finding_t *finding) {
   for (uint32_t i = 0; i < count && !finding->reason[0]; i++) {
      check_token(source, &tokens[i], finding);
      check_circumstances(source, &tokens[i], finding);
   }
   if (!finding->reason[0])
      check_pasting(source, bytes, tokens, count, finding);
   check_lines(source, bytes, finding);
}

static bool begins_like_the_runtime(const char *name) {
   static const char *const prefixes[] = {"cuda", "CU", "tex", "surf", NULL};
   for (uint32_t i = 0; prefixes[i]; i++)
      if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
         return true;
   return false;
}

static bool mentions_the_runtime(const char *directive) {
   const char *c = directive;
   while (*c) {
      const size_t other = strcspn(c, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
      c += other;
      if (begins_like_the_runtime(c))
         return true;
      c += strspn(c, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
   }
   return false;
}

bool includes_are_plain(const char *source, const rkb_token_t *tokens, uint32_t count) {
   for (uint32_t i = 0; i < count; i++) {
      char text[1024], name[256];
      if (tokens[i].kind != RKB_TOKEN_DIRECTIVE && tokens[i].kind != RKB_TOKEN_IDENTIFIER)
         continue;
      if (rkb_token_folded(source, &tokens[i], text, sizeof text) >= sizeof text)
         return false;
      if (tokens[i].kind == RKB_TOKEN_IDENTIFIER) {
         if (begins_like_the_runtime(text))
            return false;
      } else if (read_directive(text, name, sizeof name) == DIRECTIVE_INCLUDE) {
         if (!is_listed(plain, name))
            return false;
      } else if (mentions_the_runtime(text))
         return false;
   }
   return true;
}
