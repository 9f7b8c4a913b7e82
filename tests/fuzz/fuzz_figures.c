/* Any bytes as figures.tsv: the reader refuses them, or gives lines that come out the same when they are
 * written and read again, and a table. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"

#define MOST_TEXT (16u << 20)

/* What is read from text, written; NULL when it is refused. */
static char *read_and_write(const char *text) {
   json_t *lines = NULL;
   rkb_error_t err = {0};
   rkb_text_t out;
   if (rkb_bench_figures_read("f", text, &lines, &err) != RKB_OK) {
      if (lines || !err.message[0])
         abort();
      return NULL;
   }
   rkb_text_init(&out, MOST_TEXT);
   rkb_bench_figures_write(lines, &out);
   json_decref(lines);
   return rkb_text_take(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_error_t err;
   rkb_text_t table;
   char *text = malloc(size + 1);
   memcpy(text, data, size);
   text[size] = '\0';
   char *once = read_and_write(text), *twice = once ? read_and_write(once) : NULL;
   if (once && (!twice || strcmp(once, twice) != 0))
      abort();
   rkb_text_init(&table, MOST_TEXT);
   if ((rkb_bench_table_of("f", text, &table, &err) == RKB_OK) != (once != NULL))
      abort();
   rkb_text_free(&table);
   free(twice);
   free(once);
   free(text);
   return 0;
}
