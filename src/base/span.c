/* SPDX-License-Identifier: Apache-2.0 */
#include "base/span.h"

#include <string.h>

bool kwhy_span_is(struct kwhy_span span, const char *text)
{
	return span.length == strlen(text) && !memcmp(span.bytes, text, span.length);
}
