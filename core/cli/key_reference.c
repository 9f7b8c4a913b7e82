/* Keys of a pipeline file as text and as Markdown.  The main thread alone. */
#include "cli/key_reference.h"

#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "cli/arguments.h"
#include "engine/pipeline_keys.h"

enum { MAX_PHRASE = 1024 };

/* What is written before a key's name: "limits." */
static const char *prefix_of(const rkb_pipeline_key_t *key) {
   switch (key->of) {
   case RKB_KEYS_OBJECTIVE:
      return "objective.";
   case RKB_KEYS_LIMITS:
      return "limits.";
   case RKB_KEYS_PROMOTE:
      return "promote.";
   case RKB_KEYS_SEARCH:
      return "search.";
   case RKB_KEYS_INSERT:
      return "insert.";
   default:
      return "";
   }
}

static bool is_of_entry(const rkb_pipeline_key_t *key) {
   return (key->of & RKB_KEYS_ENTRY) != 0;
}

/* Where an entry with such a key may stand, when it is not everywhere; "" when it is. */
static const char *place_of(const rkb_pipeline_key_t *key) {
   switch (key->of & RKB_KEYS_ENTRY) {
   case RKB_KEYS_PROPOSED:
      return "propose: ";
   case RKB_KEYS_STAGE:
      return "screen, evaluate: ";
   case RKB_KEYS_OPERATOR:
      return "search.operators: ";
   default:
      return "";
   }
}

static void spell_default(const rkb_pipeline_key_t *key, const char *quote, rkb_text_t *out) {
   bool word = false;
   for (const char *const *choice = key->choices; choice && *choice && key->fallback; choice++)
      word = word || strcmp(*choice, key->fallback) == 0;
   if (key->required)
      rkb_text_add(out, "required");
   else if (key->fallback)
      rkb_text_format(out, "%s%s%s", word ? quote : "", key->fallback, word ? quote : "");
}

static void spell_choices(const rkb_pipeline_key_t *key, const char *quote, rkb_text_t *out) {
   for (const char *const *choice = key->choices; choice && *choice; choice++)
      rkb_text_format(out, "%s%s%s%s", choice == key->choices ? "" : ", ", quote, *choice, quote);
}

/* In the program's own output the marks of Markdown stay away. */
static void print_plain(const char *text) {
   for (; *text; text++)
      if (*text != '`')
         putchar(*text);
}

static void print_key(const rkb_pipeline_key_t *key) {
   rkb_text_t phrase;
   rkb_text_init(&phrase, MAX_PHRASE);
   printf("  %s%s: %s", prefix_of(key), key->name, is_of_entry(key) ? place_of(key) : "");
   spell_choices(key, "", &phrase);
   if (phrase.length)
      printf("%s; ", rkb_text_get(&phrase));
   rkb_text_clear(&phrase);
   spell_default(key, "", &phrase);
   if (phrase.length) {
      printf("%s", key->required ? "" : "default ");
      print_plain(rkb_text_get(&phrase));
   } else {
      printf("optional");
   }
   printf("\n      ");
   print_plain(key->meaning);
   printf("\n");
   rkb_text_free(&phrase);
}

void rkb_print_keys(void) {
   printf("keys of a pipeline file; docs/pipeline-files.md has examples\n\nthe whole file\n");
   for (const rkb_pipeline_key_t *key = RKB_PIPELINE_KEYS; key->name; key++)
      if (!is_of_entry(key))
         print_key(key);
   printf(
      "\nan entry of propose, screen, evaluate or search.operators; use, id and with are search's own too\n");
   for (const rkb_pipeline_key_t *key = RKB_PIPELINE_KEYS; key->name; key++)
      if (is_of_entry(key))
         print_key(key);
}

static void print_row(const rkb_pipeline_key_t *key) {
   rkb_text_t phrase;
   rkb_text_init(&phrase, MAX_PHRASE);
   printf("| `%s%s` | ", prefix_of(key), key->name);
   spell_default(key, "`", &phrase);
   printf("%s%s| %s%s", rkb_text_get(&phrase), phrase.length ? " " : "",
          is_of_entry(key) ? place_of(key) : "", key->meaning);
   rkb_text_clear(&phrase);
   spell_choices(key, "`", &phrase);
   printf("%s%s |\n", phrase.length ? ": " : "", rkb_text_get(&phrase));
   rkb_text_free(&phrase);
}

int rkb_print_key_table(const char *part) {
   const bool entry = strcmp(part, "entry") == 0;
   if (!entry && strcmp(part, "file") != 0) {
      fprintf(stderr, "--keys takes file or entry, not '%s'\n", part);
      return RKB_EXIT_USAGE;
   }
   printf("| key | default | meaning |\n|---|---|---|\n");
   for (const rkb_pipeline_key_t *key = RKB_PIPELINE_KEYS; key->name; key++)
      if (is_of_entry(key) == entry)
         print_row(key);
   return RKB_EXIT_OK;
}
