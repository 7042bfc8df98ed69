/* SPDX-License-Identifier: Apache-2.0 */
#include "import/row_counts.h"

struct kwhy_row_counts kwhy_row_counts_of(const struct kwhy_recording *recording)
{
	return (struct kwhy_row_counts){
		.sources = recording->source_count,
		.processes = recording->process_count,
		.devices = recording->device_count,
		.streams = recording->stream_count,
		.activities = recording->activities.count,
		.calls = recording->calls.count,
		.ranges = recording->range_count,
		.host_ranges = recording->host_ranges.count,
		.memory = recording->memory_count,
		.coverage = recording->coverage_count,
		.power = recording->power_count,
	};
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t kwhy_row_counts_first_time(
	const struct kwhy_recording *recording, const struct kwhy_row_counts *since)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = since->activities; i < recording->activities.count; i++)
		first_ns = smaller(first_ns, recording->activities.start_ns[i]);
	for (size_t i = since->calls; i < recording->calls.count; i++)
		first_ns = smaller(first_ns, recording->calls.start_ns[i]);
	for (size_t i = since->ranges; i < recording->range_count; i++)
		first_ns = smaller(first_ns, recording->ranges[i].start_ns);
	for (size_t i = since->memory; i < recording->memory_count; i++)
		first_ns = smaller(first_ns, recording->memory[i].time_ns);
	return first_ns;
}

static void shift(int64_t *times, size_t from, size_t to, int64_t by_ns)
{
	for (size_t i = from; i < to; i++)
		times[i] += by_ns;
}

void kwhy_row_counts_shift(
	struct kwhy_recording *recording, const struct kwhy_row_counts *since, int64_t by_ns)
{
	shift(recording->activities.start_ns, since->activities, recording->activities.count, by_ns);
	shift(recording->activities.end_ns, since->activities, recording->activities.count, by_ns);
	shift(recording->calls.start_ns, since->calls, recording->calls.count, by_ns);
	shift(recording->calls.end_ns, since->calls, recording->calls.count, by_ns);
	shift(recording->host_ranges.start_ns, since->host_ranges, recording->host_ranges.count, by_ns);
	shift(recording->host_ranges.end_ns, since->host_ranges, recording->host_ranges.count, by_ns);
	for (size_t i = since->ranges; i < recording->range_count; i++) {
		recording->ranges[i].start_ns += by_ns;
		recording->ranges[i].end_ns += by_ns;
	}
	for (size_t i = since->memory; i < recording->memory_count; i++)
		recording->memory[i].time_ns += by_ns;
}
