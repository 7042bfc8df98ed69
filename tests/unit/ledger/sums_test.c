/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"
#include "unit/ledger/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct kwhy_range_sum *range_sum(const struct kwhy_recording *recording,
	const struct kwhy_range_sum *sums, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(kwhy_names_get(&recording->names, sums[i].name), name))
			return &sums[i];
	fail_msg("no range %s", name);
	return NULL;
}

static void calls_are_summed_by_name_the_longest_sum_first(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t thread = build_thread(recording, build_process(recording, 200), 1);
	struct kwhy_ledger *ledger;

	(void)state;
	build_call(recording, 0, 0, 10, "cudaMalloc", 1);
	build_call(recording, thread, 0, 25, "cudaMalloc", 1);
	build_call(recording, thread, 30, 80, "cudaFree", 2);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->api_count, 2);
	assert_string_equal(kwhy_names_get(&recording->names, ledger->api[0].name), "cudaFree");
	assert_int_equal(ledger->api[1].count, 2);
	assert_int_equal(ledger->api[1].total_ns, 35);
	build_free(recording, ledger);
}

/*
 * Makes four kernels of 100 ns, one after the other on one stream. Three are launched by thread 0, at 10, 20
 * and 30 ns, the fourth by thread 1 at 15 ns.
 */
static struct kwhy_recording *build_launches(void)
{
	static const int64_t launch_ns[] = {10, 20, 30, 15};
	struct kwhy_recording *recording = build_one();

	build_thread(recording, 0, 2);
	for (uint32_t i = 0; i < 4; i++) {
		build_call(recording, i == 3, launch_ns[i], launch_ns[i] + 2, "cudaLaunchKernel", i);
		build_launched(recording, 0, 100 + 100 * i, 200 + 100 * i, i);
	}
	return recording;
}

static void nested_ranges_each_get_the_work_that_their_thread_launched_inside(void **state)
{
	struct kwhy_recording *recording = build_launches();
	const struct kwhy_range_sum *sum;
	struct kwhy_ledger *ledger;

	(void)state;
	build_range(recording, 0, 0, 40, "outer", KWHY_RANGE_NVTX);
	build_range(recording, 0, 10, 20, "inner", KWHY_RANGE_NVTX);
	build_range(recording, 0, 30, 31, "inner", KWHY_RANGE_NVTX);
	build_range(recording, 1, 0, 40, "other", KWHY_RANGE_USER);
	build_range(recording, KWHY_NONE, 0, 40, "anyone", KWHY_RANGE_USER);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->range_count, 4);
	assert_int_equal(ledger->step_count, 0);
	sum = range_sum(recording, ledger->ranges, 4, "outer");
	assert_true(sum->linked);
	assert_int_equal(sum->activity_count, 3);
	assert_int_equal(sum->device_ns, 300);
	assert_int_equal(sum->host_ns, 40);
	sum = range_sum(recording, ledger->ranges, 4, "inner");
	assert_int_equal(sum->count, 2);
	assert_int_equal(sum->activity_count, 2);
	assert_int_equal(sum->start_ns, 10);
	assert_int_equal(sum->host_ns, 11);
	assert_int_equal(range_sum(recording, ledger->ranges, 4, "other")->activity_count, 1);
	assert_int_equal(range_sum(recording, ledger->ranges, 4, "anyone")->activity_count, 4);
	build_free(recording, ledger);
}

static void a_step_gets_the_work_of_all_threads_of_its_process(void **state)
{
	struct kwhy_recording *recording = build_launches();
	struct kwhy_ledger *ledger;

	(void)state;
	build_range(recording, 0, 0, 18, "ProfilerStep#1", KWHY_RANGE_STEP);
	build_range(recording, 0, 18, 40, "ProfilerStep#2", KWHY_RANGE_STEP);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->range_count, 0);
	assert_int_equal(ledger->step_count, 2);
	assert_int_equal(ledger->steps[0].start_ns, 0);
	assert_int_equal(ledger->steps[0].activity_count, 2);
	assert_int_equal(ledger->steps[1].activity_count, 2);
	build_free(recording, ledger);
}

static void ranges_named_by_the_user_are_steps_as_well(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = build_launches();
	struct kwhy_ledger *ledger;

	(void)state;
	options.step_name = "iter*";
	build_range(recording, 0, 0, 18, "iteration", KWHY_RANGE_NVTX);
	build_range(recording, 0, 18, 40, "iteration", KWHY_RANGE_NVTX);
	build_range(recording, 0, 0, 40, "item", KWHY_RANGE_NVTX);
	ledger = build_ledger_with(recording, &options);
	assert_int_equal(ledger->step_count, 2);
	assert_int_equal(ledger->range_count, 2);
	assert_int_equal(range_sum(recording, ledger->ranges, 2, "iteration")->count, 2);
	build_free(recording, ledger);
}

