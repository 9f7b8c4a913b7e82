/* Reads and replays cassettes (cassette.h). */
#include "llm/cassette.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"

#define MOST_PARTS 16

typedef struct exchange {
   const char *key, *stage, *reply;      /* key and stage may be NULL */
   const char *contains[MOST_PARTS + 1]; /* texts that must occur in system or user */
   int64_t request, child;               /* negative: any */
   int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens;
   bool truncated, refused, filtered;
} exchange_t;

struct rkb_cassette {
   exchange_t *list;
   uint32_t count;
};

static void text_of(const rkb_yaml_t *map, const char *key, const char **out, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   if (!rkb_yaml_is_null(node))
      rkb_yaml_scalar(node, key, out, problems);
}

static void count_of(const rkb_yaml_t *map, const char *key, int64_t *out, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   if (!rkb_yaml_is_null(node))
      rkb_yaml_int(node, key, out, problems);
}

static void read_usage(const rkb_yaml_t *map, exchange_t *exchange, rkb_problems_t *problems) {
   static const char *const known[] = {"input", "cached", "output", "reasoning", NULL};
   exchange->input_tokens = exchange->cached_tokens = exchange->output_tokens = exchange->reasoning_tokens =
      -1;
   if (rkb_yaml_is_null(map) || !rkb_yaml_expect(map, RKB_YAML_MAP, "usage", problems))
      return;
   rkb_yaml_only(map, "usage", known, problems);
   count_of(map, "input", &exchange->input_tokens, problems);
   count_of(map, "cached", &exchange->cached_tokens, problems);
   count_of(map, "output", &exchange->output_tokens, problems);
   count_of(map, "reasoning", &exchange->reasoning_tokens, problems);
}

static void read_exchange(const rkb_yaml_t *yaml, exchange_t *exchange, rkb_problems_t *problems) {
   static const char *const known[] = {"key",   "stage", "request", "child",  "contains", "reply",
                                       "ended", "usage", "model",   "system", "user",     NULL};
   static const char *const endings[] = {"answered", "truncated", "refused", "filtered", NULL};
   const char *ended = "answered";
   *exchange = (exchange_t){.request = -1, .child = -1};
   if (!rkb_yaml_expect(yaml, RKB_YAML_MAP, "an exchange", problems))
      return;
   rkb_yaml_only(yaml, "an exchange", known, problems);
   text_of(yaml, "key", &exchange->key, problems);
   text_of(yaml, "stage", &exchange->stage, problems);
   text_of(yaml, "reply", &exchange->reply, problems);
   text_of(yaml, "ended", &ended, problems);
   count_of(yaml, "request", &exchange->request, problems);
   count_of(yaml, "child", &exchange->child, problems);
   read_usage(rkb_yaml_get(yaml, "usage"), exchange, problems);
   const rkb_yaml_t *contains = rkb_yaml_get(yaml, "contains");
   if (!rkb_yaml_is_null(contains) && rkb_yaml_expect(contains, RKB_YAML_LIST, "contains", problems))
      for (uint32_t i = 0; i < contains->count && i < MOST_PARTS; i++)
         rkb_yaml_scalar(contains->items[i], "contains", &exchange->contains[i], problems);
   if (!exchange->reply)
      rkb_problem(problems, yaml->place, "an exchange needs reply: the model's text");
   if (!exchange->key && !exchange->stage && !exchange->contains[0])
      rkb_problem(problems, yaml->place,
                  "an exchange needs key:, stage: or contains: [texts], or it would answer everything");
   int ending = 0;
   while (endings[ending] && strcmp(endings[ending], ended) != 0)
      ending++;
   if (!endings[ending])
      rkb_problem(problems, rkb_yaml_get(yaml, "ended")->place,
                  "ended is '%s'; write answered, truncated, refused or filtered", ended);
   exchange->truncated = ending == 1;
   exchange->refused = ending == 2;
   exchange->filtered = ending == 3;
}

rkb_cassette_t *rkb_cassette_load(rkb_arena_t *arena, const char *path, rkb_place_t place,
                                  void (*depends)(void *argument, const char *hash), void *argument,
                                  rkb_problems_t *problems) {
   static const char *const known[] = {"rkb-cassette", "origin", "exchanges", NULL};
   uint32_t before = problems->errors;
   rkb_cassette_t *cassette = rkb_arena_alloc(arena, sizeof *cassette);
   const rkb_yaml_t *root = rkb_path_exists(path) ? rkb_yaml_load(arena, path, problems) : NULL;
   const char *origin = NULL;
   char *bytes = NULL, hash[RKB_HASH_TEXT];
   size_t length = 0;
   rkb_error_t err = {0};
   if (!root && problems->errors == before)
      rkb_problem(problems, place, "replay: there is no cassette at %s", path);
   if (!cassette || !root || !rkb_yaml_expect(root, RKB_YAML_MAP, "a cassette", problems))
      return NULL;
   rkb_yaml_only(root, "a cassette", known, problems);
   text_of(root, "origin", &origin, problems);
   if (!rkb_yaml_get(root, "rkb-cassette") || !origin)
      rkb_problem(problems, root->place,
                  "a cassette begins with 'rkb-cassette: 1' and 'origin: recorded' or 'origin: written ...', "
                  "so that nothing is taken for a recording that is none");
   const rkb_yaml_t *list = rkb_yaml_get(root, "exchanges");
   if (!rkb_yaml_is_null(list) && rkb_yaml_expect(list, RKB_YAML_LIST, "exchanges", problems)) {
      cassette->list = rkb_arena_array(arena, list->count + 1, sizeof *cassette->list);
      for (uint32_t i = 0; i < list->count; i++)
         read_exchange(list->items[i], &cassette->list[cassette->count++], problems);
   }
   if (depends && rkb_file_read(path, RKB_YAML_MAX_BYTES, &bytes, &length, &err) == RKB_OK) {
      rkb_hash_text(bytes, length, hash);
      depends(argument, hash);
   }
   free(bytes);
   return problems->errors == before ? cassette : NULL;
}

static bool fits(const exchange_t *exchange, const rkb_cassette_question_t *question) {
   if (exchange->key || (exchange->stage && strcmp(exchange->stage, question->stage) != 0) ||
       (exchange->request >= 0 && exchange->request != question->request) ||
       (exchange->child >= 0 && exchange->child != question->child))
      return false;
   for (const char *const *part = exchange->contains; *part; part++)
      if (!strstr(question->user, *part) && !(question->system && strstr(question->system, *part)))
         return false;
   return true;
}

bool rkb_cassette_play(const rkb_cassette_t *cassette, const rkb_cassette_question_t *question,
                       rkb_reply_t *reply) {
   const exchange_t *found = NULL;
   for (uint32_t i = 0; i < cassette->count && !found; i++)
      if (cassette->list[i].key && strcmp(cassette->list[i].key, question->key) == 0)
         found = &cassette->list[i];
   for (uint32_t i = 0; i < cassette->count && !found; i++)
      if (fits(&cassette->list[i], question))
         found = &cassette->list[i];
   if (!found)
      return false;
   rkb_text_add(&reply->text, found->reply);
   reply->input_tokens = found->input_tokens;
   reply->cached_tokens = found->cached_tokens;
   reply->output_tokens = found->output_tokens;
   reply->reasoning_tokens = found->reasoning_tokens;
   reply->usage_final = found->input_tokens >= 0 && found->output_tokens >= 0;
   reply->truncated = found->truncated;
   reply->refused = found->refused;
   reply->filtered = found->filtered;
   reply->finished = true;
   return true;
}
