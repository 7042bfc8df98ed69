/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/import.h"
#include "ledger/ledger_new.h"
#include "model/host_time.h"
#include "ok.h"
#include "property/time_plan.h"
#include "traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Checks sums of a device's idle time by what the host did meanwhile: they add up to the idle time, and equal
 * those of a reference algorithm that looks at each nanosecond.
 */

enum { CASES = 20000, SUMS_MAX = 64 };

static struct kwhy_error error;

static void assert_adds_up(
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger, const char *where)
{
	for (size_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_device_ledger *device_ledger = &ledger->devices[d];
		int64_t sum_ns = 0;

		for (size_t i = 0; i < device_ledger->host_sum_count; i++) {
			const struct kwhy_host_sum *sum = &device_ledger->host_sums[i];

			sum_ns += sum->time_ns;
			assert_true(sum->time_ns > 0 && sum->gaps > 0);
			assert_true(sum->longest_ns > 0 && sum->longest_ns <= sum->time_ns);
			assert_true(i == 0 || sum->time_ns <= sum[-1].time_ns);
			if (i > 0 && sum->time_ns == sum[-1].time_ns && sum->what == sum[-1].what)
				assert_true(strcmp(kwhy_names_get(&recording->names, sum[-1].name),
						    kwhy_names_get(&recording->names, sum->name)) <= 0);
		}
		if (sum_ns != device_ledger->time.idle_ns)
			fail_msg("%s: device %zu: rows come to %" PRId64 " ns of %" PRId64, where, d, sum_ns,
				device_ledger->time.idle_ns);
	}
}

/* Sums of the reference algorithm, ns, by reason (`what`) and name. */
struct found {
	struct kwhy_host_sum sums[SUMS_MAX];
	size_t count;
};

static void count_one(struct found *found, uint32_t what, uint32_t name)
{
	size_t i = 0;

	while (i < found->count && (found->sums[i].what != what || found->sums[i].name != name))
		i++;
	assert_in_range(i, 0, SUMS_MAX - 1);
	if (i == found->count)
		found->sums[found->count++] = (struct kwhy_host_sum){.what = what, .name = name};
	found->sums[i].time_ns++;
}

/*
 * Returns the innermost host range of the thread at this time: the last open row, as rows are sorted by
 * start and, at equal starts, the longer first. KWHY_NONE if no range is open.
 */
static uint32_t innermost(const struct kwhy_recording *recording, uint32_t thread, int64_t time_ns)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint32_t found = KWHY_NONE;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->thread[i] == thread && rows->start_ns[i] <= time_ns && rows->end_ns[i] > time_ns)
			found = i;
	return found;
}

static bool is_vague(const struct kwhy_recording *recording, uint32_t row)
{
	return row == KWHY_NONE || recording->host_ranges.kind[row] == KWHY_HOST_STEP ||
		recording->host_ranges.kind[row] == KWHY_HOST_USER;
}

/* For a nanosecond in which a device is idle: the activities before and after it. */
struct around {
	/* rows of the last activity before that nanosecond and the first after it; KWHY_NONE: none */
	uint32_t before, after;
	bool tied; /* true: `before` is not unique, as another activity ends at the same time */
	bool busy;
};

static struct around look_around(const struct kwhy_recording *recording, uint32_t device, int64_t time_ns)
{
	const struct kwhy_activities *rows = &recording->activities;
	struct around around = {.before = KWHY_NONE, .after = KWHY_NONE};

	for (uint32_t i = (uint32_t)rows->first[device]; i < rows->first[device + 1]; i++) {
		around.busy |= rows->start_ns[i] <= time_ns && rows->end_ns[i] > time_ns;
		if (rows->start_ns[i] > time_ns && around.after == KWHY_NONE)
			around.after = i;
		if (rows->end_ns[i] > time_ns || rows->end_ns[i] == rows->start_ns[i])
			continue;
		around.tied = around.before != KWHY_NONE &&
			(rows->end_ns[i] == rows->end_ns[around.before] ||
				(around.tied && rows->end_ns[i] < rows->end_ns[around.before]));
		if (around.before == KWHY_NONE || rows->end_ns[i] > rows->end_ns[around.before])
			around.before = i;
	}
	return around;
}

static uint32_t thread_of(const struct kwhy_recording *recording, uint32_t row)
{
	uint32_t call = row == KWHY_NONE ? KWHY_NONE : recording->activities.call[row];

	return call == KWHY_NONE ? KWHY_NONE : recording->calls.thread[call];
}

static void count_range(struct found *found, const struct kwhy_recording *recording, uint32_t row)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;

	if (row == KWHY_NONE)
		count_one(found, KWHY_HOST_WAIT_OUTSIDE, 0);
	else
		count_one(
			found, KWHY_HOST_WAIT_RANGE, rows->kind[row] == KWHY_HOST_STEP ? 0 : rows->name[row]);
}

