/* SPDX-License-Identifier: Apache-2.0 */
#include "import/utc.h"

#include "base/quantity.h"

#include <stdio.h>
#include <time.h>

static const int64_t second_ns = 1000000000;

const char *kwhy_utc_text(
	char out[KWHY_UTC_BYTES], const struct kwhy_recording *recording, int64_t relative_ns)
{
	int64_t time_ns = recording->origin_unix_ns;
	struct tm parts;
	time_t seconds;
	int milliseconds;
	size_t length;

	if (__builtin_add_overflow(time_ns, relative_ns, &time_ns))
		time_ns = relative_ns < 0 ? INT64_MIN : INT64_MAX;
	milliseconds = (int)((time_ns % second_ns + second_ns) % second_ns / 1000000);
	seconds = (time_t)(time_ns / second_ns - (time_ns % second_ns < 0));
	if (!recording->unix_clock || !gmtime_r(&seconds, &parts)) {
		snprintf(out, KWHY_UTC_BYTES, "%.3f s", (double)time_ns * 1e-9);
		return out;
	}
	length = strftime(out, KWHY_UTC_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
	snprintf(out + length, KWHY_UTC_BYTES - length, ".%03d UTC", milliseconds);
	return out;
}

const char *kwhy_utc_distance(char out[KWHY_UTC_BYTES], int64_t distance_ns)
{
	double seconds = (double)distance_ns * 1e-9;
	char quantity[KWHY_QUANTITY_BYTES];

	if (seconds >= 2 * 86400)
		snprintf(out, KWHY_UTC_BYTES, "%.1f days", seconds / 86400);
	else if (seconds >= 1000)
		snprintf(out, KWHY_UTC_BYTES, "%.2f h", seconds / 3600);
	else
		snprintf(out, KWHY_UTC_BYTES, "%s", kwhy_quantity_time(quantity, distance_ns));
	return out;
}
