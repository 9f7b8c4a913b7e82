/* rkb.mutator.edit and rkb.mutator.crossover propose no candidate that their job may see, and draw again instead. */
#include "fake.h"
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

enum { REQUESTS = 60 };

static const char SOURCE[] = "/* rkb-kernel: 1\n"
                             "task: task\n"
                             "direction: forward\n"
                             "tune:\n"
                             "  BLOCK: {default: 128, choices: [64, 128, 256]}\n"
                             "  VEC: {default: 1, choices: [1, 2, 4]}\n"
                             "  DEPTH: {default: 8, choices: [8, 16]}\n"
                             "launches:\n"
                             "  - kernel: k\n"
                             "    grid: ceildiv(N, BLOCK)\n"
                             "    block: BLOCK\n"
                             "    args: x, y, N\n"
                             "*/\n"
                             "__global__ void k(const float *x, float *y, int n) {\n"
                             "   const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                             "   float sum = 0;\n"
                             "   for (int k = 0; k < 4; k++)\n"
                             "      sum += x[i];\n"
                             "   if (i < n)\n"
                             "      y[i] = sum;\n"
                             "}\n";

typedef struct made {
   char *source, *tune, hash[RKB_HASH_TEXT];
} made_t;

static void run(fake_t *fake, int64_t number) {
   rkb_item_t *parents[] = {fake_candidate(fake, 1, SOURCE, "{\"BLOCK\":128,\"VEC\":1,\"DEPTH\":8}"),
                            fake_candidate(fake, 2, SOURCE, "{\"BLOCK\":256,\"VEC\":4,\"DEPTH\":16}")};
   rkb_item_t *request = fake_request(fake, "search", number, NULL, parents, 2);
   assert_int_equal(fake_run(fake, request), RKB_OK);
   fake_drop(request);
   fake_drop(parents[0]);
   fake_drop(parents[1]);
}

static bool is_among(const made_t *list, uint32_t count, const made_t *one) {
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(list[i].source, one->source) == 0 && strcmp(list[i].tune, one->tune) == 0)
         return true;
   return false;
}

/* Children of one pair of parents, of which each request sees all earlier ones, or none.  *again: how many came before. */
static uint32_t breed(const char *plugin, bool seen, uint32_t *again) {
   made_t made[REQUESTS];
   uint32_t count = 0;
   fake_t fake;
   fake_open(&fake, plugin);
   fake_start(&fake, NULL);
   *again = 0;
   for (int64_t number = 0; number < REQUESTS; number++) {
      run(&fake, number);
      if (!fake.emitted_count)
         continue;
      made_t *child = &made[count];
      child->source = strdup(fake_text(&fake, 0, "source"));
      child->tune = strdup(fake_json(&fake, 0, "tune"));
      rkb_hash_text(child->source, strlen(child->source), child->hash);
      *again += is_among(made, count, child);
      if (seen)
         fake.rows[fake.row_count++] = (rkb_archive_row_t){.number = count + 3, .source = child->source, .source_hash = child->hash, .tune = child->tune};
      count++;
   }
   fake_close(&fake);
   for (uint32_t i = 0; i < count; i++) {
      free(made[i].source);
      free(made[i].tune);
   }
   return count;
}

static void nothing_known_is_proposed(void **state) {
   static const char *const plugins[] = {"mutator/edit", "mutator/crossover"};
   (void)state;
   for (int i = 0; i < 2; i++) {
      uint32_t again = 0;
      assert_true(breed(plugins[i], false, &again) > 50);
      assert_true(again > 10);
      assert_true(breed(plugins[i], true, &again) >= 6);
      assert_int_equal(again, 0);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_known_is_proposed)};
   return RUN_TESTS(tests);
}
