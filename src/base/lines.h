/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_LINES_H
#define KWHY_BASE_LINES_H

#include "base/text.h"

/* The number of ends of lines in a text. */
static inline size_t kwhy_lines_count(const struct kwhy_text *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->length; i++)
		lines += text->data[i] == '\n';
	return lines;
}

#endif
