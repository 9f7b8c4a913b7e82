/* An entry's text, and the checks that every entry passes (elite.h). */
#include "library/elite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"

static const char *const WORDS[] = {"task",     "task_hash",     "direction", "limiter", "device", "objective",
                                    "measured_on", "pipeline", "pipeline_hash", "made_by"};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

/* Where a word of that name lies in an elite. */
static const char **word_at(rkb_elite_t *elite, int index) {
   const char **const places[WORD_COUNT] = {&elite->task,     &elite->task_hash,     &elite->direction, &elite->limiter, &elite->device,
                                            &elite->objective, &elite->measured_on, &elite->pipeline, &elite->pipeline_hash, &elite->made_by};
   return places[index];
}

static bool is_word(const char *text) {
   size_t length = text ? strlen(text) : RKB_ELITE_MOST_WORD + 1;
   if (length > RKB_ELITE_MOST_WORD)
      return false;
   for (size_t i = 0; i < length; i++)
      if (text[i] < ' ' || text[i] > '~')
         return false;
   return true;
}

/* Text that a prompt or a compiler may get: no control characters but white space. */
static bool is_source(const char *text) {
   const size_t length = strlen(text);
   if (!length || length > RKB_ELITE_MOST_SOURCE)
      return false;
   for (size_t i = 0; i < length; i++)
      if (((unsigned char)text[i] < ' ' && !strchr("\t\n\r", text[i])) || text[i] == 0x7f)
         return false;
   return true;
}

static int check_operations(const rkb_elite_t *elite, rkb_error_t *err) {
   for (uint32_t i = 0; i < elite->operation_count; i++)
      if (!is_word(elite->operations[i]) || (i && strcmp(elite->operations[i - 1], elite->operations[i]) >= 0))
         return rkb_fail(err, RKB_ERR_INVALID, "its operations are no sorted list of names");
   return RKB_OK;
}

static int check_tune(const char *tune, rkb_error_t *err) {
   rkb_error_t why;
   const char *name;
   json_t *value, *assignment = rkb_json_parse(tune, strlen(tune), &why);
   bool right = json_is_object(assignment) && json_object_size(assignment) <= RKB_ELITE_MOST_OPERATIONS;
   json_object_foreach(assignment, name, value)
      right = right && is_word(name) && json_is_integer(value);
   json_decref(assignment);
   return right ? RKB_OK : rkb_fail(err, RKB_ERR_INVALID, "its tune is no object of integers");
}

static int check(rkb_elite_t *elite, rkb_error_t *err) {
   char hash[RKB_HASH_TEXT];
   for (int i = 0; i < WORD_COUNT; i++)
      if (!is_word(*word_at(elite, i)))
         return rkb_fail(err, RKB_ERR_INVALID, "its %s is no text of at most %d printable characters", WORDS[i], RKB_ELITE_MOST_WORD);
   if (!elite->operation_count)
      return rkb_fail(err, RKB_ERR_INVALID, "it names no operations");
   if (!isfinite(elite->score))
      return rkb_fail(err, RKB_ERR_INVALID, "its score is no number");
   if (!elite->source || !is_source(elite->source))
      return rkb_fail(err, RKB_ERR_INVALID, "its source is no text of at most %u bytes", RKB_ELITE_MOST_SOURCE);
   rkb_hash_text(elite->source, strlen(elite->source), hash);
   if (!elite->source_hash || strcmp(hash, elite->source_hash) != 0)
      return rkb_fail(err, RKB_ERR_INVALID, "its source_hash is not its source's");
   int status = check_operations(elite, err);
   return status == RKB_OK ? check_tune(elite->tune ? elite->tune : "", err) : status;
}

static json_t *to_json(rkb_elite_t *elite) {
   json_t *root = json_pack("{s:i, s:f, s:I, s:I, s:s, s:s, s:s}", "rkb_elite", 1, "score", elite->score, "seed",
                            (json_int_t)elite->seed, "candidate", (json_int_t)elite->candidate, "source", elite->source, "source_hash",
                            elite->source_hash, "tune", elite->tune),
          *operations = json_array();
   for (uint32_t i = 0; i < elite->operation_count; i++)
      json_array_append_new(operations, json_string(elite->operations[i]));
   json_object_set_new(root, "operations", operations);
   for (int i = 0; i < WORD_COUNT; i++)
      json_object_set_new(root, WORDS[i], json_string(*word_at(elite, i)));
   return root;
}

