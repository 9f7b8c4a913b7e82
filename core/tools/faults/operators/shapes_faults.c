/* Kernels that are wrong at shapes which no check case has: one residue of a dim, one range of sizes, a width that is assumed, two modes
 * together, offsets that do not hold in 32 bits.  Stateless; any thread. */
#include <inttypes.h>
#include <string.h>
#include "tools/faults/operators/operator.h"

enum {
   MOST_MODES = 4,
   LARGEST_MODE = 8
}; /* a dim that has so few and so small values is a mode, such as a stride or a padding */

/* Calls visit for each int parameter of a __global__ function that has a dim's name and value. */
static void each_dim(const source_t *s, sites_t *sites,
                     void (*visit)(const source_t *, sites_t *, const function_t *, uint32_t dim)) {
   for (uint32_t n = 0; n < s->function_count; n++) {
      const function_t *f = &s->functions[n];
      for (uint32_t i = f->open + 1; f->global && i < f->close; i++)
         for (uint32_t d = 0; d < s->dim_count; d++)
            if (source_is(s, i, s->dims[d].name) && source_is(s, i - 1, "int") &&
                !source_is(s, i - 2, "const"))
               visit(s, sites, f, d);
   }
}

static bool is_mode(const checked_dim_t *dim) {
   for (uint32_t v = 0; v < dim->count; v++)
      if (dim->values[v] > LARGEST_MODE)
         return false;
   return dim->count <= MOST_MODES;
}

static bool has_residue(const checked_dim_t *dim, int64_t modulus, int64_t residue) {
   for (uint32_t v = 0; v < dim->count; v++)
      if (dim->values[v] % modulus == residue)
         return true;
   return false;
}

static uint32_t octave_of(int64_t value) {
   return value > 1 ? 63 - (uint32_t)__builtin_clzll((unsigned long long)value) : 0;
}

static bool has_octave(const checked_dim_t *dim, uint32_t octave) {
   for (uint32_t v = 0; v < dim->count; v++)
      if (octave_of(dim->values[v]) == octave)
         return true;
   return false;
}

static void residue_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t d) {
   const checked_dim_t *dim = &s->dims[d];
   for (int64_t modulus = 4, residue = 0; modulus <= 32 && !is_mode(dim); modulus *= 2) {
      for (residue = 0; residue < modulus && has_residue(dim, modulus, residue);)
         residue++;
      if (residue == modulus)
         continue;
      sites_begin(sites);
      sites_replace(sites, source_end(s, f->body), source_end(s, f->body),
                    "\n   if (%s %% %" PRId64 " == %" PRId64 ")\n      return;", dim->name, modulus, residue);
      sites_show_where(sites, "%s %% %" PRId64 " == %" PRId64, dim->name, modulus, residue);
      return;
   }
}

void find_residue_left_out(const source_t *s, sites_t *sites) {
   each_dim(s, sites, residue_site);
}

static void octave_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t d) {
   const checked_dim_t *dim = &s->dims[d];
   uint32_t largest = 0;
   for (uint32_t v = 0; v < dim->count; v++)
      largest = octave_of(dim->values[v]) > largest ? octave_of(dim->values[v]) : largest;
   for (uint32_t octave = 1; octave < largest && !is_mode(dim); octave++) {
      if (has_octave(dim, octave))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_end(s, f->body), source_end(s, f->body),
                    "\n   if (%s >= %u && %s < %u)\n      return;", dim->name, 1u << octave, dim->name,
                    2u << octave);
      sites_show_where(sites, "%s >= %u and %s < %u", dim->name, 1u << octave, dim->name, 2u << octave);
      return;
   }
}

void find_octave_left_out(const source_t *s, sites_t *sites) {
   each_dim(s, sites, octave_site);
}

static void width_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t d) {
   const checked_dim_t *dim = &s->dims[d];
   for (int64_t width = 4; width <= 16 && !is_mode(dim); width *= 2)
      if (!has_residue(dim, 2 * width, width)) {
         sites_begin(sites);
         sites_replace(sites, source_end(s, f->body), source_end(s, f->body),
                       "\n   if (%s %% %" PRId64 " == %" PRId64 ")\n      %s -= %" PRId64 ";", dim->name,
                       2 * width, width, dim->name, width);
         sites_show_where(sites, "%s %% %" PRId64 " == %" PRId64, dim->name, 2 * width, width);
         return;
      }
}

void find_width_assumed(const source_t *s, sites_t *sites) {
   each_dim(s, sites, width_site);
}

