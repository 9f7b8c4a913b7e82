/* Reads the entries under "models:" (model_entry.h). */
#include "llm/model_entry.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/units.h"
#include "llm/cassette.h"
#include "llm/model_keys.h"
#include "llm/provider.h"

#define MOST_MODELS 64
#define MOST_ARGUMENTS 64

typedef struct reader {
   rkb_arena_t *arena;
   const rkb_prices_t *prices;
   double cost_limit;
   void (*depends)(void *argument, const char *hash);
   void *argument;
   rkb_problems_t *problems;
} reader_t;

static const char *text_of(reader_t *reader, const rkb_yaml_t *map, const char *key) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   const char *text = NULL;
   if (!rkb_yaml_is_null(node))
      rkb_yaml_scalar(node, key, &text, reader->problems);
   return text;
}

static void whole_of(reader_t *reader, const rkb_yaml_t *map, const char *key, int64_t least, int64_t most,
                     int64_t *value) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   int64_t read;
   if (rkb_yaml_is_null(node) || !rkb_yaml_int(node, key, &read, reader->problems))
      return;
   if (read < least || read > most)
      rkb_problem(reader->problems, node->place, "%s must be from %lld to %lld, not %lld", key,
                  (long long)least, (long long)most, (long long)read);
   else
      *value = read;
}

static void real_of(reader_t *reader, const rkb_yaml_t *map, const char *key, double most, double *value) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   double read;
   if (rkb_yaml_is_null(node) || !rkb_yaml_real(node, key, &read, reader->problems))
      return;
   if (read < 0 || read > most)
      rkb_problem(reader->problems, node->place, "%s must be from 0 to %g", key, most);
   else
      *value = read;
}

static void duration_of(reader_t *reader, const rkb_yaml_t *map, const char *key, uint64_t *value) {
   const char *text = text_of(reader, map, key);
   if (text && (!rkb_parse_duration(text, value) || !*value))
      rkb_problem(reader->problems, rkb_yaml_get(map, key)->place,
                  "%s is '%s'; write a duration, as in 250ms, 30s or 5m", key, text);
}

/* The default of a key, from the table of keys. */
static int64_t default_whole(const char *key, uint32_t of) {
   return strtoll(rkb_key_find(RKB_MODEL_KEYS, key, of)->fallback, NULL, 10);
}

static uint64_t default_duration(const char *key) {
   uint64_t value = 0;
   rkb_parse_duration(rkb_key_find(RKB_MODEL_KEYS, key, RKB_KEYS_MODEL)->fallback, &value);
   return value;
}

/* Makes a path absolute, relative to the file in which it is written.  Also puts the absolute path into the tree, so that the resolved
 * form works anywhere. */
static const char *path_of(reader_t *reader, const rkb_yaml_t *map, const char *key) {
   rkb_yaml_t *node = rkb_yaml_get(map, key);
   const char *text = text_of(reader, map, key);
   if (!text)
      return NULL;
   char *directory =
      node->place.file && text[0] != '/' ? rkb_path_directory(node->place.file) : rkb_duplicate(".");
   char *joined = rkb_path_join(directory, text);
   char *real = realpath(joined, NULL);
   const char *chosen = real ? real : joined;
   const char *copy = rkb_arena_text(reader->arena, chosen, strlen(chosen));
   free(real);
   free(joined);
   free(directory);
   node->text = copy;
   node->length = strlen(copy);
   node->quoted = true;
   return copy;
}

static const char *const *texts_of(reader_t *reader, const rkb_yaml_t *map, const char *key) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   if (rkb_yaml_is_null(node) || !rkb_yaml_expect(node, RKB_YAML_LIST, key, reader->problems))
      return NULL;
   if (!node->count || node->count > MOST_ARGUMENTS) {
      rkb_problem(reader->problems, node->place, "%s takes 1 to %d texts", key, MOST_ARGUMENTS);
      return NULL;
   }
   const char **list = rkb_arena_array(reader->arena, node->count + 1, sizeof *list);
   for (uint32_t i = 0; i < node->count; i++)
      rkb_yaml_scalar(node->items[i], key, &list[i], reader->problems);
   return list;
}

static void read_key(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "key");
   if (rkb_yaml_is_null(node))
      return;
   if (node->kind != RKB_YAML_MAP || node->count != 1) {
      rkb_problem(reader->problems, node->place,
                  "key is secret; write {env: NAME} or {file: PATH}, never the value itself");
      return;
   }
   rkb_keys_only(RKB_MODEL_KEYS, node, "key", RKB_KEYS_MODEL_KEY, reader->problems);
   model->key.place = node->place;
   model->key.environment = text_of(reader, node, "env");
   model->key.file = path_of(reader, node, "file");
}