static void a_name_of_no_range_is_no_name_of_steps(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = build_launches();
	struct kwhy_ledger *ledger;

	(void)state;
	options.step_name = "nosuch";
	build_range(recording, 0, 0, 18, "forward", KWHY_RANGE_NVTX);
	build_range(recording, 0, 18, 40, "backward", KWHY_RANGE_NVTX);
	build_range(recording, 0, 42, 43, "forward", KWHY_RANGE_NVTX);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(kwhy_ledger_new(recording, &options, &ledger, &error), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "choose among forward, backward"));
	kwhy_recording_free(recording);
}

/*
 * With a name for steps (step_name), ranges of that name are steps and no others, though they may look like
 * steps.
 */
static void only_ranges_of_the_given_name_are_steps(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = build_launches();
	struct kwhy_ledger *ledger;

	(void)state;
	options.step_name = "train";
	build_range(recording, 0, 0, 40, "ProfilerStep#1", KWHY_RANGE_STEP);
	build_range(recording, 0, 0, 18, "train", KWHY_RANGE_NVTX);
	build_range(recording, 0, 18, 40, "train", KWHY_RANGE_NVTX);
	ledger = build_ledger_with(recording, &options);
	assert_int_equal(ledger->step_count, 2);
	assert_int_equal(ledger->steps[1].start_ns, 18);
	build_free(recording, ledger);
}

static void the_window_of_a_range_counts_the_device_whoever_launched(void **state)
{
	struct kwhy_recording *recording = build_launches();
	const struct kwhy_range_sum *sum;
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].sm_count = 4;
	build_range(recording, 0, 50, 150, "half", KWHY_RANGE_USER);
	build_range(recording, 0, 450, 650, "tail", KWHY_RANGE_USER);
	build_range(recording, 0, 120, 120, "moment", KWHY_RANGE_USER);
	ledger = build_ledger(recording);
	sum = range_sum(recording, ledger->ranges, 3, "half");
	assert_int_equal(sum->busy_ns, 50);
	assert_true(sum->busy_ratio == 0.5);
	assert_true(isnan(sum->sm_weighted_ratio));
	assert_int_equal(sum->energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(sum->window_energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(range_sum(recording, ledger->ranges, 3, "tail")->busy_ns, 50);
	assert_int_equal(range_sum(recording, ledger->ranges, 3, "moment")->busy_ns, 0);
	assert_true(isnan(range_sum(recording, ledger->ranges, 3, "moment")->busy_ratio));
	build_free(recording, ledger);
}

static void the_blocks_resident_in_a_window_are_weighed_over_the_window(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity activity = build_activity(recording, 0, 100, 200, "k");
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].sm_count = 4;
	activity.blocks = 2;
	build_add(recording, activity);
	build_range(recording, 0, 50, 150, "half", KWHY_RANGE_USER);
	ledger = build_ledger(recording);
	assert_true(ledger->ranges[0].sm_weighted_ratio == 0.25);
	assert_false(ledger->ranges[0].linked);
	build_free(recording, ledger);
}

static void the_share_of_blocks_in_a_window_is_unknown_when_a_tenth_of_the_grids_is(void **state)
{
	(void)state;
	for (int64_t unknown_ns = 9; unknown_ns <= 12; unknown_ns += 3) {
		struct kwhy_recording *recording = build_one();
		struct kwhy_activity activity = build_activity(recording, 0, 0, 90, "k");
		struct kwhy_ledger *ledger;

		recording->devices[0].sm_count = 4;
		activity.blocks = 4;
		build_add(recording, activity);
		build_kernel(recording, 0, 90, 90 + unknown_ns, "of unknown grid");
		build_range(recording, 0, 0, 180, "all", KWHY_RANGE_USER);
		ledger = build_ledger(recording);
		if (unknown_ns == 9)
			assert_true(ledger->ranges[0].sm_weighted_ratio == 0.5);
		else
			assert_true(isnan(ledger->ranges[0].sm_weighted_ratio));
		build_free(recording, ledger);
	}
}

