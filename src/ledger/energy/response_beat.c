/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/response_beat.h"

#include "base/quantile.h"

#include <stdlib.h>
#include <string.h>

/*
 * Number of time stamps on each side of a stamp that determine its periodic time together with it. On the
 * H200 at most two of these nine stamps are late, so their median is not.
 */
#define VOTERS 4

#define LATE_MIN(period_ns) ((period_ns) / 20)
#define LATE_MAX(period_ns) ((period_ns)*3 / 4)

static enum kwhy_status find_period(
	const int64_t *time_ns, size_t count, int64_t *out_ns, struct kwhy_error *error)
{
	int64_t *lengths_ns = malloc(count * sizeof(*lengths_ns));

	if (!lengths_ns)
		return kwhy_fail_memory(error, "power readings");
	for (size_t i = 1; i < count; i++)
		lengths_ns[i - 1] = time_ns[i] - time_ns[i - 1];
	*out_ns = kwhy_middle_integer(lengths_ns, count - 1);
	free(lengths_ns);
	return KWHY_OK;
}

/*
 * Time of stamp i if the stamps were strictly periodic: the median of the nine stamps around it, each moved
 * to the position of stamp i by whole periods.
 */
static int64_t beat_at(const int64_t *time_ns, size_t i, int64_t period_ns)
{
	int64_t votes_ns[2 * VOTERS + 1];

	for (int j = -VOTERS; j <= VOTERS; j++)
		votes_ns[j + VOTERS] = time_ns[(size_t)((int64_t)i + j)] - time_ns[i] - j * period_ns;
	return time_ns[i] + kwhy_middle_integer(votes_ns, 2 * VOTERS + 1);
}

enum kwhy_status kwhy_beat_restore(
	const int64_t *time_ns, size_t count, int64_t *out_ns, struct kwhy_error *error)
{
	enum kwhy_status status;
	int64_t period_ns;

	if (count)
		memcpy(out_ns, time_ns, count * sizeof(*out_ns));
	if (count < 2 * VOTERS + 2)
		return KWHY_OK;
	status = find_period(time_ns, count, &period_ns, error);
	if (status)
		return status;
	for (size_t i = VOTERS; i + VOTERS < count; i++) {
		int64_t beat_ns = beat_at(time_ns, i, period_ns), late_ns = time_ns[i] - beat_ns;

		if (late_ns > LATE_MIN(period_ns) && late_ns < LATE_MAX(period_ns))
			out_ns[i] = beat_ns;
	}
	return KWHY_OK;
}
