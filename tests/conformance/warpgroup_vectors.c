/* Operands and kernels of wgmma.mma_async (warpgroup_vectors.h). */
#include "warpgroup_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct keys {
   uint32_t image[2], start[2], leading[2], stride[2], base[2], swizzle[2], across[2];
   int32_t sign[2], adds, saturates, registers;
} keys_t;

static bool read_keys(const char *rest, keys_t *keys) {
   char copy[512], *next = NULL;
   snprintf(copy, sizeof copy, "%s", rest);
   for (char *word = strtok_r(copy, " \n", &next); word; word = strtok_r(NULL, " \n", &next)) {
      char *value = strchr(word, '=');
      const int of_b = word[0] == 'b';
      if (!value)
         return false;
      *value++ = '\0';
      const long number = strtol(value, NULL, 10);
      if (strcmp(word, "add") == 0)
         keys->adds = (int32_t)number;
      else if (strcmp(word, "sat") == 0)
         keys->saturates = (int32_t)number;
      else if (strcmp(word, "reg") == 0)
         keys->registers = (int32_t)number;
      else if ((word[0] != 'a' && word[0] != 'b') || !word[1] || word[2])
         return false;
      else if (word[1] == 'm')
         keys->sign[of_b] = (int32_t)number;
      else {
         const char *letter = strchr("nsltowx", word[1]);
         uint32_t *const fields[] = {keys->image, keys->start,   keys->leading, keys->stride,
                                     keys->base,  keys->swizzle, keys->across};
         if (!letter)
            return false;
         fields[letter - "nsltowx"][of_b] = (uint32_t)number;
      }
   }
   return true;
}

static uint32_t bits_of(const char *type) {
   return strcmp(type, "f32") == 0 || strcmp(type, "s32") == 0 || strcmp(type, "tf32") == 0 ? 32
          : strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0                           ? 16
          : strcmp(type, "b1") == 0                                                         ? 1
                                                                                            : 8;
}

/* An image begins at a multiple of 1024 bytes. */
static uint32_t image_bytes(const tensor_form_t *form) {
   return (form->bytes[1] + 1023) & ~1023u;
}

static uint64_t descriptor_of(const keys_t *keys, uint32_t o, uint32_t image) {
   const uint32_t swizzle = keys->swizzle[o] == 128  ? 1
                            : keys->swizzle[o] == 64 ? 2
                            : keys->swizzle[o] == 32 ? 3
                                                     : 0;
   return (uint64_t)(image + keys->start[o]) >> 4 | (uint64_t)(keys->leading[o] >> 4) << 16 |
          (uint64_t)(keys->stride[o] >> 4) << 32 | (uint64_t)keys->base[o] << 49 | (uint64_t)swizzle << 62;
}

bool warpgroup_parse(const char *rest, tensor_form_t *out, const char **message) {
   /* Without a swizzle: groups of 8 lines of 16 bytes, the two halves of k one after the other. */
   keys_t keys = {.leading = {128, 128}, .stride = {256, 256}, .sign = {1, 1}, .adds = 1};
   const char *const wanted = "a shape with three types, and known keys, are wanted";
   out->kind = TENSOR_WARPGROUP;
   if (sscanf(out->opcode, "m%un%uk%u.%7[^.].%7[^.].%7s", &out->m, &out->n, &out->k, out->type[0],
              out->type[1], out->type[2]) != 6 ||
       !read_keys(rest, &keys)) {
      *message = wanted;
      return false;
   }
   snprintf(out->text + strlen(out->text), sizeof out->text - strlen(out->text), "%.100s", rest);
   out->text[strcspn(out->text, "\n")] = '\0';
   memcpy(out->type[3], out->type[0], sizeof out->type[0]);
   const uint32_t bits = bits_of(out->type[0]);
   out->outputs = out->m * out->n;
   out->output_bytes = bits / 8;
   out->registers[0] = out->registers[3] = out->outputs * bits / 32 / 128;
   out->bytes[0] = out->bytes[3] = out->outputs * bits / 8;
   out->bytes[1] = keys.image[0] ? keys.image[0] : 64 * 32;
   out->bytes[2] = keys.image[1] ? keys.image[1] : out->n * 32;
   out->registers[1] = 4;
   out->registers[2] = 1;
   out->threads = 128;
   out->total = TENSOR_WARPGROUP_OUTPUTS;
   out->warps = (out->total + out->outputs - 1) / out->outputs;
   out->a_in_registers = keys.registers;
   out->descriptor[0] = descriptor_of(&keys, 0, 0);
   out->descriptor[1] = descriptor_of(&keys, 1, image_bytes(out));
   const bool integers = strcmp(out->type[0], "s32") == 0, halves = bits_of(out->type[1]) == 16;
   char across[16] = "";
   if (halves && !keys.registers)
      snprintf(across, sizeof across, ", %u", keys.across[0]);
   if (halves)
      snprintf(across + strlen(across), sizeof across - strlen(across), ", %u", keys.across[1]);
   if (integers)
      snprintf(out->tail, sizeof out->tail, "%%p");
   else
      snprintf(out->tail, sizeof out->tail, "%%p, %d, %d%s", keys.sign[0], keys.sign[1], across);
   snprintf(out->opcode + strlen(out->opcode), sizeof out->opcode - strlen(out->opcode), "%s",
            strcmp(out->type[1], "b1") == 0 ? ".and.popc"
            : keys.saturates                ? ".satfinite"
                                            : "");
   if (!keys.adds) /* the first operand of setp */
      snprintf(out->layout[0], sizeof out->layout[0], "0");
   else
      snprintf(out->layout[0], sizeof out->layout[0], "1");
   return true;
}