static void a_process_on_two_devices_is_busy_on_each(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t stream = build_stream(recording, build_device(recording, 1), 0, 7);
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_kernel(recording, stream, 50, 100, "b");
	build_range(recording, 0, 0, 100, "all", KWHY_RANGE_USER);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->ranges[0].busy_ns, 150);
	assert_true(ledger->ranges[0].busy_ratio == 0.75);
	build_free(recording, ledger);
}

/* Makes a ledger with assumed powers of 100 W idle, 200 W for kernels and 150 W for copies, so that
 * energies can be calculated by hand. */
static struct kwhy_ledger *build_priced(struct kwhy_recording *recording)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();

	options.assumed.given = true;
	options.assumed.category_w[KWHY_CATEGORY_COMPUTE] = 200;
	options.assumed.category_w[KWHY_CATEGORY_COPY] = 150;
	options.assumed.category_w[KWHY_CATEGORY_IDLE] = 100;
	return build_ledger_with(recording, &options);
}

/*
 * The last step ends at 100 ns. A kernel that was launched in it ends at 400 ns, and the loop of
 * steps lasts until then: 200 ns of kernels at 200 W and 200 ns of idle time at 100 W.
 */
static void a_loop_of_steps_goes_on_to_the_end_of_the_work_that_it_queued(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_call(recording, 0, 10, 20, "cudaLaunchKernel", 1);
	build_call(recording, 0, 60, 70, "cudaLaunchKernel", 2);
	build_launched(recording, 0, 100, 200, 1);
	build_launched(recording, 0, 300, 400, 2);
	build_range(recording, 0, 0, 50, "1", KWHY_RANGE_STEP);
	build_range(recording, 0, 50, 100, "2", KWHY_RANGE_STEP);
	ledger = build_priced(recording);
	assert_int_equal(ledger->loop.start_ns, 0);
	assert_int_equal(ledger->loop.end_ns, 400);
	assert_int_equal(ledger->loop.time_ns, 400);
	assert_int_equal(ledger->loop.energy_nj, 200 * 100 + 200 * 200);
	build_free(recording, ledger);
}

/*
 * Between two series of ten steps of 100 ns, an evaluation runs that no step launched, for thousands of ns.
 * The time of the loop must be that of the steps only.
 */
static void what_runs_long_between_steps_is_no_part_of_them(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i < 20; i++)
		build_range(recording, 0, i * 100 + (i < 10 ? 0 : 5000), i * 100 + (i < 10 ? 90 : 5090), "s",
			KWHY_RANGE_STEP);
	build_call(recording, 0, 1200, 1210, "cudaLaunchKernel", 1);
	build_launched(recording, 0, 1300, 5000, 1);
	ledger = build_priced(recording);
	assert_int_equal(ledger->loop.start_ns, 0);
	assert_int_equal(ledger->loop.end_ns, 6990);
	assert_int_equal(ledger->loop.time_ns, 2 * 990);
	build_free(recording, ledger);
}

static void a_range_has_the_energy_of_what_it_launched_and_its_window_that_of_all_and_idle(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_call(recording, 0, 60, 61, "cudaLaunchKernel", 1);
	build_kernel(recording, 0, 0, 100, "before");
	build_launched(recording, 0, 300, 400, 1);
	build_range(recording, 0, 50, 150, "r", KWHY_RANGE_NVTX);
	build_range(recording, 0, 50, 150, "s", KWHY_RANGE_STEP);
	ledger = build_priced(recording);
	assert_int_equal(ledger->ranges[0].energy_nj, 100 * 200);
	assert_int_equal(ledger->ranges[0].window_energy_nj, 50 * 200 + 50 * 100);
	assert_int_equal(ledger->steps[0].energy_nj, 100 * 200);
	assert_int_equal(ledger->steps[0].window_energy_nj, 50 * 200 + 50 * 100);
	build_free(recording, ledger);
}

static void concurrent_kernels_share_the_device_and_copies_draw_beside_them(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t other = build_stream(recording, 0, 0, 8);
	struct kwhy_activity small = build_activity(recording, 0, 200, 300, "small");
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].sm_count = 100;
	small.blocks = 30;
	build_kernel(recording, 0, 0, 100, "full");
	build_kernel(recording, other, 0, 100, "full");
	build_h2d(recording, other, 100, 200, 8, "");
	build_kernel(recording, 0, 100, 200, "full");
	build_add(recording, small);
	small.stream = other;
	build_add(recording, small);
	build_range(recording, 0, 0, 100, "two full", KWHY_RANGE_STEP);
	build_range(recording, 0, 100, 200, "kernel and copy", KWHY_RANGE_STEP);
	build_range(recording, 0, 200, 300, "two small", KWHY_RANGE_STEP);
	ledger = build_priced(recording);
	assert_int_equal(ledger->steps[0].window_energy_nj, 100 * 200);
	assert_int_equal(ledger->steps[1].window_energy_nj, 100 * (100 + 100 + 50));
	assert_int_equal(ledger->steps[2].window_energy_nj, 100 * (100 + 100 + 100));
	build_free(recording, ledger);
}

