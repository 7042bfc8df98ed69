/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/assumed_powers.h"

#include "model/counter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Reads a number of watts, from 0 to KWHY_POWER_MAX_W, that makes up all of `text` up to `end`. False: it is
 * none.
 */
static bool read_watts(const char *text, const char *end, double *out)
{
	char *stop;
	double watts = strtod(text, &stop);

	if (stop == text || stop != end || !isfinite(watts) || watts < 0 || watts > KWHY_POWER_MAX_W)
		return false;
	*out = watts;
	return true;
}

/*
 * The member for the power that --assume-power calls `name`: a category or a direction of copies; NULL:
 * unknown name. All categories of idle time share the name "idle".
 */
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

	if (!equals)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--assume-power: '%.*s' is neither a number of watts from 0 to %.0f nor a pair like "
			"compute=76.2",
			(int)(length < 60 ? length : 60), text, KWHY_POWER_MAX_W);
	if (!power)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--assume-power: '%.*s' names no kind of time; names are compute, "
			"collective, copy, memset, idle, h2d, d2h, d2d, p2p, h2h",
			(int)(length < 60 ? length : 60), text);
	if (!read_watts(equals + 1, text + length, power))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--assume-power: '%.*s' states no power in watts from 0 to %.0f",
			(int)(length < 60 ? length : 60), text, KWHY_POWER_MAX_W);
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

enum kwhy_status kwhy_assumed_powers_read(
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
