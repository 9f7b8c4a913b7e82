/* The shape of a request's addresses.  A row for each request: which lanes take part, and where each of them
 * reads. */
#include <stdio.h>
#include "machine/counts/access_shape.h"
#include "check.h"

#define LANES 32
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct request {
   const char *what;
   uint32_t mask, bytes;
   uint64_t first;     /* address of lane 0 */
   int64_t distance;   /* to the next lane */
   uint32_t row;       /* lanes of a row; 0: all */
   int64_t row_stride; /* from row to row */
   uint32_t shape;
   int64_t stride;
} request_t;

static const request_t requests[] = {
   {"every second float", ~0u, 4, 4096, 8, 0, 0, RKB_ACCESS_STRIDED, 8},
   {"every second float, downwards", ~0u, 4, 4096, -8, 0, 0, RKB_ACCESS_STRIDED, -8},
   {"a field of a structure", ~0u, 4, 4104, 12, 0, 0, RKB_ACCESS_STRIDED, 12},
   {"a column of 4096 floats", ~0u, 4, 4096, 16384, 0, 0, RKB_ACCESS_STRIDED, 16384},
   {"every second lane alone", 0x55555555, 4, 4096, 4, 0, 0, RKB_ACCESS_STRIDED, 8},
   {"four lanes an address, rows apart", ~0u, 4, 4096, 0, 4, 4096, RKB_ACCESS_STRIDED, 4096},
   {"every second float in rows of 14", ~0u, 4, 4096, 8, 14, 448, RKB_ACCESS_STRIDED, 8},
   {"rows of 7 floats", ~0u, 4, 4096, 4, 7, 112, RKB_ACCESS_ROWS, 0},
   {"a row from the second float on", ~0u, 4, 4100, 4, 0, 0, RKB_ACCESS_UNALIGNED, 0},
   {"a row of wide loads from inside a sector on", ~0u, 16, 4112, 16, 0, 0, RKB_ACCESS_UNALIGNED, 0},
   {"five lanes", 0x1f, 4, 4096, 4, 0, 0, RKB_ACCESS_SHORT, 0},
   {"one lane", 0x80000000, 4, 4096, 4, 0, 0, RKB_ACCESS_ONE, 0},
   {"one address", ~0u, 4, 4096, 0, 0, 0, RKB_ACCESS_ONE, 0},
};

static rkb_line_access_t shape_of(const request_t *r) {
   uint64_t address[LANES];
   for (uint32_t l = 0; l < LANES; l++) {
      const uint32_t row = r->row ? l / r->row : 0, column = r->row ? l % r->row : l;
      address[l] = r->first + (uint64_t)(row * r->row_stride + column * r->distance);
   }
   return machine_access_shape(address, r->mask, r->bytes);
}

static void every_request_has_its_shape(void **state) {
   (void)state;
   int wrong = 0;
   for (size_t n = 0; n < COUNT(requests); n++) {
      const rkb_line_access_t access = shape_of(&requests[n]);
      if (access.shape == requests[n].shape && access.stride == requests[n].stride &&
          access.bytes == requests[n].bytes)
         continue;
      print_error("%s: shape %u, stride %lld\n", requests[n].what, access.shape, (long long)access.stride);
      wrong++;
   }
   assert_int_equal(wrong, 0);
}

static void addresses_without_order_are_scattered(void **state) {
   (void)state;
   uint64_t address[LANES], at = 12345;
   for (uint32_t l = 0; l < LANES; l++)
      address[l] = ((at = at * 6364136223846793005u + 1442695040888963407u) >> 33) & ~(uint64_t)3;
   assert_int_equal(machine_access_shape(address, ~0u, 4).shape, RKB_ACCESS_SCATTERED);
}

static void half_of_the_waste_names_the_cause(void **state) {
   (void)state;
   machine_access_causes_t causes = {0};
   rkb_line_access_t access = {RKB_ACCESS_STRIDED, 4, 8};
   assert_int_equal(machine_access_cause(&causes).shape, RKB_ACCESS_MIXED);
   for (int64_t stride = 12; stride <= 12 + 4 * 9; stride += 4) { /* more kinds than are kept */
      access.stride = stride;
      machine_access_count(&causes, &access, 1);
   }
   assert_int_equal(machine_access_cause(&causes).shape, RKB_ACCESS_MIXED);
   access.stride = 8;
   machine_access_count(&causes, &access, 20);
   assert_int_equal(machine_access_cause(&causes).shape, RKB_ACCESS_STRIDED);
   assert_int_equal(machine_access_cause(&causes).stride, 8);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_request_has_its_shape),
      cmocka_unit_test(addresses_without_order_are_scattered),
      cmocka_unit_test(half_of_the_waste_names_the_cause),
   };
   return RUN_TESTS(tests);
}
