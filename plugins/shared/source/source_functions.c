/* Finds function definitions by their tokens: a statement at namespace scope with a parenthesis after a name,
 * and a body. */
#include "source_functions.h"
#include <stdlib.h>
#include <string.h>

/* Words that a parenthesis with arguments may follow in a specifier. */
static bool takes_arguments(const source_t *source, uint32_t i) {
   static const char *const words[] = {"__launch_bounds__", "__cluster_dims__", "alignas",
                                       "__align__",         "__attribute__",    "decltype",
                                       "__block_size__",    "__maxnreg__",      NULL};
   for (uint32_t w = 0; words[w]; w++)
      if (source_is(source, i, words[w]))
         return true;
   return false;
}

/* Returns the parenthesis that opens the parameters of the statement from first on; SOURCE_NONE when it
 * declares no function. */
static uint32_t find_parameters(const source_t *source, uint32_t first) {
   for (uint32_t i = first; i < source->count; i++) {
      if (source_is(source, i, ";") || source_is(source, i, "{") || source_is(source, i, "=") ||
          source_is(source, i, "}"))
         return SOURCE_NONE;
      if (source_is(source, i, "<")) {
         i = source_closing_angle(source, i);
      } else if (source_is(source, i, "[")) {
         i = source_closing(source, i);
      } else if (source_is(source, i, "(")) {
         if (i > first && source_kind(source, i - 1, RKB_TOKEN_IDENTIFIER) && !takes_arguments(source, i - 1))
            return i;
         i = source_closing(source, i);
      }
      if (i == SOURCE_NONE)
         return SOURCE_NONE;
   }
   return SOURCE_NONE;
}

static parameter_t read_parameter(const source_t *source, uint32_t first, uint32_t last) {
   parameter_t parameter = {first, last, SOURCE_NONE, false};
   for (uint32_t i = first; i <= last; i++) {
      if (source_is(source, i, "=")) /* words of the default value are no names */
         break;
      if (source_is(source, i, "<")) {
         uint32_t close = source_closing_angle(source, i);
         i = close != SOURCE_NONE && close <= last ? close : i;
         continue;
      }
      if (source_is(source, i, "*") || source_is(source, i, "["))
         parameter.is_pointer = true;
      if (source_is(source, i, "[")) /* the tokens inside are a size, and no name */
         break;
      if (source_kind(source, i, RKB_TOKEN_IDENTIFIER) && !source_is(source, i, "const") &&
          !source_is(source, i, "__restrict__"))
         parameter.name = i;
   }
   /* a single word is a type, and no name */
   if (parameter.name == first)
      parameter.name = SOURCE_NONE;
   return parameter;
}

static bool read_parameters(const source_t *source, function_t *function) {
   uint32_t first = function->open + 1;
   if (first == function->close)
      return true;
   for (uint32_t i = first; i <= function->close; i++) {
      if (i == function->close || source_is(source, i, ",")) {
         if (function->parameter_count == FUNCTION_PARAMETERS_MAX || i == first)
            return false;
         function->parameters[function->parameter_count++] = read_parameter(source, first, i - 1);
         first = i + 1;
      } else if (source_is(source, i, "<")) {
         uint32_t close = source_closing_angle(source, i);
         i = close != SOURCE_NONE && close < function->close ? close : i;
      } else if (source_is(source, i, "(") || source_is(source, i, "[") || source_is(source, i, "{")) {
         i = source_closing(source, i);
         if (i == SOURCE_NONE)
            return false;
      }
   }
   return true;
}

/* Reads the definition that begins at first; false when there is none. */
static bool read_function(const source_t *source, uint32_t first, function_t *function) {
   uint32_t at = first;
   *function = (function_t){.first = first};
   if (source_is(source, at, "template") && source_is(source, at + 1, "<")) {
      at = source_closing_angle(source, at + 1);
      if (at == SOURCE_NONE)
         return false;
      at++;
   }
   function->open = find_parameters(source, at);
   if (function->open == SOURCE_NONE)
      return false;
   function->name = function->open - 1;
   function->close = source_closing(source, function->open);
   if (function->close == SOURCE_NONE)
      return false;
   for (uint32_t i = at; i < function->name; i++) {
      function->is_kernel = function->is_kernel || source_is(source, i, "__global__");
      function->is_device = function->is_device || source_is(source, i, "__device__");
   }
   function->body = function->close + 1;
   while (source_kind(source, function->body, RKB_TOKEN_IDENTIFIER)) /* passes over noexcept and const */
      function->body++;
   if (!source_is(source, function->body, "{"))
      return false;
   function->end = source_closing(source, function->body);
   return function->end != SOURCE_NONE && read_parameters(source, function);
}

/* Returns the token after the statement that begins at i: past its ; or its body. */
static uint32_t skip_statement(const source_t *source, uint32_t i) {
   for (; i < source->count; i++) {
      if (source_is(source, i, ";"))
         return i + 1;
      if (source_is(source, i, "(") || source_is(source, i, "[") || source_is(source, i, "{")) {
         bool body = source_is(source, i, "{");
         i = source_closing(source, i);
         if (i == SOURCE_NONE)
            return source->count;
         if (body)
            return i + 1;
      }
   }
   return source->count;
}

/* Returns the token after the { that opens a scope whose content counts as top level; 0 when none opens here. */
static uint32_t enter_scope(const source_t *source, uint32_t i) {
   if (source_is(source, i, "extern") && source_kind(source, i + 1, RKB_TOKEN_STRING))
      return source_is(source, i + 2, "{") ? i + 3 : i + 2;
   if (!source_is(source, i, "namespace"))
      return 0;
   for (i++; source_kind(source, i, RKB_TOKEN_IDENTIFIER) || source_is(source, i, "::"); i++)
      continue;
   return source_is(source, i, "{") ? i + 1 : 0;
}

int functions_find(const source_t *source, functions_t *functions, rkb_error_t *err) {
   *functions = (functions_t){.list = calloc(FUNCTIONS_MAX, sizeof *functions->list)};
   if (!functions->list)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %d functions", FUNCTIONS_MAX);
   uint32_t i = 0;
   while (i < source->count && functions->count < FUNCTIONS_MAX) {
      uint32_t inside = enter_scope(source, i);
      if (inside > 0) {
         i = inside;
      } else if (source_kind(source, i, RKB_TOKEN_DIRECTIVE) || source_is(source, i, "}") ||
                 source_is(source, i, ";")) {
         i++;
      } else if (read_function(source, i, &functions->list[functions->count])) {
         i = functions->list[functions->count++].end + 1;
      } else {
         i = skip_statement(source, i);
      }
   }
   return RKB_OK;
}

void functions_free(functions_t *functions) {
   free(functions->list);
   *functions = (functions_t){0};
}

const function_t *functions_named(const source_t *source, const functions_t *functions, const char *name,
                                  size_t length) {
   char text[256];
   if (length >= sizeof text)
      return NULL;
   memcpy(text, name, length);
   text[length] = '\0';
   const function_t *found = NULL;
   for (uint32_t i = 0; i < functions->count; i++)
      if (source_is(source, functions->list[i].name, text) &&
          (!found || (functions->list[i].is_kernel && !found->is_kernel)))
         found = &functions->list[i];
   return found;
}
