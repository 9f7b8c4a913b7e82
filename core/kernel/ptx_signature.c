/* An entry's parameters, launch bounds and static shared memory, read from the PTX itself: the layout a
 * launch must fill. PTX ISA 9.0, sections 5.1.6 (.param), 11.4 (performance-tuning directives).  Owns
 * nothing; any thread. */
#include "kernel/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 256 };

typedef struct cursor {
   const char *at, *end;
} cursor_t;

static void skip_space(cursor_t *in) {
   for (;;) {
      while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at)
         in->at++;
      if (in->end - in->at >= 2 && in->at[0] == '/' && in->at[1] == '/') {
         while (in->at < in->end && *in->at != '\n')
            in->at++;
      } else
         return;
   }
}

/* Copies the next word (a directive, a name or a number) to out; punctuation is one byte.  False at the end. */
static bool word(cursor_t *in, char *out, size_t room) {
   size_t length = 0;
   skip_space(in);
   while (in->at < in->end) {
      char c = *in->at;
      bool inside = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                    c == '$' || c == '.' || c == '%';
      if ((!inside && length) || length + 1 >= room || !c)
         break;
      out[length++] = c;
      in->at++;
      if (!inside)
         break;
   }
   out[length] = '\0';
   return length > 0;
}

static uint32_t type_bytes(const char *type) {
   static const struct {
      const char *name;
      uint32_t bytes;
   } table[] = {{".u64", 8},  {".s64", 8}, {".b64", 8}, {".f64", 8}, {".u32", 4},  {".s32", 4},
                {".b32", 4},  {".f32", 4}, {".u16", 2}, {".s16", 2}, {".b16", 2},  {".f16", 2},
                {".bf16", 2}, {".u8", 1},  {".s8", 1},  {".b8", 1},  {".b128", 16}};
   for (size_t i = 0; i < sizeof table / sizeof *table; i++)
      if (strcmp(table[i].name, type) == 0)
         return table[i].bytes;
   return 0;
}

/* Reads one `.param ...` up to the comma or the closing parenthesis; last receives that character. */
static bool read_parameter(cursor_t *in, rkb_arena_t *arena, uint32_t *offset, rkb_parameter_t *parameter,
                           char *last, size_t room) {
   uint32_t align = 0, elements = 1, element_bytes = 0;
   bool pointer = false, brackets = false;
   char text[4096];
   while (word(in, text, sizeof text) && strcmp(text, ",") != 0 && strcmp(text, ")") != 0) {
      if (strcmp(text, ".ptr") == 0)
         pointer = true;
      else if (strcmp(text, ".align") == 0 && word(in, text, sizeof text)) {
         if (!pointer) /* after .ptr this is the alignment of the memory that it points to */
            align = (uint32_t)strtoul(text, NULL, 10);
      } else if (strcmp(text, "[") == 0 && word(in, text, sizeof text)) {
         elements = (uint32_t)strtoul(text, NULL, 10);
         brackets = true;
      } else if (text[0] == '.' && type_bytes(text)) {
         element_bytes = type_bytes(text);
         parameter->ptx_type = rkb_arena_text(arena, text + 1, strlen(text + 1));
      }
   }
   snprintf(last, room, "%s", text);
   if (!element_bytes || !elements || elements > 65536 || align > 256)
      return false;
   align = align ? align : element_bytes;
   parameter->bytes = element_bytes * elements;
   parameter->alignment = align;
   *offset = (*offset + align - 1) / align * align;
   parameter->offset = *offset;
   *offset += parameter->bytes;
   parameter->is_pointer =
      pointer ? RKB_PARAMETER_POINTER
      : parameter->bytes == 8 && !brackets && parameter->ptx_type && parameter->ptx_type[0] != 'f'
         ? RKB_PARAMETER_UNKNOWN
         : RKB_PARAMETER_NUMBER;
   return true;
}

/* Reads .maxntid x, y, z and .reqntid between the parameters and the body. */
static void read_bounds(cursor_t *in, rkb_built_kernel_t *kernel) {
   char text[4096] = "";
   bool counting = false;
   while (in->at < in->end && word(in, text, sizeof text) && strcmp(text, "{") != 0) {
      if (strcmp(text, ".maxntid") == 0 || strcmp(text, ".reqntid") == 0) {
         counting = true;
         kernel->max_threads = 1;
      } else if (text[0] == '.')
         counting = false;
      else if (counting && text[0] >= '0' && text[0] <= '9')
         kernel->max_threads *= (uint32_t)strtoul(text, NULL, 10);
   }
}

static const char *body_end(const char *at, const char *end) {
   uint32_t depth = 1;
   for (; at < end; at++) {
      if (*at == '{')
         depth++;
      else if (*at == '}' && --depth == 0)
         return at;
   }
   return end;
}

