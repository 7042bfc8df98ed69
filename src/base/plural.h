/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_PLURAL_H
#define KWHY_BASE_PLURAL_H

#include <stdint.h>

/* The words that follow a count in a sentence: `one` after 1, `many` after any other, 0 included. */
static inline const char *kwhy_plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

#endif
