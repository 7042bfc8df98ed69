/* SPDX-License-Identifier: Apache-2.0 */
#include "model/meter.h"

#include <string.h>

enum { DOMAIN_MAX = 9999 };

/* Matches "rapl.package-12_uj": the meter's name with a number in place of its N. */
static bool match_domain(
	const char *text, size_t length, const char *name, const char *mark, uint32_t *out_domain)
{
	size_t front = (size_t)(mark + 1 - name), at = front, tail = strlen(mark + 2);
	uint32_t domain = 0;

	if (length <= front + tail || memcmp(text, name, front) != 0)
		return false;
	for (; at < length && text[at] >= '0' && text[at] <= '9' && domain <= DOMAIN_MAX; at++)
		domain = domain * 10 + (uint32_t)(text[at] - '0');
	*out_domain = domain;
	return at > front && domain <= DOMAIN_MAX && length - at == tail &&
		!memcmp(text + at, mark + 2, tail);
}

bool kwhy_meter_find(const char *text, size_t length, enum kwhy_meter *out_meter, uint32_t *out_domain)
{
	for (int meter = 0; meter < KWHY_METER_COUNT; meter++) {
		const char *name = kwhy_meter_name((enum kwhy_meter)meter), *mark = strstr(name, "-N_");
		uint32_t domain = 0;

		if (mark ? !match_domain(text, length, name, mark, &domain)
			 : strlen(name) != length || memcmp(text, name, length) != 0)
			continue;
		*out_meter = (enum kwhy_meter)meter;
		*out_domain = domain;
		return true;
	}
	return false;
}
