/* The shapes of a graph's values as expressions of the task's dims, for a kernel file's manifest.  One thread for
 * each graph. */
#include "generator/kernel/kernel_file.h"

#include <string.h>

const char *rkb_kernel_shape_text(rkb_kernel_file_t *file, const rkb_node_t *from) {
   const char *text = "1";
   for (uint32_t d = 0; d < from->rank; d++) {
      const rkb_size_t *size = &file->graph->sizes.list[from->shape[d]];
      if (size->constant && size->at[0] == 1)
         continue;
      const char *factor =
         strpbrk(size->text, "+-*/% ") ? rkb_arena_format(file->arena, "(%s)", size->text) : size->text;
      text = strcmp(text, "1") == 0 ? factor : rkb_arena_format(file->arena, "%s * %s", text, factor);
   }
   return text;
}

const char *rkb_kernel_elements_text(rkb_kernel_file_t *file, uint32_t node) {
   return rkb_kernel_shape_text(file, &file->graph->nodes[node]);
}
