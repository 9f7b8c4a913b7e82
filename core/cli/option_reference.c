/* Prints option tables as text and as Markdown.  Only the main thread. */
#include "cli/option_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/shared/arguments.h"

enum { MAX_DEPTH = 3, MAX_PHRASE = 2048, MAX_ENTRIES = 4096 };

static const char *const type_names[] = {
   [RKB_OPT_BOOL] = "true or false",
   [RKB_OPT_INT] = "integer",
   [RKB_OPT_REAL] = "number",
   [RKB_OPT_STRING] = "text",
   [RKB_OPT_PATH] = "path",
   [RKB_OPT_DURATION] = "duration",
   [RKB_OPT_BYTES] = "bytes",
   [RKB_OPT_ENUM] = "one of",
   [RKB_OPT_STRINGS] = "list of texts",
   [RKB_OPT_PROMPT] = "prompt file",
   [RKB_OPT_MODEL] = "model name",
   [RKB_OPT_TABLE] = "mapping",
   [RKB_OPT_TABLES] = "list of mappings",
};

/* Writes byte counts in short form ("4 KiB"), and other numbers in digits as long as they stay short. */
static void spell_bound(const rkb_option_t *option, double bound, rkb_text_t *out) {
   char bytes[32];
   if (option->type == RKB_OPT_BYTES && bound >= 1024) {
      rkb_format_bytes((uint64_t)bound, bytes, sizeof bytes);
      rkb_text_add(out, bytes);
   } else {
      rkb_text_format(out, bound < 1e8 ? "%.9g" : "%g", bound);
   }
}

/* "integer, 1 to 64, default 1" */
static void spell_option(const rkb_option_t *option, rkb_text_t *out) {
   bool known = option->type < sizeof type_names / sizeof type_names[0] && type_names[option->type];
   rkb_text_add(out, known ? type_names[option->type] : "?");
   for (const char *const *choice = option->choices; option->type == RKB_OPT_ENUM && choice && *choice;
        choice++)
      rkb_text_format(out, "%s %s", choice == option->choices ? "" : ",", *choice);
   if (option->min != option->max) {
      rkb_text_add(out, ", ");
      spell_bound(option, option->min, out);
      rkb_text_add(out, " to ");
      spell_bound(option, option->max, out);
   }
   if (option->fallback)
      rkb_text_format(out, ", default %s", option->fallback[0] ? option->fallback : "empty");
   if (option->flags & RKB_OPT_REQUIRED)
      rkb_text_add(out, ", required");
   if (option->flags & RKB_OPT_SECRET)
      rkb_text_add(out, ", secret: {env: NAME} or {file: PATH}");
   if (option->flags & RKB_OPT_DEPRECATED)
      rkb_text_add(out, ", deprecated");
}

static const rkb_option_t *option_at(const rkb_option_t *options, uint32_t size, uint32_t index) {
   return (const rkb_option_t *)((const char *)options + (size_t)index * size);
}

static void print_option(const rkb_option_t *option, int indent) {
   rkb_text_t phrase;
   rkb_text_init(&phrase, MAX_PHRASE);
   spell_option(option, &phrase);
   printf("%*s%s: %s\n%*s%s\n", indent, "", option->name, rkb_text_get(&phrase), indent + 4, "",
          option->help ? option->help : "");
   rkb_text_free(&phrase);
}

static void print_level(const rkb_option_t *options, uint32_t count, uint32_t size, int depth) {
   for (uint32_t i = 0; i < count; i++) {
      const rkb_option_t *option = option_at(options, size, i);
      print_option(option, 2 + 4 * depth);
      if (option->members && depth + 1 < MAX_DEPTH)
         print_level(option->members, option->member_count, size, depth + 1);
   }
}

void rkb_print_options(const rkb_option_t *options, uint32_t count, uint32_t size) {
   print_level(options, count, size, 0);
}

/* --- Markdown ------------------------------------------------------------------------------------------------------- */

/* A stage or a strategy, with the facts that the page lists for both. */
typedef struct reference_entry {
   const char *id, *summary;
   const char *const *measures; /* or NULL */
   uint32_t kind, flags;
   const rkb_option_t *options;
   uint32_t option_count, option_size;
} reference_entry_t;

