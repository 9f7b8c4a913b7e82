/* The readers of rkb-parser's answers: any bytes give a tree or a list of warnings, a refusal, or an error.
 * A tree can be queried. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lift/tree.h"
#include "lift/warnings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text is the first part of the input: two bytes say how long. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   if (size < 2)
      return 0;
   size_t length = data[0] | (size_t)data[1] << 8;
   length = length < size - 2 ? length : size - 2;
   char *text = calloc(1, length + 1), refusal[300] = "", out[64];
   memcpy(text, data + 2, length);
   lift_tree_t *tree = NULL;
   rkb_error_t err = {0};
   rkb_lift_warnings_t *warnings = NULL;
   lift_warnings_read(data + 2 + length, size - 2 - length, &warnings, refusal, sizeof refusal, &err);
   lift_warnings_free(warnings);
   lift_tree_read(data + 2 + length, size - 2 - length, text, &tree, refusal, sizeof refusal, &err);
   for (uint32_t i = 0; tree && i < tree->count; i++) {
      uint32_t lengths[8];
      lift_name(tree, i, out, sizeof out);
      lift_operator(tree, i, out);
      lift_callee(tree, i, out, sizeof out);
      lift_assigned(tree, i);
      lift_initialiser(tree, i);
      lift_lengths(tree, i, lengths, 8);
      lift_base(tree, i);
      lift_line(tree, i);
      lift_body(tree, i);
   }
   lift_tree_free(tree);
   free(text);
   return 0;
}
