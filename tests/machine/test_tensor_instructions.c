/* Every form of tensor_instructions.txt is decoded, or refused by name where the file says so. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
   ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
   ".reg .pred %p<4>;\n.reg .b16 %h<16>;\n.reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 %d<16>;\n"
   ".shared .align 128 .b8 smem[1024];\n";

static void note(void *argument, const char *kernel, const char *what, uint32_t line) {
   snprintf(argument, 160, "%s", what);
   (void)kernel;
   (void)line;
}

static void check_form(const char *form, bool refused) {
   char ptx[4096], found[160] = "";
   uint32_t line;
   rkb_error_t err;
   snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", head, form);
   rkb_machine_module_t *module = rkb_machine_module_read(ptx, strlen(ptx));
   assert_non_null(module);
   const char *problem = rkb_machine_module_error(module, &line);
   if (problem)
      fail_msg("%s: %s", form, problem);
   assert_int_equal(rkb_machine_unsupported(module, note, found, &err), RKB_OK);
   if (!refused && found[0])
      fail_msg("%s: unsupported.%s", form, found);
   if (refused && (!found[0] || strncmp(found, form, strlen(found)) != 0))
      fail_msg("%s is to be refused by its name: '%s'", form, found);
   rkb_machine_module_free(module);
}

static void forms_are_decoded_or_refused_by_name(void **state) {
   (void)state;
   char *text = harness_read_file(RKB_SOURCE_DIR "/tests/machine/tensor_instructions.txt");
   uint32_t run = 0, refused = 0;
   assert_non_null(text);
   for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
      if (strncmp(line, "runs ", 5) == 0) {
         check_form(line + 5, false);
         run++;
      } else if (strncmp(line, "refused ", 8) == 0) {
         check_form(line + 8, true);
         refused++;
      } else {
         assert_true(line[0] == '#' || line[0] == '\0');
      }
   }
   assert_true(run >= 200 && refused >= 7);
   free(text);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(forms_are_decoded_or_refused_by_name)};
   return RUN_TESTS(tests);
}
