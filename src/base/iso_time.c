/* SPDX-License-Identifier: Apache-2.0 */
#include "base/iso_time.h"

#include <time.h>

const char *kwhy_iso_time(char out[KWHY_ISO_TIME_BYTES], int64_t unix_ns)
{
	const int64_t second_ns = INT64_C(1000000000);
	const time_t seconds = (time_t)(unix_ns / second_ns - (unix_ns % second_ns < 0));
	struct tm parts;

	*out = '\0';
	if (gmtime_r(&seconds, &parts)) /* cannot fail: nanoseconds of 64 bits reach from 1677 to 2262 */
		strftime(out, KWHY_ISO_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
	return out;
}
