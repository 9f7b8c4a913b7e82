/* Device functions of products by warpgroups: constant tables, and the text of a wgmma of any type and width. */
#include "generator/text/warpgroup_text.h"

#include <stdio.h>
#include <string.h>
#include "generator/text/fragments.h"

#define FUNCTION "__device__ __forceinline__ "
#define AT(pointer) "(unsigned)__cvta_generic_to_shared(" pointer ")"

static const struct {
   const char *name, *text;
} helpers[] = {
   {"tensor_map", "/* Describes a matrix in memory to the unit that copies boxes of it. */\n"
                  "struct alignas(64) tensor_map {\n   char bytes[128];\n};\n"},
   {"barrier_start(",
    "/* A barrier's round ends when so many have arrived, and the bytes that they announced. */\n" FUNCTION
    "void barrier_start(unsigned long long *barrier, int arrivals) {\n"
    "   asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" : : \"r\"(" AT(
       "barrier") "), \"r\"(arrivals)\n"
                  "                : \"memory\");\n}\n"},
   {"barriers_started(",
    "/* The copying unit, too, sees barriers as they were started. */\n" FUNCTION
    "void barriers_started() {\n   asm volatile(\"fence.mbarrier_init.release.cluster;\" : : : \"memory\");\n}\n"},
   {"barrier_arrive(", FUNCTION "void barrier_arrive(unsigned long long *barrier) {\n"
                                "   asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" : : \"r\"(" AT(
                                   "barrier") ") : \"memory\");\n}\n"},
   {"barrier_expect(",
    "/* Arrives, and announces bytes that copies will bring. */\n" FUNCTION
    "void barrier_expect(unsigned long long *barrier, int bytes) {\n"
    "   asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" : : \"r\"(" AT(
       "barrier") "), \"r\"(bytes)\n"
                  "                : \"memory\");\n}\n"},
   {"barrier_wait(",
    "/* Waits for the end of a round; turn: 0 for the first, 1 for the second, and so on. */\n" FUNCTION
    "void barrier_wait(unsigned long long *barrier, int turn) {\n"
    "   unsigned ended = 0;\n"
    "   while (!ended)\n"
    "      asm volatile(\"{\\n.reg .pred ended;\\nmbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\\n\"\n"
    "                   \"selp.u32 %0, 1, 0, ended;\\n}\"\n"
    "                   : \"=r\"(ended) : \"r\"(" AT("barrier") "), \"r\"(turn) : \"memory\");\n}\n"},
   {"copy_tile(",
    "/* Copies a box of a matrix to shared memory, zeros where it has no elements. */\n" FUNCTION
    "void copy_tile(void *to, const tensor_map *map, unsigned long long *barrier, int x, int y) {\n"
    "   asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \"\n"
    "                \"[%0], [%1, {%2, %3}], [%4];\"\n"
    "                : : \"r\"(" AT("to") "), \"l\"(map), \"r\"(x), \"r\"(y), \"r\"(" AT(
       "barrier") ")\n"
                  "                : \"memory\");\n}\n" FUNCTION
                  "void copy_tile(void *to, const tensor_map *map, unsigned long long *barrier, int x, int y, int z) {\n"
                  "   asm volatile(\"cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \"\n"
                  "                \"[%0], [%1, {%2, %3, %4}], [%5];\"\n"
                  "                : : \"r\"(" AT("to") "), \"l\"(map), \"r\"(x), \"r\"(y), \"r\"(z), \"r\"(" AT(
                     "barrier") ")\n"
                                "                : \"memory\");\n}\n"},
   {"copy_part(",
    "/* Copies a box of an image's channels to shared memory, zeros where the image has no pixels or no more channels. */\n" FUNCTION
    "void copy_part(void *to, const tensor_map *map, unsigned long long *barrier, int along, int down, int channel, int image) {\n"
    "   asm volatile(\"cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \"\n"
    "                \"[%0], [%1, {%2, %3, %4, %5}], [%6];\"\n"
    "                : : \"r\"(" AT(
       "to") "), \"l\"(map), \"r\"(along), \"r\"(down), \"r\"(channel), \"r\"(image),\n"
             "                \"r\"(" AT("barrier") ") : \"memory\");\n}\n"},
   {"copy_pixels(",
    "/* Copies channels of neighbouring pixels, each so far to the right and down, zeros where an image has no pixel. */\n" FUNCTION
    "void copy_pixels(void *to, const tensor_map *map, unsigned long long *barrier, int channel, int x, int y, int image,\n"
    "                            int right, int down) {\n"
    "   asm volatile(\"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes \"\n"
    "                \"[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};\"\n"
    "                : : \"r\"(" AT("to") "), \"l\"(map), \"r\"(channel), \"r\"(x), \"r\"(y), \"r\"(image), \"r\"(" AT(
       "barrier") "),\n"
                  "                \"h\"((unsigned short)right), \"h\"((unsigned short)down) : \"memory\");\n}\n"},
   {"fewer_registers<", "/* A warpgroup gives registers back, which another asks for. */\n"
                        "template <int count> " FUNCTION "void fewer_registers() {\n"
                        "   asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" : : \"n\"(count));\n}\n"},
   {"more_registers<", "template <int count> " FUNCTION "void more_registers() {\n"
                       "   asm volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" : : \"n\"(count));\n}\n"},
   {"matrix(",
    "/* What a product reads: rows of 128 bytes, their pieces of 16 exchanged by the row, in groups of eight rows; distance: from 64\n"
    " * elements across to the next, where neighbours in memory lie across. */\n" FUNCTION
    "unsigned long long matrix(const unsigned char *at, int distance) {\n"
    "   return (unsigned long long)(" AT(
       "at") " >> 4 | distance / 16 << 16) | 64ull << 32 | 1ull << 62;\n}\n"},
   {"hold(", "/* Stops the compiler from moving or copying sums while a product may write them. */\n"
             "template <int rows, int columns> " FUNCTION "void hold(float (&sums)[rows][columns]) {\n"
             "   #pragma unroll\n"
             "   for (int i = 0; i < rows * columns; i++)\n"
             "      asm volatile(\"\" : \"+f\"(sums[i / columns][i % columns]) : : \"memory\");\n}\n"
             "template <int rows, int columns> " FUNCTION "void hold(int (&sums)[rows][columns]) {\n"
             "   #pragma unroll\n"
             "   for (int i = 0; i < rows * columns; i++)\n"
             "      asm volatile(\"\" : \"+r\"(sums[i / columns][i % columns]) : : \"memory\");\n}\n"},
   {"hold_sums(", "/* Stops the compiler from moving or copying sums while a product may write them. */\n"
                  "template <int columns> " FUNCTION "void hold_sums(float (&sums)[columns]) {\n"
                  "   #pragma unroll\n"
                  "   for (int i = 0; i < columns; i++)\n"
                  "      asm volatile(\"\" : \"+f\"(sums[i]) : : \"memory\");\n}\n"},
   {"hold_rows(",
    "/* Loads 16 of a warpgroup's rows as fragments have them, from a tile of which 64 elements across lie in a box. */\n"
    "template <int steps> " FUNCTION
    "void hold_rows(unsigned (&held)[steps][4], const unsigned char *rows, int box) {\n"
    "   const int lane = threadIdx.x % 32;\n"
    "   #pragma unroll\n"
    "   for (int step = 0; step < steps; step++)\n"
    "      #pragma unroll\n"
    "      for (int r = 0; r < 4; r++) {\n"
    "         const int row = lane / 4 + r % 2 * 8, piece = step % 4 * 2 + r / 2;\n"
    "         held[step][r] = *(const unsigned *)(rows + step / 4 * box + row * 128 + (piece ^ row % 8) * 16 + lane % 4 * 4);\n"
    "      }\n}\n"},
   {"rounded_rows(",
    "/* A warp stores 16 rows of 64 of its sums, rounded, in rows of 144 bytes. */\n" FUNCTION
    "void rounded_rows(unsigned char *rows, const float *sums) {\n"
    "   const int lane = threadIdx.x % 32;\n"
    "   #pragma unroll\n"
    "   for (int eight = 0; eight < 8; eight += 2) {\n"
    "      unsigned pairs[4];\n"
    "      #pragma unroll\n"
    "      for (int p = 0; p < 4; p++)\n"
    "         asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(pairs[p]) : \"f\"(sums[eight * 4 + p * 2 + 1]), \"f\"(sums[eight * 4 + p * 2]));\n"
    "      asm volatile(\"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\"\n"
    "                   : : \"r\"(" AT(
       "rows + lane % 16 * 144 + (eight + lane / 16) * 16") "),\n"
                                                            "                   \"r\"(pairs[0]), \"r\"(pairs[1]), \"r\"(pairs[2]), \"r\"(pairs[3]) : \"memory\");\n"
                                                            "   }\n}\n"},
   {"take_turn(",
    "/* Two warpgroups meet at a barrier: one waits for its turn, which the other passes on without waiting. */\n" FUNCTION
    "void take_turn(int barrier) {\n   asm volatile(\"bar.sync %0, 256;\" : : \"r\"(barrier) : \"memory\");\n}\n"},
   {"pass_turn(", FUNCTION
    "void pass_turn(int barrier) {\n   asm volatile(\"bar.arrive %0, 256;\" : : \"r\"(barrier) : \"memory\");\n}\n"},
   {"products_begin(",
    "/* Products that follow see the sums as they are here. */\n" FUNCTION
    "void products_begin() {\n   asm volatile(\"wgmma.fence.sync.aligned;\" : : : \"memory\");\n}\n"},
   {"products_see(",
    "/* Products, too, see what this thread wrote to shared memory. */\n" FUNCTION
    "void products_see() {\n   asm volatile(\"fence.proxy.async.shared::cta;\" : : : \"memory\");\n}\n"},
   {"products_sent(",
    "/* Ends a group of products. */\n" FUNCTION
    "void products_sent() {\n   asm volatile(\"wgmma.commit_group.sync.aligned;\" : : : \"memory\");\n}\n"},
   {"products_done<",
    "/* Waits until no more than so many groups of products are under way. */\n"
    "template <int groups> " FUNCTION "void products_done() {\n"
    "   asm volatile(\"wgmma.wait_group.sync.aligned %0;\" : : \"n\"(groups) : \"memory\");\n}\n"},
};

