/* Durations, sizes and numbers: read, refused and written.  One thread. */
#include "check.h"
#include "base/units.h"

#include <float.h>
#include <string.h>

static void durations(void **state) {
   static const struct {
      const char *text;
      uint64_t nanoseconds;
   } good[] = {{"0", 0},
               {"0s", 0},
               {"1ns", 1},
               {"250ms", 250000000},
               {"30s", 30000000000},
               {"5m", 300000000000},
               {"1h", 3600000000000},
               {"1.5s", 1500000000},
               {"0.1us", 100},
               {"18446744073709551615ns", UINT64_MAX}};
   static const char *const bad[] = {"",
                                     "5",
                                     "s",
                                     "-1s",
                                     "1 s",
                                     " 1s",
                                     "1s ",
                                     "1.s",
                                     ".5s",
                                     "1e3s",
                                     "1min",
                                     "1S",
                                     "1ss",
                                     "18446744073709551616ns",
                                     "6000000h",
                                     "0x1s",
                                     "1.00000000000000s"};
   (void)state;
   uint64_t value;
   for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
      assert_true(rkb_parse_duration(good[i].text, &value));
      assert_true(value == good[i].nanoseconds);
   }
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      assert_false(rkb_parse_duration(bad[i], &value));
}

static void byte_counts(void **state) {
   static const char *const bad[] = {"", "64KB", "64kib", "KiB", "-1", "1 KiB", "16777216TiB", "1e3"};
   (void)state;
   uint64_t value;
   assert_true(rkb_parse_bytes("64KiB", &value) && value == 65536);
   assert_true(rkb_parse_bytes("1.5MiB", &value) && value == 1572864);
   assert_true(rkb_parse_bytes("100", &value) && value == 100);
   assert_true(rkb_parse_bytes("7B", &value) && value == 7);
   assert_true(rkb_parse_bytes("2GiB", &value) && value == UINT64_C(1) << 31);
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      assert_false(rkb_parse_bytes(bad[i], &value));
}

static void integers(void **state) {
   static const char *const bad[] = {"",
                                     "-",
                                     "+1",
                                     "1.0",
                                     "1e3",
                                     "010",
                                     "0x",
                                     "0xg",
                                     "1_000",
                                     " 1",
                                     "1 ",
                                     "--1",
                                     "0b1",
                                     "0o7",
                                     "9223372036854775808",
                                     "-9223372036854775809",
                                     "0x8000000000000000"};
   (void)state;
   int64_t value;
   assert_true(rkb_parse_int("0", &value) && value == 0);
   assert_true(rkb_parse_int("-42", &value) && value == -42);
   assert_true(rkb_parse_int("0xfF", &value) && value == 255);
   assert_true(rkb_parse_int("-0x10", &value) && value == -16);
   assert_true(rkb_parse_int("9223372036854775807", &value) && value == INT64_MAX);
   assert_true(rkb_parse_int("-9223372036854775808", &value) && value == INT64_MIN);
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      assert_false(rkb_parse_int(bad[i], &value));
}

static void reals(void **state) {
   static const char *const bad[] = {"",     ".",   "-",     "e5",  "1e",   "1e+", "nan", "inf",
                                     "-inf", "0x1", "1e999", "1,5", "1.5f", " 1",  "1 ",  "1_0"};
   (void)state;
   double value;
   assert_true(rkb_parse_real("1", &value) && value == 1);
   assert_true(rkb_parse_real("-1.5e-3", &value) && value == -1.5e-3);
   assert_true(rkb_parse_real("+.5", &value) && value == 0.5);
   assert_true(rkb_parse_real("5.", &value) && value == 5);
   assert_true(rkb_parse_real("1e-6", &value) && value == 1e-6);
   assert_true(rkb_parse_real("1.7976931348623157e308", &value) && value == DBL_MAX);
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      assert_false(rkb_parse_real(bad[i], &value));
}

static void formats(void **state) {
   static const struct {
      uint64_t nanoseconds;
      const char *text;
   } durations_as_text[] = {{0, "0 ns"},
                            {999, "999 ns"},
                            {12400, "12.4 us"},
                            {310000000, "310 ms"},
                            {1240000000, "1.24 s"},
                            {59900000000, "59.9 s"},
                            {125000000000, "2 m 05 s"},
                            {3900000000000, "1 h 05 m"}};
   static const struct {
      uint64_t bytes;
      const char *text;
   } bytes_as_text[] = {
      {0, "0 B"},           {1023, "1023 B"},       {1024, "1.0 KiB"},       {1572864, "1.5 MiB"},
      {1048575, "1.0 MiB"}, {300 << 20, "300 MiB"}, {UINT64_MAX, "16.0 EiB"}};
   (void)state;
   char out[32];
   for (size_t i = 0; i < sizeof durations_as_text / sizeof durations_as_text[0]; i++) {
      rkb_format_duration(durations_as_text[i].nanoseconds, out, sizeof out);
      assert_string_equal(out, durations_as_text[i].text);
   }
   for (size_t i = 0; i < sizeof bytes_as_text / sizeof bytes_as_text[0]; i++) {
      rkb_format_bytes(bytes_as_text[i].bytes, out, sizeof out);
      assert_string_equal(out, bytes_as_text[i].text);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(durations), cmocka_unit_test(byte_counts),
                                      cmocka_unit_test(integers), cmocka_unit_test(reals),
                                      cmocka_unit_test(formats)};
   return RUN_TESTS(tests);
}
