/* Products on tensor cores that lose precision or add wrong terms.  A correction of a split product is left out; partial sums stay in the tensor cores'
 * accumulators or count twice; or a last tile keeps old values of its buffer. Stateless; any thread. */
#include "tools/faults/operators/operator.h"
#include "tools/faults/operators/instruction_calls.h"

#include <string.h>

#define MOST_DEPTH 3u  /* most functions that call one another in a chain */
#define MOST_RESETS 3u /* a site has one edit more, for the addition */

static bool multiplies_here(const source_t *s, uint32_t token) {
   return instruction_says(s, token, "mma.sync", NULL) || instruction_says(s, token, "mma_async", NULL) ||
          (source_is(s, token, "mma_sync") && source_is(s, token + 1, "("));
}

static const function_t *function_named(const source_t *s, uint32_t token) {
   for (uint32_t n = 0; n < s->function_count; n++)
      if (source_same(s, token, s->functions[n].name) && token != s->functions[n].name)
         return &s->functions[n];
   return NULL;
}

/* Whether the function forms products, itself or through functions that it calls. */
static bool multiplies(const source_t *s, const function_t *f, uint32_t depth) {
   for (uint32_t i = f->body; i < f->end; i++) {
      const function_t *callee = depth < MOST_DEPTH ? function_named(s, i) : NULL;
      if (multiplies_here(s, i) || (callee && callee != f && multiplies(s, callee, depth + 1)))
         return true;
   }
   return false;
}

/* Finds the statement at the token that computes a product: assembly, a function of wmma, or a call of a function that multiplies. */
static bool product_at(const source_t *s, uint32_t token, instruction_call_t *product) {
   const function_t *callee = function_named(s, token);
   *product = (instruction_call_t){.first = token, .open = token + 1};
   if (*source_at(s, token) == '"' && multiplies_here(s, token)) {
      while (product->first && !source_is(s, product->first, "asm"))
         product->first--;
      product->open = product->first + (source_is(s, product->first + 1, "volatile") ? 2 : 1);
      product->assembly = true;
   } else if (multiplies_here(s, token)) {
      while (product->first > 1 && source_is(s, product->first - 1, "::"))
         product->first -= 2;
   } else if (callee && multiplies(s, callee, 0)) {
      while (source_is(s, token + 1, "<") && product->open + 1 < s->count &&
             !source_is(s, product->open, "("))
         product->open++;
   } else {
      return false;
   }
   product->close = source_is(s, product->open, "(") ? source_match(s, product->open) : NO_TOKEN;
   return product->close != NO_TOKEN && source_is(s, product->close + 1, ";") &&
          instruction_begins_statement(s, product->first);
}

/* Whether a word of the name says that it is a low part: "left_low", "lows", "a_lo". */
static bool is_low(const source_t *s, uint32_t token) {
   static const char *const words[] = {"low", "lows", "lo"};
   const char *at = source_at(s, token), *const end = at + source_length(s, token);
   while (source_is_name(s, token) && at < end) {
      const char *next = memchr(at, '_', (size_t)(end - at));
      const size_t length = (size_t)((next ? next : end) - at);
      for (uint32_t n = 0; n < sizeof words / sizeof words[0]; n++)
         if (length == strlen(words[n]) && memcmp(at, words[n], length) == 0)
            return true;
      at = next ? next + 1 : end;
   }
   return false;
}

/* Counts the different low parts between two tokens; more than one counts as two. */
static uint32_t low_parts(const source_t *s, uint32_t open, uint32_t close) {
   uint32_t first = NO_TOKEN;
   for (uint32_t i = open; i < close; i++) {
      if (!is_low(s, i))
         continue;
      if (first != NO_TOKEN && !source_same(s, first, i))
         return 2;
      first = first == NO_TOKEN ? i : first;
   }
   return first != NO_TOKEN;
}

/* Leaves out the product of a low part and a high part.  It does not leave out the product of two low parts, which may be too small to matter.  It leaves
 * out no function that gets both parts, because such a function computes the whole product. */
