/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live/since.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

static bool read_duration(const char *text, double *out_s)
{
	static const struct {
		char letter;
		double seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end != text && *end == units[i].letter && !end[1]) {
			*out_s = value * units[i].seconds;
			return isfinite(value) && value >= 0 && *out_s < 1e9;
		}
	return false;
}

static bool read_date(const char *text, int64_t *out_unix_ns)
{
	static const char *const forms[] = {
		"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm parts = {0};
		const char *end = strptime(text, forms[i], &parts);

		if (end && !*end) {
			const int64_t seconds = timegm(&parts);

			if (seconds > INT64_MAX / SECOND_NS || seconds < INT64_MIN / SECOND_NS)
				return false;
			*out_unix_ns = seconds * SECOND_NS;
			return true;
		}
	}
	return false;
}

enum kwhy_status kwhy_since_read(
	const char *text, int64_t now_unix_ns, int64_t *out_unix_ns, struct kwhy_error *error)
{
	double seconds;

	if (read_duration(text, &seconds)) {
		*out_unix_ns = now_unix_ns - llround(seconds * 1e9);
		return KWHY_OK;
	}
	if (read_date(text, out_unix_ns))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE,
		"--since takes 90m, 2h or 7d, or a UTC time like 2026-11-29 or 2026-11-29T14:30, not '%.60s'",
		text);
}