static bool read_list(cursor_t *in, rkb_arena_t *arena, rkb_built_kernel_t *kernel) {
   rkb_parameter_t *list = rkb_arena_array(arena, MAX_PARAMETERS, sizeof *list);
   uint32_t offset = 0;
   char last[16] = ",";
   kernel->parameter_count = 0;
   kernel->parameters = list;
   skip_space(in);
   if (in->at < in->end && *in->at == ')') {
      in->at++;
      return true;
   }
   while (strcmp(last, ",") == 0 && kernel->parameter_count < MAX_PARAMETERS) {
      if (!read_parameter(in, arena, &offset, &list[kernel->parameter_count], last, sizeof last))
         return false;
      kernel->parameter_count++;
   }
   return strcmp(last, ")") == 0;
}

static bool find_entry(cursor_t *in, const char *entry) {
   char name[8192];
   while (in->at < in->end) {
      const char *found = memmem(in->at, (size_t)(in->end - in->at), ".entry", 6);
      if (!found)
         return false;
      in->at = found + 6;
      if (word(in, name, sizeof name) && strcmp(name, entry) == 0)
         return true;
   }
   return false;
}

bool ptx_read_signature(const char *ptx, size_t bytes, rkb_arena_t *arena, rkb_built_kernel_t *kernel,
                        char *why, size_t why_size) {
   cursor_t in = {ptx, ptx + bytes};
   char text[16];
   const char *end;
   uint32_t kinds[MAX_PARAMETERS];
   if (!find_entry(&in, kernel->entry)) {
      snprintf(why, why_size, "'%.200s' is not a __global__ function", kernel->expression);
      return false;
   }
   skip_space(&in);
   if (in.at < in.end && *in.at == '(') {
      word(&in, text, sizeof text);
      if (!read_list(&in, arena, kernel)) {
         snprintf(why, why_size, "the parameters of '%.200s' cannot be read from its PTX",
                  kernel->expression);
         return false;
      }
   } else
      kernel->parameters = rkb_arena_array(arena, 1, sizeof *kernel->parameters);
   read_bounds(&in, kernel);
   end = body_end(in.at, in.end);
   for (uint32_t i = 0; i < kernel->parameter_count; i++)
      kinds[i] = kernel->parameters[i].is_pointer;
   ptx_find_pointers(in.at, (size_t)(end - in.at), kernel->entry, kernel->parameter_count, kinds);
   for (uint32_t i = 0; i < kernel->parameter_count; i++)
      if (kernel->parameters[i].is_pointer == RKB_PARAMETER_UNKNOWN)
         ((rkb_parameter_t *)kernel->parameters)[i].is_pointer = kinds[i];
   return true;
}

bool ptx_entry_numbers(const char *ptx, size_t bytes, const char *entry, const char *directive,
                       uint32_t numbers[3]) {
   cursor_t in = {ptx, ptx + bytes};
   char text[4096] = "";
   uint32_t count = 3; /* numbers of the directive that were read; 3: it has not come */
   numbers[0] = numbers[1] = numbers[2] = 1;
   if (!find_entry(&in, entry))
      return false;
   bool stated = false;
   while (in.at < in.end && word(&in, text, sizeof text) && strcmp(text, "{") != 0) {
      if (strcmp(text, directive) == 0) {
         stated = true;
         count = 0;
      } else if (text[0] == '.') {
         count = 3;
      } else if (count < 3 && text[0] >= '0' && text[0] <= '9') {
         numbers[count++] = (uint32_t)strtoul(text, NULL, 10);
      }
   }
   return stated;
}

uint64_t ptx_global_bytes(const char *ptx, size_t bytes) {
   const char *at = ptx, *end = ptx + bytes;
   uint64_t total = 0;
   while (at < end) {
      const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end, *open,
                 *equals;
      /* Declarations begin a line, after .visible or .weak at most; instructions are indented. */
      const char *found = *at == '.' ? memmem(at, (size_t)(stop - at), ".global .align", 14) : NULL;
      if (found) {
         cursor_t in = {found + 8, stop};
         char text[4096];
         uint64_t variable = 1, element = 1;
         equals = memchr(at, '=', (size_t)(stop - at));
         open = memchr(at, '[', (size_t)((equals ? equals : stop) - at));
         while (word(&in, text, sizeof text) && (!open || in.at < open))
            element = type_bytes(text) ? type_bytes(text) : element;
         if (open)
            variable = strtoull(open + 1, NULL, 10);
         if (__builtin_mul_overflow(variable, element, &variable) ||
             __builtin_add_overflow(total, variable, &total))
            return UINT64_MAX;
      }
      at = stop + 1;
   }
   return total;
}
