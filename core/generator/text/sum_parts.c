/* Sums of one element by several threads (sum_parts.h).  One thread writes the text. */
#include "generator/text/sum_parts.h"

#define PART "part"

const rkb_index_t *rkb_sum_parts_open(rkb_writer_t *writer, const rkb_index_t *elements, int64_t threads,
                                      int64_t parts) {
   const long long each = (long long)(threads / parts);
   const char *count = rkb_writer_uniform(writer, elements);
   rkb_write(writer, "const int " PART " = threadIdx.x / %lld;", each);
   rkb_write(writer, "const index wanted = (index)blockIdx.x * %lld + threadIdx.x %% %lld;", each, each);
   rkb_write(writer, "const index i = wanted < %s ? wanted : %s - 1;", count, count);
   writer->parts = (struct rkb_parts){
      .count = parts, .threads = threads / parts, .depth = writer->depth, .elements = count};
   return rkb_writer_variable(writer, "i", elements);
}

const rkb_index_t *rkb_sum_parts_loop(rkb_writer_t *writer, const char *wanted, const rkb_index_t *extent) {
   const char *name = rkb_writer_name(writer, wanted), *end = rkb_writer_uniform(writer, extent);
   rkb_write_open(writer, false, "for (index %s = " PART "; %s < %s; %s += %lld)", name, name, end, name,
                  (long long)writer->parts.count);
   writer->parts.divided = true;
   return rkb_writer_variable(writer, name, extent);
}

void rkb_sum_parts_add(rkb_writer_t *writer, const char *sum) {
   const long long parts = (long long)writer->parts.count, threads = (long long)writer->parts.threads;
   const char *memory = rkb_writer_name(writer, "sums_of_parts");
   if (writer->depth != writer->parts.depth || writer->parts.added)
      rkb_writer_fail(writer, "the parts of a sum are added once, by all threads of a block");
   if (!writer->parts.divided)
      rkb_writer_fail(writer, "a sum of one term has no parts");
   rkb_write(writer, "__shared__ float %s[%lld][%lld];", memory, parts, threads);
   rkb_write(writer, "%s[" PART "][threadIdx.x %% %lld] = %s;", memory, threads, sum);
   rkb_write(writer, "__syncthreads();");
   rkb_write(writer, "if (" PART " > 0 || wanted >= %s)", writer->parts.elements);
   rkb_write(writer, "   return;");
   rkb_write(writer, "for (int other = 1; other < %lld; other++)", parts);
   rkb_write(writer, "   %s += %s[other][threadIdx.x];", sum, memory);
   writer->parts.added = true;
}
