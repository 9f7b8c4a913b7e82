/* Functions that move elements.  Constant tables. */
#include "reference/functions/functions.h"

#include <math.h>
#include "reference/operations/elementwise.h"
#include "reference/operations/gather.h"
#include "reference/operations/layout.h"

/* One size may be -1; it is computed from the others. */
static void build_reshape(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t shape = rkb_call_shape(call, "shape");
   uint64_t have, known = 1;
   uint32_t open = UINT32_MAX;
   rkb_shape_elements(rkb_program_shape(program, call->inputs[0]), &have);
   for (uint32_t d = 0; d < shape.rank; d++) {
      if (shape.size[d] == -1)
         open = d;
      else
         known *= (uint64_t)(shape.size[d] > 0 ? shape.size[d] : 1);
   }
   if (open != UINT32_MAX)
      shape.size[open] = (int64_t)(have / known);
   outputs[0] = rkb_make_reshape(program, call->inputs[0], &shape);
}

static void build_expand(const rkb_call_t *call, uint32_t *outputs) {
   rkb_shape_t shape = rkb_call_shape(call, "shape");
   const rkb_shape_t *in = rkb_program_shape(call->program, call->inputs[0]);
   for (uint32_t d = 0; d < shape.rank; d++)
      if (shape.size[d] == -1 && d + in->rank >= shape.rank)
         shape.size[d] = in->size[d + in->rank - shape.rank];
   outputs[0] = rkb_make_expand(call->program, call->inputs[0], &shape);
}

static void build_same(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = call->inputs[0];
}

static void build_flatten(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]), out = {0};
   uint32_t first = rkb_call_dim(call, "start_dim", call->inputs[0]),
            last = rkb_call_dim(call, "end_dim", call->inputs[0]);
   if (program->failed || first > last) {
      rkb_program_fail(program, "flatten: start_dim is after end_dim");
      return;
   }
   for (uint32_t d = 0; d < shape.rank; d++) {
      if (d > first && d <= last)
         out.size[out.rank - 1] *= shape.size[d];
      else
         out.size[out.rank++] = shape.size[d];
   }
   outputs[0] = rkb_make_reshape(program, call->inputs[0], &out);
}

static void build_unsqueeze(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]), out = {.rank = shape.rank + 1};
   uint32_t dim;
   if (shape.rank >= RKB_MAX_RANK || !rkb_shape_dim(&out, rkb_call_int(call, "dim"), &dim)) {
      rkb_program_fail(program, "unsqueeze: dim is out of range");
      return;
   }
   for (uint32_t d = 0, from = 0; d < out.rank; d++)
      out.size[d] = d == dim ? 1 : shape.size[from++];
   outputs[0] = rkb_make_reshape(program, call->inputs[0], &out);
}

static void build_squeeze(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]), out = {0};
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   for (uint32_t d = 0; d < shape.rank; d++)
      if (d != dim || shape.size[d] != 1)
         out.size[out.rank++] = shape.size[d];
   outputs[0] = rkb_make_reshape(program, call->inputs[0], &out);
}

static void build_transpose(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dims[RKB_MAX_RANK], first = rkb_call_dim(call, "dim0", call->inputs[0]),
                                second = rkb_call_dim(call, "dim1", call->inputs[0]);
   if (call->program->failed)
      return;
   for (uint32_t d = 0; d < RKB_MAX_RANK; d++)
      dims[d] = d == first ? second : d == second ? first : d;
   outputs[0] = rkb_make_permute(call->program, call->inputs[0], dims);
}

static void build_permute(const rkb_call_t *call, uint32_t *outputs) {
   const rkb_attribute_value_t *given = rkb_call_attribute(call, "dims");
   const rkb_shape_t *shape = rkb_program_shape(call->program, call->inputs[0]);
   uint32_t dims[RKB_MAX_RANK];
   if (given->integer_count != shape->rank) {
      rkb_program_fail(call->program, "permute: name all %u dims", shape->rank);
      return;
   }
   for (uint32_t d = 0; d < shape->rank; d++)
      if (!rkb_shape_dim(shape, given->integers[d], &dims[d])) {
         rkb_program_fail(call->program, "permute: %lld is not a dim", (long long)given->integers[d]);
         return;
      }
   outputs[0] = rkb_make_permute(call->program, call->inputs[0], dims);
}