static void streams_know_how_long_they_were_busy_and_busy_alone(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t second = build_stream(recording, 0, 0, 8), unused = build_stream(recording, 0, 0, 9);
	uint32_t third = build_stream(recording, 0, 0, 10);
	struct kwhy_ledger *ledger;

	(void)state;
	(void)unused;
	build_kernel(recording, 0, 0, 100, "a");
	build_kernel(recording, 0, 50, 120, "b"); /* begins before kernel "a" on the same stream has ended */
	build_kernel(recording, second, 80, 200, "c");
	build_kernel(recording, third, 200, 210, "d");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->stream_count, 3);
	assert_int_equal(ledger->streams[0].busy_ns, 120);
	assert_int_equal(ledger->streams[0].total_ns, 170);
	assert_int_equal(ledger->streams[0].alone_ns, 80);
	assert_int_equal(ledger->streams[0].count, 2);
	assert_int_equal(ledger->streams[1].stream, second);
	assert_int_equal(ledger->streams[1].alone_ns, 80);
	assert_int_equal(ledger->streams[2].stream, third);
	assert_int_equal(ledger->streams[2].busy_ns, 10);
	build_free(recording, ledger);
}

/*
 * A note that traces of ranks are missing must be given only if the trace has a collective of one
 * rank of eight. It must not be given without a collective, or if the world size is 1 or unknown
 * (0).
 */
static void ranks_that_are_missing_leave_waiting_and_transfer_together(void **state)
{
	static const struct {
		uint32_t world_size;
		enum kwhy_activity_kind kind;
		bool noted;
	} cases[] = {{8, KWHY_ACTIVITY_COLLECTIVE, true}, {8, KWHY_ACTIVITY_KERNEL, false},
		{1, KWHY_ACTIVITY_COLLECTIVE, false}, {0, KWHY_ACTIVITY_COLLECTIVE, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kwhy_recording *recording = build_one();
		struct kwhy_ledger *ledger;
		const char *note;

		recording->processes[0].rank = 3;
		recording->processes[0].world_size = cases[i].world_size;
		build_kind(recording, 0, 0, 100, cases[i].kind);
		ledger = build_ledger(recording);
		note = build_note(ledger, "ranks-missing");
		assert_int_equal(note != NULL, cases[i].noted);
		assert_true(!note || strstr(note, "traces of 1 of 8 ranks were given") == note);
		build_free(recording, ledger);
	}
}

/* A rank whose device has no work must not be taken to share the device of another rank. */
static void a_rank_without_work_shares_no_device(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t device = build_device(recording, 1), process = build_process(recording, 2);
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].rank = recording->processes[0].rank = 0;
	recording->devices[device].rank = recording->processes[process].rank = 1;
	recording->processes[0].world_size = 2;
	build_kind(recording, 0, 0, 100, KWHY_ACTIVITY_COLLECTIVE);
	assert_false(kwhy_recording_shares_devices(recording));
	ledger = build_ledger(recording);
	assert_null(build_note(ledger, "ranks-share-devices"));
	kwhy_ledger_free(ledger);
	recording->devices[device].rank = 0;
	assert_true(kwhy_recording_shares_devices(recording));
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "ranks-share-devices"));
	build_free(recording, ledger);
}

