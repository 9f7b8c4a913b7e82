/* Replies kept between runs: a reply that was kept for a question comes back for it, and nothing that anybody
 * else put there does. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "llm/reply_cache.h"

static char folder[] = "/tmp/rkb-replies-XXXXXX";

static int use_a_folder(void **state) {
   (void)state;
   return mkdtemp(folder) && setenv("XDG_CACHE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
   char command[128];
   (void)state;
   snprintf(command, sizeof command, "rm -rf %s", folder);
   return system(command);
}

static void keep(const char *key, const char *text) {
   rkb_error_t err = {0};
   rkb_reply_t reply;
   rkb_reply_init(&reply);
   rkb_text_add(&reply.text, text);
   reply.input_tokens = 12;
   reply.output_tokens = 34;
   assert_int_equal(rkb_reply_cache_write(key, &reply, &err), RKB_OK);
   rkb_reply_free(&reply);
}

static bool has(const char *key, const char *text) {
   rkb_reply_t reply;
   rkb_reply_init(&reply);
   bool found = rkb_reply_cache_read(key, &reply);
   if (found) {
      assert_string_equal(rkb_text_get(&reply.text), text);
      assert_int_equal(reply.input_tokens, 12);
      assert_int_equal(reply.output_tokens, 34);
   }
   rkb_reply_free(&reply);
   return found;
}

static void foreign_replies_are_misses(void **state) {
   static const char *const changes[] = {
      "sed -i s/kernel/KERNEL/ %1$s", "cp %2$s %1$s", "chmod o+w %1$s", "sed -i 's/\"seal\":\"[0-9a-f]*\",//' %1$s",
      "mv %1$s %1$s.moved && ln -s %1$s.moved %1$s", "rm %1$s && mkfifo %1$s", "echo '{}' >%1$s", "echo '[' >%1$s"};
   (void)state;
   for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
      char key[RKB_HASH_TEXT], other[RKB_HASH_TEXT], path[256], another[256], command[1024];
      rkb_hash_text(&i, sizeof i, key);
      rkb_hash_text("another", 7, other);
      keep(key, "a kernel \"with\" signs");
      keep(other, "another reply");
      assert_true(has(key, "a kernel \"with\" signs"));
      snprintf(path, sizeof path, "%s/rkb/replies/%s.json", folder, key);
      snprintf(another, sizeof another, "%s/rkb/replies/%s.json", folder, other);
      snprintf(command, sizeof command, changes[i], path, another);
      assert_int_equal(system(command), 0);
      assert_false(has(key, ""));
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(foreign_replies_are_misses)};
   return cmocka_run_group_tests(tests, use_a_folder, remove_folder);
}
