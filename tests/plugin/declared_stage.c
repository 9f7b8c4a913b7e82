/* Makes descriptors and option tables out of case files (declared_stage.h).  One thread. */
#include "plugin/declared_stage.h"

#include <rkb/items.h>
#include <rkb/strategy.h>
#include <stdlib.h>
#include <string.h>

typedef struct declaring {
   rkb_arena_t *arena;
   const char *wrong; /* a key or a word that no case has; NULL so far */
} declaring_t;

static const char *const TYPES[] = {"bool", "int",     "real",   "string", "path",  "duration", "bytes",
                                    "enum", "strings", "prompt", "model",  "table", "tables",   NULL};
static const char *const KINDS[] = {"", "translator", "verifier", "mutator", "profiler", "strategy", NULL};

/* A word's place in the list; a number stands for itself. */
static uint32_t word(declaring_t *declaring, const char *text, const char *const *words) {
   for (uint32_t i = 0; words[i]; i++)
      if (strcmp(words[i], text) == 0)
         return i;
   char *end;
   const unsigned long number = strtoul(text, &end, 0);
   if (!*text || *end)
      declaring->wrong = text;
   return (uint32_t)number;
}

static const char *text_of(const rkb_yaml_t *map, const char *key, const char *otherwise) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   return node ? node->text : otherwise;
}

static double number_of(const rkb_yaml_t *map, const char *key) {
   return strtod(text_of(map, key, "0"), NULL);
}

static void only(declaring_t *declaring, const rkb_yaml_t *map, const char *const *known) {
   for (uint32_t i = 0; map && i < map->count; i++) {
      const char *const *key = known;
      while (*key && strcmp(*key, map->keys[i]->text) != 0)
         key++;
      if (!*key)
         declaring->wrong = map->keys[i]->text;
   }
}

/* NULL where the key is absent. */
static const char *const *list_of(declaring_t *declaring, const rkb_yaml_t *map, const char *key) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   if (!node)
      return NULL;
   const char **list = rkb_arena_array(declaring->arena, node->count + 1, sizeof *list);
   for (uint32_t i = 0; i < node->count; i++)
      list[i] = node->items[i]->text;
   return list;
}

static size_t bytes_of(const rkb_option_t *option) {
   switch (option->type) {
   case RKB_OPT_PROMPT:
      return sizeof(rkb_prompt_t);
   case RKB_OPT_TABLE:
      return (option->member_size + 7u) / 8 * 8;
   case RKB_OPT_TABLES:
      return sizeof(rkb_table_list_t);
   default:
      return 8;
   }
}

/* One after the other in the config struct, at multiples of eight bytes; "outside" puts one behind its end. */
static const rkb_option_t *table_of(declaring_t *declaring, const rkb_yaml_t *list, uint32_t *count,
                                    size_t *size) {
   static const char *const known[] = {"name",   "type",       "fallback", "help",    "min",
                                       "max",    "choices",    "members",  "outside", "required",
                                       "secret", "deprecated", NULL};
   *count = list ? list->count : 0;
   *size = 0;
   rkb_option_t *options = rkb_arena_array(declaring->arena, *count + 1, sizeof *options);
   for (uint32_t i = 0; i < *count; i++) {
      const rkb_yaml_t *given = list->items[i];
      size_t member_size = 0;
      uint32_t member_count = 0;
      only(declaring, given, known);
      const rkb_yaml_t *members = rkb_yaml_get(given, "members");
      const rkb_option_t *table = members ? table_of(declaring, members, &member_count, &member_size) : NULL;
      options[i] = (rkb_option_t){.name = text_of(given, "name", NULL),
                                  .type = word(declaring, text_of(given, "type", "int"), TYPES),
                                  .flags = (rkb_yaml_get(given, "required") ? RKB_OPT_REQUIRED : 0) |
                                           (rkb_yaml_get(given, "secret") ? RKB_OPT_SECRET : 0) |
                                           (rkb_yaml_get(given, "deprecated") ? RKB_OPT_DEPRECATED : 0),
                                  .offset = *size,
                                  .fallback = text_of(given, "fallback", NULL),
                                  .help = text_of(given, "help", NULL),
                                  .min = number_of(given, "min"),
                                  .max = number_of(given, "max"),
                                  .choices = list_of(declaring, given, "choices"),
                                  .members = table,
                                  .member_count = member_count,
                                  .member_size = (uint32_t)member_size};
      *size += bytes_of(&options[i]);
   }
   for (uint32_t i = 0; i < *count; i++)
      if (rkb_yaml_get(list->items[i], "outside"))
         options[i].offset = *size;
   return options;
}

static int create_stage(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)host;
   (void)config;
   (void)self;
   return rkb_fail(err, RKB_ERR_INTERNAL, "nobody calls this");
}

static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)self;
   (void)job;
   (void)in;
   return rkb_fail(err, RKB_ERR_INTERNAL, "nobody calls this");
}

static void destroy(void *self) {
   (void)self;
}