/* Whether the code names the function, and not just a longer name that ends like it. */
static bool calls(const char *code, const char *name) {
   const char *found = strstr(code, name);
   while (found && found > code && (found[-1] == '_' || (found[-1] >= 'a' && found[-1] <= 'z')))
      found = strstr(found + 1, name);
   return found != NULL;
}

/* What a function does with the product of 64 rows by n columns over 32 bytes of depth; and the word for
 * it. */
enum way { ADD, BEGIN, ADD_HELD, BEGIN_HELD, WAYS };
static const struct {
   const char *does, *prefix;
   bool adds, held;
} ways[WAYS] = {
   [ADD] = {"Adds", "", true, false},
   [BEGIN] = {"Begins sums with", "begin_", false, false},
   [ADD_HELD] = {"Adds, of rows in a thread's registers as fragments have them,", "add_held_", true, true},
   [BEGIN_HELD] = {"Begins sums, of rows in a thread's registers as fragments have them, with", "begin_held_",
                   false, true},
};

static const char *name_of(const rkb_fragment_type_t *type, enum way way, int n, char name[40]) {
   snprintf(name, 40, "%s%s_n%d", ways[way].prefix, way == ADD ? type->multiply : type->name, n);
   return name;
}

static void write_product(const rkb_fragment_type_t *type, enum way way, int n, rkb_text_t *out) {
   const int sums = n / 2, left = ways[way].held ? 4 : 1;
   const bool across = type->bytes == 2, integers = strcmp(type->sum, "int") == 0, held = ways[way].held;
   char name[40];
   rkb_text_format(out,
                   "/* %s the product of 64 rows and %d columns, %u terms of each.%s */\n%s" FUNCTION
                   "void %s(%s (&sums)[%d], %s, unsigned long long right) {\n"
                   "   asm volatile(\"wgmma.mma_async.sync.aligned.m64n%dk%u%s {\"",
                   ways[way].does, n, RKB_FRAGMENT_BYTES / type->bytes,
                   across ? "  1: neighbours in memory lie across, not along the terms." : "",
                   !across ? ""
                   : held  ? "template <int right_across> "
                           : "template <int left_across, int right_across> ",
                   name_of(type, way, n, name), type->sum, sums,
                   held ? "const unsigned (&left)[4]" : "unsigned long long left", n,
                   RKB_FRAGMENT_BYTES / type->bytes, type->warpgroup);
   for (int i = 0; i < sums; i++)
      rkb_text_format(out, "%s%%%d%s", i % 16 == 0 ? "\n                \"" : "", i, i + 1 < sums ? (i % 16 == 15 ? ", \"" : ", ") : "");
   rkb_text_add(out, "}, \"\n                \"");
   if (held)
      rkb_text_format(out, "{%%%d, %%%d, %%%d, %%%d}, %%%d, %d", sums, sums + 1, sums + 2, sums + 3,
                      sums + left, ways[way].adds);
   else
      rkb_text_format(out, "%%%d, %%%d, %d", sums, sums + left, ways[way].adds);
   if (!integers)
      rkb_text_add(out, ", 1, 1");
   for (int side = held; across && side < 2; side++)
      rkb_text_format(out, ", %%%d", sums + left + 1 + side - held);
   rkb_text_add(out, ";\"\n                : ");
   for (int i = 0; i < sums; i++)
      rkb_text_format(out, "\"+%s\"(sums[%d])%s", integers ? "r" : "f", i, i + 1 == sums ? "\n" : i % 6 == 5 ? ",\n                  " : ", ");
   rkb_text_format(out, "                : %s, \"l\"(right)%s%s\n                : \"memory\");\n}\n\n",
                   held ? "\"r\"(left[0]), \"r\"(left[1]), \"r\"(left[2]), \"r\"(left[3])" : "\"l\"(left)",
                   across && !held ? ", \"n\"(left_across)" : "", across ? ", \"n\"(right_across)" : "");
}

void rkb_warpgroup_helpers(const char *code, rkb_text_t *out) {
   for (size_t h = 0; h < sizeof helpers / sizeof helpers[0]; h++) {
      if (calls(code, helpers[h].name))
         rkb_text_format(out, "%s\n", helpers[h].text);
   }
   for (int64_t path = 1; path < RKB_TENSOR_PATHS; path++)
      for (int n = 32; n <= 256; n += 8)
         for (enum way way = ADD; way < WAYS; way++) {
            const rkb_fragment_type_t *type = rkb_fragment_type(path);
            char name[40], call[44];
            snprintf(call, sizeof call, "%s%s", name_of(type, way, n, name), type->bytes == 2 ? "<" : "(");
            if (type->warpgroup && calls(code, call))
               write_product(type, way, n, out);
         }
}

bool rkb_warpgroup_has_helper(const char *name) {
   for (size_t h = 0; h < sizeof helpers / sizeof helpers[0]; h++) {
      const size_t length = *helpers[h].name == *name ? strcspn(helpers[h].name, "<(") : 0;
      if (length && strncmp(helpers[h].name, name, length) == 0 && !name[length])
         return true;
   }
   return false;
}