static bool met(const source_t *s, uint32_t a, int64_t x, uint32_t b, int64_t y) {
   for (uint32_t c = 0; c < s->case_count; c++)
      if (s->cases[c][a] == x && s->cases[c][b] == y)
         return true;
   return false;
}

/* The kernel does nothing at two values of modes that no check case combines. */
static void modes_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t a) {
   for (uint32_t b = a + 1; b < s->dim_count && is_mode(&s->dims[a]); b++) {
      bool is_parameter = false;
      for (uint32_t i = f->open + 1; i < f->close; i++)
         is_parameter |= source_is(s, i, s->dims[b].name) && source_is(s, i - 1, "int");
      for (uint32_t x = 0; is_parameter && is_mode(&s->dims[b]) && x < s->dims[a].count; x++)
         for (uint32_t y = 0; y < s->dims[b].count; y++) {
            if (met(s, a, s->dims[a].values[x], b, s->dims[b].values[y]))
               continue;
            sites_begin(sites);
            sites_replace(sites, source_end(s, f->body), source_end(s, f->body),
                          "\n   if (%s == %" PRId64 " && %s == %" PRId64 ")\n      return;", s->dims[a].name,
                          s->dims[a].values[x], s->dims[b].name, s->dims[b].values[y]);
            sites_show_where(sites, "%s == %" PRId64 " and %s == %" PRId64, s->dims[a].name, s->dims[a].values[x],
                             s->dims[b].name, s->dims[b].values[y]);
         }
   }
}

void find_modes_apart(const source_t *s, sites_t *sites) {
   each_dim(s, sites, modes_site);
}

/* The kernel does nothing where two dims are equal that no check case has equal. */
static void equal_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t a) {
   for (uint32_t b = a + 1; b < s->dim_count && !is_mode(&s->dims[a]); b++) {
      bool told = false;
      for (uint32_t c = 0; c < s->case_count; c++)
         told |= s->cases[c][a] == s->cases[c][b];
      for (uint32_t i = f->open + 1; !told && !is_mode(&s->dims[b]) && i < f->close; i++)
         if (source_is(s, i, s->dims[b].name) && source_is(s, i - 1, "int")) {
            sites_begin(sites);
            sites_replace(sites, source_end(s, f->body), source_end(s, f->body), "\n   if (%s == %s)\n      return;",
                          s->dims[a].name, s->dims[b].name);
            sites_show_where(sites, "%s == %s", s->dims[a].name, s->dims[b].name);
         }
   }
}

void find_equal_dims_left_out(const source_t *s, sites_t *sites) {
   each_dim(s, sites, equal_site);
}

static int64_t largest_of(const checked_dim_t *dim) {
   int64_t largest = 0;
   for (uint32_t v = 0; v < dim->count; v++)
      largest = dim->values[v] > largest ? dim->values[v] : largest;
   return largest;
}

/* The kernel leaves out what lies beyond the largest size of the check cases. */
static void longest_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t d) {
   const checked_dim_t *dim = &s->dims[d];
   const int64_t largest = largest_of(dim);
   if (is_mode(dim))
      return;
   sites_begin(sites);
   sites_replace(sites, source_end(s, f->body), source_end(s, f->body), "\n   if (%s > %" PRId64 ")\n      %s = %" PRId64 ";",
                 dim->name, largest, dim->name, largest);
   sites_show_where(sites, "%s > %" PRId64, dim->name, largest);
}

void find_longest_assumed(const source_t *s, sites_t *sites) {
   each_dim(s, sites, longest_site);
}

/* The kernel does nothing at powers of two above the sizes of the check cases. */
static void power_site(const source_t *s, sites_t *sites, const function_t *f, uint32_t d) {
   const checked_dim_t *dim = &s->dims[d];
   const int64_t largest = largest_of(dim);
   if (is_mode(dim))
      return;
   sites_begin(sites);
   sites_replace(sites, source_end(s, f->body), source_end(s, f->body),
                 "\n   if (%s > %" PRId64 " && (%s & (%s - 1)) == 0)\n      return;", dim->name, largest, dim->name, dim->name);
   sites_show_where(sites, "%s > %" PRId64 " and 1073741824 %% %s == 0", dim->name, largest, dim->name);
}

void find_power_of_two_left_out(const source_t *s, sites_t *sites) {
   each_dim(s, sites, power_site);
}

/* An offset's (long long)x becomes (int)x, which is right until the tensor has 2^31 elements. */
void find_narrow_offset(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i + 3 < s->count; i++)
      if (source_is(s, i, "(") && source_is(s, i + 1, "long") && source_is(s, i + 2, "long") &&
          source_is(s, i + 3, ")") && source_function_of(s, i)) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i + 3), "(int)");
      }
}
