/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded_tape.h"

/*
 * Tests which writers of a recording (processes of kwhy record) are taken to be on one machine, and thus to
 * share a clock, and which rank a device belongs to.
 */

#define DAY_NS (INT64_C(86400) * 1000 * MS)

/*
 * A writer: its machine, the Unix time at time 0 of the machine's monotonic clock, and the uncertainty
 * (width) of that; width_ns -1: the writer has no clock record.
 */
struct written {
	uint32_t host; /* the host's name, a value of enum name */
	int64_t offset_ns, width_ns;
	uint32_t boot; /* id of the last boot, a value of enum name; 0: an older recording without it */
};

/* Writes one kernel at 1100 ms of the machine's clock. */
static void write_one(int fd, uint64_t id, const struct written *written)
{
	struct tape tape;

	tape_init(&tape, fd, id);
	say_names(&tape);
	ADD(&tape, PROCESS, process, .pid = (int64_t)id, .host = written->host, .boot = written->boot,
		.rank = 0, .world_size = 1);
	if (written->width_ns >= 0)
		ADD(&tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = written->offset_ns,
			.width_ns = written->width_ns);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 1100 * MS, .end_mono_ns = 1103 * MS,
		.stream = (uint32_t)id, .name = GEMM);
	tape_done(&tape);
}

static struct kwhy_recording *record(size_t count, const struct written written[])
{
	struct kwhy_recording *recording;
	int fd = memfd_create("recording", 0);
	char path[64];

	for (size_t i = 0; i < count; i++)
		write_one(fd, i + 1, &written[i]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording = import(path);
	close(fd);
	return recording;
}

/* Returns the Unix time at time 0 of a writer's machine, derived from the imported time of its kernel. */
static int64_t placed_ns(const struct kwhy_recording *recording, int64_t writer)
{
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t i = 0; i < rows->count; i++)
		if (recording->streams[rows->stream[i]].id == writer)
			return recording->origin_unix_ns + rows->start_ns[i] - 1100 * MS;
	fail_msg("no kernel of writer %d", (int)writer);
	return 0;
}

static void clocks_that_agree_within_a_second_are_one_machines(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS + 77, 900, 0},
		{HOST, BOOT_UNIX_NS, 100, 0}, {HOST, BOOT_UNIX_NS + 999 * MS, 500, 0}};
	struct kwhy_recording *recording = record(3, written);

	(void)state;
	for (int64_t writer = 1; writer <= 3; writer++)
		assert_int_equal(placed_ns(recording, writer), BOOT_UNIX_NS);
	assert_false(has_note(recording, "host-namesakes"));
	kwhy_recording_free(recording);
}

/*
 * Writers with the same host name whose clocks differ by a day, such as containers that are all called
 * localhost, or a node before and after a restart, must keep their own clocks.
 */
static void machines_of_one_name_keep_clocks_of_their_own(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS + DAY_NS + 70, 900, 0},
		{HOST, BOOT_UNIX_NS, 100, 0}, {HOST, BOOT_UNIX_NS + DAY_NS, 300, 0},
		{HOST, BOOT_UNIX_NS + 50, 200, 0}};
	struct kwhy_recording *recording = record(4, written);

	(void)state;
	assert_int_equal(placed_ns(recording, 1), BOOT_UNIX_NS + DAY_NS);
	assert_int_equal(placed_ns(recording, 2), BOOT_UNIX_NS);
	assert_int_equal(placed_ns(recording, 3), BOOT_UNIX_NS + DAY_NS);
	assert_int_equal(placed_ns(recording, 4), BOOT_UNIX_NS);
	assert_true(has_note(recording, "host-namesakes"));
	kwhy_recording_free(recording);
}

/*
 * Two clocks of one host name are taken to be one if they differ by at most 1 s plus half of the width of
 * each: 5 s with a width of 8.5 s are, 5 s with one of 4.5 s are not.
 */
static void a_clock_that_is_hardly_known_agrees_with_what_lies_in_its_spread(void **state)
{
	static const struct written within[] = {{HOST, BOOT_UNIX_NS + 5000 * MS, 8500 * MS, 0},
		{HOST, BOOT_UNIX_NS, 100, 0}, {HOST, 0, -1, 0}},
				    beyond[] = {{HOST, BOOT_UNIX_NS + 5000 * MS, 4500 * MS, 0},
					    {HOST, BOOT_UNIX_NS, 100, 0}};
	struct kwhy_recording *recording = record(3, within);

	(void)state;
	for (int64_t writer = 1; writer <= 3; writer++)
		assert_int_equal(placed_ns(recording, writer), BOOT_UNIX_NS);
	kwhy_recording_free(recording);
	recording = record(2, beyond);
	assert_int_equal(placed_ns(recording, 1), BOOT_UNIX_NS + 5000 * MS);
	assert_int_equal(placed_ns(recording, 2), BOOT_UNIX_NS);
	kwhy_recording_free(recording);
}

