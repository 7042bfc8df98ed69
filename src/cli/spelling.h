/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_SPELLING_H
#define KWHY_CLI_SPELLING_H

#include <stddef.h>

/*
 * KWHY_SPELLING_LETTERS: length of the longest word that is compared, in bytes. KWHY_SPELLING_FAR: least edit
 * distance of two words that do not count as similar.
 */
enum { KWHY_SPELLING_LETTERS = 32, KWHY_SPELLING_FAR = 3 };

/*
 * Edit distance, in bytes, between `a` and the first `b_letters` bytes of `b`; KWHY_SPELLING_FAR if one of
 * them is longer than KWHY_SPELLING_LETTERS.
 */
size_t kwhy_spelling_distance(const char *a, const char *b, size_t b_letters);

#endif
