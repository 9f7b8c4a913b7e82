/* Launches that do not need each other share one kernel: its first blocks belong to the first launch, the
 * next ones to the second.  Each launch's text becomes a function of its block's number.  One thread a graph. */
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_file.h"

#include <string.h>

#define OWN_BLOCK "own_block"

/* The parts so far of a kernel of several launches. */
typedef struct shared_kernel {
   rkb_parameter_text_t parameters[RKB_MAX_PARAMETERS];
   uint32_t count;
   rkb_kernel_shape_t shape;
   const char *when, *fits, *calls, *names;
} shared_kernel_t;

/* Returns a body whose block is the function's argument. */
static const char *with_own_block(rkb_kernel_file_t *file, const char *body) {
   static const char name[] = "blockIdx.x";
   rkb_text_t out;
   rkb_text_init(&out, RKB_KERNEL_BYTES);
   for (const char *found; (found = strstr(body, name)); body = found + sizeof name - 1) {
      rkb_text_append(&out, body, (size_t)(found - body));
      rkb_text_add(&out, OWN_BLOCK);
   }
   rkb_text_add(&out, body);
   const char *text = rkb_arena_format(file->arena, "%s", rkb_text_get(&out));
   rkb_text_free(&out);
   return text;
}

/* Returns the shared kernel's parameter for a parameter of one launch.  Buffers of the same name are one parameter, and
 * so are numbers that are computed in the same way. */
static const char *parameter_for(rkb_kernel_file_t *file, shared_kernel_t *shared,
                                 const rkb_parameter_text_t *wanted) {
   const bool buffer = wanted->type <= RKB_PARAMETER_OUTPUT;
   bool same_name = false;
   for (uint32_t p = 0; p < shared->count; p++) {
      const rkb_parameter_text_t *have = &shared->parameters[p];
      const bool named = strcmp(have->name, wanted->name) == 0;
      if (have->type == wanted->type && (buffer ? named : strcmp(have->argument, wanted->argument) == 0))
         return have->name;
      same_name |= named;
   }
   if (shared->count == RKB_MAX_PARAMETERS) {
      snprintf(file->why, sizeof file->why, "launches beside each other have more than %u parameters",
               RKB_MAX_PARAMETERS);
      return wanted->name;
   }
   rkb_parameter_text_t *made = &shared->parameters[shared->count++];
   *made = *wanted;
   if (same_name && !buffer)
      made->name = rkb_arena_format(file->arena, "%s_of_%u", wanted->name, shared->count);
   return made->name;
}

/* Returns the statement that calls a launch for its blocks; last: for all blocks that are left. */
static const char *call_text(rkb_kernel_file_t *file, shared_kernel_t *shared, const rkb_writer_t *writer,
                             const char *function, const char *blocks, int64_t threads, bool last) {
   const char *arguments = "block", *indent = last ? "   " : "      ";
   for (uint32_t type = 0; type <= RKB_PARAMETER_INDEX; type++)
      for (uint32_t p = 0; p < writer->parameter_count; p++)
         if (writer->parameters[p].type == type)
            arguments = rkb_arena_format(file->arena, "%s, %s", arguments,
                                         parameter_for(file, shared, &writer->parameters[p]));
   const char *call = rkb_arena_format(file->arena, "%s%s<index>(%s);\n", indent, function, arguments);
   if (threads < shared->shape.threads)
      call = rkb_arena_format(file->arena, "%sif (threadIdx.x >= %lld)\n%s   return;\n%s", indent,
                              (long long)threads, indent, call);
   return last
             ? call
             : rkb_arena_format(file->arena, "   if (block < %s) {\n%s      return;\n   }\n   block -= %s;\n",
                                blocks, call, blocks);
}

/* Returns the number of a launch's blocks, as a parameter. */
static const char *blocks_of(rkb_kernel_file_t *file, shared_kernel_t *shared, const rkb_kernel_part_t *part,
                             const rkb_kernel_shape_t *shape) {
   const rkb_parameter_text_t blocks = {.type = RKB_PARAMETER_INDEX,
                                        .name = rkb_arena_format(file->arena, "%s_blocks", part->name),
                                        .argument = shape->grid};
   return parameter_for(file, shared, &blocks);
}