static void look_at(struct found *found, const struct kwhy_recording *recording, const struct around *around,
	int64_t time_ns)
{
	uint32_t thread = thread_of(recording, around->after), before = thread_of(recording, around->before);
	uint32_t row, other;

	if (thread == KWHY_NONE) {
		count_one(found, KWHY_HOST_WAIT_UNLINKED, 0);
		return;
	}
	if (recording->calls.end_ns[recording->activities.call[around->after]] <= time_ns) {
		count_one(found, KWHY_HOST_WAIT_LAUNCHED, 0);
		return;
	}
	row = innermost(recording, thread, time_ns);
	if (before != KWHY_NONE && before != thread && is_vague(recording, row)) {
		other = innermost(recording, before, time_ns);
		if (other != KWHY_NONE && recording->host_ranges.kind[other] == KWHY_HOST_OPERATOR)
			row = other;
	}
	count_range(found, recording, row);
}

static int64_t time_of(const struct kwhy_device_ledger *device_ledger, uint32_t what, uint32_t name)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < device_ledger->host_sum_count; i++)
		if (device_ledger->host_sums[i].what == what && device_ledger->host_sums[i].name == name)
			sum_ns += device_ledger->host_sums[i].time_ns;
	return sum_ns;
}

static void assert_as_found(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	uint32_t device, uint64_t seed)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	struct found found = {0};

	for (int64_t t = device_ledger->time.first_ns; t < device_ledger->time.last_ns; t++) {
		struct around around = look_around(recording, device, t);

		if (around.tied)
			return;
		if (!around.busy)
			look_at(&found, recording, &around, t);
	}
	for (size_t i = 0; i < found.count; i++)
		if (time_of(device_ledger, found.sums[i].what, found.sums[i].name) != found.sums[i].time_ns)
			fail_msg("seed %" PRIu64 ", device %u: \"%s\" (%u): %" PRId64 " ns, not %" PRId64,
				seed, (unsigned)device, kwhy_names_get(&recording->names, found.sums[i].name),
				(unsigned)found.sums[i].what,
				time_of(device_ledger, found.sums[i].what, found.sums[i].name),
				found.sums[i].time_ns);
}

static void idle_time_goes_to_what_the_host_was_in_at_each_moment(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct kwhy_recording *recording = plan_build(&plan, &whole);
		struct kwhy_ledger_options options = kwhy_ledger_options_default();
		struct kwhy_ledger *ledger;

		OK(kwhy_ledger_new(recording, &options, &ledger, &error));
		assert_adds_up(recording, ledger, "random");
		for (uint32_t d = 0; d < ledger->device_count; d++)
			assert_as_found(recording, ledger, d, seed);
		kwhy_ledger_free(ledger);
		kwhy_recording_free(recording);
	}
}

/* Checks the sums of a trace. Returns the number of its host ranges. */
static size_t look_at_trace(const char *path)
{
	struct kwhy_import_options import = {0};
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
	size_t count;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_import_trace(recording, path, &import, &error));
	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	assert_adds_up(recording, ledger, path);
	count = recording->host_ranges.count;
	kwhy_ledger_free(ledger);
	kwhy_recording_free(recording);
	return count;
}

static void rows_of_real_traces_add_up_to_their_idle_time(void **state)
{
	static const char *const traces[] = {"kineto-a100-nccl.json.gz", "kineto-bare-list.json.gz",
		"kineto-mi300-resnet.json.gz", "kineto-v100-2021-format.json.gz",
		"kineto-v100-df_index.json.gz", "nsys-2xh100-after.sqlite", "nsys-2xh100-before.sqlite",
		"nsys-a100-cloverleaf.sqlite", "nsys-gtx1060-concurrent.sqlite"};

	(void)state;
	need_traces();
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s%s", TRACES, traces[i]);
		if (look_at_trace(path) == 0)
			fail_msg("%s: none of its host ranges were read", path);
	}
}

static void rows_of_our_recordings_add_up_to_their_idle_time(void **state)
{
	static const char *const traces[] = {"h200-decode/trace.json.zst", "h200-train/trace.json.zst",
		"recordings/mix.kwhy", "recordings/mix-probed.kwhy", "recordings/transfer.kwhy"};

	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s%s", EXAMPLES, traces[i]);
		look_at_trace(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_time_goes_to_what_the_host_was_in_at_each_moment),
		cmocka_unit_test(rows_of_real_traces_add_up_to_their_idle_time),
		cmocka_unit_test(rows_of_our_recordings_add_up_to_their_idle_time),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