static void read_provider(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const char *names[16], *written = text_of(reader, map, "provider");
   uint32_t count = 0;
   for (const rkb_provider_t *const *provider = rkb_providers; *provider; provider++) {
      names[count++] = (*provider)->name;
      if (written && strcmp(written, (*provider)->name) == 0)
         model->provider = *provider;
   }
   names[count] = NULL;
   if (model->provider)
      return;
   const char *near = written ? rkb_nearest(written, names) : NULL;
   if (written)
      rkb_problem(
         reader->problems, rkb_yaml_get(map, "provider")->place,
         "there is no provider '%s'%s%s%s; write %s",
         written, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", rkb_provider_choices());
   else
      rkb_problem(reader->problems, map->place,
                  "the model '%s' needs provider: %s", model->face.name, rkb_provider_choices());
}

/* A reply that is not streamed is silent until it is complete, so silence alone does not show that a server
 * is dead. */
static void expect_whole_replies(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const rkb_yaml_t *stream = rkb_yaml_get(map, "stream");
   if (!rkb_yaml_is_null(stream) && model->stream)
      rkb_problem(reader->problems, stream->place, "replies of provider: %s come whole; leave stream out", model->provider->name);
   if (rkb_yaml_is_null(rkb_yaml_get(map, "idle")))
      model->idle_ns = model->total_ns;
   model->stream = false;
}

/* Whether the query has a parameter in which a service takes a key.  A key there would be visible in the
 * pipeline and in the archive. */
static bool query_holds_key(const char *query) {
   static const char *const names[] = {"key", "api-key", "api_key", "apikey", "token", "access_token", "sig", "code", NULL};
   for (const char *part = query; *part; part += strcspn(part, "&"), part += *part == '&')
      for (const char *const *name = names; *name; name++)
         if (strcspn(part, "=&") == strlen(*name) && strncasecmp(part, *name, strlen(*name)) == 0)
            return true;
   return false;
}

/* "scheme://host/path/?query" without the slash at the path's end. */
static const char *trimmed_url(reader_t *reader, const rkb_yaml_t *node, const char *url) {
   const char *query = strchrnul(url, '?');
   size_t start = strcspn(url, "/") + 2, length = (size_t)(query - url); /* start: behind "://" */
   if (memchr(url + start, '@', strcspn(url + start, "/?")))
      rkb_problem(reader->problems, node->place, "base_url holds a user's name or password; write key: {env: NAME}");
   if (query_holds_key(query + (*query == '?')))
      rkb_problem(reader->problems, node->place, "base_url holds a key; write key: {env: NAME}");
   while (length > start && url[length - 1] == '/')
      length--;
   if (length <= start)
      rkb_problem(reader->problems, node->place, "base_url is '%s', which names no server", url);
   char *joined = rkb_format("%.*s%s", (int)length, url, query);
   const char *copy = rkb_arena_text(reader->arena, joined, strlen(joined));
   free(joined);
   return copy;
}

/* A region such as "us-east-1", which becomes part of a host's name. */
static const char *read_region(reader_t *reader, const rkb_yaml_t *map, const rkb_model_t *model) {
   const char *region = text_of(reader, map, "region");
   if (model->provider->address != RKB_ADDRESS_REGION) {
      if (region)
         rkb_problem(reader->problems, rkb_yaml_get(map, "region")->place, "region is for provider: bedrock");
      return NULL;
   }
   if (!region)
      rkb_problem(reader->problems, map->place, "the model '%s' needs region: as in us-east-1", model->face.name);
   else if (!*region || region[strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-")] || strlen(region) > 60)
      rkb_problem(reader->problems, rkb_yaml_get(map, "region")->place, "region is '%s'; write it as in us-east-1", region);
   else
      return region;
   return "";
}

static void read_address(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "base_url");
   const char *url = text_of(reader, map, "base_url");
   model->base_url = model->provider->base_url;
   model->region = read_region(reader, map, model);
   model->own_address = !url;
   model->needs_key = model->provider->takes_key && (!url || model->provider->address == RKB_ADDRESS_GIVEN);
   if (!url && model->provider->address == RKB_ADDRESS_REGION) {
      const char *format = model->provider->base_url, *hole = strstr(format, "REGION");
      char *filled = rkb_format("%.*s%s%s", (int)(hole - format), format, model->region, hole + strlen("REGION"));
      model->base_url = rkb_arena_text(reader->arena, filled, strlen(filled));
      free(filled);
   }
   if (!url && model->provider->address == RKB_ADDRESS_GIVEN) {
      rkb_problem(reader->problems, map->place,
                  "the model '%s' needs base_url: https://RESOURCE.openai.azure.com/openai/deployments/NAME?api-version=VERSION",
                  model->face.name);
      model->base_url = "";
   }
   if (!url)
      return;
   if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
      rkb_problem(reader->problems, node->place, "base_url is '%s'; write http://... or https://...", url);
      return;
   }
   model->base_url = trimmed_url(reader, node, url);
}

static void read_limits(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "limits");
   model->limits = (rkb_model_limits_t){
      .concurrency = model->command ? 1 : default_whole("concurrency", RKB_KEYS_MODEL_LIMITS)};
   if (rkb_yaml_is_null(node) || !rkb_yaml_expect(node, RKB_YAML_MAP, "limits", reader->problems))
      return;
   rkb_keys_only(RKB_MODEL_KEYS, node, "limits", RKB_KEYS_MODEL_LIMITS, reader->problems);
   whole_of(reader, node, "concurrency", 1, 256, &model->limits.concurrency);
   whole_of(reader, node, "requests_per_minute", 1, 1000000, &model->limits.requests_per_minute);
   whole_of(reader, node, "tokens_per_minute", 1, 1000000000, &model->limits.tokens_per_minute);
}