static void add_shape(rkb_kernel_file_t *file, rkb_kernel_shape_t *all, const rkb_kernel_shape_t *shape) {
   all->grid = all->grid ? rkb_arena_format(file->arena, "%s + (%s)", all->grid, shape->grid)
                         : rkb_arena_format(file->arena, "(%s)", shape->grid);
   all->threads = shape->threads > all->threads ? shape->threads : all->threads;
   all->shared = shape->shared > all->shared ? shape->shared : all->shared;
}

static bool is_written(rkb_kernel_file_t *file, const char *function) {
   for (uint32_t f = 0; f < file->function_count; f++)
      if (strcmp(file->functions[f], function) == 0)
         return true;
   if (file->function_count == RKB_MOST_FUNCTIONS)
      snprintf(file->why, sizeof file->why, "more than %u launches beside each other", RKB_MOST_FUNCTIONS);
   else
      file->functions[file->function_count++] = function;
   return false;
}

/* Writes one launch as a function, unless it is written already; the caller closes the writer.  False: not
 * legal. */
static bool write_function(rkb_kernel_file_t *file, const rkb_kernel_part_t *part,
                           const rkb_variant_t *variant, rkb_writer_t *writer, rkb_kernel_shape_t *shape,
                           const char **function) {
   *function = rkb_arena_format(file->arena, "%s%s", part->name, variant->suffix);
   file->parts = part->parts;
   const char *body = rkb_kernel_body(file, part->launch, variant, part->write, *function, writer, shape);
   if (!body || is_written(file, *function))
      return body != NULL;
   rkb_text_format(
      &file->code,
      "/* %s */\ntemplate <typename index>\n__device__ __forceinline__ void %s(const index " OWN_BLOCK "%s",
      shape->owns, *function, writer->parameter_count ? ", " : "");
   rkb_kernel_parameters(file, writer->parameters, writer->parameter_count);
   rkb_text_add(&file->code, with_own_block(file, body));
   rkb_text_add(&file->code, "}\n\n");
   return true;
}

/* taken: if the kernel has no version with indices of 64 bits, receives the condition for 32 bits; or NULL. */
static bool write_shared(rkb_kernel_file_t *file, const rkb_kernel_part_t *parts, uint32_t count,
                         const rkb_variant_t *variants, const char *suffix, const char *when, bool other,
                         bool last, const char **taken) {
   shared_kernel_t *shared = rkb_arena_array(file->arena, 1, sizeof *shared);
   rkb_writer_t *writers = rkb_arena_array(file->arena, count, sizeof *writers);
   rkb_kernel_shape_t *shapes = rkb_arena_array(file->arena, count, sizeof *shapes);
   const char **functions = rkb_arena_array(file->arena, count, sizeof *functions);
   int64_t fixed = 0;
   bool good = true;
   uint32_t open = 0;
   shared->when = when;
   for (; good && open < count; open++) {
      good =
         write_function(file, &parts[open], &variants[open], &writers[open], &shapes[open], &functions[open]);
      if (!good)
         continue;
      add_shape(file, &shared->shape, &shapes[open]);
      fixed += rkb_launch_fixed_bytes(parts[open].launch);
      shared->when =
         rkb_kernel_both(file, shared->when, rkb_kernel_when(file, &variants[open], &shapes[open]));
      shared->fits = rkb_kernel_both(file, shared->fits, rkb_kernel_fits(file, &writers[open]));
      shared->names = open ? rkb_arena_format(file->arena, "%s, then %s", shared->names, parts[open].name)
                           : parts[open].name;
   }
   if (good && shared->shape.shared && shared->shape.shared + fixed > file->shared_bytes)
      snprintf(file->why, sizeof file->why,
               "%s: launches beside each other need more shared memory than a block has", parts[0].name);
   shared->calls = "";
   for (uint32_t i = 0; good && i < count; i++) {
      const bool end = i + 1 == count;
      shared->calls = rkb_arena_format(file->arena, "%s%s", shared->calls,
                                       call_text(file, shared, &writers[i], functions[i],
                                                 end ? NULL : blocks_of(file, shared, &parts[i], &shapes[i]),
                                                 shapes[i].threads, end));
   }
   if (good && !file->why[0]) {
      const char *name = rkb_arena_format(file->arena, "%s_beside%s", parts[0].name, suffix);
      shared->shape.owns = rkb_arena_format(
         file->arena, "Launches that need nothing of each other, a range of blocks each: %s.", shared->names);
      rkb_kernel_signature(file, shared->parameters, shared->count, &shared->shape, name);
      rkb_text_format(&file->code, "   index block = blockIdx.x;\n%s}\n\n", shared->calls);
      if (!shared->fits || !file->one_width)
         rkb_kernel_launch(file, shared->parameters, shared->count, &shared->shape, name, "int",
                           rkb_kernel_both(file, shared->when, shared->fits), other);
      if (shared->fits && (last || file->one_width))
         rkb_kernel_launch(file, shared->parameters, shared->count, &shared->shape, name, "long long",
                           shared->when, other || !file->one_width);
   }
   if (taken)
      *taken = file->one_width ? NULL : shared->fits;
   for (uint32_t i = 0; i < open; i++)
      rkb_writer_close(&writers[i]);
   return good && !file->why[0];
}

