/* Kernels that differ in names alone are written once.  A graph often has products of equal layouts, and a compiler takes as long for each
 * further copy as for the first.
 *
 * Two texts are the same kernel if their words are equal one by one.  Names of parameters and names made of a graph's values may differ, if
 * each stands for exactly one name of the other text.  Types, functions, members and everything else must be equal letter by letter;
 * comments are not compared. */
#include "generator/kernel/same_kernels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MOST_KERNELS 1024u /* a launch may have several */
#define MOST_NAMES 256u
#define HEAD "\ntemplate <typename index>\n__global__ void "

typedef struct word {
   const char *at;
   size_t length;
   bool name;
   bool differs; /* may_differ(), of a kernel's words */
} word_t;

typedef struct kernel {
   const char *from, *end; /* the kernel's text with the comment before it and the empty line after it */
   const char *body;       /* the template's head */
   word_t name;
   word_t parameters[MOST_NAMES];
   uint32_t parameter_count;
   word_t *words; /* from the body on */
   uint32_t word_count;
   const struct kernel *same; /* an earlier one */
} kernel_t;

static bool is_name(char c) {
   return isalnum((unsigned char)c) || c == '_';
}

static bool is_word(const word_t *word, const char *text, size_t length) {
   return word->length == length && memcmp(word->at, text, length) == 0;
}

/* Returns the word at `at` or after it, without spaces and comments; of length 0 at the end. */
static word_t next_word(const char *at, const char *end) {
   for (;;) {
      while (at < end && isspace((unsigned char)*at))
         at++;
      if (end - at < 2 || at[0] != '/' || at[1] != '*')
         break;
      const char *closed = strstr(at + 2, "*/");
      at = closed && closed < end ? closed + 2 : end;
   }
   word_t word = {.at = at, .length = at < end};
   if (at < end && is_name(*at)) {
      word.name = !isdigit((unsigned char)*at);
      while (at + word.length < end && is_name(at[word.length]))
         word.length++;
   }
   return word;
}

/* Whether a word is this name, or begins with it and goes on with more words. */
static bool begins_with(const word_t *word, const char *name) {
   size_t length = 0; /* most names differ in one of the first letters */
   while (length < word->length && name[length] && name[length] == word->at[length])
      length++;
   return !name[length] && (length == word->length || word->at[length] == '_');
}

static bool is_of_graph(const rkb_graph_t *graph, const word_t *word) {
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (begins_with(word, graph->nodes[n].name) ||
          (graph->nodes[n].kind == RKB_NODE_INPUT && begins_with(word, graph->nodes[n].tensor)))
         return true;
   for (uint32_t o = 0; o < graph->output_count; o++)
      if (begins_with(word, graph->outputs[o].tensor))
         return true;
   return false;
}

/* Whether a name may differ between equal kernels: it is not the name of a function, a type or a member. */
static bool may_differ(const rkb_graph_t *graph, const kernel_t *kernel, const word_t *word) {
   const char after = word->at[word->length];
   if (!word->name || (word->at > kernel->from && word->at[-1] == '.'))
      return false;
   if (is_word(word, kernel->name.at, kernel->name.length))
      return true;
   if (after == '(' || after == '<')
      return false;
   for (uint32_t p = 0; p < kernel->parameter_count; p++)
      if (is_word(word, kernel->parameters[p].at, kernel->parameters[p].length))
         return true;
   return is_of_graph(graph, word);
}

/* Finds a kernel's name and those of its parameters: the words before commas.  False: there are too many. */
static bool find_names(kernel_t *kernel) {
   word_t before = {0}, word = next_word(kernel->body, kernel->end);
   for (; word.length && *word.at != '{';
        before = word, word = next_word(word.at + word.length, kernel->end)) {
      const bool listed = before.name && (*word.at == ',' || *word.at == ')');
      if (before.name && *word.at == '(' && !is_word(&before, "__launch_bounds__", 17))
         kernel->name = before;
      if (listed && kernel->name.length && kernel->parameter_count == MOST_NAMES)
         return false;
      if (listed && kernel->name.length)
         kernel->parameters[kernel->parameter_count++] = before;
   }
   return kernel->name.length > 0;
}

static uint32_t find_kernels(const char *code, kernel_t *kernels) {
   uint32_t count = 0;
   for (const char *head = strstr(code, HEAD); head && count < MOST_KERNELS; head = strstr(head + 1, HEAD)) {
      const char *from = head, *end = strstr(head, "\n}\n");
      while (from > code && strncmp(from, "\n/* ", 4) != 0)
         from--;
      if (!end)
         return 0;
      kernels[count] = (kernel_t){.from = from > code ? from + 1 : from, .end = end + 3, .body = head + 1};
      if (!find_names(&kernels[count]))
         return 0;
      count++;
   }
   return count;
}