int rkb_elite_write(const rkb_elite_t *given, char **text, rkb_error_t *err) {
   rkb_elite_t elite = *given;
   *text = NULL;
   int status = check(&elite, err);
   if (status != RKB_OK)
      return status;
   json_t *root = to_json(&elite);
   *text = root ? rkb_json_canonical(root) : NULL;
   json_decref(root);
   if (!*text) /* memory, or a source that is no UTF-8 */
      return rkb_fail(err, RKB_ERR_INVALID, "it cannot be written as JSON");
   if (strlen(*text) <= RKB_ELITE_MOST_BYTES)
      return RKB_OK;
   free(*text);
   *text = NULL;
   return rkb_fail(err, RKB_ERR_INVALID, "it takes more than %u bytes", RKB_ELITE_MOST_BYTES);
}

static int read_operations(rkb_elite_t *elite, rkb_error_t *err) {
   const json_t *list = json_object_get(elite->owner, "operations"), *name;
   size_t index;
   if (json_array_size(list) > RKB_ELITE_MOST_OPERATIONS)
      return rkb_fail(err, RKB_ERR_INVALID, "it names more than %d operations", RKB_ELITE_MOST_OPERATIONS);
   json_array_foreach(list, index, name) {
      if (!json_is_string(name))
         return rkb_fail(err, RKB_ERR_INVALID, "its operations are no sorted list of names");
      elite->operations[elite->operation_count++] = json_string_value(name);
   }
   return RKB_OK;
}

static int read_members(rkb_elite_t *elite, rkb_error_t *err) {
   const json_t *root = elite->owner;
   if (!json_is_integer(json_object_get(root, "rkb_elite")) || json_integer_value(json_object_get(root, "rkb_elite")) != 1)
      return rkb_fail(err, RKB_ERR_INVALID, "it is no entry of version 1");
   if (!json_is_number(json_object_get(root, "score")) || !json_is_integer(json_object_get(root, "seed")) ||
       !json_is_integer(json_object_get(root, "candidate")))
      return rkb_fail(err, RKB_ERR_INVALID, "its score, seed or candidate is no number");
   for (int i = 0; i < WORD_COUNT; i++)
      *word_at(elite, i) = json_string_value(json_object_get(root, WORDS[i]));
   elite->score = json_number_value(json_object_get(root, "score"));
   elite->seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
   elite->candidate = json_integer_value(json_object_get(root, "candidate"));
   elite->source = json_string_value(json_object_get(root, "source"));
   elite->source_hash = json_string_value(json_object_get(root, "source_hash"));
   elite->tune = json_string_value(json_object_get(root, "tune"));
   return read_operations(elite, err);
}

/* Equal contents give equal texts, so that an archive can store the contents and no entry is added twice. */
static int check_canonical(const json_t *root, const char *text, size_t bytes, rkb_error_t *err) {
   char *canonical = rkb_json_canonical(root);
   const bool same = canonical && strlen(canonical) == bytes && memcmp(canonical, text, bytes) == 0;
   free(canonical);
   return same ? RKB_OK : rkb_fail(err, RKB_ERR_INVALID, "its text is not written as rkb writes entries");
}

int rkb_elite_read(const char *text, size_t bytes, const char *identity, rkb_elite_t *elite, rkb_error_t *err) {
   memset(elite, 0, sizeof *elite);
   if (bytes > RKB_ELITE_MOST_BYTES)
      return rkb_fail(err, RKB_ERR_LIMIT, "it has more than %u bytes", RKB_ELITE_MOST_BYTES);
   rkb_hash_text(text, bytes, elite->identity);
   if (identity && strcmp(identity, elite->identity) != 0)
      return rkb_fail(err, RKB_ERR_INVALID, "it was changed: its text is not what its name says");
   elite->owner = rkb_json_parse(text, bytes, err);
   int status = elite->owner ? read_members(elite, err) : RKB_ERR_INVALID;
   if (status == RKB_OK && identity)
      status = check_canonical(elite->owner, text, bytes, err);
   if (status == RKB_OK)
      status = check(elite, err);
   if (status != RKB_OK)
      rkb_elite_free(elite);
   return status;
}

void rkb_elite_free(rkb_elite_t *elite) {
   json_decref(elite->owner);
   memset(elite, 0, sizeof *elite);
}

void rkb_elite_add_operation(rkb_elite_t *elite, const char *operation) {
   uint32_t at = 0;
   while (at < elite->operation_count && strcmp(elite->operations[at], operation) < 0)
      at++;
   if (elite->operation_count == RKB_ELITE_MOST_OPERATIONS ||
       (at < elite->operation_count && strcmp(elite->operations[at], operation) == 0))
      return;
   memmove(&elite->operations[at + 1], &elite->operations[at], (elite->operation_count - at) * sizeof elite->operations[0]);
   elite->operations[at] = operation;
   elite->operation_count++;
}
