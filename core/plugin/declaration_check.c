/* Reads what a plugin declares before any of its code runs.  Everything here looks at constant data of the object, and
 * never past the sizes it was compiled with. */
#include "plugin/options.h"
#include "plugin/declaration_check.h"

#include <rkb/ext/device.h>
#include <rkb/items.h>
#include <string.h>

#define MAX_STAGES 256
#define MAX_OPTIONS 256
#define MAX_NEEDS 32
#define MAX_CONFIG (1u << 20)
enum { MOST_BYTES = 4096 }; /* of a descriptor; more is a size that was never set */

const char *rkb_kind_name(uint32_t kind) {
   static const char *const names[] = {"", "translator", "verifier", "mutator", "profiler", "strategy"};
   return kind < sizeof names / sizeof names[0] ? names[kind] : "";
}

static bool bad(rkb_error_t *err, const char *fmt, ...) RKB_PRINTF(2, 3);
static bool bad(rkb_error_t *err, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   err->status = RKB_ERR_CONTRACT;
   err->option[0] = '\0';
   vsnprintf(err->message, sizeof err->message, fmt, ap);
   va_end(ap);
   return false;
}

static bool name_ok(const char *name, const char *also) {
   if (!name || !name[0] || strlen(name) > 100)
      return false;
   for (const char *at = name; *at; at++)
      if (!((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9') || strchr(also, *at)))
         return false;
   return true;
}

/* "<owner>.<kind>.<name>" with the kind the stage declares. */
static bool id_ok(const char *id, uint32_t kind) {
   const char *word = rkb_kind_name(kind);
   const char *first = id ? strchr(id, '.') : NULL;
   const char *second = first ? strchr(first + 1, '.') : NULL;
   return name_ok(id, "_-.") && first != id && second && second[1] && !strchr(second + 1, '.') &&
          (size_t)(second - first - 1) == strlen(word) && strncmp(first + 1, word, strlen(word)) == 0;
}

static bool options_ok(const rkb_option_t *options, uint32_t count, uint32_t stride, size_t config_size,
                       const char *id, int depth, rkb_error_t *err) {
   if (count > MAX_OPTIONS || config_size > MAX_CONFIG || (count && !options))
      return bad(err, "the option table of %s has %u entries over %zu bytes; the most is %d over %u", id,
                 count, config_size, MAX_OPTIONS, MAX_CONFIG);
   if (count && stride != sizeof(rkb_option_t))
      return bad(err, "the option table of %s has entries of %u bytes, here they have %zu; use RKB_OPTIONS",
                 id, stride, sizeof(rkb_option_t));
   for (uint32_t i = 0; i < count; i++) {
      const rkb_option_t *option = &options[i];
      if (!name_ok(option->name, "_"))
         return bad(err, "option %u of %s has no proper name; write lower_snake_case", i + 1, id);
      for (uint32_t j = 0; j < i; j++)
         if (strcmp(options[j].name, option->name) == 0)
            return bad(err, "option '%s' of %s is listed twice", option->name, id);
      if (option->type > RKB_OPT_TABLES)
         return bad(err, "option '%s' of %s has the unknown type %u", option->name, id, option->type);
      bool table = option->type == RKB_OPT_TABLE || option->type == RKB_OPT_TABLES;
      if (table && (depth >= 3 || !option->member_count || !option->member_size))
         return bad(err, "option '%s' of %s: a table needs members and nests at most 3 deep", option->name,
                    id);
      if (option->offset > config_size || rkb_option_bytes(option) > config_size - option->offset)
         return bad(err, "option '%s' of %s lies outside its config struct of %zu bytes", option->name, id,
                    config_size);
      if (option->type == RKB_OPT_ENUM && (!option->choices || !option->choices[0]))
         return bad(err, "option '%s' of %s is an enumeration without choices", option->name, id);
      if ((option->flags & RKB_OPT_SECRET) && option->type != RKB_OPT_STRING)
         return bad(err, "option '%s' of %s is secret and must be a string", option->name, id);
      if (table && !options_ok(option->members, option->member_count, sizeof(rkb_option_t),
                               option->member_size, id, depth + 1, err))
         return false;
   }
   return true;
}

static bool lists(const char *const *names, const char *name) {
   for (; names && *names; names++)
      if (strcmp(*names, name) == 0)
         return true;
   return false;
}

/* Each kind takes one type of item and gives those items.h lists for it. */
static bool items_ok(const rkb_stage_t *stage, rkb_error_t *err) {
   bool makes = stage->kind == RKB_TRANSLATOR || stage->kind == RKB_MUTATOR;
   const char *takes = makes ? RKB_ITEM_REQUEST : RKB_ITEM_CANDIDATE;
   if (!lists(stage->accepts, takes) || stage->accepts[1])
      return bad(err, "%s is a %s and must accept {\"%s\", NULL}", stage->id, rkb_kind_name(stage->kind),
                 takes);
   for (const char *const *emit = stage->emits; emit && *emit; emit++) {
      bool fits = makes ? strcmp(*emit, RKB_ITEM_CANDIDATE) == 0
                        : strcmp(*emit, RKB_ITEM_MEASUREMENT) == 0 ||
                             (stage->kind == RKB_VERIFIER && strcmp(*emit, RKB_ITEM_VERDICT) == 0);
      if (!fits)
         return bad(err, "%s is a %s and cannot emit '%s'", stage->id, rkb_kind_name(stage->kind), *emit);
   }
   if (makes && !lists(stage->emits, RKB_ITEM_CANDIDATE))
      return bad(err, "%s must list \"candidate\" in emits", stage->id);
   if (stage->kind == RKB_VERIFIER && !lists(stage->emits, RKB_ITEM_VERDICT))
      return bad(err, "%s must list \"verdict\" in emits", stage->id);
   for (const char *const *name = stage->measures; name && *name; name++)
      if (!name_ok(*name, "_."))
         return bad(err, "%s measures '%s', which is not a proper name; write lower_snake_case", stage->id,
                    *name);
   return true;
}

/* least: bytes that the descriptor had in this major's first minor.  Members after those are read behind RKB_HAS. */
static bool size_ok(const char *type, uint32_t bytes, size_t least, rkb_error_t *err) {
   if (bytes >= least && bytes <= MOST_BYTES)
      return true;
   return bad(err, "an %s says that it has %u bytes, and %zu to %d are possible; give it sizeof(%s)", type,
              bytes, least, MOST_BYTES, type);
}

/* Extensions by name; whether they are offered is known when the stage is created. */
static bool needs_ok(const char *id, const char *const *needs, rkb_error_t *err) {
   for (uint32_t i = 0; needs && needs[i]; i++)
      if (i >= MAX_NEEDS || !name_ok(needs[i], "_-./"))
         return i >= MAX_NEEDS
                   ? bad(err, "%s lists more than %d extensions in needs, or no NULL after the last", id,
                         MAX_NEEDS)
                   : bad(err, "%s lists '%.100s' in needs, which is no extension's name", id, needs[i]);
   return true;
}

static bool stage_ok(const rkb_stage_t *stage, rkb_error_t *err) {
   if (!size_ok("rkb_stage_t", stage->size, offsetof(rkb_stage_t, needs), err))
      return false;
   if (stage->kind < RKB_TRANSLATOR || stage->kind > RKB_PROFILER)
      return bad(err, "stage '%s' has the unknown kind %u", stage->id ? stage->id : "", stage->kind);
   if (!id_ok(stage->id, stage->kind))
      return bad(err, "stage id '%s' is not '<owner>.%s.<name>' in lower case", stage->id ? stage->id : "",
                 rkb_kind_name(stage->kind));
   if (!stage->create || !stage->run || !stage->destroy)
      return bad(err, "%s has no %s", stage->id, !stage->create ? "create" : !stage->run ? "run" : "destroy");
   if (!needs_ok(stage->id, RKB_NEEDS(stage), err))
      return false;
   if (lists(RKB_NEEDS(stage), RKB_EXT_DEVICE) && !(stage->flags & RKB_STAGE_EXCLUSIVE_GPU))
      return bad(err, "%s needs %s and must set RKB_STAGE_EXCLUSIVE_GPU: only then is a GPU looked for",
                 stage->id, RKB_EXT_DEVICE);
   return items_ok(stage, err) && options_ok(stage->options, stage->option_count, stage->option_size,
                                             stage->config_size, stage->id, 1, err);
}

static bool strategy_ok(const rkb_strategy_t *strategy, rkb_error_t *err) {
   if (!size_ok("rkb_strategy_t", strategy->size, offsetof(rkb_strategy_t, needs), err))
      return false;
   if (!id_ok(strategy->id, RKB_STRATEGY))
      return bad(err, "strategy id '%s' is not '<owner>.strategy.<name>' in lower case",
                 strategy->id ? strategy->id : "");
   if (!strategy->create || !strategy->ask || !strategy->tell || !strategy->destroy)
      return bad(err, "%s needs create, ask, tell and destroy", strategy->id);
   return needs_ok(strategy->id, RKB_NEEDS(strategy), err) &&
          options_ok(strategy->options, strategy->option_count, strategy->option_size, strategy->config_size,
                     strategy->id, 1, err);
}

/* docs/decisions/plugin-versions.md has the rule. */
static bool version_ok(const rkb_plugin_t *plugin, rkb_error_t *err) {
   char way_out[200] = "compile it with this program's headers";
   if (plugin->abi_major == RKB_ABI_MAJOR && plugin->abi_minor <= RKB_ABI_MINOR)
      return true;
   if (plugin->abi_major == RKB_ABI_MAJOR)
      snprintf(way_out, sizeof way_out,
               "update the program, or compile the plugin with this program's headers, or with "
               "-DRKB_ABI_MINIMUM=%u if it can do without what is newer",
               RKB_ABI_MINOR);
   else if (plugin->abi_major > RKB_ABI_MAJOR)
      snprintf(way_out, sizeof way_out, "update the program, or compile the plugin with its headers");
   return bad(err, "it asks for plugin interface %u.%u, this program has %u.%u; %s", plugin->abi_major,
              plugin->abi_minor, RKB_ABI_MAJOR, RKB_ABI_MINOR, way_out);
}

bool rkb_plugin_check(const rkb_plugin_t *plugin, rkb_error_t *err) {
   uint32_t count = 0;
   if (plugin->magic != RKB_PLUGIN_MAGIC)
      return bad(
         err, "rkb_plugin_entry begins with 0x%08x, not with RKB_PLUGIN_MAGIC; start it with RKB_PLUGIN_HEAD",
         plugin->magic);
   if (!version_ok(plugin, err) || !size_ok("rkb_plugin_t", plugin->size, sizeof(rkb_plugin_t), err))
      return false;
   if (!plugin->name || !plugin->version)
      return bad(err, "rkb_plugin_entry has no name or no version");
   for (const rkb_stage_t *const *stages = plugin->stages; stages && *stages; stages++)
      if (++count > MAX_STAGES || !stage_ok(*stages, err))
         return count > MAX_STAGES ? bad(err, "more than %d stages, or no NULL after the last", MAX_STAGES)
                                   : false;
   for (const rkb_strategy_t *const *all = plugin->strategies; all && *all; all++)
      if (++count > MAX_STAGES || !strategy_ok(*all, err))
         return count > MAX_STAGES
                   ? bad(err, "more than %d strategies, or no NULL after the last", MAX_STAGES)
                   : false;
   if (!count)
      return bad(err, "it offers no stage and no strategy");
   return true;
}