static int64_t size_along(const rkb_call_t *call, uint32_t dim) {
   const rkb_shape_t *shape = rkb_program_shape(call->program, call->inputs[0]);
   return dim < shape->rank ? shape->size[dim] : 0;
}

static void build_narrow(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   int64_t start = rkb_call_int(call, "start");
   if (start < 0)
      start += size_along(call, dim);
   outputs[0] = rkb_make_slice(call->program, call->inputs[0], dim, start, rkb_call_int(call, "length"), 1);
}

/* x[start:end:step]; start and end may be negative as in Python. */
static void build_slice(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   const rkb_attribute_value_t *last = rkb_call_attribute(call, "end");
   int64_t size = size_along(call, dim), start = rkb_call_int(call, "start"),
           step = rkb_call_int(call, "step");
   int64_t end = last->given ? last->integers[0] : size;
   start += start < 0 ? size : 0;
   end += end < 0 ? size : 0;
   end = end > size ? size : end;
   int64_t count = step > 0 && end > start ? (end - start + step - 1) / step : 0;
   outputs[0] = rkb_make_slice(call->program, call->inputs[0], dim, start, count, step);
}

static void build_select(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   int64_t index = rkb_call_int(call, "index");
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]), out = {0};
   uint32_t one =
      rkb_make_slice(program, call->inputs[0], dim, index < 0 ? index + size_along(call, dim) : index, 1, 1);
   for (uint32_t d = 0; d < shape.rank; d++)
      if (d != dim)
         out.size[out.rank++] = shape.size[d];
   outputs[0] = rkb_make_reshape(program, one, &out);
}

static void build_cat(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   outputs[0] = rkb_make_cat(call->program, call->inputs, call->input_count, dim);
}

/* Splits into equal pieces, as many as the node lists outputs. */
static void build_chunk(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   int64_t size = size_along(call, dim), each = size / call->output_count;
   if (size % call->output_count != 0) {
      rkb_program_fail(call->program, "chunk: size %lld does not divide into %u equal parts", (long long)size,
                       call->output_count);
      return;
   }
   for (uint32_t i = 0; i < call->output_count; i++)
      outputs[i] = rkb_make_slice(call->program, call->inputs[0], dim, each * i, each, 1);
}

/* Padding comes as pairs (before, after) from the last dim backwards, as in torch.nn.functional.pad. */
static void build_pad(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   const rkb_attribute_value_t *pad = rkb_call_attribute(call, "pad");
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]);
   uint32_t x = call->inputs[0];
   if (pad->integer_count % 2 != 0 || pad->integer_count / 2 > shape.rank) {
      rkb_program_fail(program, "pad takes a pair for each dim, the last dim first");
      return;
   }
   for (uint32_t i = 0; i < pad->integer_count / 2; i++) {
      uint32_t dim = shape.rank - 1 - i;
      int64_t before = pad->integers[2 * i], after = pad->integers[2 * i + 1];
      int64_t cut_before = before < 0 ? -before : 0,
              cut_after = after < 0 ? -after : 0; /* negative padding cuts */
      if (cut_before || cut_after) {
         x = rkb_make_slice(program, x, dim, cut_before, shape.size[dim] - cut_before - cut_after, 1);
         before += cut_before;
         after += cut_after;
      }
      int64_t size = shape.size[dim] - cut_before - cut_after;
      if (before || after)
         x = rkb_make_embed(program, x, dim, before, size + before + after, 1, rkb_call_real(call, "value"));
   }
   outputs[0] = x;
}

static void build_flip(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_flip(call->program, call->inputs[0], rkb_call_dims(call, "dims", call->inputs[0]));
}

static void build_triangle(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_triangle(call->program, call->inputs[0], rkb_call_int(call, "diagonal"),
                                  call->function->operation[0] == 'u', 0);
}

/* Sets scores with column - row >= diagonal to -inf. */
static void build_causal_mask(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] =
      rkb_make_triangle(call->program, call->inputs[0], rkb_call_int(call, "diagonal") - 1, false, -INFINITY);
}

