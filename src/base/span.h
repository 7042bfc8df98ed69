/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SPAN_H
#define KWHY_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text; the text belongs to another owner. */
struct kwhy_span {
	const char *bytes; /* not NUL-terminated */
	size_t length;
};

/* Whether a character is a blank, tab or carriage return, which may surround a field. */
bool kwhy_span_is_space(char c);

/* The span without blanks, tabs and carriage returns at both ends. */
struct kwhy_span kwhy_span_trim(struct kwhy_span span);

bool kwhy_span_is(struct kwhy_span span, const char *text);

#endif
