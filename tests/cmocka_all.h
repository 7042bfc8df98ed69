/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CMOCKA_ALL_H
#define KWHY_TESTS_CMOCKA_ALL_H

/* cmocka wants these before it, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
