/* Faults of the manifest and of whole kernels: fills, launches, blocks and shapes are left out.  Stateless; any thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tools/faults/operators/operator.h"

/* Calls visit with each line of the manifest: its first byte and the byte after its last. */
static const char *next_line(const source_t *s, const char *at, const char **end) {
   const char *stop = s->text + s->manifest_end;
   if (at >= stop)
      return NULL;
   *end = memchr(at, '\n', (size_t)(stop - at));
   *end = *end ? *end : stop;
   return at;
}

static const char *find_in(const char *at, const char *end, const char *what) {
   size_t length = strlen(what);
   for (; at + length <= end; at++)
      if (memcmp(at, what, length) == 0)
         return at;
   return NULL;
}

/* Takes away ", init: zero" of scratch, or one entry of fill. */
void find_missing_zero_fill(const source_t *s, sites_t *sites) {
   const char *end, *at = s->text + s->manifest;
   for (; (at = next_line(s, at, &end)) != NULL; at = end + 1) {
      const char *init = find_in(at, end, ", init: zero");
      if (init) {
         sites_begin(sites);
         sites_replace(sites, (uint32_t)(init - s->text), (uint32_t)(init - s->text) + 12, "%s", "");
      }
      if (end - at > 6 && memcmp(at, "fill: {", 7) == 0 && at[7] != '}') {
         sites_begin(sites);
         sites_replace(sites, (uint32_t)(at - s->text), (uint32_t)(end - s->text), "fill: {}");
      }
   }
}

/* Finds the first dimension in a line that sets a grid; false for other lines. */
static bool first_of_grid(const char *at, const char *end, const char **first, const char **comma) {
   const char *grid = find_in(at, end, "    grid: ");
   int depth = 0;
   if (!grid)
      return false;
   *first = grid + 10;
   for (*comma = *first; *comma < end && !(**comma == ',' && depth == 0); ++*comma)
      depth += (**comma == '(') - (**comma == ')');
   return true;
}

/* The first dimension of a grid loses one block. */
void find_grid_one_short(const source_t *s, sites_t *sites) {
   const char *end, *first, *comma, *at = s->text + s->manifest;
   for (; (at = next_line(s, at, &end)) != NULL; at = end + 1) {
      if (!first_of_grid(at, end, &first, &comma))
         continue;
      sites_begin(sites);
      sites_replace(sites, (uint32_t)(first - s->text), (uint32_t)(comma - s->text), "max(1, %.*s - 1)",
                    (int)(comma - first), first);
   }
}

/* Whether the kernel of that name, or a function that it may call, reads the size of its grid. */
static bool knows_grid(const source_t *s, const char *name, size_t length) {
   for (uint32_t i = 0; i < s->function_count; i++) {
      const function_t *f = &s->functions[i];
      const bool named =
         source_length(s, f->name) == length && memcmp(source_at(s, f->name), name, length) == 0;
      for (uint32_t t = f->body; (named || !f->global) && t < f->end; t++)
         if (source_is(s, t, "gridDim"))
            return true;
   }
   return false;
}

/* Limits the first dimension of a grid to the number of multiprocessors of an H200.  This would be right for a kernel whose blocks go over the work in
 * steps of the grid.  The operator takes kernels that do not. */
void find_grid_capped(const source_t *s, sites_t *sites) {
   const char *end, *first, *comma, *at = s->text + s->manifest, *name = NULL;
   size_t length = 0;
   for (; (at = next_line(s, at, &end)) != NULL; at = end + 1) {
      const char *kernel = find_in(at, end, "kernel: ");
      if (kernel) {
         name = kernel + 8;
         length = strcspn(name, "< \n");
      }
      if (!first_of_grid(at, end, &first, &comma) || !name || knows_grid(s, name, length))
         continue;
      sites_begin(sites);
      sites_replace(sites, (uint32_t)(first - s->text), (uint32_t)(comma - s->text), "min(%.*s, 132)",
                    (int)(comma - first), first);
   }
}

/* Removes a launch whose result a later launch may need.  Only manifests with several launches have such a site. */
void find_dropped_launch(const source_t *s, sites_t *sites) {
   const char *starts[32], *end, *at = s->text + s->manifest, *stop = s->text + s->manifest_end - 2;
   uint32_t count = 0;
   bool is_else[32];
   for (; (at = next_line(s, at, &end)) != NULL; at = end + 1)
      if (count < 31 && (find_in(at, end, "  - kernel:") == at || find_in(at, end, "  - else:") == at)) {
         is_else[count] = at[4] == 'e';
         starts[count++] = at;
      }
   starts[count] = stop;
   is_else[count] = false;
   for (uint32_t i = 0; i < count; i++) {
      uint32_t last = i + 1;
      while (last < count && is_else[last])
         last++;
      if (is_else[i] || (i == 0 && last == count))
         continue;
      sites_begin(sites);
      sites_replace(sites, (uint32_t)(starts[i] - s->text), (uint32_t)(starts[last] - s->text), "%s", "");
   }
}

static void return_first(const source_t *s, sites_t *sites, const function_t *f, const char *condition) {
   sites_begin(sites);
   sites_replace(sites, source_end(s, f->body), source_end(s, f->body), "\n   if (%s)\n      return;",
                 condition);
}

void find_last_block_skipped(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i < s->function_count; i++)
      if (s->functions[i].global)
         return_first(s, sites, &s->functions[i], "gridDim.x > 1 && blockIdx.x == gridDim.x - 1");
}

/* For an int parameter that has a dim's name and value: the kernel does nothing at values that no check case has. */
void find_only_listed_shapes(const source_t *s, sites_t *sites) {
   for (uint32_t n = 0; n < s->function_count; n++) {
      const function_t *f = &s->functions[n];
      for (uint32_t i = f->open + 1; f->global && i < f->close; i++)
         for (uint32_t d = 0; d < s->dim_count; d++) {
            char condition[1024];
            size_t used = 0;
            const checked_dim_t *dim = &s->dims[d];
            if (!source_is(s, i, dim->name) || !source_is(s, i - 1, "int"))
               continue;
            for (uint32_t v = 0; v < dim->count && used + 48 < sizeof condition; v++)
               used += (size_t)snprintf(condition + used, sizeof condition - used, "%s%s != %" PRId64,
                                        v ? " && " : "", dim->name, dim->values[v]);
            return_first(s, sites, f, condition);
         }
   }
}