static void read_money(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "price");
   rkb_price_t price = {0};
   bool limited = reader->cost_limit >= 0;
   whole_of(reader, map, "max_output_tokens", 1, 10000000, &model->face.most_output_tokens);
   real_of(reader, map, "cost_per_call", 1e6, &model->cost_per_call);
   if (model->command) {
      model->has_price = model->cost_per_call >= 0;
      if (limited && !model->has_price)
         rkb_problem(reader->problems, map->place,
                     "the model '%s' is a command: with limits.cost_usd it needs cost_per_call: "
                     "USD (0 when it is free)",
                     model->face.name);
      return;
   }
   if (!rkb_yaml_is_null(node))
      model->has_price = rkb_price_read(node, &price, reader->problems);
   else
      model->has_price = rkb_prices_find(reader->prices, model->provider->name, model->face.model, &price);
   model->face.input_usd = price.input_usd;
   model->face.cached_usd = price.cached_usd;
   model->face.output_usd = price.output_usd;
   if (limited && !model->has_price && rkb_yaml_is_null(node))
      rkb_problem(reader->problems, map->place,
                  "the model '%s' has no price, and limits.cost_usd is set; write price: {input: 1, "
                  "output: 2}, USD for a million tokens (0 for a server of your own)",
                  model->face.name);
   if ((limited || model->provider == &rkb_provider_anthropic) && !model->face.most_output_tokens && !model->provider->no_output)
      rkb_problem(reader->problems, map->place, "the model '%s' needs max_output_tokens%s", model->face.name,
                  limited ? ": without it nothing bounds what a request costs, and limits.cost_usd is set"
                          : "");
}

static void read_cache(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const char *text = text_of(reader, map, "cache");
   model->cache = RKB_CACHE_OFF;
   while (text && RKB_CACHE_CHOICES[model->cache] && strcmp(RKB_CACHE_CHOICES[model->cache], text) != 0)
      model->cache++;
   if (!RKB_CACHE_CHOICES[model->cache])
      rkb_problem(reader->problems, rkb_yaml_get(map, "cache")->place,
                  "cache is '%s'; write off, read or read-write", text);
}

static void read_replay(reader_t *reader, const rkb_yaml_t *map, rkb_model_t *model) {
   const char *path = path_of(reader, map, "replay");
   model->record = path_of(reader, map, "record");
   if (path)
      model->replay = rkb_cassette_load(reader->arena, path, rkb_yaml_get(map, "replay")->place,
                                        reader->depends, reader->argument, reader->problems);
}

