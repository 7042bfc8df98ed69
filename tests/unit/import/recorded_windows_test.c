/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded_tape.h"

#include <math.h>

/*
 * Begins the recording of a process with one device. The tests then add the windows in which --duty recorded.
 */
static void begin_process(struct tape *tape, int fd, uint64_t id)
{
	tape_init(tape, fd, id);
	say_names(tape);
	ADD(tape, PROCESS, process, .pid = (int64_t)id, .host = HOST, .rank = KWHY_WIRE_UNKNOWN_U32,
		.world_size = KWHY_WIRE_UNKNOWN_U32);
	ADD(tape, CLOCK, clock, .mono_ns = 0, .offset_ns = BOOT_UNIX_NS, .width_ns = 100);
	ADD(tape, DEVICE, device, .index = 0, .name = H200, .uuid = UUID, .limit_mw = 700000);
}

static void select_duty(struct tape *tape, int64_t start_ms, int64_t end_ms)
{
	ADD(tape, SELECTION, selection, .start_mono_ns = start_ms * MS, .end_mono_ns = end_ms * MS,
		.choice = KWHY_WIRE_CHOICE_DUTY, .share_ratio = 0.1, .window_ns = 300 * MS, .seed = 7);
}

static void window(struct tape *tape, int64_t start_ms, int64_t end_ms)
{
	ADD(tape, COVERAGE, coverage, .start_mono_ns = start_ms * MS, .end_mono_ns = end_ms * MS,
		.device = -1, .choice = KWHY_WIRE_CHOICE_DUTY, .since_mono_ns = (start_ms - 5) * MS);
}

static void launch(struct tape *tape, int64_t call_us, int64_t start_us, uint32_t stream)
{
	const uint32_t correlation = (uint32_t)(start_us / 10);

	ADD(tape, CALL, call, .start_mono_ns = call_us * 1000, .end_mono_ns = call_us * 1000 + 5000,
		.name = LAUNCH, .correlation = correlation, .thread = 43);
	ADD(tape, KERNEL, kernel, .start_mono_ns = start_us * 1000, .end_mono_ns = start_us * 1000 + 90000,
		.name = GEMM, .correlation = correlation, .stream = stream, .context = 1);
}

static void is_covered(const struct kwhy_recording *recording, size_t row, int64_t start_ns, int64_t end_ns)
{
	assert_in_range(row, 0, recording->coverage_count - 1);
	assert_int_equal(recording->coverage[row].device, 0);
	assert_int_equal(recording->coverage[row].start_ns, start_ns);
	assert_int_equal(recording->coverage[row].end_ns, end_ns);
}

static void each_window_is_known_and_what_lies_between_is_not(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	select_duty(&tape, 100, INT64_MAX / MS);
	window(&tape, 1000, 1300);
	window(&tape, 4000, 4200);
	launch(&tape, 1000500, 1000510, 7);
	launch(&tape, 4100000, 4100010, 7);
	select_duty(&tape, 100, 6000);
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage_count, 2);
	is_covered(recording, 0, 1000 * MS, 1300 * MS);
	is_covered(recording, 1, 4000 * MS, 4200 * MS);
	assert_int_equal(recording->selection_count, 1);
	assert_int_equal(recording->selections[0].choice, KWHY_CHOICE_DUTY);
	assert_int_equal(recording->selections[0].start_ns, 100 * MS);
	assert_int_equal(recording->selections[0].end_ns, 6000 * MS);
	assert_true(recording->selections[0].share_ratio == 0.1);
	assert_string_equal(kwhy_choice_name(KWHY_CHOICE_DUTY), "duty");
	kwhy_recording_free(recording);
}

/*
 * In the second window (from 4.000 s) the first kernel of stream 7 starts at 4.012 s, 2 ms after
 * its launch, so it may have waited for work that was launched before. Coverage must begin only
 * there.
 */
