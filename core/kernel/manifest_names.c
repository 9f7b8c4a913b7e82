/* Names of kernels in a manifest: which are valid, and how tune values replace tune parameters in them.  NVRTC compiles the checked
 * name as an expression (nvrtcAddNameExpression), so a name that could end that expression is refused.  Owns nothing; any thread. */
#include "kernel/manifest.h"

#include <string.h>

static const char *const keywords[] = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "char16_t",
                                       "char32_t",
                                       "class",
                                       "compl",
                                       "const",
                                       "const_cast",
                                       "constexpr",
                                       "continue",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "private",
                                       "protected",
                                       "public",
                                       "register",
                                       "reinterpret_cast",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq",
                                       "__asm__",
                                       "__global__",
                                       "__device__",
                                       "__host__",
                                       "__shared__",
                                       "__constant__",
                                       "__restrict__",
                                       "__launch_bounds__",
                                       "__forceinline__",
                                       "__noinline__",
                                       "threadIdx",
                                       "blockIdx",
                                       "blockDim",
                                       "gridDim",
                                       "warpSize",
                                       NULL};

bool manifest_is_keyword(const char *name) {
   for (uint32_t i = 0; keywords[i]; i++)
      if (strcmp(keywords[i], name) == 0)
         return true;
   return name[0] == '_' &&
          (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')); /* reserved to the compiler */
}

static bool is_letter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
   return c >= '0' && c <= '9';
}

bool manifest_kernel_name(const char *name, const char **why) {
   const char *c = name;
   int angles = 0, parentheses = 0;
   *why = "";
   if (!is_letter(*name)) {
      *why = "it begins with no letter";
      return false;
   }
   if (strlen(name) > 256) {
      *why = "it is longer than 256 bytes";
      return false;
   }
   for (; *c; c++) {
      if (angles == 0 && !is_letter(*c) && !is_digit(*c) && *c != ':' && *c != '<' && *c != ' ') {
         *why = "outside its template arguments only letters, digits, _ and :: are allowed";
         return false;
      }
      if (!is_letter(*c) && !is_digit(*c) && !strchr(" ,:<>()+-*/%&", *c)) {
         *why = "its template arguments are integer expressions and types";
         return false;
      }
      angles += (*c == '<' && parentheses == 0) - (*c == '>' && parentheses == 0);
      parentheses += (*c == '(') - (*c == ')');
      if (angles < 0 || parentheses < 0 || (angles == 0 && *c == '>' && c[1])) {
         *why = "its brackets do not match";
         return false;
      }
   }
   if (angles || parentheses)
      *why = "its brackets do not match";
   return !angles && !parentheses;
}

bool manifest_kernel_expression(const manifest_t *manifest, const manifest_launch_t *launch,
                                const int64_t *values, char *out, size_t room) {
   size_t length = 0;
   const char *c = launch->kernel;
   while (*c) {
      size_t word = 0;
      int written = -1;
      while (is_letter(c[word]) || (word && is_digit(c[word])))
         word++;
      for (uint32_t i = 0; word && i < manifest->public.tune_count; i++) {
         const char *name = manifest->public.tune[i].name;
         if (strlen(name) == word && memcmp(name, c, word) == 0)
            written = snprintf(out + length, room - length, "%lld", (long long)values[i]);
      }
      if (written < 0) {
         size_t digits = word;
         while (!word && is_digit(c[digits])) /* "4u": a suffix is no name */
            digits++;
         word = word ? word : digits ? digits : 1;
         written = snprintf(out + length, room - length, "%.*s", (int)word, c);
      }
      if ((size_t)written >= room - length)
         return false;
      length += (size_t)written;
      c += word;
   }
   return true;
}
