/* What every cmocka program needs, in the order that its header demands. */
#ifndef RKB_TESTS_CHECK_H
#define RKB_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
