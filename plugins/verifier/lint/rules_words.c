/* Rules about words: identifiers of the code and of macro bodies, and the words of inline PTX. */
#include <string.h>
#include "word_search.h"

typedef bool (*word_test_t)(const word_t *word);

typedef struct remark {
   const lint_rule_t *rule;
   lint_report_t *report;
   word_test_t test;
} remark_t;

static void report_word(void *argument, const word_t *word) {
   const remark_t *remark = argument;
   char text[128];
   if (!remark->test(word))
      return;
   source_copy(word->source, word->index, text, sizeof text);
   lint_add(remark->report, remark->rule, word->line, word->column, "%s", text);
}

static void search_all(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report,
                       word_test_t test) {
   remark_t remark = {rule, report, test};
   lint_each_word(subject, report_word, &remark);
}

static bool is_one_of(const word_t *word, const char *const *list) {
   for (uint32_t i = 0; list[i]; i++)
      if (source_is(word->source, word->index, list[i]))
         return true;
   return false;
}

static bool is_member(const word_t *word) {
   return word->index > 0 &&
          (source_is(word->source, word->index - 1, ".") || source_is(word->source, word->index - 1, "->"));
}

/* A word behind a type declares something of that name. */
static bool is_declared(const word_t *word) {
   static const char *const statements[] = {"return", "else",      "do",       "throw",    "case",
                                            "and",    "or",        "not",      "xor",      "compl",
                                            "sizeof", "co_return", "co_yield", "co_await", NULL};
   const uint32_t before = word->index - 1;
   if (word->index == 0 || word->in_macro || !source_kind(word->source, before, RKB_TOKEN_IDENTIFIER))
      return false;
   for (uint32_t i = 0; statements[i]; i++)
      if (source_is(word->source, before, statements[i]))
         return false;
   return true;
}

/* Called: no member of something, and no declaration. */
static bool is_call(const word_t *word) {
   return !word->in_ptx && source_is(word->source, word->index + 1, "(") && !is_member(word) &&
          !is_declared(word);
}

/* "%name" of PTX; in an asm string with operands the percent sign is doubled. */
static bool is_register(const word_t *word) {
   return word->in_ptx && word->index > 0 && source_is(word->source, word->index - 1, "%");
}

static bool begins_with(const word_t *word, char first) {
   const char byte = word->source->text[word->source->code[word->index].start];
   return byte == first || byte == '\\';
}

static bool has_prefix(const word_t *word, const char *prefix) {
   char text[64];
   if (!begins_with(word, prefix[0]))
      return false;
   source_copy(word->source, word->index, text, sizeof text);
   return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* host_code ---------------------------------------------------------------------------------------- */

static bool is_host_code(const word_t *word) {
   static const char *const called[] = {"system", "popen", "fopen", "getenv", "exit", "dlopen", "fork", NULL};
   static const char *const macros[] = {"PYBIND11_MODULE",
                                        "TORCH_LIBRARY",
                                        "TORCH_LIBRARY_IMPL",
                                        "TORCH_CHECK",
                                        "AT_DISPATCH_FLOATING_TYPES",
                                        NULL};
   static const char *const spaces[] = {"torch", "at", "c10", "pybind11", NULL};
   char text[8] = "";
   if (word->in_ptx)
      return false;
   if (begins_with(word, 'c'))
      source_copy(word->source, word->index, text, sizeof text);
   bool runtime = strncmp(text, "cuda", 4) == 0 && text[4] >= 'A' &&
                  text[4] <= 'Z'; /* cudaMalloc, cudaStream_t; not cuda:: */
   bool space = is_one_of(word, spaces) && source_is(word->source, word->index + 1, "::") &&
                !is_member(word) && !(word->index > 0 && source_is(word->source, word->index - 1, "::"));
   bool entry = source_is(word->source, word->index, "main") &&
                source_is(word->source, word->index + 1, "(") && !is_member(word);
   return runtime || space || entry || is_one_of(word, macros) || (is_call(word) && is_one_of(word, called));
}

void find_host_code(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_host_code);
}

/* include ------------------------------------------------------------------------------------------ */

static bool is_host_header(const char *name) {
   static const char *const prefixes[] = {"torch/",  "ATen/",  "c10/",     "pybind11/", "sys/",
                                          "linux/",  "/",      "Python.h", "unistd.h",  "iostream",
                                          "fstream", "vector", "string>",  "map",       "thread",
                                          "mutex",   "chrono", "dlfcn.h",  NULL};
   if (strstr(name, ".."))
      return true;
   for (uint32_t i = 0; prefixes[i]; i++)
      if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
         return true;
   return false;
}