static void a_window_begins_where_what_was_launched_before_it_has_run(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	select_duty(&tape, 0, 6000);
	window(&tape, 1000, 1300);
	window(&tape, 4000, 4200);
	launch(&tape, 997000, 998000, 7); /* starts soon after its call, so it waited for nothing */
	launch(&tape, 1002000, 1008000, 7);
	launch(&tape, 4010000, 4012000, 7);
	launch(&tape, 4020000, 4020010, 9);
	recording = import_tape(&tape);
	is_covered(recording, 0, 1000 * MS, 1300 * MS);
	is_covered(recording, 1, 4012 * MS, 4200 * MS);
	kwhy_recording_free(recording);
}

static void a_moment_is_known_inside_a_window_of_every_process_that_may_run_then(void **state)
{
	int fd = memfd_create("recording", 0);
	struct kwhy_recording *recording;
	struct tape first, second;

	(void)state;
	begin_process(&first, fd, 1);
	select_duty(&first, 0, 6000);
	window(&first, 1000, 1300);
	window(&first, 4000, 4200);
	launch(&first, 1100000, 1100010, 7);
	tape_done(&first);
	begin_process(&second, fd, 2); /* started after the first process's first window */
	select_duty(&second, 2000, 6000);
	window(&second, 4003, 4201);
	launch(&second, 4100000, 4100010, 7);
	recording = import_tape(&second);
	assert_int_equal(recording->coverage_count, 2);
	is_covered(recording, 0, 1000 * MS, 1300 * MS);
	is_covered(recording, 1, 4003 * MS, 4200 * MS);
	kwhy_recording_free(recording);
}

static void a_process_killed_before_a_window_ended_is_known_at_no_time(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	select_duty(&tape, 100, INT64_MAX / MS);
	launch(&tape, 1000000, 1000010, 7);
	ADD(&tape, RUN, run, .start_mono_ns = 0, .end_mono_ns = 5000 * MS);
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage_count, 1);
	assert_int_equal(recording->coverage[0].start_ns, recording->coverage[0].end_ns);
	assert_int_equal(recording->selections[0].end_ns, 5000 * MS);
	kwhy_recording_free(recording);
}

static void after_its_process_a_selection_is_known_to_be_idle_up_to_the_tick(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	select_duty(&tape, 100, 4900);
	window(&tape, 1000, 1300);
	launch(&tape, 1100000, 1100010, 7);
	ADD(&tape, RUN, run, .start_mono_ns = 0, .end_mono_ns = 5000 * MS);
	tape.ended_mono_ns = 4901 * MS;
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage_count, 2);
	is_covered(recording, 1, 4900 * MS, 5200 * MS);
	assert_int_equal(recording->selections[0].end_ns, 5200 * MS);
	kwhy_recording_free(recording);
}

static void take(struct tape *tape, int64_t at_ms, uint64_t bytes, bool is_free, uint8_t memory)
{
	ADD(tape, MEMORY, memory, .time_mono_ns = at_ms * MS, .bytes = bytes, .address = 4096,
		.is_free = is_free, .memory = memory);
}

static void memory_is_what_each_process_holds_of_the_device(void **state)
{
	int fd = memfd_create("recording", 0);
	const struct kwhy_memory_point *points;
	struct kwhy_recording *recording;
	struct tape first, second;

	(void)state;
	begin_process(&first, fd, 1);
	take(&first, 30, 100, true, KWHY_MEMORY_DEVICE); /* written late, so not in order of time */
	take(&first, 10, 1000, false, KWHY_MEMORY_DEVICE);
	take(&first, 12, 5000, false, KWHY_MEMORY_PINNED); /* host memory */
	take(&first, 40, 9999, true,
		KWHY_MEMORY_DEVICE); /* frees more than is allocated by the records so far */
	tape_done(&first);
	begin_process(&second, fd, 2);
	take(&second, 20, 7, false, KWHY_MEMORY_DEVICE);
	recording = import_tape(&second);
	points = recording->memory;
	assert_int_equal(recording->memory_count, 4);
	assert_int_equal(points[0].reserved_bytes, 1000);
	assert_int_equal(points[1].reserved_bytes, 7);
	assert_int_not_equal(points[1].process, points[0].process);
	assert_int_equal(points[2].reserved_bytes, 900);
	assert_int_equal(points[3].reserved_bytes, 0);
	assert_int_equal(points[3].time_ns, 40 * MS);
	assert_true(points[0].allocated_bytes == KWHY_UNKNOWN_BYTES);
	kwhy_recording_free(recording);
}

