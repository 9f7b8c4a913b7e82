/* rkb-record-tiles FORMS OUT - runs the tensor copies of the conformance set on the GPU of this machine and records, for each, whether the
 * driver encodes its map, the first bytes of the image that the copy leaves and a hash of all of it.  Needs a driver (libcuda.so.1) and
 * nothing else.  One thread. */
#include "cuda_driver.h"
#include "tile_vectors.h"

/* CUDA driver API reference, 'Tensor Map Object Management'. */
typedef int encode_tiled_t(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int promotion, int fill);

static encode_tiled_t *find_encoder(void) {
   void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
        *symbol = handle ? dlsym(handle, "cuTensorMapEncodeTiled") : NULL;
   encode_tiled_t *encode;
   memcpy(&encode, &symbol, sizeof encode);
   return encode;
}

#define REFUSED -1
#define ENCODED -3

/* 0, a driver's error, REFUSED or ENCODED. */
static int run(const struct driver *d, encode_tiled_t *encode, const tile_form_t *form, uint64_t tensor,
               uint64_t image, uint8_t *host) {
   static char ptx[16384];
   static _Alignas(64) uint8_t map[RKB_MAP_BYTES];
   const rkb_plan_map_t *m = &form->map;
   void *module = NULL, *function = NULL, *arguments[] = {map, &image};
   if (encode(map, (int)m->type, m->rank, (void *)(uintptr_t)(tensor + m->offset), m->dims, m->strides,
              m->box, m->element_strides, (int)m->interleave, (int)m->swizzle, 0, (int)m->fill))
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

int main(int argc, char **argv) {
   struct driver d;
   uint8_t *host = malloc(TILE_TENSOR_BYTES);
   uint64_t tensor, image;
   char line[512];
   int failed = 0, recorded = 0, refused = 0;
   if (argc < 3) {
      fprintf(stderr, "usage: %s FORMS OUT\n", argv[0]);
      return 2;
   }
   FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
   encode_tiled_t *encode = find_encoder();
   if (!host || !in || !out || !encode || !open_device(&d, out, "record_tiles.c from tile_forms.txt") ||
       d.allocate(&tensor, TILE_TENSOR_BYTES) || d.allocate(&image, TILE_ROOM_BYTES))
      return 3;
   while (fgets(line, sizeof line, in)) {
      tile_form_t form;
      const char *message;
      if (!tile_parse(line, &form, &message)) {
         if (message)
            fprintf(stderr, "%s: %s", message, line), failed++;
         continue;
      }
      const int status = run(&d, encode, &form, tensor, image, host);
      if (status && status != REFUSED && status != ENCODED) {
         fprintf(stderr, "%s: driver error %d\n", form.text, status), failed++;
         fprintf(out, "%016lx error %d\n", tile_hash(form.text, strlen(form.text)), status);
         if (status > 0) /* the context is lost with it */
            break;
         continue;
      }
      write_form(out, &form, status, host);
      recorded += status == 0;
      refused += status == REFUSED;
   }
   printf("%d forms recorded, %d refused, %d failed\n", recorded, refused, failed);
   return fclose(out) || failed ? 1 : 0;
}