/* Notes that two names stand for each other; false: one of them already stands for a third name. */
static bool pair(word_t (*pairs)[2], uint32_t *count, const word_t *a, const word_t *b) {
   for (uint32_t p = 0; p < *count; p++) {
      const bool first = is_word(a, pairs[p][0].at, pairs[p][0].length),
                 second = is_word(b, pairs[p][1].at, pairs[p][1].length);
      if (first || second)
         return first && second;
   }
   if (*count == MOST_NAMES)
      return false;
   pairs[*count][0] = *a;
   pairs[(*count)++][1] = *b;
   return true;
}

/* Each kernel is compared with many others, so what its words are is looked up once. */
static void find_words(const rkb_graph_t *graph, kernel_t *kernel) {
   uint32_t room = 0;
   for (word_t word = next_word(kernel->body, kernel->end); word.length;
        word = next_word(word.at + word.length, kernel->end))
      room++;
   kernel->words = rkb_allocate(room + 1, sizeof *kernel->words);
   for (word_t word = next_word(kernel->body, kernel->end); word.length;
        word = next_word(word.at + word.length, kernel->end)) {
      word.differs = may_differ(graph, kernel, &word);
      kernel->words[kernel->word_count++] = word;
   }
}

static bool are_same(const kernel_t *a, const kernel_t *b) {
   word_t pairs[MOST_NAMES][2];
   uint32_t count = 0;
   bool same = a->word_count == b->word_count;
   for (uint32_t w = 0; same && w < a->word_count; w++) {
      const word_t *word = &a->words[w], *mate = &b->words[w];
      same = word->differs == mate->differs &&
             (word->differs ? pair(pairs, &count, word, mate) : is_word(word, mate->at, mate->length));
   }
   return same;
}

/* The code in which each group of equal kernels is written once.  A comment before it names the others. */
static void write_code(const kernel_t *kernels, uint32_t count, rkb_text_t *code) {
   rkb_text_t out;
   const char *at = rkb_text_get(code);
   rkb_text_init(&out, code->limit);
   for (uint32_t k = 0; k < count; k++) {
      rkb_text_append(&out, at, (size_t)(kernels[k].from - at));
      at = kernels[k].from;
      for (uint32_t other = k + 1; other < count && !kernels[k].same; other++)
         if (kernels[other].same == &kernels[k])
            rkb_text_format(&out, "/* %.*s is the same kernel. */\n", (int)kernels[other].name.length,
                            kernels[other].name.at);
      if (kernels[k].same)
         at = kernels[k].end + (*kernels[k].end == '\n');
   }
   rkb_text_add(&out, at);
   rkb_text_free(code);
   *code = out;
}

static void write_launches(const kernel_t *kernels, uint32_t count, rkb_text_t *launches) {
   static const char entry[] = "kernel: ";
   rkb_text_t out;
   const char *at = rkb_text_get(launches);
   rkb_text_init(&out, launches->limit);
   for (const char *found = strstr(at, entry); found; found = strstr(at, entry)) {
      const char *name = found + strlen(entry);
      const size_t length = strcspn(name, "<");
      rkb_text_append(&out, at, (size_t)(name - at));
      at = name;
      for (uint32_t k = 0; k < count; k++)
         if (kernels[k].same && is_word(&kernels[k].name, name, length)) {
            rkb_text_append(&out, kernels[k].same->name.at, kernels[k].same->name.length);
            at = name + length;
            break;
         }
   }
   rkb_text_add(&out, at);
   rkb_text_free(launches);
   *launches = out;
}

void rkb_kernels_once(const rkb_graph_t *graph, rkb_text_t *code, rkb_text_t *launches) {
   kernel_t *kernels = rkb_allocate(MOST_KERNELS, sizeof *kernels);
   const uint32_t count = find_kernels(rkb_text_get(code), kernels);
   bool any = false;
   for (uint32_t k = 0; k < count; k++)
      find_words(graph, &kernels[k]);
   for (uint32_t k = 1; k < count; k++)
      for (uint32_t earlier = 0; earlier < k && !kernels[k].same; earlier++)
         if (!kernels[earlier].same && are_same(&kernels[earlier], &kernels[k])) {
            kernels[k].same = &kernels[earlier];
            any = true;
         }
   if (any) {
      write_launches(kernels, count, launches);
      write_code(kernels, count, code);
   }
   for (uint32_t k = 0; k < count; k++)
      free(kernels[k].words);
   free(kernels);
}