void find_drop_low_part(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      instruction_call_t product;
      const function_t *f = source_function_of(s, i), *callee = f ? function_named(s, i) : NULL;
      if (!f || !product_at(s, i, &product) || low_parts(s, product.open, product.close) != 1 ||
          (callee && low_parts(s, callee->open, callee->close)) || !instruction_is_called(s, f))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, product.first), source_end(s, product.close + 1), ";");
   }
}

static bool is_zero(const source_t *s, uint32_t token) {
   static const char *const zeros[] = {"0", "0u", "0.f", "0.0f", "0.0", NULL};
   return source_is_any(s, token, zeros);
}

/* Returns the token after a name and its indices. */
static uint32_t behind(const source_t *s, uint32_t name) {
   uint32_t at = name + 1;
   while (source_is(s, at, "[") && source_match(s, at) != NO_TOKEN)
      at = source_match(s, at) + 1;
   return at;
}

/* Returns the ";" that ends an expression; NO_TOKEN: a bracket closes first, as in the head of a loop. */
static uint32_t expression_end(const source_t *s, uint32_t first) {
   static const char *const brackets[] = {"(", "[", "{", NULL}, *const closing[] = {")", "]", "}", NULL};
   for (uint32_t i = first; i < s->count; i++) {
      if (source_is(s, i, ";"))
         return i;
      if (source_is_any(s, i, brackets))
         i = source_match(s, i);
      if (i >= s->count || source_is_any(s, i + 1, closing))
         return NO_TOKEN;
   }
   return NO_TOKEN;
}

/* Returns the first name in an added expression to which products of the function add; NO_TOKEN: there is none. */
static uint32_t partial_sum(const source_t *s, const function_t *f, uint32_t first, uint32_t end) {
   for (uint32_t name = first; name < end; name++)
      for (uint32_t i = f->body; source_is_name(s, name) && i < f->end; i++) {
         instruction_call_t product;
         if (!product_at(s, i, &product))
            continue;
         for (uint32_t k = product.open; k < product.close; k++)
            if (source_same(s, k, name))
               return name;
      }
   return NO_TOKEN;
}

/* Adds edits after which partial sums are never reset: assignments of zero are removed, and the predicate that tells a product whether to add (setp
 * computes it from the last operand) becomes true. */
static uint32_t drop_resets(const source_t *s, const function_t *f, uint32_t parts, sites_t *sites) {
   uint32_t count = 0;
   for (uint32_t i = f->body; i < f->end && count < MOST_RESETS; i++) {
      const uint32_t equals = behind(s, i);
      instruction_call_t product;
      uint32_t first, last;
      const function_t *callee = function_named(s, i);
      if (source_same(s, i, parts) && instruction_begins_statement(s, i) && source_is(s, equals, "=") &&
          is_zero(s, equals + 1) && source_is(s, equals + 2, ";")) {
         count++;
         if (sites)
            sites_replace(sites, source_start(s, i), source_end(s, equals + 2), ";");
      } else if (callee && product_at(s, i, &product) && source_same(s, product.open + 1, parts) &&
                 instruction_last_operand(s, &product, &first, &last) && last > first) {
         bool tells = false;
         for (uint32_t k = callee->body; k < callee->end; k++)
            tells |= instruction_says(s, k, "setp.ne.b32", NULL);
         count += tells;
         if (sites && tells)
            sites_replace(sites, source_end(s, last), source_end(s, last), " || true");
      }
   }
   return count;
}

/* For sum += parts, where products add to parts, and parts are reset each time.  Either parts are no longer reset, so that they count again; or "+=" also
 * becomes "=", so that the sum is the number that the tensor cores' accumulators have added up. */
void find_sums_not_promoted(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      const function_t *f = source_is(s, i, "+=") ? source_function_of(s, i) : NULL;
      const uint32_t end = f ? expression_end(s, i + 1) : NO_TOKEN,
                     parts = end != NO_TOKEN ? partial_sum(s, f, i + 1, end) : NO_TOKEN;
      if (parts == NO_TOKEN || !instruction_is_called(s, f) || !drop_resets(s, f, parts, NULL))
         continue;
      sites_begin(sites);
      drop_resets(s, f, parts, sites);
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, i), "=");
      drop_resets(s, f, parts, sites);
   }
}

