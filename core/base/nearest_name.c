/* "did you mean ...?": optimal string alignment distance (Levenshtein with swaps of neighbours), three rows
 * on the stack.  Any thread. */
#include "base/nearest_name.h"

#include <string.h>

#define LONGEST 64u /* longer names are not compared */

static unsigned least(unsigned a, unsigned b) {
   return a < b ? a : b;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length) {
   unsigned rows[3][LONGEST + 1];
   unsigned *before = rows[0], *above = rows[1], *row = rows[2];
   for (size_t j = 0; j <= b_length; j++)
      above[j] = (unsigned)j;
   for (size_t i = 1; i <= a_length; i++) {
      row[0] = (unsigned)i;
      for (size_t j = 1; j <= b_length; j++) {
         unsigned changed = above[j - 1] + (a[i - 1] != b[j - 1]);
         row[j] = least(changed, least(above[j], row[j - 1]) + 1);
         if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = least(row[j], before[j - 2] + 1);
      }
      unsigned *oldest = before;
      before = above;
      above = row;
      row = oldest;
   }
   return above[b_length];
}

const char *rkb_nearest(const char *written, const char *const *names) {
   size_t length = strnlen(written, LONGEST + 1);
   const char *best = NULL;
   unsigned best_distance = 0;
   if (length > LONGEST)
      return NULL;
   for (; *names; names++) {
      size_t name_length = strnlen(*names, LONGEST + 1);
      if (name_length > LONGEST)
         continue;
      size_t longer = length > name_length ? length : name_length;
      size_t allowed = longer / 3 < 1 ? 1 : longer / 3 > 3 ? 3 : longer / 3;
      unsigned found = distance(written, length, *names, name_length);
      if (found > allowed || found >= longer || (best && found >= best_distance))
         continue;
      best = *names;
      best_distance = found;
   }
   return best;
}
