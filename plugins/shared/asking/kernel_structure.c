/* Reads the structure of a kernel's text, and compares two (kernel_structure.h). */
#include "kernel_structure.h"

#include <stdlib.h>
#include <string.h>
#include "source/source_tokens.h"

enum {
   WINDOW = 8,        /* tokens in a row: about a line of code */
   MOST_NAMES = 2048, /* declared names of one text; later ones count by their spelling */
   MOST_NAME = 64,    /* bytes of a name that are looked at */
   SLOTS = 2 * MOST_NAMES
};

typedef struct names {
   char (*list)[MOST_NAME]; /* names in the order of their first declaration */
   uint32_t count;
   uint16_t slots[SLOTS]; /* finds a name by its hash; 1 + place in list, 0: free */
} names_t;

/* Words that are never names of the text's own; types may end in digits. */
static const char *const WORDS[] = {
   "alignas", "asm", "auto", "bf", "bfloat", "bool", "break", "case", "char", "class", "const", "constexpr",
   "continue", "default", "dim", "do", "double", "else", "enum", "extern", "false", "float", "for", "goto",
   "half", "if", "inline", "int", "long", "longlong", "namespace", "new", "nullptr", "operator", "register",
   "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "true",
   "typedef", "typename", "uchar", "uint", "ulong", "union", "unsigned", "ushort", "using", "void", "volatile",
   "while"};

static int compare_words(const void *key, const void *word) {
   return strcmp(key, *(const char *const *)word);
}

static bool is_foreign(const char *name) {
   char word[MOST_NAME];
   size_t length = strlen(name);
   if (strncmp(name, "__", 2) == 0 || (length > 2 && strcmp(name + length - 2, "_t") == 0))
      return true;
   snprintf(word, sizeof word, "%s", name);
   while (length && word[length - 1] >= '0' && word[length - 1] <= '9')
      word[--length] = '\0';
   return bsearch(word, WORDS, sizeof WORDS / sizeof WORDS[0], sizeof WORDS[0], compare_words) != NULL;
}

/* "return x" declares nothing. */
static bool declares(const source_t *source, uint32_t before) {
   static const char *const no[] = {"return", "else", "case", "goto", "new", "delete", "throw", NULL};
   for (const char *const *word = no; *word; word++)
      if (source_is(source, before, *word))
         return false;
   return true;
}

/* Whether a name stands after a type ("float x", "int n ="), or after the end of one ("float *x,",
 * "vector<int> v;"). */
static bool is_declaration(const source_t *source, uint32_t i) {
   if (i == 0)
      return false;
   if (source_kind(source, i - 1, RKB_TOKEN_IDENTIFIER))
      return declares(source, i - 1);
   if (!source_is(source, i - 1, "*") && !source_is(source, i - 1, "&") && !source_is(source, i - 1, ">"))
      return false;
   static const char *const ends[] = {",", ";", ")", "=", "[", NULL};
   for (const char *const *end = ends; *end; end++)
      if (source_is(source, i + 1, *end))
         return true;
   return false;
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits.  Hashes are compared in this file alone; a collision costs one question
 * to a model. */
static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
   const unsigned char *byte = data;
   for (size_t i = 0; i < bytes; i++)
      hash = (hash ^ byte[i]) * 0x100000001b3ull;
   return hash;
}

/* The slot of a name, or the free one where it would be: names fill at most half of the slots. */
static uint32_t slot_of(const names_t *names, const char *name) {
   uint32_t slot = (uint32_t)mix(0, name, strlen(name)) % SLOTS;
   while (names->slots[slot] && strcmp(names->list[names->slots[slot] - 1], name) != 0)
      slot = (slot + 1) % SLOTS;
   return slot;
}

static void add_name(names_t *names, const char name[MOST_NAME]) {
   const uint32_t slot = slot_of(names, name);
   if (names->slots[slot])
      return;
   memcpy(names->list[names->count], name, sizeof *names->list);
   names->slots[slot] = (uint16_t)++names->count;
}

static void find_names(const source_t *source, names_t *names) {
   for (uint32_t i = 0; i < source->count && names->count < MOST_NAMES; i++) {
      char name[MOST_NAME];
      if (!source_kind(source, i, RKB_TOKEN_IDENTIFIER) || !is_declaration(source, i))
         continue;
      source_copy(source, i, name, sizeof name);
      if (!is_foreign(name))
         add_name(names, name);
   }
}

