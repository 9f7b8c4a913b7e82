/* Rules that compare the manifest's launches with the kernels that they name and with the task's tensors. */
#include <string.h>
#include "rules.h"

enum { NAME_MAX = 128 };

static bool is_name_byte(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Argument number index of a launch's list, split at commas outside parentheses.  False past the end. */
static bool argument_at(const char *args, uint32_t index, const char **start, size_t *length) {
   uint32_t depth = 0;
   const char *first = args;
   for (const char *c = args;; c++) {
      if (*c == '(')
         depth++;
      else if (*c == ')' && depth > 0)
         depth--;
      if (*c == '\0' || (*c == ',' && depth == 0)) {
         if (index == 0) {
            while (first < c && (*first == ' ' || *first == '\t' || *first == '\n'))
               first++;
            *start = first;
            *length = (size_t)(c - first);
            return c > first;
         }
         if (*c == '\0')
            return false;
         index--;
         first = c + 1;
      }
   }
}

static bool has_word(const char *text, size_t bytes, const char *word) {
   size_t length = strlen(word);
   for (size_t i = 0; i + length <= bytes; i++) {
      bool starts = i == 0 || !is_name_byte(text[i - 1]),
           ends = i + length == bytes || !is_name_byte(text[i + length]);
      if (starts && ends && memcmp(text + i, word, length) == 0)
         return true;
   }
   return false;
}

/* The kernel that a launch names, without its template arguments. */
static const function_t *kernel_of(const lint_subject_t *subject, const rkb_launch_text_t *launch) {
   size_t length = strcspn(launch->kernel, "<");
   while (length > 0 && launch->kernel[length - 1] == ' ')
      length--;
   const char *name = launch->kernel;
   for (size_t i = length; i > 1; i--) /* without its namespace */
      if (name[i - 1] == ':') {
         name += i;
         length -= i;
         break;
      }
   const function_t *function = functions_named(subject->source, subject->functions, name, length);
   return function && function->is_kernel ? function : NULL;
}

/* The input tensor that an argument passes, or NULL. */
static const rkb_tensor_t *input_of(const lint_subject_t *subject, const char *start, size_t length) {
   size_t word = 0;
   while (word < length && is_name_byte(start[word]))
      word++;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role == RKB_IN && strlen(subject->tensors[i].name) == word &&
          memcmp(subject->tensors[i].name, start, word) == 0)
         return &subject->tensors[i];
   return NULL;
}

/* input_write ---------------------------------------------------------------------------------------- */