static int by_kind_and_id(const void *left, const void *right) {
   const reference_entry_t *a = left, *b = right;
   return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->id, b->id);
}

static uint32_t collect(const rkb_registry_t *registry, reference_entry_t *list) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < rkb_registry_count(registry); i++) {
      const rkb_plugin_t *plugin = rkb_registry_at(registry, i)->plugin;
      for (const rkb_stage_t *const *at = plugin->stages; at && *at && count < MAX_ENTRIES; at++)
         list[count++] = (reference_entry_t){.id = (*at)->id,
                                             .summary = (*at)->summary,
                                             .measures = (*at)->measures,
                                             .kind = (*at)->kind,
                                             .flags = (*at)->flags,
                                             .options = (*at)->options,
                                             .option_count = (*at)->option_count,
                                             .option_size = (*at)->option_size};
      for (const rkb_strategy_t *const *at = plugin->strategies; at && *at && count < MAX_ENTRIES; at++)
         list[count++] = (reference_entry_t){.id = (*at)->id,
                                             .summary = (*at)->summary,
                                             .kind = RKB_STRATEGY,
                                             .flags = RKB_STAGE_DETERMINISTIC,
                                             .options = (*at)->options,
                                             .option_count = (*at)->option_count,
                                             .option_size = (*at)->option_size};
   }
   qsort(list, count, sizeof *list, by_kind_and_id);
   return count;
}

/* Prints a table cell; a bar would end it. */
static void print_cell(const char *text) {
   for (; *text; text++)
      printf(*text == '|' ? "\\|" : "%c", *text);
}

static void print_rows(const rkb_option_t *options, uint32_t count, uint32_t size, const char *above,
                       int depth) {
   for (uint32_t i = 0; i < count; i++) {
      const rkb_option_t *option = option_at(options, size, i);
      char name[256];
      rkb_text_t phrase;
      rkb_text_init(&phrase, MAX_PHRASE);
      spell_option(option, &phrase);
      snprintf(name, sizeof name, "%s%s%s", above, above[0] ? "." : "", option->name);
      printf("| `%s` | ", name);
      print_cell(rkb_text_get(&phrase));
      printf(" | ");
      print_cell(option->help ? option->help : "");
      printf(" |\n");
      rkb_text_free(&phrase);
      if (option->members && depth + 1 < MAX_DEPTH)
         print_rows(option->members, option->member_count, size, name, depth + 1);
   }
}

static void print_entry(const reference_entry_t *entry) {
   printf("\n### %s\n\n%s", entry->id, entry->summary);
   if (entry->flags & RKB_STAGE_EXECUTES)
      printf(" It executes the candidate.");
   if (entry->flags & RKB_STAGE_EXCLUSIVE_GPU)
      printf(" It needs a GPU of its own.");
   if (!(entry->flags & RKB_STAGE_DETERMINISTIC))
      printf(" Its results may differ from run to run.");
   printf("\n");
   for (const char *const *name = entry->measures; name && *name; name++)
      printf("%s`%s`%s", name == entry->measures ? "\nMeasures " : "", *name, name[1] ? ", " : ".\n");
   if (entry->option_count == 0) {
      printf("\nNo options.\n");
      return;
   }
   printf("\n| option | takes | what it does |\n|---|---|---|\n");
   print_rows(entry->options, entry->option_count, entry->option_size, "", 0);
}

int rkb_print_option_reference(const rkb_registry_t *registry) {
   reference_entry_t *list = rkb_allocate(MAX_ENTRIES, sizeof *list);
   uint32_t count = collect(registry, list), kind = 0;
   printf(
      "# Stages and their options\n\n"
      "`ninja docs` makes this page from the plugins' own tables; `rkb help STAGE` prints the same. Write an option under\n"
      "`with:` of its entry, or set it from the command line: `--set screen.machine.with.trials=4`.\n");
   for (uint32_t i = 0; i < count; i++) {
      if (list[i].kind != kind)
         printf("\n## Kind: %s\n", rkb_kind_name(list[i].kind));
      kind = list[i].kind;
      print_entry(&list[i]);
   }
   free(list);
   return count > 0 ? RKB_EXIT_OK : RKB_EXIT_NOTHING;
}
