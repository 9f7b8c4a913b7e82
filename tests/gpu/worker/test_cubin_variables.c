/* The list of a module's variables, read from cubins that are whole, damaged and hostile. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "cubin_double.h"
#include "gpu/worker/cubin_variables.h"

enum { MOST = 8 };

/* Reads a copy of exactly `bytes` bytes, so that a sanitizer sees a read beyond them.  Returns how many variables are in list. */
static uint32_t variables_of(const void *cubin, size_t bytes, rkb_cubin_variable_t *list, uint32_t most) {
   char *copy = malloc(bytes + 1);
   memcpy(copy, cubin, bytes);
   const uint32_t there = rkb_cubin_variables(copy, bytes, list, most), count = there < most ? there : most;
   for (uint32_t i = 0; i < count; i++) {
      const size_t at = (size_t)(list[i].name - copy);
      assert_true(at < bytes && at + strlen(list[i].name) < bytes);
   }
   free(copy);
   return count;
}

static uint32_t count_of(const cubin_t *cubin) {
   rkb_cubin_variable_t list[MOST];
   return variables_of(cubin, sizeof *cubin, list, MOST);
}

static void variables_are_listed_in_order(void **state) {
   const cubin_t cubin = cubin_of_double();
   rkb_cubin_variable_t list[MOST];
   (void)state;
   assert_int_equal(rkb_cubin_variables(&cubin, sizeof cubin, list, MOST), 3);
   assert_string_equal(list[0].name, "launches");
   assert_string_equal(list[1].name, "turns");
   assert_string_equal(list[2].name, "started");
   assert_true(list[0].zeroed && list[1].zeroed && !list[2].zeroed);
   assert_int_equal(rkb_cubin_variables(&cubin, sizeof cubin, list, 2), 3);
   assert_int_equal(rkb_cubin_variables(&cubin, sizeof cubin, list, 0), 3);
}

static void other_symbols_are_left_out(void **state) {
   cubin_t cubin = cubin_of_double();
   (void)state;
   cubin.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
   assert_int_equal(count_of(&cubin), 2);
   cubin.symbols[2].st_size = 0;
   assert_int_equal(count_of(&cubin), 1);
   cubin.sections[STARTED].sh_flags = SHF_ALLOC;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   memcpy(cubin.section_names + 12, ".nv.constant3", 14);
   assert_int_equal(count_of(&cubin), 2);
}

/* Each edit puts something outside of the file or of its section. */
static void what_lies_outside_is_left_out(void **state) {
   (void)state;
   cubin_t cubin = cubin_of_double();
   cubin.symbols[2].st_value = UINT64_MAX;
   assert_int_equal(count_of(&cubin), 2);
   cubin.symbols[1].st_size = UINT64_MAX;
   assert_int_equal(count_of(&cubin), 1);
   cubin.symbols[3].st_name = UINT32_MAX;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   cubin.symbols[1].st_shndx = 0xfff1;
   assert_int_equal(count_of(&cubin), 2);
   cubin.sections[SYMBOLS].sh_size = UINT64_MAX / 2;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   cubin.sections[SYMBOLS].sh_offset = UINT64_MAX;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   cubin.head.e_shoff = UINT64_MAX - 8;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   cubin.head.e_shnum = UINT16_MAX;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   cubin.head.e_shstrndx = UINT16_MAX;
   assert_int_equal(count_of(&cubin), 0);
   cubin = cubin_of_double();
   memset(cubin.symbol_names + 16, 'x', sizeof cubin.symbol_names - 16); /* a name without an end */
   assert_int_equal(count_of(&cubin), 2);
}

static void many_names_and_huge_sizes(void **state) {
   enum { SYMBOLS_THERE = 100000 };
   const cubin_t small = cubin_of_double();
   const size_t bytes = sizeof small + SYMBOLS_THERE * sizeof(Elf64_Sym);
   char *large = calloc(bytes, 1);
   cubin_t *cubin = (cubin_t *)(void *)large;
   rkb_cubin_variable_t *list = calloc(SYMBOLS_THERE, sizeof *list);
   (void)state;
   *cubin = small;
   cubin->sections[ZEROS].sh_size = UINT64_C(1) << 62;
   cubin->sections[SYMBOLS].sh_offset = sizeof small;
   cubin->sections[SYMBOLS].sh_size = SYMBOLS_THERE * sizeof(Elf64_Sym);
   for (uint64_t i = 0; i < SYMBOLS_THERE; i++) {
      Elf64_Sym symbol = small.symbols[1];
      symbol.st_value = i << 40;
      symbol.st_size = UINT64_C(1) << 40;
      memcpy(large + sizeof small + i * sizeof symbol, &symbol, sizeof symbol);
   }
   assert_int_equal(variables_of(large, bytes, list, SYMBOLS_THERE), SYMBOLS_THERE);
   assert_int_equal(variables_of(large, bytes, list, 4096), 4096);
   free(list);
   free(large);
}

/* variables_of checks what is found. */
static void no_damage_leads_outside(void **state) {
   const cubin_t cubin = cubin_of_double();
   rkb_cubin_variable_t list[MOST];
   (void)state;
   for (size_t bytes = 0; bytes < sizeof cubin; bytes++)
      variables_of(&cubin, bytes, list, MOST);
   for (size_t at = 0; at < sizeof cubin; at++)
      for (unsigned value = 0; value < 256; value += 51) {
         cubin_t damaged = cubin;
         ((unsigned char *)&damaged)[at] = (unsigned char)value;
         variables_of(&damaged, sizeof damaged, list, MOST);
      }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(variables_are_listed_in_order), cmocka_unit_test(other_symbols_are_left_out),
      cmocka_unit_test(what_lies_outside_is_left_out), cmocka_unit_test(many_names_and_huge_sizes),
      cmocka_unit_test(no_damage_leads_outside)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
