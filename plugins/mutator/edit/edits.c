/* The table of edits, and functions that several edits use. */
#include "edits.h"
#include <string.h>

const edit_kind_t EDIT_KINDS[] = {
   {"unroll", "adds, changes or removes #pragma unroll at a loop", edit_unroll},
   {"launch_bounds", "adds or changes __launch_bounds__ of a kernel", edit_launch_bounds},
   {"restrict", "adds __restrict__ to a kernel's pointers, or takes it away", edit_restrict},
   {"ldg", "reads through the read-only path at one place, or no longer", edit_ldg},
   {"block_shape", "adds a new value to a tune parameter of the block's size, and takes it",
    edit_block_shape},
   {"grid_stride", "lets a thread loop over results with a bounded grid, or makes the grid whole again",
    edit_grid_stride},
   {"barrier", "takes a barrier away", edit_barrier},
   {"intrinsic", "calls the faster, less precise form of a function at one place, or no longer",
    edit_intrinsic},
};

const uint32_t EDIT_KIND_COUNT = sizeof EDIT_KINDS / sizeof EDIT_KINDS[0];

uint32_t edit_draw(const edit_subject_t *subject, uint32_t limit) {
   return (uint32_t)subject->random->below(subject->stream, limit);
}

bool edit_launches(const edit_subject_t *subject, const rkb_launch_text_t *launch, const function_t *kernel) {
   size_t length = strcspn(launch->kernel, "< ");
   return kernel->is_kernel &&
          functions_named(subject->source, subject->functions, launch->kernel, length) == kernel;
}

static bool is_name_start(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_byte(char c) {
   return is_name_start(c) || (c >= '0' && c <= '9');
}

bool edit_is_tune_expression(const rkb_manifest_t *manifest, const char *text) {
   for (const char *at = text; *at;) {
      if (!is_name_start(*at)) {
         at++;
         continue;
      }
      size_t length = 1;
      while (is_name_byte(at[length]))
         length++;
      bool known = false;
      for (uint32_t i = 0; i < manifest->tune_count; i++)
         known = known || (strlen(manifest->tune[i].name) == length &&
                           strncmp(manifest->tune[i].name, at, length) == 0);
      if (!known)
         return false;
      at += length;
   }
   return true;
}

bool edit_has_word(const char *text, const char *word) {
   const size_t length = strlen(word);
   for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
      if ((at == text || !is_name_byte(at[-1])) && !is_name_byte(at[length]))
         return true;
   return false;
}