static void of_windows_no_one_knows_what_was_held_when_they_began(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	select_duty(&tape, 0, 6000);
	window(&tape, 1000, 1300);
	take(&tape, 1010, 1000, false, KWHY_MEMORY_DEVICE);
	recording = import_tape(&tape);
	assert_int_equal(recording->memory_count, 0);
	kwhy_recording_free(recording);
}

static void the_last_figure_of_a_cost_holds_and_overheads_are_rows(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	ADD(&tape, COST, cost, .spent_ns = 5 * MS, .count = 3, .kind = KWHY_WIRE_COST_BUFFERS);
	ADD(&tape, COST, cost, .spent_ns = 9 * MS, .count = 6, .kind = KWHY_WIRE_COST_BUFFERS);
	ADD(&tape, COST, cost, .spent_ns = 1 * MS, .kind = 99); /* a kind of a later version */
	ADD(&tape, OVERHEAD, overhead, .start_mono_ns = 20 * MS, .end_mono_ns = 22 * MS, .name = STEP,
		.thread = 43);
	ADD(&tape, OVERHEAD, overhead, .start_mono_ns = 10 * MS, .end_mono_ns = 11 * MS, .name = STEP,
		.thread = KWHY_WIRE_UNKNOWN_U32);
	recording = import_tape(&tape);
	assert_int_equal(recording->cost_count, 1);
	assert_int_equal(recording->costs[0].kind, KWHY_COST_BUFFERS);
	assert_int_equal(recording->costs[0].spent_ns, 9 * MS);
	assert_int_equal(recording->costs[0].count, 6);
	assert_int_equal(recording->overhead_count, 2);
	assert_int_equal(recording->overheads[0].start_ns, 10 * MS);
	assert_int_equal(recording->overheads[0].thread, KWHY_NONE);
	assert_int_equal(recording->threads[recording->overheads[1].thread].tid, 43);
	assert_string_equal(kwhy_cost_kind_name(KWHY_COST_BUFFERS), "buffers");
	kwhy_recording_free(recording);
}

static void work_told_bit_by_bit_is_one_sum_for_each_unit(void **state)
{
	int fd = memfd_create("recording", 0);
	struct kwhy_recording *recording;
	struct tape first, second;

	(void)state;
	begin_process(&first, fd, 1);
	ADD(&first, WORK, work, .time_mono_ns = 10 * MS, .count = 64, .unit = TOKENS);
	ADD(&first, WORK, work, .time_mono_ns = 20 * MS, .count = 2, .unit = STEP);
	ADD(&first, WORK, work, .time_mono_ns = 30 * MS, .count = 32, .unit = TOKENS);
	tape_done(&first);
	begin_process(&second, fd, 2);
	ADD(&second, WORK, work, .time_mono_ns = 10 * MS, .count = 4, .unit = TOKENS);
	recording = import_tape(&second);
	assert_int_equal(recording->work_count, 2);
	assert_string_equal(recording->work[0].unit, "tokens");
	assert_true(recording->work[0].count == 100);
	assert_true(recording->work[1].count == 2);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_window_is_known_and_what_lies_between_is_not),
		cmocka_unit_test(a_window_begins_where_what_was_launched_before_it_has_run),
		cmocka_unit_test(a_moment_is_known_inside_a_window_of_every_process_that_may_run_then),
		cmocka_unit_test(a_process_killed_before_a_window_ended_is_known_at_no_time),
		cmocka_unit_test(after_its_process_a_selection_is_known_to_be_idle_up_to_the_tick),
		cmocka_unit_test(memory_is_what_each_process_holds_of_the_device),
		cmocka_unit_test(of_windows_no_one_knows_what_was_held_when_they_began),
		cmocka_unit_test(work_told_bit_by_bit_is_one_sum_for_each_unit),
		cmocka_unit_test(the_last_figure_of_a_cost_holds_and_overheads_are_rows),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