/*
 * Clocks 1 and 2 differ by 1.5 s, too much for one machine. Clock 3 lies between them, within 1 s of either:
 * it must be joined with one of them (2) only.
 */
static void a_writer_takes_over_no_clock_that_its_own_contradicts(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS + 1500 * MS, 800, 0},
		{HOST, BOOT_UNIX_NS, 100, 0}, {HOST, BOOT_UNIX_NS + 900 * MS, 500, 0}};
	struct kwhy_recording *recording = record(3, written);

	(void)state;
	assert_int_equal(placed_ns(recording, 1), BOOT_UNIX_NS + 1500 * MS);
	assert_int_equal(placed_ns(recording, 2), BOOT_UNIX_NS);
	assert_int_equal(placed_ns(recording, 3), BOOT_UNIX_NS);
	kwhy_recording_free(recording);
}

/* Two nodes, each of which numbers its GPUs from 0: device 0 of either must be a device of its own. */
static void a_device_is_of_the_machine_of_its_process(void **state)
{
	static const struct written written[] = {
		{HOST, BOOT_UNIX_NS, 100, START}, {SECOND, BOOT_UNIX_NS, 100, OTHER_START}};
	struct kwhy_recording *recording;
	int fd = memfd_create("recording", 0);
	char path[64];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct tape tape;

		write_one(fd, i + 1, &written[i]);
		tape_init(&tape, fd, i + 1);
		ADD(&tape, DEVICE, device, .index = 0, .uuid = i ? SECOND : UUID);
		tape_done(&tape);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording = import(path);
	close(fd);
	assert_int_equal(recording->machine_count, 2);
	assert_int_equal(recording->device_count, 2);
	for (uint32_t d = 0; d < 2; d++)
		assert_string_equal(kwhy_recording_machine_name(
					    recording, kwhy_recording_machine_of_device(recording, d)),
			d ? "GPU-2" : "node1");
	assert_int_equal(kwhy_recording_machine_of_device(recording, 2), KWHY_NONE);
	kwhy_recording_free(recording);
}

/*
 * Two launchers on two machines have meters of devices 0 that no process describes. These must be two
 * devices.
 */
static void meters_of_two_machines_devices_are_of_two_devices(void **state)
{
	static const struct written written[] = {
		{HOST, BOOT_UNIX_NS, 100, START}, {SECOND, BOOT_UNIX_NS, 100, OTHER_START}};
	struct kwhy_recording *recording;
	int fd = memfd_create("recording", 0);
	char path[64];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct tape tape;

		tape_init(&tape, fd, i + 1);
		say_names(&tape);
		ADD(&tape, PROCESS, process, .pid = 41, .host = written[i].host, .boot = written[i].boot,
			.rank = KWHY_WIRE_UNKNOWN_U32, .world_size = KWHY_WIRE_UNKNOWN_U32);
		ADD(&tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = BOOT_UNIX_NS, .width_ns = 100);
		ADD(&tape, SOURCE, source, .id = 1, .meter = SAMPLE, .uuid = i ? SECOND : UUID);
		ADD(&tape, READING, reading, .time_mono_ns = 1100 * MS, .value = 90000 + i, .source = 1);
		tape_done(&tape);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording = import(path);
	close(fd);
	assert_int_equal(recording->device_count, 2);
	assert_int_equal(recording->power_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(kwhy_recording_machine_name(recording,
					    kwhy_recording_machine_of_meter(recording, &recording->power[i])),
			recording->power[i].value[0] == 90000 ? "node1" : "GPU-2");
	kwhy_recording_free(recording);
}

/*
 * The second writer has neither clock nor host name, as if the start of its recording were damaged. It is
 * taken to be on the known machine.
 */
static void a_writer_that_says_nothing_runs_on_the_device_that_is_known(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS, 100, START}, {0, 0, -1, 0}};
	struct kwhy_recording *recording = record(2, written);

	(void)state;
	assert_int_equal(recording->device_count, 1);
	assert_string_equal(
		kwhy_recording_machine_name(recording, kwhy_recording_machine_of_device(recording, 0)),
		"node1");
	kwhy_recording_free(recording);
}

