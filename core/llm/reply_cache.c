/* The cache of replies (reply_cache.h). */
#include "llm/reply_cache.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"

static char *folder(void) {
   const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
   char *path = NULL;
   int length = -1;
   if (cache && cache[0] == '/')
      length = asprintf(&path, "%s/rkb/replies", cache);
   else if (home && home[0] == '/')
      length = asprintf(&path, "%s/.cache/rkb/replies", home);
   return length < 0 ? NULL : path;
}

static char *path_of(const char *key) {
   char *directory = folder(), *path = NULL;
   if (!directory || asprintf(&path, "%s/%s.json", directory, key) < 0)
      path = NULL;
   free(directory);
   return path;
}

bool rkb_reply_cache_read(const char *key, rkb_reply_t *reply) {
   char *path = path_of(key), *bytes = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   json_t *root = NULL;
   if (path && rkb_path_exists(path) &&
       rkb_file_read(path, 2 * (size_t)RKB_ARCHIVE_MAX_REPLY, &bytes, &length, &err) == RKB_OK)
      root = rkb_json_parse(bytes, length, &err);
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
   free(bytes);
   free(path);
   return found;
}

int rkb_reply_cache_write(const char *key, const rkb_reply_t *reply, rkb_error_t *err) {
   char *directory = folder(), *path = path_of(key), *text = NULL;
   json_t *root = json_pack(
      "{s:s, s:I, s:I, s:I, s:I, s:b, s:b, s:b}", "text", rkb_text_get(&reply->text), "input_tokens",
      (json_int_t)reply->input_tokens, "cached_tokens", (json_int_t)reply->cached_tokens, "output_tokens",
      (json_int_t)reply->output_tokens, "reasoning_tokens", (json_int_t)reply->reasoning_tokens, "truncated",
      reply->truncated, "refused", reply->refused, "filtered", reply->filtered);
   int status = RKB_OK;
   if (root)
      text = rkb_json_canonical(root);
   if (!directory || !path || !text)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE,
                        "there is no place for the cache of replies: neither XDG_CACHE_HOME nor HOME is set");
   if (status == RKB_OK)
      status = rkb_make_directories(directory, err);
   if (status == RKB_OK)
      status = rkb_file_write(path, text, strlen(text), err);
   json_decref(root);
   free(text);
   free(path);
   free(directory);
   return status;
}
