/* Steps that rewrites share: drawing a place to begin at, listing the kernels of a text, and trying these one after the other.  Any thread. */
#include <ctype.h>
#include <string.h>
#include "base/random.h"
#include "lift/rewrite.h"

uint32_t lift_draw(const lift_subject_t *subject, uint32_t count) {
   return count > 1 ? (uint32_t)rkb_random_below(subject->stream, count) : 0;
}

uint32_t lift_kernels(const lift_tree_t *tree, uint32_t *out, uint32_t most) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < tree->count && count < most; i++)
      if (tree->nodes[i].kind == LIFT_KERNEL && lift_body(tree, i) != LIFT_NONE)
         out[count++] = i;
   return count;
}

bool lift_try_kernels(const lift_subject_t *subject, lift_change_t *change,
                      bool (*apply)(const lift_subject_t *subject, uint32_t kernel, lift_change_t *change)) {
   uint32_t kernels[32];
   const uint32_t count = lift_kernels(subject->tree, kernels, 32), first = lift_draw(subject, count);
   for (uint32_t i = 0; i < count; i++) {
      lift_change_t attempt = {0};
      if (lift_attempted(change, &attempt, apply(subject, kernels[(first + i) % count], &attempt)))
         return true;
   }
   return lift_refuse(change, "the text has no kernel");
}

/* The byte where the word before `at` begins, if it is one of those that may stand before a function's type; else `at`. */
static uint32_t before_word(const lift_tree_t *tree, uint32_t at) {
   static const char *const words[] = {
      "__global__", "__device__", "__forceinline__", "__noinline__", "__host__", "__launch_bounds__",
      "static",     "inline",     "extern",          "\"C\"",        NULL};
   uint32_t end = at;
   while (end > 0 && isspace((unsigned char)tree->text[end - 1]))
      end--;
   if (end > 0 && tree->text[end - 1] == ')') { /* of __launch_bounds__ */
      int depth = 0;
      do {
         end--;
         depth += (tree->text[end] == ')') - (tree->text[end] == '(');
      } while (end > 0 && depth > 0);
   }
   for (int w = 0; words[w]; w++) {
      const size_t length = strlen(words[w]);
      if (end >= length && strncmp(tree->text + end - length, words[w], length) == 0)
         return end - (uint32_t)length;
   }
   return at;
}

uint32_t lift_function_start(const lift_tree_t *tree, uint32_t function) {
   uint32_t at = tree->nodes[function].start, before = before_word(tree, at);
   while (before != at) {
      at = before;
      before = before_word(tree, at);
   }
   return at;
}
