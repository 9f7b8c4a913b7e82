/* Sums of powers below the largest score of a row, and how they are rescaled when a larger score comes, in a tile or from another warp.  One
 * thread. */
#include "generator/online/online.h"

#include <string.h>
#include "generator/graph/row_scaling.h"

const char *rkb_online_exponent_text(const rkb_online_t *o) {
   return o->scaled == RKB_NO_NODE ? "1.44269504f" : "in_twos";
}

const char *rkb_online_power_text(rkb_writer_t *writer, const rkb_online_t *o, const char *x) {
   return o->tensor
             ? rkb_arena_format(writer->arena, "power_of_two((%s) * %s)", x, rkb_online_exponent_text(o))
             : rkb_arena_format(writer->arena, "expf(%s)", x);
}

bool rkb_online_is_sum(const rkb_writer_t *writer, uint32_t reduce) {
   return strcmp(writer->graph->nodes[reduce].operation, "sum") == 0;
}

uint32_t rkb_online_largest(const rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (!rkb_online_is_sum(writer, o->nodes.reduces[r]))
         return r;
   return RKB_ONLINE_MANY;
}

/* Whether a value scales with the largest score, so that it changes with it. */
static bool is_below(rkb_writer_t *writer, uint32_t value, uint32_t largest, uint32_t named) {
   const int degree = value == largest ? 0 : rkb_row_scaling_of(writer->graph, value, largest);
   if (degree < 0 || degree > 1)
      rkb_writer_fail(writer, "%s cannot be rescaled", writer->graph->nodes[named].name);
   return degree == 1;
}

bool rkb_online_rescales(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out) {
   const uint32_t number = o->nodes.outs[out];
   return is_below(writer, writer->graph->nodes[number].inputs[o->nodes.made_side[out]],
                   o->nodes.reduces[rkb_online_largest(writer, o)], number);
}

void rkb_online_rescale_sums(rkb_writer_t *writer, const rkb_online_t *o, uint32_t number,
                             const char *factor) {
   for (uint32_t s = 0; s < o->nodes.reduce_count; s++)
      if (o->nodes.reduces[s] != number &&
          is_below(writer, writer->graph->nodes[o->nodes.reduces[s]].inputs[0], number, o->nodes.reduces[s]))
         rkb_write(writer, "%s[i] *= %s;", o->reduce_names[s], factor);
}

void rkb_online_rescale(rkb_writer_t *writer, rkb_online_t *o, uint32_t number) {
   rkb_online_rescale_sums(writer, o, number, "factor");
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      if (rkb_online_rescales(writer, o, i)) {
         rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->out_columns);
         rkb_write(writer, "   %s *= factor;", rkb_online_out(writer, o, i));
      }
}

/* Writes each warp's number of a row to the shared memory of the stages, and joins the numbers of all warps
 * in one order. */
static void write_exchange(rkb_writer_t *writer, const rkb_online_t *o, const char *value, const char *begin,
                           const char *add) {
   const long long warps = (long long)(o->stream_tile / o->warp_n), rows = (long long)o->own_tile;
   rkb_write(writer, "__syncthreads(); /* what was there has been read */");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   if (lane %% 4 == 0)");
   rkb_write(writer, "      row_parts[warp_n / %lld * %lld + %s] = %s;", (long long)o->warp_n, rows,
             o->own_at, value);
   rkb_write(writer, "__syncthreads();");
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "%s", begin);
   rkb_write(writer, "for (int part = 0; part < %lld; part++)", warps);
   rkb_write(writer, add, rkb_arena_format(writer->arena, "row_parts[part * %lld + %s]", rows, o->own_at));
}

void rkb_online_join_warps(rkb_writer_t *writer, rkb_online_t *o) {
   const uint32_t largest = rkb_online_largest(writer, o);
   if (o->nodes.reduce_count)
      rkb_write(writer, "float *const row_parts = (float *)stages;");
   if (largest < RKB_ONLINE_MANY) {
      const char *name = o->reduce_names[largest];
      write_exchange(writer, o, rkb_arena_format(writer->arena, "%s[i]", name), "float next = -INFINITY;",
                     "   next = larger(next, %s);");
      rkb_write(writer, "const float factor = next == %s[i] ? 1.0f : %s;", name,
                rkb_online_power_text(writer, o, rkb_arena_format(writer->arena, "%s[i] - next", name)));
      rkb_write(writer, "%s[i] = next;", name);
      rkb_online_rescale(writer, o, o->nodes.reduces[largest]);
      rkb_write_close(writer);
   }
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      if (r == largest)
         continue;
      const char *name = o->reduce_names[r];
      write_exchange(writer, o, rkb_arena_format(writer->arena, "%s[i]", name),
                     rkb_arena_format(writer->arena, "%s[i] = 0.0f;", name),
                     rkb_arena_format(writer->arena, "   %s[i] += %%s;", name));
      rkb_write_close(writer);
   }
}

const char *rkb_online_quotients(rkb_writer_t *writer, const rkb_online_t *o, uint32_t value) {
   const char *text = "";
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const uint32_t number = o->nodes.reduces[r];
      if (!rkb_online_is_sum(writer, number))
         continue;
      const int degree = rkb_row_scaling_of(writer->graph, value, number);
      if (degree < -2 || degree > 0)
         rkb_writer_fail(writer, "%s is no factor of what needs it", writer->graph->nodes[number].name);
      for (int d = degree; d < 0; d++)
         text = rkb_arena_format(writer->arena, "%s / %s[i]", text, o->reduce_names[r]);
   }
   return text;
}
