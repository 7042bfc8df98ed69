/* SPDX-License-Identifier: Apache-2.0 */
#include "base/span.h"

#include <string.h>

bool kwhy_span_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct kwhy_span kwhy_span_trim(struct kwhy_span span)
{
	while (span.length > 0 && kwhy_span_is_space(span.bytes[0])) {
		span.bytes++;
		span.length--;
	}
	while (span.length > 0 && kwhy_span_is_space(span.bytes[span.length - 1]))
		span.length--;
	return span;
}

bool kwhy_span_is(struct kwhy_span span, const char *text)
{
	return span.length == strlen(text) && !memcmp(span.bytes, text, span.length);
}
