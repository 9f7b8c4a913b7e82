/* Reads keys, and hides them in texts (api_keys.h).  [any] once opened. */
#include "llm/api_keys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include "base/file.h"
#include "base/memory.h"
#include "llm/provider.h"

#define MOST_BYTES (16u << 10)
#define LEAST_BYTES 6 /* shorter texts are no keys, and hiding them would damage ordinary words */

struct rkb_keys {
   uint32_t count;
   char *list[]; /* by model index; NULL: none */
};

static int protect(rkb_error_t *err) {
   const struct rlimit none = {0, 0};
   if (prctl(PR_SET_DUMPABLE, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                      "cannot keep this process from leaving a core file; no key is read");
   return RKB_OK;
}

static int refuse(const rkb_model_t *model, const char *why, const char *what, rkb_error_t *err) {
   return rkb_fail(err, RKB_ERR_INVALID, "%.100s:%u:%u: the key of model '%.60s': %.120s%.100s",
                   model->key.place.file ? model->key.place.file : "", model->key.place.line,
                   model->key.place.column, model->face.name, why, what);
}

/* Whether a text can be a key: one line of printable ASCII.  Any other text could add lines to the header in which the key is sent. */
static bool usable(const char *key) {
   size_t length = strlen(key);
   for (size_t i = 0; i < length; i++)
      if (key[i] <= ' ' || key[i] > '~')
         return false;
   return length >= LEAST_BYTES && length <= MOST_BYTES;
}

static int read_key(const rkb_model_t *model, char **out, rkb_error_t *err) {
   rkb_error_t own = {0};
   char *key = NULL;
   size_t length = 0;
   if (model->key.environment) {
      const char *value = getenv(model->key.environment);
      if (!value || !*value)
         return refuse(model, "the environment has no ", model->key.environment, err);
      key = rkb_duplicate(value);
   } else {
      if (rkb_file_read(model->key.file, MOST_BYTES, &key, &length, &own) != RKB_OK)
         return refuse(model, own.message, "", err);
      while (length && strchr("\r\n", key[length - 1]))
         key[--length] = '\0'; /* editors end a file with a newline, which is not part of the key */
   }
   if (usable(key)) {
      *out = key;
      return RKB_OK;
   }
   explicit_bzero(key, strlen(key));
   free(key);
   return refuse(model, "it is not a line of 6 or more printable characters", "", err);
}

/* Reads the key of one model, if it sends any. */
static int open_key(const rkb_model_t *model, bool *protected, char **out, rkb_error_t *err) {
   if (model->replay || model->unused)
      return RKB_OK;
   if (!model->key.environment && !model->key.file) {
      if (model->needs_key)
         return rkb_fail(err, RKB_ERR_INVALID,
                         "%.100s:%u:%u: the model '%.60s' needs key: {env: NAME} or {file: PATH}",
                         model->place.file ? model->place.file : "", model->place.line, model->place.column,
                         model->face.name);
      return RKB_OK;
   }
   int status = *protected ? RKB_OK : protect(err);
   *protected = true;
   return status == RKB_OK ? read_key(model, out, err) : status;
}

int rkb_key_read(const rkb_model_t *model, char **key, rkb_error_t *err) {
   bool protected = false;
   *key = NULL;
   return open_key(model, &protected, key, err);
}

/* Joins the messages about several models, so that the user can correct all of them at once. */
static void add_message(rkb_error_t *all, const rkb_error_t *one) {
   size_t used = strlen(all->message);
   all->status = one->status;
   snprintf(all->message + used, sizeof all->message - used, "%s%s", used ? "\n" : "", one->message);
}

int rkb_keys_open(const rkb_models_t *models, rkb_keys_t **out, rkb_error_t *err) {
   rkb_keys_t *keys = rkb_allocate(1, sizeof *keys + (models->count + 1) * sizeof keys->list[0]);
   rkb_error_t all = {0};
   bool protected = false;
   keys->count = models->count;
   for (uint32_t i = 0; i < models->count; i++) {
      rkb_error_t one = {0};
      if (open_key(&models->list[i], &protected, &keys->list[i], &one) != RKB_OK)
         add_message(&all, &one);
   }
   if (all.status != RKB_OK) {
      rkb_keys_close(keys);
      *err = all;
      return all.status;
   }
   *out = keys;
   return RKB_OK;
}

void rkb_keys_close(rkb_keys_t *keys) {
   for (uint32_t i = 0; keys && i < keys->count; i++)
      if (keys->list[i]) {
         explicit_bzero(keys->list[i], strlen(keys->list[i]));
         free(keys->list[i]);
      }
   free(keys);
}

const char *rkb_keys_of(const rkb_keys_t *keys, const rkb_model_t *model) {
   return keys->list[model->index];
}

void rkb_keys_strip(const rkb_keys_t *keys, char *text, size_t bytes) {
   for (uint32_t i = 0; text && i < keys->count; i++) {
      size_t length = keys->list[i] ? strlen(keys->list[i]) : 0;
      char *at = length ? memmem(text, bytes, keys->list[i], length) : NULL;
      while (at) {
         memset(at, '*', length);
         at = memmem(at, bytes - (size_t)(at - text), keys->list[i], length);
      }
   }
}
