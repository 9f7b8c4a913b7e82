/* What every cmocka program needs, in the order that its header demands. */
#ifndef RKB_TESTS_CHECK_H
#define RKB_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* Whether a test should take all of its cases, however long that takes: `ninja long-tests` sets RKB_LONG. */
static inline bool rkb_long_tests(void) {
   return getenv("RKB_LONG") != NULL;
}

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