static void read_model(reader_t *reader, const rkb_yaml_t *map, const char *name, rkb_model_t *model) {
   model->face = (rkb_llm_model_t){.name = name};
   model->place = map->place;
   model->temperature = model->cost_per_call = -1;
   model->retries = default_whole("retries", RKB_KEYS_MODEL);
   model->backoff_ns = default_duration("backoff");
   model->idle_ns = default_duration("idle");
   model->total_ns = default_duration("timeout");
   model->stream = model->check = true;
   if (!rkb_yaml_expect(map, RKB_YAML_MAP, name, reader->problems))
      return;
   rkb_keys_only(RKB_MODEL_KEYS, map, "a model", RKB_KEYS_MODEL, reader->problems);
   read_provider(reader, map, model);
   if (!model->provider)
      return;
   bool command = model->provider == &rkb_provider_command;
   model->face.provider = model->provider->name;
   model->face.model = text_of(reader, map, "model");
   model->command = texts_of(reader, map, "command");
   model->environment = texts_of(reader, map, "env");
   if (command && !model->command)
      rkb_problem(reader->problems, map->place, "the model '%s' needs command: [program, argument, ...]",
                  name);
   if (!command && (model->command || model->environment))
      rkb_problem(reader->problems, map->place, "command: and env: are for provider: command");
   if (!command && !model->face.model)
      rkb_problem(reader->problems, map->place, "the model '%s' needs model: the provider's name for it",
                  name);
   if (!model->face.model)
      model->face.model = command && model->command && model->command[0] ? model->command[0] : "";
   if (!command)
      read_address(reader, map, model);
   read_key(reader, map, model);
   real_of(reader, map, "temperature", model->provider == &rkb_provider_anthropic ? 1 : 2,
           &model->temperature);
   model->reasoning_effort = text_of(reader, map, "reasoning_effort");
   if (model->reasoning_effort && model->provider->plain_effort)
      rkb_problem(reader->problems, rkb_yaml_get(map, "reasoning_effort")->place,
                  "provider: %s has no field for reasoning_effort that all its models know; leave it out", model->provider->name);
   whole_of(reader, map, "retries", 0, 20, &model->retries);
   duration_of(reader, map, "backoff", &model->backoff_ns);
   duration_of(reader, map, "idle", &model->idle_ns);
   duration_of(reader, map, "timeout", &model->total_ns);
   if (!rkb_yaml_is_null(rkb_yaml_get(map, "stream")))
      rkb_yaml_bool(rkb_yaml_get(map, "stream"), "stream", &model->stream, reader->problems);
   if (!rkb_yaml_is_null(rkb_yaml_get(map, "check")))
      rkb_yaml_bool(rkb_yaml_get(map, "check"), "check", &model->check, reader->problems);
   if (model->provider->whole_only)
      expect_whole_replies(reader, map, model);
   read_limits(reader, map, model);
   read_money(reader, map, model);
   read_cache(reader, map, model);
   read_replay(reader, map, model);
}

rkb_models_t *rkb_models_read(rkb_arena_t *arena, const rkb_yaml_t *yaml, const bool *used, double cost_limit,
                              void (*depends)(void *argument, const char *hash), void *argument,
                              rkb_problems_t *problems) {
   reader_t reader = {.arena = arena,
                      .cost_limit = cost_limit,
                      .depends = depends,
                      .argument = argument,
                      .problems = problems};
   rkb_models_t *models = rkb_arena_alloc(arena, sizeof *models);
   if (rkb_yaml_is_null(yaml) || !rkb_yaml_expect(yaml, RKB_YAML_MAP, "models", problems))
      return models;
   if (yaml->count > MOST_MODELS) {
      rkb_problem(problems, yaml->place, "models has %u entries; the most is %d", yaml->count, MOST_MODELS);
      return models;
   }
   models->list = rkb_arena_array(arena, yaml->count + 1, sizeof *models->list);
   if (yaml->count)
      reader.prices = rkb_prices_load(arena, depends, argument, problems);
   for (uint32_t i = 0; i < yaml->count; i++) {
      rkb_model_t *model = &models->list[models->count++];
      read_model(&reader, yaml->items[i], yaml->keys[i]->text, model);
      model->index = i;
      model->unused = used && !used[i];
   }
   return models;
}

uint32_t rkb_models_count(const rkb_models_t *models) {
   return models ? models->count : 0;
}

const rkb_llm_model_t *rkb_models_at(const rkb_models_t *models, uint32_t index) {
   return models && index < models->count ? &models->list[index].face : NULL;
}

const rkb_llm_model_t *rkb_models_find(const rkb_models_t *models, const char *name) {
   for (uint32_t i = 0; models && name && i < models->count; i++)
      if (strcmp(models->list[i].face.name, name) == 0)
         return &models->list[i].face;
   return NULL;
}

uint32_t rkb_models_concurrency(const rkb_models_t *models) {
   int64_t sum = 0;
   for (uint32_t i = 0; models && i < models->count; i++)
      sum += models->list[i].limits.concurrency;
   return sum > 256 ? 256 : (uint32_t)sum;
}

bool rkb_models_need_http(const rkb_models_t *models) {
   for (uint32_t i = 0; models && i < models->count; i++)
      if (models->list[i].base_url && !models->list[i].replay && !models->list[i].unused)
         return true;
   return false;
}
