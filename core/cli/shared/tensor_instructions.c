/* Prints the facet "tensor" (tensor_instructions.h). */
#include "cli/shared/tensor_instructions.h"

#include <stdio.h>
#include <string.h>
#include "base/json.h"

static void print_names(const char *what, const json_t *names) {
   for (size_t n = 0; n < json_array_size(names); n++) {
      const char *name = json_string_value(json_array_get(names, n));
      printf("%s%s", n ? ", " : what, name ? name : "?");
   }
   if (json_array_size(names))
      printf("\n");
}

void rkb_print_tensor_instructions(const rkb_verdict_record_t *verdict) {
   rkb_error_t err;
   json_t *facets =
      verdict->certificate ? rkb_json_parse(verdict->certificate, strlen(verdict->certificate), &err) : NULL;
   for (size_t n = 0; n < json_array_size(facets); n++) {
      const json_t *facet = json_array_get(facets, n);
      const char *name = json_string_value(json_object_get(facet, "facet"));
      if (!name || strcmp(name, "tensor"))
         continue;
      print_names("    tensor   executes ", json_object_get(facet, "executed"));
      print_names("    tensor   names and never executes ", json_object_get(facet, "never_executed"));
   }
   json_decref(facets);
}