static void build_full(const rkb_call_t *call, uint32_t *outputs) {
   rkb_shape_t shape = rkb_call_shape(call, "shape");
   outputs[0] = rkb_make_full(call->program, &shape, rkb_call_real(call, "value"), RKB_F32);
}

static void build_arange(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_arange(call->program, rkb_call_real(call, "start"), rkb_call_real(call, "step"),
                                rkb_call_int(call, "count"), RKB_F32);
}

static void build_gather(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_gather(call->program, call->inputs[0], call->inputs[1],
                                rkb_call_dim(call, "dim", call->inputs[0]));
}

static void build_scatter(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] =
      rkb_make_scatter(call->program, call->inputs[0], call->inputs[1], call->inputs[2],
                       rkb_call_dim(call, "dim", call->inputs[0]), call->function->operation[0] == 'a');
}

static void build_embedding(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_embedding(call->program, call->inputs[0], call->inputs[1]);
}

#define INT(label, fallback)                                                                                 \
   { label, RKB_ATTRIBUTE_INT, fallback, NULL }
#define INTS(label, fallback)                                                                                \
   { label, RKB_ATTRIBUTE_INTS, fallback, NULL }
#define REAL(label, fallback)                                                                                \
   { label, RKB_ATTRIBUTE_REAL, fallback, NULL }

const rkb_function_t rkb_functions_layout[] = {
   {"reshape", "x", 1, 1, {INTS("shape", NULL)}, build_reshape, NULL},
   {"view", "x", 1, 1, {INTS("shape", NULL)}, build_reshape, NULL},
   {"flatten", "x", 1, 1, {INT("start_dim", "0"), INT("end_dim", "-1")}, build_flatten, NULL},
   {"unsqueeze", "x", 1, 1, {INT("dim", NULL)}, build_unsqueeze, NULL},
   {"squeeze", "x", 1, 1, {INT("dim", NULL)}, build_squeeze, NULL},
   {"expand", "x", 1, 1, {INTS("shape", NULL)}, build_expand, NULL},
   {"contiguous", "x", 1, 1, {{0}}, build_same, NULL},
   {"transpose", "x", 1, 1, {INT("dim0", NULL), INT("dim1", NULL)}, build_transpose, NULL},
   {"permute", "x", 1, 1, {INTS("dims", NULL)}, build_permute, NULL},
   {"narrow", "x", 1, 1, {INT("dim", NULL), INT("start", NULL), INT("length", NULL)}, build_narrow, NULL},
   {"slice",
    "x",
    1,
    1,
    {INT("dim", NULL), INT("start", "0"), INT("end", ""), INT("step", "1")},
    build_slice,
    NULL},
   {"select", "x", 1, 1, {INT("dim", NULL), INT("index", NULL)}, build_select, NULL},
   {"cat", "x, ...", 1, RKB_MAX_OPERANDS, {INT("dim", "0")}, build_cat, NULL},
   {"chunk", "x", 1, 1, {INT("dim", "0")}, build_chunk, NULL},
   {"pad", "x", 1, 1, {INTS("pad", NULL), REAL("value", "0")}, build_pad, NULL},
   {"flip", "x", 1, 1, {INTS("dims", NULL)}, build_flip, NULL},
   {"tril", "x", 1, 1, {INT("diagonal", "0")}, build_triangle, "lower"},
   {"triu", "x", 1, 1, {INT("diagonal", "0")}, build_triangle, "upper"},
   {"causal_mask", "scores", 1, 1, {INT("diagonal", "1")}, build_causal_mask, NULL},
   {"full", "", 0, 0, {INTS("shape", NULL), REAL("value", NULL)}, build_full, NULL},
   {"arange", "", 0, 0, {REAL("start", "0"), REAL("step", "1"), INT("count", NULL)}, build_arange, NULL},
   {"gather", "x, index", 2, 2, {INT("dim", NULL)}, build_gather, NULL},
   {"scatter", "x, index, source", 3, 3, {INT("dim", NULL)}, build_scatter, "put"},
   {"scatter_add", "x, index, source", 3, 3, {INT("dim", NULL)}, build_scatter, "add"},
   {"embedding", "weight, index", 2, 2, {{0}}, build_embedding, NULL},
   {0},
};
