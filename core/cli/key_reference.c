/* Prints the keys of a pipeline file, and of a kernel's manifest, as text and as Markdown.  Only the main thread. */
#include "cli/key_reference.h"

#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "cli/shared/arguments.h"
#include "kernel/manifest_keys.h"
#include "pipeline/pipeline_keys.h"
#include "llm/model_keys.h"

enum { MAX_PHRASE = 1024 };

/* A table of keys, and the selection of keys that a listing shows. */
typedef struct listing {
   const char *part; /* the argument of --keys */
   const rkb_key_t *table;
   uint32_t of, without;                        /* lists keys with a bit of `of` and no bit of `without` */
   const char *(*prefix)(const rkb_key_t *key); /* the prefix of a key's name: "limits." */
} listing_t;

static const char *pipeline_prefix(const rkb_key_t *key) {
   switch (key->of) {
   case RKB_KEYS_OBJECTIVE:
      return "objective.";
   case RKB_KEYS_LIMITS:
      return "limits.";
   case RKB_KEYS_PROMOTE:
      return "promote.";
   case RKB_KEYS_SEARCH:
      return "search.";
   case RKB_KEYS_WORKER:
      return "workers.";
   case RKB_KEYS_INSERT:
      return "insert.";
   default:
      return "";
   }
}

static const char *entry_prefix(const rkb_key_t *key) {
   (void)key;
   return "";
}

/* The sections in which an entry may have such a key; "" for all. */
static const char *entry_place(const rkb_key_t *key) {
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

static const char *model_prefix(const rkb_key_t *key) {
   return key->of == RKB_KEYS_MODEL_KEY ? "key." : key->of == RKB_KEYS_MODEL_LIMITS ? "limits." : "";
}

static const listing_t listings[] = {
   {"file", RKB_PIPELINE_KEYS, ~(uint32_t)0, RKB_KEYS_ENTRY, pipeline_prefix},
   {"entry", RKB_PIPELINE_KEYS, RKB_KEYS_ENTRY, 0, entry_prefix},
   {"model", RKB_MODEL_KEYS, ~(uint32_t)0, 0, model_prefix},
};

static const char *place_of(const listing_t *listing, const rkb_key_t *key) {
   return listing->prefix == entry_prefix ? entry_place(key) : "";
}

static bool is_listed(const listing_t *listing, const rkb_key_t *key) {
   return (key->of & listing->of) && !(key->of & listing->without);
}

static void spell_default(const rkb_key_t *key, const char *quote, rkb_text_t *out) {
   bool word = false;
   for (const char *const *choice = key->choices; choice && *choice && key->fallback; choice++)
      word = word || strcmp(*choice, key->fallback) == 0;
   if (key->required)
      rkb_text_add(out, "required");
   else if (key->fallback)
      rkb_text_format(out, "%s%s%s", word ? quote : "", key->fallback, word ? quote : "");
}

static void spell_choices(const rkb_key_t *key, const char *quote, rkb_text_t *out) {
   for (const char *const *choice = key->choices; choice && *choice; choice++)
      rkb_text_format(out, "%s%s%s%s", choice == key->choices ? "" : ", ", quote, *choice, quote);
}

/* Prints a text without Markdown's marks. */
static void print_plain(const char *text) {
   for (; *text; text++)
      if (*text != '`')
         putchar(*text);
}

static void print_key(const listing_t *listing, const rkb_key_t *key) {
   rkb_text_t phrase;
   rkb_text_init(&phrase, MAX_PHRASE);
   printf("  %s%s: %s", listing->prefix(key), key->name, place_of(listing, key));
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

static void print_keys(const listing_t *listing) {
   for (const rkb_key_t *key = listing->table; key->name; key++)
      if (is_listed(listing, key))
         print_key(listing, key);
}

void rkb_print_pipeline_keys(void) {
   printf("keys of a pipeline file; docs/pipeline-files.md has examples\n\nthe whole file\n");
   print_keys(&listings[0]);
   printf(
      "\nan entry of propose, screen, evaluate or search.operators; use, id and with are search's own too\n");
   print_keys(&listings[1]);
   printf("\na language model, under models: and its name; docs/language-models.md has examples\n");
   print_keys(&listings[2]);
}

static const char *manifest_prefix(const rkb_key_t *key) {
   switch (key->of) {
   case RKB_MANIFEST_TUNE:
      return "tune.NAME.";
   case RKB_MANIFEST_SCRATCH:
      return "scratch.NAME.";
   case RKB_MANIFEST_TENSORS:
      return "maps.NAME.";
   default:
      return "";
   }
}

void rkb_print_manifest_keys(void) {
   static const struct {
      const char *what;
      uint32_t of;
   } parts[] = {{"the manifest", RKB_MANIFEST_FILE},
                {"a tune parameter", RKB_MANIFEST_TUNE},
                {"a scratch buffer", RKB_MANIFEST_SCRATCH},
                {"a tensor map; a launch takes it by its name in args", RKB_MANIFEST_TENSORS},
                {"an entry of launches", RKB_MANIFEST_LAUNCHES}};
   printf(
      "keys of the comment in a kernel's .cu that says how it is launched; docs/kernel-format.md has examples\n");
   for (size_t n = 0; n < sizeof parts / sizeof parts[0]; n++) {
      const listing_t listing = {"manifest", RKB_MANIFEST_KEYS, parts[n].of, 0, manifest_prefix};
      printf("\n%s\n", parts[n].what);
      print_keys(&listing);
   }
}

static void print_row(const listing_t *listing, const rkb_key_t *key) {
   rkb_text_t phrase;
   rkb_text_init(&phrase, MAX_PHRASE);
   printf("| `%s%s` | ", listing->prefix(key), key->name);
   spell_default(key, "`", &phrase);
   printf("%s%s| %s%s", rkb_text_get(&phrase), phrase.length ? " " : "", place_of(listing, key),
          key->meaning);
   rkb_text_clear(&phrase);
   spell_choices(key, "`", &phrase);
   printf("%s%s |\n", phrase.length ? ": " : "", rkb_text_get(&phrase));
   rkb_text_free(&phrase);
}

int rkb_print_key_table(const char *part) {
   const listing_t *listing = NULL;
   for (size_t i = 0; i < sizeof listings / sizeof listings[0]; i++)
      if (strcmp(listings[i].part, part) == 0)
         listing = &listings[i];
   if (!listing) {
      fprintf(stderr, "--keys takes file, entry or model, not '%s'\n", part);
      return RKB_EXIT_USAGE;
   }
   printf("| key | default | meaning |\n|---|---|---|\n");
   for (const rkb_key_t *key = listing->table; key->name; key++)
      if (is_listed(listing, key))
         print_row(listing, key);
   return RKB_EXIT_OK;
}