void find_include(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   const source_t *source = subject->source;
   for (uint32_t i = 0; i < source->count; i++) {
      char text[300];
      if (source->code[i].kind != RKB_TOKEN_DIRECTIVE)
         continue;
      source_copy(source, i, text, sizeof text);
      const char *at = text + 1 + strspn(text + 1, " \t");
      if (strncmp(at, "include", 7) != 0)
         continue;
      at += strcspn(at, "<\"");
      if (at[0] && is_host_header(at + 1))
         lint_add(report, rule, source->code[i].line, source->code[i].column, "%.150s", text);
   }
}

/* dynamic_parallelism ------------------------------------------------------------------------------ */

void find_launch(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   const source_t *source = subject->source;
   for (uint32_t i = 0; i + 1 < source->count; i++) {
      const rkb_token_t *token = &source->code[i];
      bool touches = token[1].start == token->start + token->length;
      if (touches && source_is(source, i, "<<") && source_is(source, i + 1, "<"))
         lint_add(report, rule, token->line, token->column, "<<<");
   }
}

/* The rest are lists --------------------------------------------------------------------------------- */

static bool is_clock(const word_t *word) {
   static const char *const called[] = {"clock", "clock64", "__clock", "__clock64", "__globaltimer", NULL};
   static const char *const registers[] = {"clock",          "clock64",        "clock_hi", "globaltimer",
                                           "globaltimer_lo", "globaltimer_hi", NULL};
   return (is_call(word) && is_one_of(word, called)) || (is_register(word) && is_one_of(word, registers));
}

void find_clock(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_clock);
}

static bool is_cache_policy(const word_t *word) {
   static const char *const ptx[] = {"createpolicy", "evict_last", "discard", "applypriority", NULL};
   static const char *const names[] = {"annotated_ptr", "access_property", "apply_access_property",
                                       "discard_memory", NULL};
   return word->in_ptx ? is_one_of(word, ptx) : is_one_of(word, names) && !is_member(word);
}

void find_cache_policy(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_cache_policy);
}

static bool is_special_register(const word_t *word) {
   static const char *const registers[] = {"smid", "nsmid", "warpid", "nwarpid", "gridid", NULL};
   static const char *const workspace[] = {"envreg1", "envreg2", NULL}; /* of cooperative launches: grid.sync() */
   return is_register(word) && (is_one_of(word, registers) || has_prefix(word, "pm") ||
                                (has_prefix(word, "envreg") && !is_one_of(word, workspace)));
}

void find_special_register(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_special_register);
}

static bool is_printf(const word_t *word) {
   static const char *const called[] = {"printf", "vprintf", NULL};
   return is_call(word) && is_one_of(word, called);
}

void find_printf(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_printf);
}

static bool is_heap(const word_t *word) {
   static const char *const called[] = {"malloc", "free", "alloca", "__nv_aligned_device_malloc", NULL};
   static const char *const keywords[] = {"new", "delete", NULL};
   return !word->in_ptx && ((is_call(word) && is_one_of(word, called)) || is_one_of(word, keywords));
}

void find_heap(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_heap);
}

static bool is_trap(const word_t *word) {
   static const char *const called[] = {"__trap", "__brkpt", "abort", NULL};
   static const char *const ptx[] = {"trap", "brkpt", NULL};
   return word->in_ptx ? is_one_of(word, ptx) : is_call(word) && is_one_of(word, called);
}

void find_trap(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   search_all(rule, subject, report, is_trap);
}

/* People use the word "half" for other things too, so the header's name counts in its place. */
static bool is_lower_precision(const word_t *word) {
   static const char *const names[] = {
      "__half",       "__half2", "__nv_bfloat16", "__nv_bfloat162",  "nv_bfloat16",
      "nv_bfloat162", "wmma",    "nvcuda",        "__float_to_tf32", NULL};
   static const char *const ptx[] = {"mma",   "wgmma", "ldmatrix", "tcgen05", "f16",
                                     "f16x2", "bf16",  "bf16x2",   "tf32",    NULL};
   return word->in_ptx
             ? is_one_of(word, ptx)
             : is_one_of(word, names) || has_prefix(word, "__nv_fp8") || has_prefix(word, "cuda_fp16");
}

void find_lower_precision(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   if (strcmp(subject->precision, "fp32") == 0)
      search_all(rule, subject, report, is_lower_precision);
}
