/* rkb-record-conformance INSTRUCTIONS OUT - runs the conformance set on the GPU of this machine and records the results:
 * a hash per 256 results for exact instructions, the distance in units in the last place from the truth for approximate ones.
 * Needs a driver (libcuda.so.1) and nothing else.  One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance.h"
#include "cuda_driver.h"

struct buffers {
   uint64_t operand[3], result, slots;
   uint8_t host[CONFORMANCE_COUNT * 8];
};

static int run(const struct driver *d, const struct instruction *in, struct buffers *b) {
   static char ptx[8192];
   void *module = NULL, *function = NULL;
   if (!conformance_ptx(in, ptx, sizeof ptx))
      return -1;
   int status = d->load(&module, ptx);
   if (status)
      return status;
   status = d->function(&function, module, "conformance");
   for (uint32_t o = 0; o < 3 && !status; o++) {
      uint32_t bytes = operand_bytes(in->operand[o]);
      for (uint32_t i = 0; bytes && i < CONFORMANCE_COUNT; i++) {
         uint64_t value = conformance_operand(in, o, i);
         memcpy(b->host + (size_t)i * bytes, &value, bytes);
      }
      if (bytes)
         status = d->to_device(b->operand[o], b->host, (size_t)bytes * CONFORMANCE_COUNT);
   }
   void *arguments[] = {&b->operand[0], &b->operand[1], &b->operand[2], &b->result, &b->slots};
   if (!status)
      status = d->launch(function, CONFORMANCE_COUNT / CONFORMANCE_BLOCK, 1, 1, CONFORMANCE_BLOCK, 1, 1, 0,
                         NULL, arguments, NULL);
   if (!status)
      status = d->synchronize();
   if (!status)
      status = d->to_host(b->host, b->result, (size_t)operand_bytes(in->result) * CONFORMANCE_COUNT);
   d->unload(module);
   return status;
}

/* The distance from the exact result, which is rounded to the result type, in units in its last place,
 * limited to -127 .. 127; -128 where the manual promises nothing. */
static int distance(const struct instruction *in, uint32_t i, uint64_t bits) {
   uint64_t operand[3];
   double truth, allowed;
   for (uint32_t o = 0; o < 3; o++)
      operand[o] = conformance_operand(in, o, i);
   if (!conformance_truth(in, operand, &truth, &allowed))
      return -128;
   int mantissa = in->result == TYPE_F16    ? 10
                  : in->result == TYPE_BF16 ? 7
                  : in->result == TYPE_F64  ? 52
                                            : 23,
       exponent = 0;
   frexp(truth, &exponent);
   double units =
      (conformance_value(in->result, bits) - truth) / ldexp(1, (truth == 0 ? -126 : exponent - 1) - mantissa);
   return !(units > -127) ? -127 : units > 127 ? 127 : (int)lrint(units);
}

static void write_results(FILE *out, const struct instruction *in, const struct buffers *b) {
   uint32_t bytes = operand_bytes(in->result);
   fprintf(out, "%016lx", conformance_hash(in->text, strlen(in->text)));
   if (!in->nearly[0]) {
      for (uint32_t g = 0; g < CONFORMANCE_GROUPS; g++)
         fprintf(out, " %016lx", conformance_hash(b->host + (size_t)g * 256 * bytes, 256 * bytes));
   } else {
      fputc(' ', out);
      for (uint32_t i = 0; i < CONFORMANCE_COUNT; i++) {
         uint64_t bits = 0;
         memcpy(&bits, b->host + (size_t)i * bytes, bytes);
         fprintf(out, "%02x", (unsigned)distance(in, i, bits) & 255);
      }
   }
   fputc('\n', out);
}

int main(int argc, char **argv) {
   struct driver d;
   static struct buffers b;
   char line[1024];
   int failed = 0, recorded = 0;
   if (argc != 3) {
      fprintf(stderr, "usage: %s INSTRUCTIONS OUT\n", argv[0]);
      return 2;
   }
   FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
   if (!in || !out || !open_device(&d, out, "record_vectors.c from instructions.txt"))
      return 3;
   for (int o = 0; o < 3; o++)
      if (d.allocate(&b.operand[o], CONFORMANCE_COUNT * 8))
         return 3;
   if (d.allocate(&b.result, CONFORMANCE_COUNT * 8) || d.allocate(&b.slots, CONFORMANCE_COUNT * 16))
      return 3;
   for (uint32_t number = 1; fgets(line, sizeof line, in); number++) {
      struct instruction instruction;
      const char *message;
      if (!conformance_parse(line, number, &instruction, &message)) {
         if (message)
            fprintf(stderr, "%s:%u: %s\n", argv[1], number, message), failed++;
         continue;
      }
      int status = run(&d, &instruction, &b);
      if (status) {
         fprintf(stderr, "%s:%u: %s: driver error %d\n", argv[1], number, instruction.text, status), failed++;
         continue;
      }
      write_results(out, &instruction, &b);
      recorded++;
   }
   printf("%d instructions recorded, %d failed\n", recorded, failed);
   return fclose(out) || failed ? 1 : 0;
}
