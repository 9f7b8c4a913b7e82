/* A tune parameter is a macro over the whole file, so a text that declares an identifier of that name would
 * be rewritten into nonsense with a message far from the cause.  Found here, in the tokens, before the
 * compiler runs.  Owns nothing; any thread.
 *
 * Without parsing C++ a declaration is recognised by its neighbours.  Two adjacent identifiers never occur in
 * an expression, so `int NAME`, `T NAME` and `typename NAME` are declarations; after '*' or '&' it is one
 * when a type word stands before. */
#include "kernel/manifest.h"
#include "kernel/token_text.h"

#include <string.h>

typedef struct scanner {
   const char *source;
   const rkb_token_t *tokens;
   const uint32_t *solid; /* indices of the tokens that are neither comments nor directives */
   uint32_t count;
} scanner_t;

static bool is_one_of(const scanner_t *scanner, int64_t at, const char *const *words) {
   if (at < 0 || at >= scanner->count)
      return false;
   for (uint32_t i = 0; words[i]; i++)
      if (rkb_token_is(scanner->source, &scanner->tokens[scanner->solid[at]], words[i]))
         return true;
   return false;
}

static bool is_identifier(const scanner_t *scanner, int64_t at) {
   /* Words after which an expression begins, or that join two expressions. */
   static const char *const before_expression[] = {
      "return", "case",  "else",   "do",     "goto",      "sizeof", "throw", "new",     "delete",
      "and",    "or",    "not",    "xor",    "bitand",    "bitor",  "compl", "alignof", "operator",
      "and_eq", "or_eq", "xor_eq", "not_eq", "co_return", "asm",    NULL};
   return at >= 0 && at < scanner->count &&
          scanner->tokens[scanner->solid[at]].kind == RKB_TOKEN_IDENTIFIER &&
          !is_one_of(scanner, at, before_expression);
}

static bool is_enumerator(const scanner_t *scanner, int64_t at) {
   static const char *const open[] = {"{", NULL}, *const enums[] = {"enum", NULL},
                            *const stop[] = {";", "}", NULL};
   const uint32_t depth = scanner->tokens[scanner->solid[at]].depth;
   static const char *const before[] = {"{", ",", NULL};
   if (!is_one_of(scanner, at - 1, before))
      return false;
   for (int64_t i = at - 1; i >= 0 && at - i < 4096; i--) {
      if (is_one_of(scanner, i, open) && scanner->tokens[scanner->solid[i]].depth + 1 == depth) {
         for (int64_t k = i - 1; k >= 0 && i - k < 8; k--) {
            if (is_one_of(scanner, k, enums))
               return true;
            if (is_one_of(scanner, k, stop) || is_one_of(scanner, k, open))
               return false;
         }
         return false;
      }
   }
   return false;
}

static bool declares(const scanner_t *scanner, int64_t at) {
   static const char *const pointers[] = {"*", "&", "&&", NULL}, *const close[] = {">", NULL},
                            *const assign[] = {"=", NULL}, *const member[] = {".", "->", "::", NULL};
   static const char *const types[] = {"int",           "float",        "double", "char",   "short",
                                       "long",          "unsigned",     "signed", "bool",   "void",
                                       "half",          "auto",         "const",  "size_t", "__half",
                                       "__nv_bfloat16", "__restrict__", "float2", "float4", "int2",
                                       "int4",          "half2",        "uint2",  "uint4",  NULL};
   if (is_identifier(scanner, at - 1))
      return true;
   if (is_one_of(scanner, at - 1, pointers) && is_one_of(scanner, at - 2, types))
      return true;
   if (is_one_of(scanner, at - 1, close) && is_one_of(scanner, at + 1, assign))
      return true;
   return is_one_of(scanner, at - 1, member) || is_enumerator(scanner, at);
}

/* `#define NAME`, `#undef NAME` and a macro's own parameter lists would clash too. */
static bool directive_names(const char *source, const rkb_token_t *token, const char *name) {
   char text[512];
   const char *c = text + 1;
   size_t length = strlen(name);
   rkb_token_folded(source, token, text, sizeof text);
   c += strspn(c, " \t");
   if (strncmp(c, "define", 6) != 0 && strncmp(c, "undef", 5) != 0)
      return false;
   c += *c == 'd' ? 6 : 5;
   c += strspn(c, " \t");
   return strncmp(c, name, length) == 0 &&
          !manifest_is_name((char[]){'a', c[length] ? c[length] : '-', '\0'});
}

static void report(const manifest_t *manifest, uint32_t index, const char *path, const rkb_token_t *token,
                   rkb_problems_t *problems) {
   const rkb_tune_parameter_t *tune = &manifest->public.tune[index];
   rkb_problem(problems, (rkb_place_t){path, token->line, token->column},
               "plan.name_collision: '%s' is a tune parameter (line %u), a macro over the whole file, and "
               "cannot be declared here; "
               "rename one of them",
               tune->name, tune->line);
}

void manifest_find_collisions(const manifest_t *manifest, const char *path, const char *source,
                              const rkb_token_t *tokens, uint32_t count, rkb_problems_t *problems) {
   uint32_t *solid = rkb_arena_array(manifest->arena, (size_t)count + 1, sizeof *solid);
   scanner_t scanner = {source, tokens, solid, 0};
   for (uint32_t i = 0; i < count; i++) {
      if (tokens[i].kind != RKB_TOKEN_COMMENT && tokens[i].kind != RKB_TOKEN_DIRECTIVE)
         solid[scanner.count++] = i;
      for (uint32_t k = 0; tokens[i].kind == RKB_TOKEN_DIRECTIVE && k < manifest->public.tune_count; k++)
         if (directive_names(source, &tokens[i], manifest->public.tune[k].name))
            report(manifest, k, path, &tokens[i], problems);
   }
   for (uint32_t k = 0; k < manifest->public.tune_count; k++) {
      for (uint32_t i = 0; i < scanner.count; i++) {
         const rkb_token_t *token = &tokens[solid[i]];
         if (token->kind == RKB_TOKEN_IDENTIFIER &&
             rkb_token_is(source, token, manifest->public.tune[k].name) && declares(&scanner, i)) {
            /* Reports one place, which is enough for a correction. */
            report(manifest, k, path, token, problems);
            break;
         }
      }
   }
}
