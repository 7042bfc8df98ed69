/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/values.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_W 1e6 /* above any device, so the unit must be wrong */

/* Reads a number of watts from `text` up to `end`. */
static bool read_watts(const char *text, const char *end, double *out)
{
	char *stop;
	double watts = strtod(text, &stop);

	if (stop == text || stop != end || !isfinite(watts) || watts < 0 || watts > MAX_W)
		return false;
	*out = watts;
	return true;
}

/* The member for the power of that name; NULL: unknown name. Idle has one kind only. */
static double *power_named(struct kwhy_assumed_powers *powers, const char *name, size_t length)
{
	for (size_t i = 0; i < KWHY_CATEGORY_COUNT; i++) {
		const char *category = kwhy_category_name((enum kwhy_category)i);

		if (i == KWHY_CATEGORY_OVERLAP || i == KWHY_CATEGORY_PROBING ||
			i == KWHY_CATEGORY_UNRECORDED ||
			(i != KWHY_CATEGORY_IDLE && kwhy_category_is_idle((enum kwhy_category)i)))
			continue;
		if (strlen(category) == length && memcmp(category, name, length) == 0)
			return &powers->category_w[i];
	}
	for (size_t i = KWHY_COPY_H2D; i < KWHY_COPY_KIND_COUNT; i++) {
		const char *kind = kwhy_copy_kind_name((enum kwhy_copy_kind)i);

		if (strlen(kind) == length && memcmp(kind, name, length) == 0)
			return &powers->copy_w[i];
	}
	return NULL;
}

static enum kwhy_status read_pair(
	struct kwhy_assumed_powers *powers, const char *text, size_t length, struct kwhy_error *error)
{
	const char *equals = memchr(text, '=', length);
	double *power = equals ? power_named(powers, text, (size_t)(equals - text)) : NULL;

	if (!power)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--assume-power: '%.*s' is no pair like compute=76.2; names are compute, collective, "
			"copy, "
			"memset, idle, h2d, d2h, d2d, p2p, h2h",
			(int)(length < 60 ? length : 60), text);
	if (!read_watts(equals + 1, text + length, power))
		return kwhy_fail(error, KWHY_E_USAGE, "--assume-power: '%.*s' states no power in watts",
			(int)(length < 60 ? length : 60), text);
	return KWHY_OK;
}

static struct kwhy_assumed_powers no_powers(void)
{
	struct kwhy_assumed_powers powers = {.given = true, .all_w = NAN};

	for (size_t i = 0; i < KWHY_CATEGORY_COUNT; i++)
		powers.category_w[i] = NAN;
	for (size_t i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		powers.copy_w[i] = NAN;
	return powers;
}

enum kwhy_status kwhy_value_powers(
	const char *spec, struct kwhy_assumed_powers *out, struct kwhy_error *error)
{
	struct kwhy_assumed_powers powers = no_powers();
	enum kwhy_status status = KWHY_OK;

	if (!read_watts(spec, spec + strlen(spec), &powers.all_w))
		for (const char *text = spec; !status && text;) {
			const char *comma = strchr(text, ',');

			status = read_pair(
				&powers, text, comma ? (size_t)(comma - text) : strlen(text), error);
			text = comma ? comma + 1 : NULL;
		}
	if (!status)
		*out = powers;
	return status;
}

enum kwhy_status kwhy_value_price(
	const char *spec, double *out_price_per_kwh, char out_currency[16], struct kwhy_error *error)
{
	char *end;
	double price = strtod(spec, &end);

	if (end == spec || !isfinite(price) || price < 0)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--price takes a price per kWh like 0.30EUR, not '%.60s'", spec);
	end += strspn(end, " ");
	if (strlen(end) > 15 || strpbrk(end, "0123456789 ,./") || !kwhy_text_is_clean(end, strlen(end)))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--price: '%.60s' is no currency; write it like 0.30EUR", end);
	*out_price_per_kwh = price;
	snprintf(out_currency, 16, "%s", end);
	return KWHY_OK;
}

enum kwhy_status kwhy_value_work(
	const char *spec, char out_unit[KWHY_WORK_UNIT_BYTES], double *out_count, struct kwhy_error *error)
{
	const char *equals = strchr(spec, '=');
	size_t length = equals ? (size_t)(equals - spec) : 0;
	char *end = NULL;
	double count = equals ? strtod(equals + 1, &end) : 0;

	if (!length || length >= KWHY_WORK_UNIT_BYTES || !kwhy_text_is_clean(spec, length))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--work takes a unit and a count like tokens=4096, not '%.60s'", spec);
	if (end == equals + 1 || *end || !isfinite(count) || count <= 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--work: '%.60s' states no count above 0", spec);
	memcpy(out_unit, spec, length);
	out_unit[length] = '\0';
	*out_count = count;
	return KWHY_OK;
}
