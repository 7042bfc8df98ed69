/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_TEXT_FILE_H
#define KWHY_TESTS_TEXT_FILE_H

#include "cmocka_all.h"

#include <stdio.h>

/* Creates or replaces the file. */
static inline void text_file_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#endif
