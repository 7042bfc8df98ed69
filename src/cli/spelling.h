/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_SPELLING_H
#define KWHY_CLI_SPELLING_H

#include <stddef.h>

/* Longest word that is compared, and the distance from which on two words are not alike. */
enum { KWHY_SPELLING_LETTERS = 32, KWHY_SPELLING_FAR = 3 };

/* Letters to change, add or drop between `a` and the first `b_letters` of `b`; of longer words far. */
size_t kwhy_spelling_distance(const char *a, const char *b, size_t b_letters);

#endif