/* Whether some drawn cases satisfy the conditions of all. */
static bool possible_together(const rkb_kernel_file_t *file, const rkb_variant_t *variants, uint32_t count) {
   rkb_condition_t *all = rkb_arena_array(file->arena, (size_t)count * RKB_TENSOR_CONDITIONS, sizeof *all);
   uint32_t sum = 0;
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t c = 0; c < variants[i].condition_count; c++)
         all[sum++] = variants[i].conditions[c];
   return rkb_indices_possible(file->graph, all, sum);
}

/* Writes the kernel for small products; in it the other launches have the variants that are right everywhere.  The
 * kernels after it are for larger cases, and for cases in which 32 bits do not hold the element numbers of the other launches. */
static bool write_small(rkb_kernel_file_t *file, const rkb_kernel_part_t *parts, uint32_t count,
                        const rkb_variant_t *plain, const char *when, const char **others_fit) {
   rkb_kernel_part_t *small = rkb_arena_array(file->arena, count, sizeof *small);
   rkb_launch_t *launches = rkb_arena_array(file->arena, count, sizeof *launches);
   for (uint32_t i = 0; i < count; i++) {
      small[i] = parts[i];
      if (!rkb_decision_applies(file->graph, parts[i].launch, RKB_SMALL) ||
          !parts[i].launch->decisions[RKB_SMALL])
         continue;
      launches[i] = rkb_small_launch(parts[i].launch);
      small[i] = (rkb_kernel_part_t){.launch = &launches[i],
                                     .write = rkb_write_row_kernel,
                                     .name = rkb_arena_format(file->arena, "%s_small", parts[i].name),
                                     .parts = 1};
   }
   return write_shared(file, small, count, plain, "_small", when, false, false, others_fit);
}

bool rkb_kernel_beside(rkb_kernel_file_t *file, const rkb_kernel_part_t *parts, uint32_t count,
                       const char *small, const char **others_fit) {
   rkb_variant_t *wide = rkb_arena_array(file->arena, count, sizeof *wide),
                 *plain = rkb_arena_array(file->arena, count, sizeof *plain);
   bool any = false, always = true;
   for (uint32_t i = 0; i < count; i++) {
      const bool wider = rkb_kernel_widest(file, parts[i].launch, &wide[i]);
      any |= wider;
      always &= wider && !wide[i].condition_count && !wide[i].keep;
      plain[i] = (rkb_variant_t){.vector = 1, .suffix = ""};
   }
   if (small && !write_small(file, parts, count, plain, small, others_fit))
      return false;
   any = any && possible_together(file, wide, count);
   if (any && !write_shared(file, parts, count, wide, "_vector", NULL, small != NULL, always, NULL))
      return false;
   return (any && always) || write_shared(file, parts, count, plain, "", NULL, any || small, true, NULL);
}
