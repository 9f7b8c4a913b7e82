/* The cache of replies (reply_cache.h). */
#include "llm/reply_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/private_folder.h"

/* Opens the cache's folder, which is made and checked if necessary, and reads its key.  RKB_ERR_UNAVAILABLE
 * when no folder belongs to this user alone. */
static int open_folder(char **folder, unsigned char owner_key[RKB_HASH_BYTES], rkb_error_t *err) {
   int status = rkb_cache_path("replies", folder, err);
   if (status == RKB_OK)
      status = rkb_private_folder(*folder, err);
   if (status == RKB_OK)
      status = rkb_private_key(*folder, owner_key, err);
   return status;
}

static char *path_of(const char *folder, const char *key) {
   return rkb_format("%s/%s.json", folder, key);
}

/* The seal of a stored reply, which only the folder's owner can compute. */
static bool seal_of(const unsigned char owner_key[RKB_HASH_BYTES], const char *key, const json_t *reply,
                    char seal[RKB_HASH_TEXT]) {
   char content[RKB_HASH_TEXT];
   unsigned char sealed[RKB_HASH_BYTES];
   char *text = rkb_json_canonical(reply);
   rkb_hasher_t *hasher = text ? rkb_hasher_new() : NULL;
   if (hasher) {
      rkb_hasher_add_text(hasher, key);
      rkb_hasher_add_text(hasher, text);
      rkb_hasher_finish(hasher, content);
      rkb_hash_keyed(owner_key, content, sizeof content, sealed);
      rkb_hash_digits(sealed, seal);
   }
   free(text);
   return hasher != NULL;
}

/* Reads a stored reply without its seal.  NULL when there is none, or when this user did not store it for
 * this question. */
static json_t *read_sealed(const char *key) {
   unsigned char owner_key[RKB_HASH_BYTES];
   char *folder = NULL, *path = NULL, *bytes = NULL, seal[RKB_HASH_TEXT];
   json_t *root = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   int file = -1;
   if (open_folder(&folder, owner_key, &err) == RKB_OK)
      path = path_of(folder, key);
   if (path)
      file = rkb_private_open(path, &length);
   if (file >= 0 && length <= 2 * (size_t)RKB_ARCHIVE_MAX_REPLY)
      bytes = rkb_try_uncleared(length + 1, 1, NULL);
   if (bytes && rkb_private_read(file, bytes, length))
      root = rkb_json_parse(bytes, length, &err);
   json_t *kept_seal = json_incref(json_object_get(root, "seal"));
   json_object_del(root, "seal");
   if (root && (!seal_of(owner_key, key, root, seal) || !json_is_string(kept_seal) ||
                strcmp(seal, json_string_value(kept_seal)) != 0)) {
      json_decref(root);
      root = NULL;
   }
   json_decref(kept_seal);
   if (file >= 0)
      close(file);
   free(bytes);
   free(path);
   free(folder);
   return root;
}

bool rkb_reply_cache_read(const char *key, rkb_reply_t *reply) {
   json_t *root = read_sealed(key);
   bool found = json_is_string(json_object_get(root, "text"));
   if (found) {
      rkb_text_add(&reply->text, rkb_json_text_of(root, "text"));
      rkb_json_count_of(root, "input_tokens", &reply->input_tokens);
      rkb_json_count_of(root, "cached_tokens", &reply->cached_tokens);
      rkb_json_count_of(root, "output_tokens", &reply->output_tokens);
      rkb_json_count_of(root, "reasoning_tokens", &reply->reasoning_tokens);
      reply->truncated = json_is_true(json_object_get(root, "truncated"));
      reply->refused = json_is_true(json_object_get(root, "refused"));
      reply->filtered = json_is_true(json_object_get(root, "filtered"));
      reply->usage_final = reply->input_tokens >= 0 && reply->output_tokens >= 0;
      reply->finished = true;
   }
   json_decref(root);
   return found;
}

int rkb_reply_cache_write(const char *key, const rkb_reply_t *reply, rkb_error_t *err) {
   unsigned char owner_key[RKB_HASH_BYTES];
   char *folder = NULL, *path = NULL, *text = NULL, seal[RKB_HASH_TEXT];
   json_t *root = NULL;
   int status = open_folder(&folder, owner_key, err);
   if (status == RKB_OK)
      root = json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:b, s:b}", "text", rkb_text_get(&reply->text), "input_tokens",
                       (json_int_t)reply->input_tokens, "cached_tokens", (json_int_t)reply->cached_tokens,
                       "output_tokens", (json_int_t)reply->output_tokens, "reasoning_tokens",
                       (json_int_t)reply->reasoning_tokens, "truncated", reply->truncated, "refused", reply->refused,
                       "filtered", reply->filtered);
   if (root && seal_of(owner_key, key, root, seal) && json_object_set_new(root, "seal", json_string(seal)) == 0)
      text = rkb_json_canonical(root);
   if (text)
      path = path_of(folder, key);
   if (status == RKB_OK)
      status = path ? rkb_file_write_own(path, text, strlen(text), err) : rkb_fail(err, RKB_ERR_INVALID, "the reply cannot be written as JSON");
   json_decref(root);
   free(text);
   free(path);
   free(folder);
   return status;
}
