/* rkb-record-tiles FORMS OUT - runs the tensor copies of the conformance set on the GPU of this machine and records, for each, whether the
 * driver encodes its map, the first bytes of the image that the copy leaves and a hash of all of it.  Needs a driver (libcuda.so.1) and
 * nothing else.
 *
 * A copy that the device refuses takes the process's context with it.  A child therefore runs the forms, one after another, until one fails;
 * the next child begins after it, so that a lost context costs one form.  One thread a process. */
#include "cuda_driver.h"
#include "tile_vectors.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORM_SECONDS 8u /* a copy that never completes */

/* CUDA driver API reference, 'Tensor Map Object Management'. */
typedef int encode_tiled_t(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int promotion, int fill);

typedef int encode_im2col_t(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                            const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                            uint32_t pixels, const uint32_t *element_strides, int interleave, int swizzle,
                            int promotion, int fill);

typedef struct encoder {
   encode_tiled_t *tiled;
   encode_im2col_t *im2col;
} encoder_t;

static bool find_encoder(encoder_t *encoder) {
   void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
        *tiled = handle ? dlsym(handle, "cuTensorMapEncodeTiled") : NULL,
        *im2col = handle ? dlsym(handle, "cuTensorMapEncodeIm2col") : NULL;
   memcpy(&encoder->tiled, &tiled, sizeof tiled);
   memcpy(&encoder->im2col, &im2col, sizeof im2col);
   return tiled && im2col;
}

static int encode_map(const encoder_t *encoder, const tile_form_t *form, uint64_t tensor, void *map) {
   const rkb_plan_map_t *m = &form->map;
   void *address = (void *)(uintptr_t)(tensor + m->offset);
   if (m->im2col)
      return encoder->im2col(map, (int)m->type, m->rank, address, m->dims, m->strides, m->lower, m->upper,
                             m->channels, m->pixels, m->element_strides, (int)m->interleave, (int)m->swizzle,
                             0, (int)m->fill);
   return encoder->tiled(map, (int)m->type, m->rank, address, m->dims, m->strides, m->box, m->element_strides,
                         (int)m->interleave, (int)m->swizzle, 0, (int)m->fill);
}

#define REFUSED -1
#define ENCODED -3

/* 0, a driver's error, REFUSED or ENCODED. */
static int run(const struct driver *d, const encoder_t *encoder, const tile_form_t *form, uint64_t tensor,
               uint64_t image, uint8_t *host) {
   static char ptx[16384];
   static _Alignas(64) uint8_t map[RKB_MAP_BYTES];
   void *module = NULL, *function = NULL, *arguments[] = {map, &image};
   if (encode_map(encoder, form, tensor, map))
      return REFUSED;
   if (tile_larger(form))
      return ENCODED;
   if (!tile_ptx(form, ptx, sizeof ptx))
      return -2;
   int status = d->load(&module, ptx);
   if (status)
      return status;
   tile_fill_tensor(form, host);
   status = d->function(&function, module, "tile");
   if (!status)
      status = d->to_device(tensor, host, TILE_TENSOR_BYTES);
   if (!status)
      status = d->launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
   if (!status)
      status = d->synchronize();
   if (!status)
      status =
         d->to_host(host, form->load ? image : tensor, form->load ? TILE_ROOM_BYTES : TILE_TENSOR_BYTES);
   d->unload(module);
   return status;
}

static void write_form(FILE *out, const tile_form_t *form, int status, const uint8_t *image) {
   fprintf(out, "%016lx ", tile_hash(form->text, strlen(form->text)));
   if (status) {
      fprintf(out, "%s\n", status == REFUSED ? TILE_REFUSED : TILE_ENCODED);
      return;
   }
   for (uint32_t n = 0; n < TILE_SAMPLE; n++)
      fprintf(out, "%02x", image[n]);
   fprintf(out, " %016lx\n", tile_hash(image, form->load ? TILE_ROOM_BYTES : TILE_TENSOR_BYTES));
}

/* Runs the forms from number first on and writes a line for each; returns after the first that fails. */
static int run_forms(FILE *in, FILE *out, uint32_t first) {
   struct driver d;
   uint8_t *host = malloc(TILE_TENSOR_BYTES);
   uint64_t tensor, image;
   char line[512];
   uint32_t number = 0;
   encoder_t encoder;
   if (!host || !find_encoder(&encoder) || !open_device(&d, out, "record_tiles.c") ||
       d.allocate(&tensor, TILE_TENSOR_BYTES) || d.allocate(&image, TILE_ROOM_BYTES))
      return 3;
   while (fgets(line, sizeof line, in)) {
      tile_form_t form;
      const char *message;
      if (!tile_parse(line, &form, &message)) {
         if (message)
            fprintf(stderr, "%s: %s", message, line);
         continue;
      }
      if (number++ < first)
         continue;
      alarm(FORM_SECONDS);
      const int status = run(&d, &encoder, &form, tensor, image, host);
      if (status && status != REFUSED && status != ENCODED) {
         fprintf(stderr, "%s: driver error %d\n", form.text, status);
         fprintf(out, "%016lx " TILE_ERROR " %d\n", tile_hash(form.text, strlen(form.text)), status);
         break;
      }
      write_form(out, &form, status, host);
      fflush(out);
   }
   return fflush(out) ? 3 : 0;
}

/* Copies a child's lines, the heading of the first alone; the number of forms among them. */
static uint32_t copy_lines(FILE *from, FILE *out, bool heading, uint32_t *failed) {
   char line[1024];
   uint32_t count = 0;
   while (fgets(line, sizeof line, from)) {
      if (line[0] != '#' || heading)
         fputs(line, out);
      if (line[0] != '#')
         count++;
      *failed += strstr(line, " " TILE_ERROR " ") != NULL;
   }
   fflush(out);
   return count;
}

int main(int argc, char **argv) {
   uint32_t done = 0, failed = 0, forms = 0;
   char line[512];
   if (argc < 3) {
      fprintf(stderr, "usage: %s FORMS OUT\n", argv[0]);
      return 2;
   }
   FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
   if (!in || !out)
      return 3;
   while (fgets(line, sizeof line, in))
      forms += line[0] != '#' && line[0] != '\n';
   while (done < forms) {
      int ends[2], status;
      if (pipe(ends))
         return 3;
      const pid_t child = fork();
      if (child < 0)
         return 3;
      if (child == 0) {
         FILE *again = fopen(argv[1], "r"), *lines = fdopen(ends[1], "w");
         close(ends[0]);
         _exit(again && lines ? run_forms(again, lines, done) : 3);
      }
      close(ends[1]);
      FILE *lines = fdopen(ends[0], "r");
      const uint32_t count = lines ? copy_lines(lines, out, done == 0, &failed) : 0;
      if (lines)
         fclose(lines);
      waitpid(child, &status, 0);
      done += count;
      if (WIFSIGNALED(status)) { /* the form after the last line ended it */
         fprintf(stderr, "form %u: signal %d\n", done, WTERMSIG(status));
         fprintf(out, "%016x error signal\n", 0);
         done++, failed++;
      } else if (WEXITSTATUS(status) || !count) {
         return 3;
      }
   }
   printf("%u forms recorded, %u failed\n", done, failed);
   return fclose(out) || failed ? 1 : 0;
}