static void machines_of_two_names_share_no_clock(void **state)
{
	static const struct written written[] = {
		{HOST, BOOT_UNIX_NS + 77, 900, 0}, {SECOND, BOOT_UNIX_NS, 100, 0}};
	struct kwhy_recording *recording = record(2, written);

	(void)state;
	assert_int_equal(placed_ns(recording, 1), BOOT_UNIX_NS + 77);
	assert_int_equal(placed_ns(recording, 2), BOOT_UNIX_NS);
	assert_false(has_note(recording, "host-namesakes"));
	kwhy_recording_free(recording);
}

/*
 * Containers of one machine may have different host names, and those of two machines the same, even with
 * nearly the same clock if the machines started together. The boot id decides which belong together.
 */
static void the_start_of_a_machine_says_whose_containers_they_are(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS + 77, 900, START},
		{SECOND, BOOT_UNIX_NS, 100, START}, {HOST, BOOT_UNIX_NS + 50 * MS, 90, OTHER_START}};
	struct kwhy_recording *recording = record(3, written);

	(void)state;
	assert_int_equal(placed_ns(recording, 1), BOOT_UNIX_NS);
	assert_int_equal(placed_ns(recording, 2), BOOT_UNIX_NS);
	assert_int_equal(placed_ns(recording, 3), BOOT_UNIX_NS + 50 * MS);
	assert_false(has_note(recording, "host-namesakes"));
	kwhy_recording_free(recording);
}

/*
 * The library in the program is older than the launcher and does not record the boot id. It is taken to be on
 * the machine with its host name, if its clock agrees.
 */
static void a_writer_that_tells_no_start_is_of_the_machine_of_its_name(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS + 77, 900, 0},
		{HOST, BOOT_UNIX_NS, 100, START}, {HOST, BOOT_UNIX_NS + DAY_NS, 900, 0}};
	struct kwhy_recording *recording = record(3, written);

	(void)state;
	assert_int_equal(placed_ns(recording, 1), BOOT_UNIX_NS);
	assert_int_equal(placed_ns(recording, 3), BOOT_UNIX_NS + DAY_NS);
	assert_int_equal(recording->machine_count, 2);
	kwhy_recording_free(recording);
}

/* Extreme values must not overflow. Rows with impossible times are refused, all others are read. */
static void impossible_clocks_are_survived(void **state)
{
	static const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
	const struct kwhy_import_options options = {.partial = true};
	struct kwhy_recording *recording;
	struct kwhy_error error;
	int fd = memfd_create("recording", 0);
	char path[64];

	(void)state;
	for (uint64_t i = 0; i < 36; i++)
		write_one(fd, i + 1, &(struct written){HOST, extremes[i / 6], extremes[i % 6], 0});
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(recording, path, &options, &error), KWHY_OK);
	kwhy_recording_free(recording);
	close(fd);
}

/*
 * Imports a recording of a launcher on the machine `written` with two readings of the energy counter of a CPU
 * package, the first of them `value`. The file stays open so that the next one has another path in /proc.
 */
static void meter_one(struct kwhy_recording *recording, const struct written *written, int64_t value)
{
	static uint64_t writer;
	const struct kwhy_import_options options = {0};
	struct kwhy_error error;
	struct tape tape;
	char path[64];

	tape_init(&tape, memfd_create("recording", 0), ++writer);
	say_names(&tape);
	ADD(&tape, PROCESS, process, .pid = 41, .host = written->host, .boot = written->boot, .rank = 0,
		.world_size = 1);
	ADD(&tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = written->offset_ns,
		.width_ns = written->width_ns);
	ADD(&tape, SOURCE, source, .id = 7, .meter = PACKAGE, .device = -1);
	for (int64_t i = 0; i < 2; i++)
		ADD(&tape, READING, reading, .time_mono_ns = (1000 + 100 * i) * MS + value,
			.value = value + 1000 * i, .source = 7);
	tape_done(&tape);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape.fd);
	assert_int_equal(kwhy_import_trace(recording, path, &options, &error), KWHY_OK);
}

