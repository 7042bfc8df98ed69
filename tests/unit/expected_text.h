/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_EXPECTED_TEXT_H
#define KWHY_TESTS_EXPECTED_TEXT_H

#include <stdint.h>

/*
 * Checks that a text equals a file under tests/unit. Numbers may differ in the seventh digit, so that all
 * compilers agree. KWHY_UPDATE_GOLDEN=1 rewrites the file instead: read the difference before you commit it.
 */
void assert_expected_text(const char *file, const char *got);

/*
 * Returns a hash of a text. Numbers with a decimal point are rounded to five digits first, so that the hash
 * is the same with all compilers.
 */
uint32_t digest_of_text(const char *text);

#endif
