/* Tensor maps in an exported file: the encoder, found in the driver at run time, and a variable for each map of the manifest.  Owns
 * nothing; any thread. */
#include "kernel/export_parts.h"
#include "kernel/tensor_map.h"

#include <string.h>

/* The numbers of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, so that the file needs no cuda.h.  corners: the corners of the box of pixels, then
 * the numbers of channels and pixels; NULL: the map has an ordinary box. */
static const char encoder[] =
   "\n/* A tensor map: 128 bytes that the driver encodes. */\n"
   "namespace {\nstruct alignas(64) rkb_map {\n   unsigned char bytes[128];\n};\n"
   "struct rkb_pixels {\n   int lower[3], upper[3];\n   uint32_t channels, pixels;\n};\n"
   "typedef int rkb_encode_t(void *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides,\n"
   "                         const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill);\n"
   "typedef int rkb_encode_pixels_t(void *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides,\n"
   "                                const int *lower, const int *upper, uint32_t channels, uint32_t pixels, const uint32_t *steps,\n"
   "                                int interleave, int swizzle, int promotion, int fill);\n"
   "cudaError_t rkb_encode(rkb_map &map, int type, uint32_t rank, const void *address, const uint64_t *dims, const uint64_t *strides,\n"
   "                       const uint32_t *box, const rkb_pixels *pixels, const uint32_t *steps, int interleave, int swizzle, int fill) {\n"
   "   const char *name = pixels ? \"cuTensorMapEncodeIm2col\" : \"cuTensorMapEncodeTiled\";\n"
   "   void *encode = nullptr;\n   cudaDriverEntryPointQueryResult found;\n"
   "#if CUDART_VERSION >= 12050\n"
   "   const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &encode, 12000, cudaEnableDefault, &found);\n"
   "#else\n"
   "   const cudaError_t status = cudaGetDriverEntryPoint(name, &encode, cudaEnableDefault, &found);\n"
   "#endif\n"
   "   if (status != cudaSuccess)\n      return status;\n   if (!encode)\n      return cudaErrorNotSupported;\n"
   "   const int refused =\n"
   "      pixels ? ((rkb_encode_pixels_t *)encode)(&map, type, rank, (void *)address, dims, strides, pixels->lower, pixels->upper,\n"
   "                                               pixels->channels, pixels->pixels, steps, interleave, swizzle, 0, fill)\n"
   "             : ((rkb_encode_t *)encode)(&map, type, rank, (void *)address, dims, strides, box, steps, interleave, swizzle, 0, fill);\n"
   "   return refused ? cudaErrorInvalidValue : cudaSuccess;\n}\n} // namespace\n";

void export_map_encoder(exporter_t *exporter) {
   if (exporter->manifest->map_count)
      rkb_text_add(exporter->out, encoder);
}

bool export_is_map(const exporter_t *exporter, const char *name) {
   for (uint32_t i = 0; i < exporter->manifest->map_count; i++)
      if (strcmp(exporter->manifest->maps[i].name, name) == 0)
         return true;
   return false;
}

static void write_array(exporter_t *exporter, const char *type, const char *map, const char *what,
                        rkb_expression_t *const *list, uint32_t count, const char *times) {
   rkb_text_format(exporter->out, "      const %s rkb_%s_%s[] = {", type, map, what);
   for (uint32_t k = 0; k < count; k++) {
      rkb_text_format(exporter->out, "%s(%s)(", k ? ", " : "", type);
      if (list)
         rkb_expression_write(list[k], exporter->out);
      else
         rkb_text_add(exporter->out, "1");
      rkb_text_format(exporter->out, ")%s", times);
   }
   rkb_text_add(exporter->out, count ? "};\n" : "0};\n");
}

