/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/spelling.h"

#include <string.h>

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

size_t kwhy_spelling_distance(const char *a, const char *b, size_t b_letters)
{
	size_t row[KWHY_SPELLING_LETTERS + 1];

	if (b_letters > KWHY_SPELLING_LETTERS || strlen(a) > KWHY_SPELLING_LETTERS)
		return KWHY_SPELLING_FAR;
	for (size_t j = 0; j <= b_letters; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < b_letters; j++) {
			size_t above = row[j + 1];

			row[j + 1] = smallest(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[b_letters];
}