/* wgmma.mma_async's opcode has .satfinite before and .and.popc after the types. */
static void write_opcode(FILE *out, const tensor_form_t *form) {
   fprintf(out, " wgmma.mma_async.sync.aligned.m%un%uk%u%s.%s.%s.%s%s ", form->m, form->n, form->k,
           strstr(form->opcode, ".satfinite") ? ".satfinite" : "", form->type[0], form->type[1],
           form->type[2], strstr(form->opcode, ".and.popc") ? ".and.popc" : "");
}

static void write_list(FILE *out, char name, uint32_t count) {
   fputc('{', out);
   for (uint32_t r = 0; r < count; r++)
      fprintf(out, "%s%%%c%u", r ? ", " : "", name, r);
   fputc('}', out);
}

/* All threads copy an image, a word each in turn. */
static void write_copy(FILE *out, char name, uint32_t at, uint32_t bytes) {
   fprintf(
      out,
      " mov.u32 %%t, %%tid.x; shl.b32 %%t, %%t, 2;\ncopy_%c:\n setp.ge.u32 %%p, %%t, %u; @%%p bra done_%c;\n"
      " cvt.u64.u32 %%l, %%t; add.u64 %%l, %%l, %%p%c; ld.global.b32 %%w, [%%l]; add.u32 %%x, %%base, %%t;\n"
      " st.shared.b32 [%%x + %u], %%w; add.u32 %%t, %%t, 512; bra copy_%c;\ndone_%c:\n",
      name, bytes, name, name, at, name, name);
}

size_t warpgroup_ptx(const tensor_form_t *form, char *text, size_t size) {
   static const char names[] = "dabc";
   const uint32_t image = image_bytes(form), results = form->registers[0];
   FILE *out = fmemopen(text, size, "w");
   if (!out)
      return 0;
   fprintf(
      out,
      ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry tensor(.param .u64 p_d, .param .u64 p_a, "
      ".param .u64 p_b, .param .u64 p_c)\n{\n .reg .b32 %%t, %%x, %%w, %%base, %%block; .reg .b64 %%l, %%da, %%db; "
      ".reg .pred %%p;\n .reg .b64 %%pd, %%pa, %%pb, %%pc; .reg .b32 %%d<%u>, %%a<4>;\n"
      " .shared .align 1024 .b8 room[%u];\n mov.u32 %%block, %%ctaid.x; mov.u32 %%base, room;\n",
      results, image + form->bytes[2]);
   for (int o = 0; o < 4; o++)
      fprintf(
         out,
         " ld.param.u64 %%p%c, [p_%c]; cvta.to.global.u64 %%p%c, %%p%c; mad.wide.u32 %%p%c, %%block, %u, %%p%c;\n",
         names[o], names[o], names[o], names[o], names[o], form->bytes[o], names[o]);
   write_copy(out, 'a', 0, form->bytes[1]);
   write_copy(out, 'b', image, form->bytes[2]);
   fprintf(
      out,
      " fence.proxy.async;\n bar.sync 0;\n mov.u32 %%t, %%tid.x; shl.b32 %%t, %%t, 2; cvt.u64.u32 %%l, %%t;\n"
      " add.u64 %%pc, %%pc, %%l; add.u64 %%pd, %%pd, %%l; add.u64 %%pa, %%pa, %%l;\n");
   for (uint32_t r = 0; r < results; r++)
      fprintf(out, " ld.global.b32 %%d%u, [%%pc + %u];\n", r, 512 * r);
   for (uint32_t r = 0; form->a_in_registers && r < 4; r++)
      fprintf(out, " ld.global.b32 %%a%u, [%%pa + %u];\n", r, 512 * r);
   fprintf(
      out,
      " shr.u32 %%x, %%base, 4; cvt.u64.u32 %%l, %%x; add.u64 %%da, %%l, 0x%lx; add.u64 %%db, %%l, 0x%lx;\n",
      form->descriptor[0], form->descriptor[1]);
   fprintf(out, " mov.u32 %%x, %s; setp.ne.u32 %%p, %%x, 0;\n wgmma.fence.sync.aligned;\n", form->layout[0]);
   write_opcode(out, form);
   write_list(out, 'd', results);
   if (form->a_in_registers) {
      fprintf(out, ", ");
      write_list(out, 'a', 4);
      fprintf(out, ", %%db, %s;\n", form->tail);
   } else {
      fprintf(out, ", %%da, %%db, %s;\n", form->tail);
   }
   fprintf(out, " wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n");
   for (uint32_t r = 0; r < results; r++)
      fprintf(out, " st.global.b32 [%%pd + %u], %%d%u;\n", 512 * r, r);
   fprintf(out, " ret;\n}\n");
   const long length = ftell(out);
   return fclose(out) || length < 0 || (size_t)length >= size ? 0 : (size_t)length;
}
