/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_SPELLING_H
#define KWHY_CLI_SPELLING_H

#include <stddef.h>

/*
 * KWHY_SPELLING_LETTERS: longest word that is compared, in bytes. KWHY_SPELLING_FAR: edit distance from which
 * two words count as different.
 */
enum { KWHY_SPELLING_LETTERS = 32, KWHY_SPELLING_FAR = 3 };

/*
 * Edit distance, in letters, between `a` and the first `b_letters` of `b`; KWHY_SPELLING_FAR if a word is too
 * long.
 */
size_t kwhy_spelling_distance(const char *a, const char *b, size_t b_letters);

#endif
