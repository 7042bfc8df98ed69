/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SPAN_H
#define KWHY_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of somebody's text; borrowed. */
struct kwhy_span {
	const char *bytes; /* not NUL-terminated */
	size_t length;
};

/* Blanks, tabs and carriage returns: what may stand around a field. */
bool kwhy_span_is_space(char c);

/* Without such in front and behind. */
struct kwhy_span kwhy_span_trim(struct kwhy_span span);

bool kwhy_span_is(struct kwhy_span span, const char *text);

#endif
