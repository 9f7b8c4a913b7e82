/* Fills a stage's config struct from its option table, as the engine would.  Has the trial's process for
 * itself. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/shared/pipeline_file.h"
#include "tools/plugin_test/trial.h"
#include "plugin/options.h"

enum { GUARD_BYTES = 64, GUARD = 0xa5, CONFIG_ARENA = 16 << 20 };

/* The alignment of a nested struct is not known, because the struct may contain only flags. */
static size_t alignment_of(uint32_t type) {
   return type == RKB_OPT_BOOL || type == RKB_OPT_TABLE ? 1 : _Alignof(uint64_t);
}

void trial_offsets(const char *id, const rkb_option_t *options, uint32_t count, report_t *report) {
   for (uint32_t i = 0; i < count; i++) {
      const rkb_option_t *option = &options[i];
      if (option->offset % alignment_of(option->type) != 0) {
         report_broken(report, "%s: option '%s' lies at offset %zu, which its type cannot have: use offsetof",
                       id, option->name, option->offset);
         return;
      }
      for (uint32_t j = 0; j < i; j++)
         if (option->offset < options[j].offset + rkb_option_bytes(&options[j]) &&
             options[j].offset < option->offset + rkb_option_bytes(option)) {
            report_broken(report, "%s: options '%s' and '%s' lie on the same bytes of the config struct", id,
                          options[j].name, option->name);
            return;
         }
      if (!option->help || !option->help[0]) {
         report_broken(report, "%s: option '%s' has no help", id, option->name);
         return;
      }
   }
   report_kept(report, "%s: its %u options lie apart, aligned, and each has help", id, count);
}

static bool needs_values(const rkb_option_t *options, uint32_t count) {
   for (uint32_t i = 0; i < count; i++)
      if (options[i].flags & RKB_OPT_REQUIRED)
         return true;
   return false;
}

static void no_dependency(void *argument, const char *hash) {
   (void)argument, (void)hash;
}

bool trial_config_make(const char *id, const rkb_option_t *options, uint32_t count, size_t size,
                       const char *with, trial_config_t *config, report_t *report) {
   rkb_problems_t problems;
   rkb_yaml_t *given = NULL;
   bool read = false;
   if (!with && needs_values(options, count)) {
      report_untried(report, "%s: it has options without a default; give them with --with", id);
      return false;
   }
   *config = (trial_config_t){
      .bytes = rkb_allocate(1, size + GUARD_BYTES), .size = size, .arena = rkb_arena_new(CONFIG_ARENA)};
   memset((char *)config->bytes + size, GUARD, GUARD_BYTES);
   rkb_problems_init(&problems);
   if (with)
      given = rkb_yaml_parse(config->arena, "--with", with, strlen(with), 1, 1, &problems);
   const rkb_options_context_t context = {.arena = config->arena, .stage = id, .depends = no_dependency};
   if (problems.errors == 0)
      read = rkb_options_read(&context, options, count, given, (rkb_place_t){.file = with ? "--with" : id},
                              config->bytes, &problems);
   if (!read) {
      rkb_text_t text;
      rkb_text_init(&text, 4096);
      rkb_problems_write(&problems, &text);
      report_broken(report, "%s: its options cannot be read: %s", id, rkb_text_get(&text));
      rkb_text_free(&text);
      trial_config_free(config);
   }
   rkb_problems_free(&problems);
   return read;
}

bool trial_config_intact(const trial_config_t *config) {
   const unsigned char *guard = (const unsigned char *)config->bytes + config->size;
   for (int i = 0; i < GUARD_BYTES; i++)
      if (guard[i] != GUARD)
         return false;
   return true;
}

void trial_config_free(trial_config_t *config) {
   rkb_arena_free(config->arena);
   free(config->bytes);
   *config = (trial_config_t){.bytes = NULL};
}
