/* Any bytes as the input of a screening worker's compile, and as its answer: the reader refuses them, or they
 * come out the same when they are written and read again.  The first byte chooses input or answer, the second
 * the number of kernels. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/compile_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_input(const uint8_t *data, size_t size, rkb_text_t *out) {
   rkb_arena_t *arena = rkb_arena_new(0);
   record_reader_t in = {.data = data, .size = size};
   compile_input_t input;
   rkb_text_init(out, 8u << 20);
   if (compile_input_read(&in, arena, &input))
      compile_input_write(&input, out);
   rkb_arena_free(arena);
}

static void write_output(const uint8_t *data, size_t size, uint32_t expressions, rkb_text_t *out) {
   char *copy = rkb_try_uncleared(size + 1, 1, NULL);
   record_reader_t in = {.data = (const unsigned char *)copy, .size = size};
   compile_output_t output;
   rkb_finding_t finding = {0};
   rkb_text_init(out, 8u << 20);
   if (!copy)
      return;
   memcpy(copy, data, size);
   if (!compile_output_read(copy, &in, expressions, &output, &finding))
      return;
   compile_output_write(&output, expressions, &finding, out);
   compile_output_free(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_text_t first, second;
   if (size < 2)
      return 0;
   for (int turn = 0; turn < 2; turn++) {
      const uint8_t *bytes = turn ? (const uint8_t *)first.data : data + 2;
      const size_t length = turn ? first.length : size - 2;
      if (data[0] & 1)
         write_input(bytes, length, turn ? &second : &first);
      else
         write_output(bytes, length, data[1], turn ? &second : &first);
      if (!turn && !first.length)
         break;
      if (turn && (first.length != second.length || memcmp(first.data, second.data, first.length) != 0))
         abort();
      if (turn)
         rkb_text_free(&second);
   }
   rkb_text_free(&first);
   return 0;
}
