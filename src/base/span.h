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
static inline bool kwhy_span_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The span without blanks, tabs and carriage returns at both ends. */
static inline struct kwhy_span kwhy_span_trim(struct kwhy_span span)
{
	while (span.length > 0 && kwhy_span_is_space(span.bytes[0])) {
		span.bytes++;
		span.length--;
	}
	while (span.length > 0 && kwhy_span_is_space(span.bytes[span.length - 1]))
		span.length--;
	return span;
}

bool kwhy_span_is(struct kwhy_span span, const char *text);

#endif