static void ranks_stand_side_by_side_with_the_rank_of_device_or_process(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t device = build_device(recording, 1), process = build_process(recording, 2);
	uint32_t stream = build_stream(recording, device, process, 7);
	struct kwhy_activity collective = build_activity(recording, stream, 50, 120, "reduce");
	struct kwhy_ledger *ledger;

	(void)state;
	build_device(recording, 2); /* a device without work */
	recording->processes[process].rank = 1;
	recording->devices[0].rank = 0;
	collective.kind = KWHY_ACTIVITY_COLLECTIVE;
	build_add(recording, collective);
	build_kernel(recording, 0, 0, 40, "a");
	build_kernel(recording, stream, 0, 60, "a");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->rank_count, 2);
	assert_int_equal(ledger->ranks[0].rank, 0);
	assert_int_equal(ledger->ranks[1].rank, 1);
	assert_int_equal(ledger->ranks[1].span_ns, 120);
	assert_int_equal(ledger->ranks[1].compute_ns, 60);
	assert_int_equal(ledger->ranks[1].collective_exposed_ns, 60);
	assert_int_equal(ledger->ranks[1].energy_nj, KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

static void add_point(struct kwhy_recording *recording, int64_t time_ns, uint32_t process,
	uint64_t allocated_bytes, uint64_t reserved_bytes)
{
	const struct kwhy_memory_point point = {
		.time_ns = time_ns,
		.process = process,
		.allocated_bytes = allocated_bytes,
		.reserved_bytes = reserved_bytes,
	};

	OK(kwhy_recording_add_memory(recording, &point, &error));
}

static void memory_peaks_over_all_processes_of_a_device_and_the_rest_is_unused(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t process = build_process(recording, 2);
	struct kwhy_ledger *ledger;

	(void)state;
	build_device(recording, 1);
	recording->devices[0].memory_bytes = 1000;
	add_point(recording, 10, 0, 100, 300);
	add_point(recording, 20, process, 200, KWHY_UNKNOWN_BYTES);
	add_point(recording, 30, 0, 50, 400);
	add_point(recording, 40, process, 240, 100);
	add_point(recording, 50, process, 0, 0);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->memory_count, 2);
	assert_int_equal(ledger->memory[0].peak_allocated_bytes, 300);
	assert_int_equal(ledger->memory[0].peak_reserved_bytes, 500);
	assert_int_equal(ledger->memory[0].unused_bytes, 500);
	assert_int_equal(ledger->memory[0].point_count, 5);
	assert_true(ledger->memory[1].peak_allocated_bytes == KWHY_UNKNOWN_BYTES);
	assert_true(ledger->memory[1].unused_bytes == KWHY_UNKNOWN_BYTES);
	assert_true(ledger->memory[1].device_bytes == KWHY_UNKNOWN_BYTES);
	build_free(recording, ledger);
}

static void notes_are_kept_in_order_however_many(void **state)
{
	struct kwhy_ledger *ledger = calloc(1, sizeof(*ledger));

	(void)state;
	assert_non_null(ledger);
	for (int i = 0; i < 100; i++)
		OK(kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "number", &error, "note %d", i));
	assert_int_equal(ledger->note_count, 100);
	assert_string_equal(ledger->notes[0].text, "note 0");
	assert_string_equal(ledger->notes[99].text, "note 99");
	kwhy_ledger_free(ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_summed_by_name_the_longest_sum_first),
		cmocka_unit_test(nested_ranges_each_get_the_work_that_their_thread_launched_inside),
		cmocka_unit_test(a_step_gets_the_work_of_all_threads_of_its_process),
		cmocka_unit_test(a_loop_of_steps_goes_on_to_the_end_of_the_work_that_it_queued),
		cmocka_unit_test(what_runs_long_between_steps_is_no_part_of_them),
		cmocka_unit_test(ranges_named_by_the_user_are_steps_as_well),
		cmocka_unit_test(a_name_of_no_range_is_no_name_of_steps),
		cmocka_unit_test(only_ranges_of_the_given_name_are_steps),
		cmocka_unit_test(the_window_of_a_range_counts_the_device_whoever_launched),
		cmocka_unit_test(the_blocks_resident_in_a_window_are_weighed_over_the_window),
		cmocka_unit_test(the_share_of_blocks_in_a_window_is_unknown_when_a_tenth_of_the_grids_is),
		cmocka_unit_test(a_process_on_two_devices_is_busy_on_each),
		cmocka_unit_test(
			a_range_has_the_energy_of_what_it_launched_and_its_window_that_of_all_and_idle),
		cmocka_unit_test(concurrent_kernels_share_the_device_and_copies_draw_beside_them),
		cmocka_unit_test(streams_know_how_long_they_were_busy_and_busy_alone),
		cmocka_unit_test(ranks_that_are_missing_leave_waiting_and_transfer_together),
		cmocka_unit_test(a_rank_without_work_shares_no_device),
		cmocka_unit_test(ranks_stand_side_by_side_with_the_rank_of_device_or_process),
		cmocka_unit_test(memory_peaks_over_all_processes_of_a_device_and_the_rest_is_unused),
		cmocka_unit_test(notes_are_kept_in_order_however_many),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
