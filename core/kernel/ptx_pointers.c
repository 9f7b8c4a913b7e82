/* Decides which 64-bit parameters of a kernel are addresses.  PTX from NVRTC 13.0 and older has no `.ptr`, so the body is read.  A value is an address if
 * it is passed to cvta.to or stands in brackets, directly or after moves and additions.  It is a number if it is multiplied, shifted, converted or compared.
 * If a value is used in both ways, it is an address, because kernels also mask addresses for alignment.  Owns nothing beyond the call; any thread. */
#include "kernel/ptx.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

enum { MAX_REGISTERS = 1u << 20 };

typedef struct flow {
   uint16_t *origin; /* for each %rd: 1 + the parameter from which it comes; 0: none */
   uint32_t count;
   uint32_t *kind;
   bool *number;
} flow_t;

/* The number of the 64-bit register that text begins with, or UINT32_MAX. */
static uint32_t wide_register(const char *text, const char *end) {
   uint32_t number = 0;
   const char *c = text + 3;
   if (end - text < 4 || memcmp(text, "%rd", 3) != 0)
      return UINT32_MAX;
   for (; c < end && *c >= '0' && *c <= '9' && number < MAX_REGISTERS; c++)
      number = number * 10 + (uint32_t)(*c - '0');
   return c > text + 3 ? number : UINT32_MAX;
}

static bool mentions_a_wide_register(const char *at, const char *end) {
   while ((at = memchr(at, '%', (size_t)(end - at))) != NULL) {
      if (wide_register(at, end) != UINT32_MAX)
         return true;
      at++;
   }
   return false;
}

static uint32_t origin_of(const flow_t *flow, uint32_t number) {
   return number < flow->count ? flow->origin[number] : 0;
}

static const char *next_operand(const char *at, const char *end) {
   while (at < end && *at != ',')
      at++;
   while (at < end && (*at == ',' || *at == ' ' || *at == '\t'))
      at++;
   return at;
}

static bool begins(const char *at, const char *end, const char *word) {
   size_t length = strlen(word);
   return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* Returns 1 + K for [entry_param_K] or [entry_param_K+0], else 0. */
static uint32_t loaded_parameter(const char *at, const char *end, const char *entry, uint32_t count) {
   size_t name = strlen(entry);
   char *after;
   unsigned long index;
   if ((size_t)(end - at) < name + 9 || *at != '[' || memcmp(at + 1, entry, name) != 0 ||
       memcmp(at + 1 + name, "_param_", 7) != 0)
      return 0;
   index = strtoul(at + 8 + name, &after, 10);
   return *after == ']' && index < count ? (uint32_t)index + 1 : 0;
}

static void read_instruction(flow_t *flow, const char *at, const char *end, const char *entry,
                             uint32_t count) {
   static const char *const arithmetic[] = {"mul", "mad", "shl", "shr", "cvt.", "div",
                                            "rem", "neg", "min", "max", "setp", NULL};
   const char *first, *second, *third, *bracket;
   uint32_t target, from, other;
   if (at < end && *at == '@') { /* a predicate */
      while (at < end && *at != ' ' && *at != '\t')
         at++;
      while (at < end && (*at == ' ' || *at == '\t'))
         at++;
   }
   first = at;
   while (first < end && *first != ' ' && *first != '\t')
      first++;
   while (first < end && (*first == ' ' || *first == '\t'))
      first++;
   second = next_operand(first, end);
   third = next_operand(second, end);
   target = wide_register(first, end);
   from = origin_of(flow, wide_register(second, end));
   if (begins(at, end, "ld.param.") && target < flow->count) {
      flow->origin[target] = (uint16_t)loaded_parameter(second, end, entry, count);
      return;
   }
   bracket = memchr(at, '[', (size_t)(end - at));
   if (bracket && !begins(at, end, "st.param") && origin_of(flow, wide_register(bracket + 1, end)))
      flow->kind[origin_of(flow, wide_register(bracket + 1, end)) - 1] = RKB_PARAMETER_POINTER;
   if (begins(at, end, "cvta.to.") && from)
      flow->kind[from - 1] = RKB_PARAMETER_POINTER;
   other = origin_of(flow, wide_register(third, end));
   for (uint32_t i = 0; (from || other) && arithmetic[i] && !begins(at, end, "cvta"); i++) {
      /* A comparison with an immediate may be a comparison with the null pointer. */
      if (!begins(at, end, arithmetic[i]) || (begins(at, end, "setp") && (third >= end || *third != '%')))
         continue;
      if (from)
         flow->number[from - 1] = true;
      if (other)
         flow->number[other - 1] = true;
   }
   if (target < flow->count && !bracket) {
      bool carries = begins(at, end, "mov.") || begins(at, end, "cvta.to.");
      /* Base + offset: only a register that is known to be a base passes its origin on. */
      if (begins(at, end, "add.")) {
         bool base = from && (!other || flow->kind[from - 1] == RKB_PARAMETER_POINTER);
         flow->origin[target] = (uint16_t)(base ? from : other);
      } else
         flow->origin[target] = (uint16_t)(carries ? from : 0);
   }
}

void ptx_find_pointers(const char *body, size_t bytes, const char *entry, uint32_t count, uint32_t *kind) {
   flow_t flow = {.count = 0, .kind = kind};
   const char *end = body + bytes, *at = body, *declared = memmem(body, bytes, "%rd<", 4);
   unsigned long registers = declared ? strtoul(declared + 4, NULL, 10) : 0;
   if (!registers || registers > MAX_REGISTERS || count > UINT16_MAX - 1)
      return;
   flow.origin = rkb_allocate(registers, sizeof *flow.origin);
   flow.number = rkb_allocate(count + 1, sizeof *flow.number);
   flow.count = (uint32_t)registers;
   while (at < end && flow.count) {
      const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
      /* Most lines use no wide register, so there is no origin to follow. */
      if (!mentions_a_wide_register(at, stop)) {
         at = stop + 1;
         continue;
      }
      while (at < stop && (*at == ' ' || *at == '\t'))
         at++;
      read_instruction(&flow, at, stop, entry, count);
      at = stop + 1;
   }
   for (uint32_t i = 0; i < count && flow.count; i++)
      if (kind[i] == RKB_PARAMETER_UNKNOWN && flow.number[i])
         kind[i] = RKB_PARAMETER_NUMBER;
   free(flow.number);
   free(flow.origin);
}
