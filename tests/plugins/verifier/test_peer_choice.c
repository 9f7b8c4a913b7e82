/* The kernel that a candidate is compared with is the one that shares the smallest part of its lines with it: lines themselves are compared, not hashes that
 * an author can make equal.  One thread. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "peer/seed_peer.h"

/* Two lines with one FNV-1a of 64 bits, 0x4eac0c95540867e4. */
#define ONE_LINE "8yn0iYCKYHlIj4-BwPqk"
#define OTHER_LINE "GReLUrM4wMqfg9yzV3KQ"

static const char candidate[] = "  first line\n" ONE_LINE "\n\tlast line\r\n";

static const struct seed {
   const char *name, *text;
} same_hash[] = {
   {"a.cu", OTHER_LINE "\nother line\nanother line\n"},                            /* shares no line */
   {"b.cu", "first line\none more\ntwo more\nthree more\nfour more\nfive more\n"}, /* shares one of six */
};

/* Writes the seeds and says which one is chosen; "" for none. */
static void choose(const struct seed *seeds, uint32_t count, char chosen[16]) {
   char folder[] = "/tmp/rkb-peer-XXXXXX", path[64], none[192], *text = NULL;
   assert_non_null(mkdtemp(folder));
   for (uint32_t n = 0; n < count; n++) {
      snprintf(path, sizeof path, "%s/%s", folder, seeds[n].name);
      FILE *file = fopen(path, "w");
      assert_non_null(file);
      assert_true(fputs(seeds[n].text, file) >= 0);
      assert_int_equal(fclose(file), 0);
   }
   char *peer = peer_choose(folder, candidate, &text, none, sizeof none);
   snprintf(chosen, 16, "%s", peer ? strrchr(peer, '/') + 1 : "");
   for (uint32_t n = 0; n < count; n++) {
      if (strcmp(seeds[n].name, chosen) == 0)
         assert_string_equal(text, seeds[n].text);
      snprintf(path, sizeof path, "%s/%s", folder, seeds[n].name);
      unlink(path);
   }
   rmdir(folder);
   free(peer);
   free(text);
}

static void lines_of_one_hash_are_two(void **state) {
   char chosen[16];
   (void)state;
   choose(same_hash, 2, chosen);
   assert_string_equal(chosen, "a.cu");
}

static void blanks_at_the_ends_do_not_count(void **state) {
   static const struct seed seeds[] = {{"a.cu", "first line  \nlast line\nnew line\n"},
                                       {"b.cu", "new line\nnewer line\nfirst line\n"}};
   char chosen[16];
   (void)state;
   choose(seeds, 2, chosen);
   assert_string_equal(chosen, "b.cu"); /* one of three, and not two */
}

static void the_candidate_is_no_peer_of_itself(void **state) {
   static const struct seed seeds[] = {{"a.cu", candidate}};
   char chosen[16];
   (void)state;
   choose(seeds, 1, chosen);
   assert_string_equal(chosen, "");
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_one_hash_are_two),
                                      cmocka_unit_test(blanks_at_the_ends_do_not_count),
                                      cmocka_unit_test(the_candidate_is_no_peer_of_itself)};
   return RUN_TESTS(tests);
}