static bool assigns(const source_t *source, uint32_t i) {
   static const char *const operators[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", NULL};
   for (uint32_t o = 0; operators[o]; o++)
      if (source_is(source, i, operators[o]))
         return true;
   return false;
}

/* A call of an atomic with this token inside its first argument: atomicAdd(&x[i], ...). */
static bool in_atomic(const source_t *source, uint32_t i) {
   char name[64];
   uint32_t open = i;
   while (open > 0 && (source_is(source, open - 1, "&") || source_is(source, open - 1, "(")))
      if (source_is(source, --open, "("))
         break;
   if (!source_is(source, open, "(") || open == 0 || !source_kind(source, open - 1, RKB_TOKEN_IDENTIFIER))
      return false;
   source_copy(source, open - 1, name, sizeof name);
   return strncmp(name, "atomic", 6) == 0;
}

/* The name at i is written through: x[...] =, *x =, atomicAdd(x ...).  The checking machine finds writes through another pointer. */
static bool writes_through(const source_t *source, uint32_t i) {
   if (source_is(source, i + 1, "[")) {
      uint32_t close = source_closing(source, i + 1);
      if (close != SOURCE_NONE && assigns(source, close + 1))
         return true;
   }
   if (i > 1 && source_is(source, i - 1, "*") && assigns(source, i + 1) && !source_is(source, i + 1, "++") &&
       !source_is(source, i + 1, "--")) {
      /* A dereference begins a statement: "*x = 1", not "a * x" and no declaration "float *x = y". */
      return source_is(source, i - 2, ";") || source_is(source, i - 2, "{") ||
             source_is(source, i - 2, "}") || source_is(source, i - 2, ")");
   }
   return in_atomic(source, i);
}

static void find_writes(const lint_rule_t *rule, const lint_subject_t *subject, const function_t *function,
                        uint32_t parameter, const rkb_tensor_t *tensor, lint_report_t *report) {
   const source_t *source = subject->source;
   char name[NAME_MAX];
   source_copy(source, function->parameters[parameter].name, name, sizeof name);
   for (uint32_t i = function->body; i < function->end; i++) {
      bool member = source_is(source, i - 1, ".") || source_is(source, i - 1, "->");
      if (source_is(source, i, name) && !member && writes_through(source, i)) {
         lint_add(report, rule, source->code[i].line, source->code[i].column, "%.60s writes to input %.60s",
                  name, tensor->name);
         return;
      }
   }
}

void find_input_write(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   for (uint32_t l = 0; l < subject->manifest->launch_count; l++) {
      const rkb_launch_text_t *launch = &subject->manifest->launches[l];
      const function_t *function = kernel_of(subject, launch);
      const char *start;
      size_t length;
      for (uint32_t p = 0;
           function && p < function->parameter_count && argument_at(launch->args, p, &start, &length); p++) {
         const rkb_tensor_t *tensor = input_of(subject, start, length);
         if (tensor && function->parameters[p].name != SOURCE_NONE)
            find_writes(rule, subject, function, p, tensor, report);
      }
   }
}

/* unused_argument -------------------------------------------------------------------------------------- */

static bool is_launched(const lint_subject_t *subject, const function_t *function) {
   for (uint32_t l = 0; l < subject->manifest->launch_count; l++)
      if (kernel_of(subject, &subject->manifest->launches[l]) == function)
         return true;
   return false;
}

static bool is_used(const source_t *source, const function_t *function, const char *name) {
   for (uint32_t i = function->body; i < function->end; i++) {
      if (source_is(source, i, name))
         return true;
      if (source_kind(source, i, RKB_TOKEN_DIRECTIVE)) { /* a macro in the body may use it */
         const rkb_token_t *token = &source->code[i];
         if (has_word(source->text + token->start, token->length, name))
            return true;
      }
   }
   return false;
}

void find_unused_argument(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   const source_t *source = subject->source;
   for (uint32_t f = 0; f < subject->functions->count; f++) {
      const function_t *function = &subject->functions->list[f];
      if (!function->is_kernel || !is_launched(subject, function))
         continue;
      char kernel[NAME_MAX], name[NAME_MAX];
      source_copy(source, function->name, kernel, sizeof kernel);
      for (uint32_t p = 0; p < function->parameter_count; p++) {
         const parameter_t *parameter = &function->parameters[p];
         const rkb_token_t *place =
            &source->code[parameter->name == SOURCE_NONE ? parameter->first : parameter->name];
         source_copy(source, parameter->name, name, sizeof name);
         if (parameter->name == SOURCE_NONE)
            lint_add(report, rule, place->line, place->column, "parameter %u of %.60s has no name", p + 1,
                     kernel);
         else if (!is_used(source, function, name))
            lint_add(report, rule, place->line, place->column, "parameter %.60s of %.60s", name, kernel);
      }
   }
}

/* unread_input ------------------------------------------------------------------------------------------- */

/* Whether a launch receives a tensor map of the tensor.  before: the manifest up to its launches. */
static bool is_mapped(const lint_subject_t *subject, const char *before, const char *launches, size_t rest,
                      const char *tensor) {
   for (uint32_t i = 0; i < subject->manifest->map_count; i++) {
      const char *name = subject->manifest->maps[i];
      const char *at = memmem(before, (size_t)(launches - before), name, strlen(name));
      if (!at || !has_word(launches, rest, name))
         continue;
      const char *end = memchr(at, '}', (size_t)(launches - at));
      if (has_word(at + strlen(name), (size_t)((end ? end : launches) - at) - strlen(name), tensor))
         return true;
   }
   return false;
}

void find_unread_input(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   const rkb_manifest_t *manifest = subject->manifest;
   const char *comment = subject->source->text + manifest->comment_start;
   /* From the launches on: their args and constants are where a tensor can be named. */
   const char *launches = memmem(comment, manifest->comment_length, "launches:", 9);
   if (!launches)
      return;
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      const rkb_tensor_t *tensor = &subject->tensors[i];
      size_t rest = manifest->comment_length - (size_t)(launches - comment);
      if (tensor->role != RKB_OUT && !has_word(launches, rest, tensor->name) &&
          !is_mapped(subject, comment, launches, rest, tensor->name))
         lint_add(report, rule, 1, 1, "input %.100s", tensor->name);
   }
}

/* map_parameter --------------------------------------------------------------------------------------- */

static bool is_map(const lint_subject_t *subject, const char *start, size_t length) {
   for (uint32_t i = 0; i < subject->manifest->map_count; i++)
      if (strlen(subject->manifest->maps[i]) == length &&
          memcmp(subject->manifest->maps[i], start, length) == 0)
         return true;
   return false;
}

static void find_map_of(const lint_rule_t *rule, const lint_subject_t *subject, const function_t *function,
                        uint32_t index, lint_report_t *report) {
   const source_t *source = subject->source;
   const parameter_t *parameter = &function->parameters[index];
   char name[NAME_MAX] = "parameter", kernel[NAME_MAX];
   for (uint32_t i = parameter->first; i <= parameter->last; i++)
      if (source_is(source, i, "__grid_constant__"))
         return;
   if (parameter->name != SOURCE_NONE)
      source_copy(source, parameter->name, name, sizeof name);
   source_copy(source, function->name, kernel, sizeof kernel);
   lint_add(report, rule, source->code[parameter->first].line, source->code[parameter->first].column,
            "%.60s of %.60s takes a tensor map and is not __grid_constant__", name, kernel);
}

void find_map_parameter(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   for (uint32_t l = 0; subject->manifest->map_count && l < subject->manifest->launch_count; l++) {
      const rkb_launch_text_t *launch = &subject->manifest->launches[l];
      const function_t *function = kernel_of(subject, launch);
      const char *start;
      size_t length;
      for (uint32_t i = 0; function && i < function->parameter_count; i++)
         if (argument_at(launch->args, i, &start, &length) && is_map(subject, start, length))
            find_map_of(rule, subject, function, i, report);
   }
}