/* Writes dense strides: each dimension follows the previous one without a gap. */
static void write_dense_strides(exporter_t *exporter, const manifest_map_t *map) {
   rkb_text_format(exporter->out, "      uint64_t rkb_%s_strides[%u] = {};\n", map->name, RKB_MAP_MOST_RANK);
   for (uint32_t k = 1; k < map->rank; k++)
      if (k == 1)
         rkb_text_format(exporter->out, "      rkb_%s_strides[0] = rkb_%s_dims[0] * sizeof(*%s);\n",
                         map->name, map->name, map->buffer);
      else
         rkb_text_format(exporter->out, "      rkb_%s_strides[%u] = rkb_%s_strides[%u] * rkb_%s_dims[%u];\n",
                         map->name, k - 1, map->name, k - 2, map->name, k - 1);
}

static uint32_t type_of(const exporter_t *exporter, const manifest_map_t *map) {
   const rkb_export_tensor_t *tensor = export_tensor(exporter, map->buffer);
   for (uint32_t i = 0; !tensor && i < exporter->manifest->scratch_count; i++)
      if (strcmp(exporter->manifest->scratch[i].name, map->buffer) == 0)
         return rkb_tensor_map_type(exporter->manifest->scratch[i].dtype);
   return tensor ? rkb_tensor_map_type(tensor->dtype) : 0;
}

static void write_corner(exporter_t *exporter, rkb_expression_t *const *list, uint32_t count) {
   rkb_text_add(exporter->out, "{");
   for (uint32_t k = 0; k < count; k++) {
      rkb_text_add(exporter->out, k ? ", (int)(" : "(int)(");
      rkb_expression_write(list[k], exporter->out);
      rkb_text_add(exporter->out, ")");
   }
   rkb_text_add(exporter->out, "}, ");
}

static void write_pixels(exporter_t *exporter, const manifest_map_t *map) {
   rkb_text_format(exporter->out, "      const rkb_pixels rkb_%s_pixels = {", map->name);
   write_corner(exporter, map->lower, map->rank - 2);
   write_corner(exporter, map->upper, map->rank - 2);
   rkb_text_add(exporter->out, "(uint32_t)(");
   rkb_expression_write(map->channels, exporter->out);
   rkb_text_add(exporter->out, "), (uint32_t)(");
   rkb_expression_write(map->pixels, exporter->out);
   rkb_text_add(exporter->out, ")};\n");
}

static void write_map(exporter_t *exporter, const manifest_map_t *map) {
   rkb_text_t *out = exporter->out;
   char element[96];
   snprintf(element, sizeof element, " * sizeof(*%.64s)", map->buffer);
   write_array(exporter, "uint64_t", map->name, "dims", map->dims, map->rank, "");
   if (map->strides)
      write_array(exporter, "uint64_t", map->name, "strides", map->strides, map->rank - 1, element);
   else
      write_dense_strides(exporter, map);
   if (map->pixels)
      write_pixels(exporter, map);
   else
      write_array(exporter, "uint32_t", map->name, "box", map->box, map->rank, "");
   write_array(exporter, "uint32_t", map->name, "steps", map->steps, map->rank, "");
   rkb_text_format(out, "      rkb_map %s;\n      status = rkb_encode(%s, %u, %u, %s + ", map->name,
                   map->name, map->typed ? map->type : type_of(exporter, map), map->rank, map->buffer);
   if (map->offset)
      rkb_expression_write(map->offset, out);
   else
      rkb_text_add(out, "0");
   rkb_text_format(out, ", rkb_%s_dims, rkb_%s_strides, ", map->name, map->name);
   rkb_text_format(out, map->pixels ? "nullptr, &rkb_%s_pixels" : "rkb_%s_box, nullptr", map->name);
   rkb_text_format(out, ", rkb_%s_steps, %u, %u, %u);\n", map->name, map->interleave, map->swizzle,
                   map->fill);
   rkb_text_add(out, "      if (status != cudaSuccess)\n         return status;\n");
}

static bool takes(const manifest_launch_t *launch, const char *name) {
   for (uint32_t i = 0; i < launch->argument_count; i++)
      if (launch->arguments[i].head && strcmp(launch->arguments[i].head, name) == 0)
         return true;
   return false;
}

void export_maps(exporter_t *exporter, const manifest_launch_t *launch) {
   for (uint32_t i = 0; i < exporter->manifest->map_count; i++)
      if (takes(launch, exporter->manifest->maps[i].name))
         write_map(exporter, &exporter->manifest->maps[i]);
}