static void meters_of_a_host_are_each_machines_own(void **state)
{
	static const struct written node = {HOST, BOOT_UNIX_NS, 100, 0},
				    other = {SECOND, BOOT_UNIX_NS, 100, 0},
				    later = {HOST, BOOT_UNIX_NS + DAY_NS, 100, 0};
	static const char *const names[] = {"node1", "GPU-2", "node1 (2)"};
	struct kwhy_recording *recording;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	meter_one(recording, &node, 5);
	assert_false(kwhy_recording_has_hosts(recording));
	meter_one(recording, &other, 900);
	meter_one(recording, &later, 70);
	meter_one(recording, &node, 9); /* another launcher on the first machine */
	assert_int_equal(kwhy_recording_finish(recording, &error), KWHY_OK);
	assert_true(kwhy_recording_has_hosts(recording));
	assert_int_equal(recording->power_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(recording->power[i].count, i == 0 ? 4 : 2);
		assert_string_equal(kwhy_recording_host_of(recording, &recording->power[i]), names[i]);
	}
	assert_int_equal(kwhy_recording_machine_of(recording, 3), 0);
	kwhy_recording_free(recording);
}

static void a_machine_stays_itself_whatever_its_containers_are_called(void **state)
{
	static const struct written written[] = {{HOST, BOOT_UNIX_NS, 100, START},
		{SECOND, BOOT_UNIX_NS, 100, START}, {HOST, BOOT_UNIX_NS, 100, 0},
		{HOST, BOOT_UNIX_NS, 100, OTHER_START}};
	struct kwhy_recording *recording;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	for (int64_t i = 0; i < 4; i++)
		meter_one(recording, &written[i], i);
	assert_int_equal(recording->machine_count, 2);
	assert_int_equal(recording->power_count, 2);
	assert_int_equal(recording->power[0].count, 6);
	assert_string_equal(recording->machines[1].name, "node1 (2)");
	kwhy_recording_free(recording);
}

/*
 * Writes the recording of one of two ranks. As CUDA shows all devices to a process by default, it describes
 * both, and runs its kernels on one.
 */
static void record_rank(int fd, uint32_t rank)
{
	struct tape tape;

	tape_init(&tape, fd, 100 + rank);
	say_names(&tape);
	ADD(&tape, PROCESS, process, .pid = 40 + rank, .host = HOST, .rank = rank, .world_size = 2);
	ADD(&tape, DEVICE, device, .index = 0, .name = H200, .uuid = UUID, .limit_mw = 700000);
	ADD(&tape, DEVICE, device, .index = 1, .name = H200, .uuid = SECOND, .limit_mw = 700000);
	if (rank == 1) /* rank 1 also uses the other rank's device a little */
		ADD(&tape, KERNEL, kernel, .start_mono_ns = 5 * MS, .end_mono_ns = 6 * MS, .name = GEMM,
			.stream = 7, .context = 1, .device = 0);
	for (int64_t i = 0; i < 3; i++)
		ADD(&tape, KERNEL, kernel, .start_mono_ns = (10 + 2 * i) * MS,
			.end_mono_ns = (11 + 2 * i) * MS, .name = GEMM, .stream = 9, .context = 1,
			.device = (uint16_t)rank);
	tape_done(&tape);
}

static void a_device_is_the_ranks_that_works_on_it(void **state)
{
	struct kwhy_recording *recording;
	int fd = memfd_create("recording", 0);
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	record_rank(fd, 0);
	record_rank(fd, 1);
	recording = import(path);
	assert_int_equal(recording->device_count, 2);
	assert_int_equal(recording->devices[0].rank, 0);
	assert_int_equal(recording->devices[1].rank, 1);
	kwhy_recording_free(recording);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_that_agree_within_a_second_are_one_machines),
		cmocka_unit_test(machines_of_one_name_keep_clocks_of_their_own),
		cmocka_unit_test(a_clock_that_is_hardly_known_agrees_with_what_lies_in_its_spread),
		cmocka_unit_test(a_writer_takes_over_no_clock_that_its_own_contradicts),
		cmocka_unit_test(machines_of_two_names_share_no_clock),
		cmocka_unit_test(a_device_is_of_the_machine_of_its_process),
		cmocka_unit_test(a_writer_that_says_nothing_runs_on_the_device_that_is_known),
		cmocka_unit_test(meters_of_two_machines_devices_are_of_two_devices),
		cmocka_unit_test(the_start_of_a_machine_says_whose_containers_they_are),
		cmocka_unit_test(a_writer_that_tells_no_start_is_of_the_machine_of_its_name),
		cmocka_unit_test(meters_of_a_host_are_each_machines_own),
		cmocka_unit_test(a_machine_stays_itself_whatever_its_containers_are_called),
		cmocka_unit_test(impossible_clocks_are_survived),
		cmocka_unit_test(a_device_is_the_ranks_that_works_on_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