/* cp.async with a source size fills the rest of the destination with zeros.  The source size becomes the destination's size. */
static bool fill_by_size(const source_t *s, uint32_t token, sites_t *sites) {
   const char *text = source_at(s, token), *const end = text + source_length(s, token), *size;
   instruction_call_t copy = {.first = token, .assembly = true};
   uint32_t first, last;
   if (!instruction_says(s, token, "cp.async.c", "bulk"))
      return false;
   size = memmem(text, (size_t)(end - text), "[%1], ", 6);
   while (copy.first && !source_is(s, copy.first, "asm"))
      copy.first--;
   copy.open = copy.first + (source_is(s, copy.first + 1, "volatile") ? 2 : 1);
   copy.close = source_is(s, copy.open, "(") ? source_match(s, copy.open) : NO_TOKEN;
   if (!size || copy.close == NO_TOKEN || !instruction_last_operand(s, &copy, &first, &last))
      return false;
   size += 6;
   const size_t digits = strspn(size, "0123456789");
   if (digits && strncmp(size + digits, ", %2;", 5) == 0) {
      sites_begin(sites);
      sites_replace(sites, source_start(s, first), source_end(s, last), "%.*s", (int)digits, size);
      return true;
   }
   return false;
}

/* place[at] = condition ? value : 0; becomes if (condition) place[at] = value; */
static void fill_by_choice(const source_t *s, uint32_t question, sites_t *sites) {
   const uint32_t start = source_statement_start(s, question), end = source_statement_end(s, question);
   uint32_t assign = question;
   if (start == NO_TOKEN || end == NO_TOKEN || !is_zero(s, end - 1) || !source_is(s, end - 2, ":"))
      return;
   while (assign > start && !source_is(s, assign, "="))
      assign--;
   if (!source_is(s, assign, "=") || !source_is(s, assign - 1, "]"))
      return;
   sites_begin(sites);
   sites_replace(sites, source_start(s, start), source_end(s, end), "if (%.*s) %.*s = %.*s;",
                 (int)(source_end(s, question - 1) - source_start(s, assign + 1)), source_at(s, assign + 1),
                 (int)(source_end(s, assign - 1) - source_start(s, start)), source_at(s, start),
                 (int)(source_end(s, end - 3) - source_start(s, question + 1)), source_at(s, question + 1));
}

/* Removes else place = 0; or else *place = make_uint4(0, 0, 0, 0); */
static void fill_otherwise(const source_t *s, uint32_t token, sites_t *sites) {
   const uint32_t end = source_statement_end(s, token + 1);
   uint32_t assign = token + 1, at;
   while (end != NO_TOKEN && assign < end && !source_is(s, assign, "="))
      assign++;
   if (end == NO_TOKEN || assign >= end || !(source_is(s, assign - 1, "]") || source_is(s, token + 1, "*")))
      return;
   at = assign + 1;
   if (source_is(s, at + 1, "(") && source_match(s, at + 1) == end - 1) {
      for (at += 2; at < end - 1 && is_zero(s, at); at += 2)
         ;
      if (at != end)
         return;
   } else if (!is_zero(s, at) || at + 1 != end) {
      return;
   }
   sites_begin(sites);
   sites_replace(sites, source_start(s, token), source_end(s, end), "%s", "");
}

/* The columns of the last tile beyond the end of a row are not set to zero.  A site is a copy of a tile in a kernel that computes products. */
void find_tail_not_zeroed(const source_t *s, sites_t *sites) {
   bool products = false;
   for (uint32_t n = 0; n < s->function_count; n++)
      products |= s->functions[n].global && multiplies(s, &s->functions[n], 0);
   for (uint32_t i = 1; i + 1 < s->count; i++) {
      const function_t *f = source_function_of(s, i);
      if (!f || !instruction_is_called(s, f) || fill_by_size(s, i, sites) || !products)
         continue;
      if (source_is(s, i, "?"))
         fill_by_choice(s, i, sites);
      else if (source_is(s, i, "else"))
         fill_otherwise(s, i, sites);
   }
}
