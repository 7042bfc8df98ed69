/* SPDX-License-Identifier: Apache-2.0 */
#include "model/meter.h"

#include <stdio.h>
#include <string.h>

enum { DOMAIN_MAX = 9999 };

static const struct kwhy_meter_row rows[KWHY_METER_COUNT] = {
#define X(meter, name, unit, owner, vendor, role, rank, response)                       \
	[KWHY_METER_##meter] = {name, KWHY_METER_UNIT_##unit, KWHY_METER_OWNER_##owner, \
		KWHY_VENDOR_##vendor, KWHY_METER_ROLE_##role, rank, KWHY_METER_RESPONSE_##response},
#include "model/meters.def"
#undef X
};

static const struct {
	const char *name;
	int64_t nj; /* nanojoules per count; 0: the unit is one of power */
} units[KWHY_METER_UNIT_COUNT] = {
	[KWHY_METER_UNIT_MILLIJOULES] = {"millijoules", 1000000},
	[KWHY_METER_UNIT_MICROJOULES] = {"microjoules", 1000},
	[KWHY_METER_UNIT_MILLIWATTS] = {"milliwatts", 0},
};

const struct kwhy_meter_row *kwhy_meter_row(enum kwhy_meter meter)
{
	return &rows[meter];
}

const char *kwhy_meter_name(enum kwhy_meter meter)
{
	return rows[meter].name;
}

const char *kwhy_meter_source(char out[KWHY_METER_NAME_BYTES], enum kwhy_meter meter, uint32_t domain)
{
	const char *name = kwhy_meter_name(meter), *mark = strstr(name, "-N_");

	if (mark)
		snprintf(out, KWHY_METER_NAME_BYTES, "%.*s-%u%s", (int)(mark - name), name, domain, mark + 2);
	else
		snprintf(out, KWHY_METER_NAME_BYTES, "%s", name);
	return out;
}

bool kwhy_meter_is_counter(enum kwhy_meter meter)
{
	return rows[meter].role & KWHY_METER_COUNTERS;
}

bool kwhy_meter_is_mean(enum kwhy_meter meter)
{
	return rows[meter].role == KWHY_METER_ROLE_MEANS;
}

bool kwhy_meter_is_of_host(enum kwhy_meter meter)
{
	return rows[meter].owner &
		(KWHY_METER_OWNER_PACKAGE | KWHY_METER_OWNER_DRAM | KWHY_METER_OWNER_BOARD);
}

int64_t kwhy_meter_unit_nj(enum kwhy_meter meter)
{
	return units[rows[meter].unit].nj;
}

const char *kwhy_meter_unit_name(enum kwhy_meter meter)
{
	return units[rows[meter].unit].name;
}

struct kwhy_meter_list kwhy_meters_ranked(unsigned owners, unsigned roles)
{
	struct kwhy_meter_list list = {.count = 0};

	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		size_t at = list.count;

		if (!(rows[meter].owner & owners) || !(rows[meter].role & roles))
			continue;
		for (; at > 0 && rows[list.items[at - 1]].rank > rows[meter].rank; at--)
			list.items[at] = list.items[at - 1];
		list.items[at] = meter;
		list.count++;
	}
	return list;
}

/*
 * Whether `text` is the meter's name with a number in place of its N, such as "rapl.package-12_uj" for
 * "rapl.package-N_uj". `mark` is the place of "-N_" in `name`.
 */
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
