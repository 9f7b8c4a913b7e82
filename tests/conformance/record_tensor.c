/* rkb-record-tensor FORMS OUT [RAW] - runs the matrix instructions of the conformance set on the GPU of this machine and records, for
 * each, the first elements in full and a hash for each block of elements; RAW gets every byte.  Needs a driver (libcuda.so.1) and
 * nothing else.  One thread. */
#include "cuda_driver.h"
#include "tensor_vectors.h"

static int launch(const struct driver *d, const tensor_form_t *form, const uint64_t buffers[4], uint8_t *host,
                  size_t room) {
   static char ptx[65536];
   void *module = NULL, *function = NULL;
   if (!tensor_ptx(form, ptx, sizeof ptx))
      return -1;
   int status = d->load(&module, ptx);
   if (status)
      return status;
   status = d->function(&function, module, "tensor");
   for (uint32_t o = 1; o < 4 && !status; o++) {
      const size_t bytes = (size_t)form->warps * form->bytes[o];
      if (bytes > room)
         return -2;
      tensor_fill(form, o, host);
      status = d->to_device(buffers[o], host, bytes);
   }
   void *arguments[] = {(void *)&buffers[0], (void *)&buffers[1], (void *)&buffers[2], (void *)&buffers[3]};
   if (!status)
      status = d->launch(function, form->warps, 1, 1, form->threads, 1, 1, 0, NULL, arguments, NULL);
   if (!status)
      status = d->synchronize();
   if (!status)
      status = d->to_host(host, buffers[0], (size_t)form->warps * form->bytes[0]);
   d->unload(module);
   return status;
}

static void write_form(FILE *out, const tensor_form_t *form, const uint8_t *results) {
   const size_t block = (size_t)TENSOR_BLOCK * form->output_bytes;
   fprintf(out, "%016lx ", tensor_hash(form->text, strlen(form->text)));
   for (size_t n = 0; n < (size_t)TENSOR_SAMPLES * form->output_bytes; n++)
      fprintf(out, "%02x", results[n]);
   for (uint32_t b = 0; b < form->total / TENSOR_BLOCK; b++)
      fprintf(out, " %016lx", tensor_hash(results + b * block, block));
   fputc('\n', out);
}

int main(int argc, char **argv) {
   struct driver d;
   const size_t room = 16u << 20;
   uint8_t *host = malloc(room);
   uint64_t buffers[4];
   char line[1024];
   int failed = 0, recorded = 0;
   if (argc < 3) {
      fprintf(stderr, "usage: %s FORMS OUT [RAW]\n", argv[0]);
      return 2;
   }
   FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w"), *raw = argc > 3 ? fopen(argv[3], "wb") : NULL;
   if (!host || !in || !out || !open_device(&d, out, "record_tensor.c"))
      return 3;
   for (int o = 0; o < 4; o++)
      if (d.allocate(&buffers[o], room))
         return 3;
   while (fgets(line, sizeof line, in)) {
      tensor_form_t form;
      const char *message;
      if (!tensor_parse(line, &form, &message)) {
         if (message)
            fprintf(stderr, "%s: %s", message, line), failed++;
         continue;
      }
      const int status = launch(&d, &form, buffers, host, room);
      if (status) {
         fprintf(stderr, "%s: driver error %d\n", form.text, status), failed++;
         continue;
      }
      write_form(out, &form, host);
      if (raw)
         fwrite(host, 1, (size_t)form.warps * form.bytes[0], raw);
      recorded++;
   }
   printf("%d forms recorded, %d failed\n", recorded, failed);
   return fclose(out) || (raw && fclose(raw)) || failed ? 1 : 0;
}