static uint64_t token_hash(const source_t *source, uint32_t i, const names_t *names) {
   const uint64_t start = 0xcbf29ce484222325ull;
   const rkb_token_t *token = &source->code[i];
   char name[MOST_NAME];
   uint64_t hash = mix(start, &token->kind, sizeof token->kind);
   if (token->kind == RKB_TOKEN_NUMBER || token->kind == RKB_TOKEN_CHARACTER)
      return hash;
   if (token->kind != RKB_TOKEN_IDENTIFIER) {
      for (uint32_t at = token->start; at < token->start + token->length; at++)
         if (!strchr(" \t\r\n\\0123456789", source->text[at]))
            hash = mix(hash, &source->text[at], 1);
      return hash;
   }
   source_copy(source, i, name, sizeof name);
   const uint32_t slot = names->slots[slot_of(names, name)], place = slot - 1;
   return slot ? mix(hash, &place, sizeof place) : mix(hash, name, strlen(name));
}

/* Returns the manifest's inside, which is read as tokens too, since launches are part of what a kernel does. */
static const char *manifest_of(const char *text, size_t *bytes) {
   const char *begin = strstr(text, "rkb-kernel:"), *end = begin ? strstr(begin, "*/") : NULL;
   *bytes = end ? (size_t)(end - begin) : 0;
   return end ? begin : NULL;
}

static int compare_hashes(const void *first, const void *second) {
   const uint64_t one = *(const uint64_t *)first, other = *(const uint64_t *)second;
   return (one > other) - (one < other);
}

/* Hashes all runs of a list of token hashes; a list that is shorter than a run counts as one run. */
static void hash_runs(const uint64_t *tokens, uint32_t count, kernel_structure_t *structure) {
   const uint32_t runs = count >= WINDOW ? count - WINDOW + 1 : count > 0;
   for (uint32_t i = 0; i < runs; i++)
      structure->hashes[i] = mix(0, &tokens[i], (count < WINDOW ? count : WINDOW) * sizeof *tokens);
   qsort(structure->hashes, runs, sizeof *structure->hashes, compare_hashes);
   structure->count = 0;
   for (uint32_t i = 0; i < runs; i++)
      if (!structure->count || structure->hashes[structure->count - 1] != structure->hashes[i])
         structure->hashes[structure->count++] = structure->hashes[i];
}

bool kernel_structure_read(const rkb_kernel_api_t *kernel, const char *text, kernel_structure_t *structure) {
   size_t bytes;
   rkb_error_t err;
   const char *manifest = manifest_of(text, &bytes);
   source_t code = {0}, head = {0};
   names_t names = {.list = malloc(MOST_NAMES * sizeof *names.list)};
   uint64_t *tokens = NULL;
   memset(structure, 0, sizeof *structure);
   bool read = names.list && source_open(&code, kernel, text, strlen(text), &err) == RKB_OK &&
               (!manifest || source_open(&head, kernel, manifest, bytes, &err) == RKB_OK);
   if (read) {
      tokens = malloc((code.count + head.count + 1) * sizeof *tokens);
      structure->hashes = malloc((code.count + head.count + 1) * sizeof *structure->hashes);
      read = tokens && structure->hashes;
   }
   if (read) {
      find_names(&code, &names);
      for (uint32_t i = 0; i < head.count; i++)
         tokens[i] = token_hash(&head, i, &names);
      for (uint32_t i = 0; i < code.count; i++)
         tokens[head.count + i] = token_hash(&code, i, &names);
      hash_runs(tokens, code.count ? head.count + code.count : 0, structure);
   }
   source_close(&code);
   source_close(&head);
   free(names.list);
   free(tokens);
   return read;
}

double kernel_structure_likeness(const kernel_structure_t *one, const kernel_structure_t *other) {
   uint32_t i = 0, j = 0, both = 0, either = 0;
   while (i < one->count || j < other->count) {
      const bool left = i < one->count && (j == other->count || one->hashes[i] <= other->hashes[j]);
      const bool right = j < other->count && (i == one->count || other->hashes[j] <= one->hashes[i]);
      both += left && right;
      either++;
      i += left;
      j += right;
   }
   return either ? (double)both / either : 0;
}
