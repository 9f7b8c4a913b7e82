/* Finds functions by name.  Constant tables; any thread. */
#include "reference/functions/functions.h"

#include <pthread.h>
#include <string.h>

static const rkb_function_t *const tables[] = {
   rkb_functions_elementwise, rkb_functions_activation, rkb_functions_reduction,
   rkb_functions_layout,      rkb_functions_product,    rkb_functions_normalisation,
   rkb_functions_pooling,     rkb_functions_loss,       rkb_functions_resampling,
   rkb_functions_recurrent,
};

#define MOST_NAMES 256
static const char *names[MOST_NAMES]; /* filled once */
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void collect_names(void) {
   uint32_t count = 0;
   for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
      for (const rkb_function_t *function = tables[i]; function->name && count < MOST_NAMES - 1; function++)
         names[count++] = function->name;
}

const char *const *rkb_function_names(void) {
   pthread_once(&names_once, collect_names);
   return names;
}

const rkb_function_t *rkb_function_find(const char *name) {
   for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
      for (const rkb_function_t *function = tables[i]; function->name; function++)
         if (strcmp(function->name, name) == 0)
            return function;
   return NULL;
}