static const rkb_stage_t *stage_of(declaring_t *declaring, const rkb_yaml_t *given,
                                   const declared_t *declared) {
   static const char *const known[] = {"id",    "kind",          "size",   "accepts", "emits", "measures",
                                       "needs", "exclusive_gpu", "stride", "without", NULL};
   static const char *const candidate[] = {RKB_ITEM_CANDIDATE, NULL}, *const verdict[] = {RKB_ITEM_VERDICT,
                                                                                          NULL};
   rkb_stage_t *stage = rkb_arena_alloc(declaring->arena, sizeof *stage);
   only(declaring, given, known);
   const char *without = text_of(given, "without", "");
   *stage = (rkb_stage_t){
      .size = rkb_yaml_get(given, "size") ? (uint32_t)number_of(given, "size") : sizeof *stage,
      .kind = word(declaring, text_of(given, "kind", "verifier"), KINDS),
      .flags = rkb_yaml_get(given, "exclusive_gpu") ? RKB_STAGE_EXCLUSIVE_GPU : 0,
      .id = declared->id,
      .summary = "Keeps its rules.",
      .accepts = rkb_yaml_get(given, "accepts") ? list_of(declaring, given, "accepts") : candidate,
      .emits = rkb_yaml_get(given, "emits") ? list_of(declaring, given, "emits") : verdict,
      .measures = list_of(declaring, given, "measures"),
      .options = declared->options,
      .option_count = declared->option_count,
      .option_size =
         rkb_yaml_get(given, "stride") ? (uint32_t)number_of(given, "stride") : sizeof(rkb_option_t),
      .config_size = declared->config_size,
      .create = strcmp(without, "create") == 0 ? NULL : create_stage,
      .run = strcmp(without, "run") == 0 ? NULL : run,
      .destroy = strcmp(without, "destroy") == 0 ? NULL : destroy,
      .needs = list_of(declaring, given, "needs")};
   return stage;
}

static int create_strategy(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                           rkb_random_t stream, void **self, rkb_error_t *err) {
   (void)setup;
   (void)stream;
   return create_stage(host, config, self, err);
}

static int ask(void *self, rkb_request_t *request, rkb_error_t *err) {
   (void)self;
   (void)request;
   return rkb_fail(err, RKB_ERR_INTERNAL, "nobody calls this");
}

static int tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   (void)self;
   (void)result;
   return rkb_fail(err, RKB_ERR_INTERNAL, "nobody calls this");
}

static const rkb_strategy_t *strategy_of(declaring_t *declaring, const rkb_yaml_t *given,
                                         const declared_t *declared) {
   static const char *const known[] = {"id", "needs", "without", NULL};
   rkb_strategy_t *strategy = rkb_arena_alloc(declaring->arena, sizeof *strategy);
   only(declaring, given, known);
   const char *without = text_of(given, "without", "");
   *strategy = (rkb_strategy_t){.size = sizeof *strategy,
                                .id = declared->id,
                                .summary = "Keeps its rules.",
                                .options = declared->options,
                                .option_count = declared->option_count,
                                .option_size = sizeof(rkb_option_t),
                                .config_size = declared->config_size,
                                .create = strcmp(without, "create") == 0 ? NULL : create_strategy,
                                .ask = strcmp(without, "ask") == 0 ? NULL : ask,
                                .tell = strcmp(without, "tell") == 0 ? NULL : tell,
                                .destroy = strcmp(without, "destroy") == 0 ? NULL : destroy,
                                .needs = list_of(declaring, given, "needs")};
   return strategy;
}

bool declare(rkb_arena_t *arena, const rkb_yaml_t *file, declared_t *out, const char **wrong) {
   static const char *const known[] = {"stage", "strategy", "plugin", "options", "models", "given", NULL};
   declaring_t declaring = {.arena = arena};
   const rkb_yaml_t *strategy = rkb_yaml_get(file, "strategy"), *about = rkb_yaml_get(file, "plugin");
   const rkb_strategy_t **strategies = rkb_arena_array(arena, 2, sizeof *strategies);
   const rkb_stage_t **stages = rkb_arena_array(arena, 2, sizeof *stages);
   rkb_plugin_t *plugin = rkb_arena_alloc(arena, sizeof *plugin);
   only(&declaring, file, known);
   *out = (declared_t){
      .plugin = plugin,
      .id = text_of(strategy ? strategy : rkb_yaml_get(file, "stage"), "id", "mine.verifier.good")};
   out->options = table_of(&declaring, rkb_yaml_get(file, "options"), &out->option_count, &out->config_size);
   if (strategy)
      strategies[0] = strategy_of(&declaring, strategy, out);
   else if (!text_of(about, "empty", NULL))
      stages[0] = stage_of(&declaring, rkb_yaml_get(file, "stage"), out);
   *plugin = (rkb_plugin_t){RKB_PLUGIN_HEAD, .name = text_of(about, "name", "mine"), .version = "1",
                            .stages = stages, .strategies = strategies};
   *wrong = declaring.wrong;
   return !declaring.wrong;
}
