/* Kernels that differ in names alone are written once; those that differ in anything else are not. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "generator/kernel/same_kernels.h"

#define KERNEL(name, type, from, to, size, body)                                                             \
   "/* A block owns elements of " to                                                                         \
   ". */\ntemplate <typename index>\n__global__ void __launch_bounds__(256) " name "(const " type            \
   " *__restrict__ " from ", " type " *" to ", index " size                                                  \
   ") {\n   const index place = (index)blockIdx.x * 256 + threadIdx.x;\n" body "}\n\n"

/* A graph that has values up and down, and the sizes M and N. */
static rkb_node_t nodes[] = {{.kind = RKB_NODE_INPUT, .name = "given", .tensor = "given"},
                             {.kind = RKB_NODE_MAP, .name = "up"},
                             {.kind = RKB_NODE_MAP, .name = "down"}};

static void expect(const char *first, const char *second, bool same) {
   const rkb_graph_t graph = {.nodes = nodes, .node_count = 3};
   rkb_text_t code, launches;
   rkb_text_init(&code, 1 << 16);
   rkb_text_init(&launches, 1 << 16);
   rkb_text_format(&code, "%s%s", first, second);
   rkb_text_add(
      &launches,
      "  - kernel: up_elements<int>\n    args: \"given, up, M\"\n  - kernel: down_elements<int>\n    args: \"up, down, N\"\n");
   rkb_kernels_once(&graph, &code, &launches);
   assert_int_equal(strstr(rkb_text_get(&launches), "kernel: down_elements<int>") == NULL, same);
   assert_int_equal(strstr(rkb_text_get(&code), "__launch_bounds__(256) down_elements(") == NULL, same);
   assert_int_equal(strstr(rkb_text_get(&code),
                           "/* down_elements is the same kernel. */\n/* A block owns elements of up. */") !=
                       NULL,
                    same);
   assert_non_null(strstr(rkb_text_get(&code), "__launch_bounds__(256) up_elements("));
   assert_non_null(strstr(rkb_text_get(&launches), "args: \"up, down, N\""));
   rkb_text_free(&code);
   rkb_text_free(&launches);
}

static const char first[] = KERNEL(
   "up_elements", "float", "given", "up", "M",
   "   const float up_here = larger(given[place], 0.0f); /* of M */\n   if (place < M)\n      up[place] = up_here;\n");

static void test_names_alone(void **state) {
   (void)state;
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const float down_here = larger(up[place], 0.0f);\n   if (place < N)\n      down[place] = down_here;\n"),
      true);
}

static void test_other_types(void **state) {
   (void)state;
   expect(
      first,
      KERNEL(
         "down_elements", "double", "up", "down", "N",
         "   const float down_here = larger(up[place], 0.0f);\n   if (place < N)\n      down[place] = down_here;\n"),
      false);
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const double down_here = larger(up[place], 0.0f);\n   if (place < N)\n      down[place] = down_here;\n"),
      false);
}

static void test_other_functions(void **state) {
   (void)state;
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const float down_here = smaller(up[place], 0.0f);\n   if (place < N)\n      down[place] = down_here;\n"),
      false);
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const float down_here = larger(up[place], 1.0f);\n   if (place < N)\n      down[place] = down_here;\n"),
      false);
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const float down_here = larger(up[place], 0.0f);\n   if (place < N)\n      down[place] = down_here;\n   down[0] = 1.0f;\n"),
      false);
}

/* One name stands for one name: here the second kernel reads what it writes. */
static void test_crossed_names(void **state) {
   (void)state;
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const float down_here = larger(down[place], 0.0f);\n   if (place < N)\n      down[place] = down_here;\n"),
      false);
   expect(
      first,
      KERNEL(
         "down_elements", "float", "up", "down", "N",
         "   const float down_here = larger(up[place], 0.0f);\n   if (place < N)\n      up[place] = down_here;\n"),
      false);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_alone), cmocka_unit_test(test_other_types),
                                      cmocka_unit_test(test_other_functions),
                                      cmocka_unit_test(test_crossed_names)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
