/* SPDX-License-Identifier: Apache-2.0 */
/* A growing recording is read section by section: each byte once, each record in one section. */
#include "cmocka_all.h"
#include "record/section.h"
#include "record/section_state.h"
#include "recording/block_reader.h"
#include "recording/block_writer.h"
#include "recording/bundle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define KERNEL_NS INT64_C(4000000)
#define APART_NS INT64_C(10000000) /* between the starts of two kernels */
#define READ_NS INT64_C(700000000) /* between two readings of the counter */

enum { SHARE_BYTES = 1 << 16, PROGRAM = 7, METERS = 8, COUNTER = 3, GAUGE = 4, SECTIONS = 12, LENGTH_S = 10 };

/* A recording that grows, and what its sections have so far. */
struct growing {
	char folder[64];
	struct kwhy_block_writer program, meters;
	void *memory[2];
	int64_t kernel_ns, reading_ns; /* times of the next kernel and the next reading */
	uint32_t kernels;
	uint64_t read_bytes;
	/* sums over the sections */
	uint32_t seen_kernels, seen_calls, seen_gauges;
	int64_t seen_counts, first_count, last_count;
	uint8_t has_seen[1 << 16]; /* how often each correlation was in a section */
};

/* What the counter shows at a time: it rises unevenly. */
static int64_t count_at(int64_t time_ns)
{
	return 1000 + time_ns / 3 + (time_ns / SECOND_NS % 2 ? 12345 : 0);
}

static void open_writer(const struct growing *growing, const char *name, uint64_t id,
	struct kwhy_block_writer *out, void **memory)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s" KWHY_BUNDLE_SUFFIX, growing->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	assert_true(fd >= 0);
	*memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES));
	kwhy_block_writer_init(out, fd, id, *memory, SHARE_BYTES);
}

static void add_source(struct growing *growing, uint32_t id, uint32_t meter, uint32_t gauge)
{
	struct kwhy_wire_source *source = kwhy_block_writer_add(&growing->meters, KWHY_WIRE_SOURCE);

	*source = (struct kwhy_wire_source){.id = id, .meter = meter, .gauge = gauge, .uuid = 1};
}

static struct growing *begin(void)
{
	struct growing *growing = calloc(1, sizeof(*growing));

	strcpy(growing->folder, "/tmp/kwhy-section-XXXXXX");
	assert_non_null(mkdtemp(growing->folder));
	open_writer(growing, "program", PROGRAM, &growing->program, &growing->memory[0]);
	open_writer(growing, "meters", METERS, &growing->meters, &growing->memory[1]);
	kwhy_block_writer_add_name(&growing->program, 1, "GPU-1", 5);
	kwhy_block_writer_add_name(&growing->program, 2, "gemm", 4);
	*(struct kwhy_wire_device *)kwhy_block_writer_add(
		&growing->program, KWHY_WIRE_DEVICE) = (struct kwhy_wire_device){.uuid = 1};
	kwhy_block_writer_add_name(&growing->meters, 1, "GPU-1", 5);
	kwhy_block_writer_add_name(&growing->meters, 2, "nvml.energy_mj", 14);
	kwhy_block_writer_add_name(&growing->meters, 3, "sm_clock_hz", 11);
	add_source(growing, COUNTER, 2, 0);
	add_source(growing, GAUGE, 0, 3);
	growing->kernel_ns = growing->reading_ns = SECOND_NS;
	return growing;
}

static void end(struct growing *growing)
{
	char command[96];

	kwhy_block_writer_close(&growing->program);
	kwhy_block_writer_close(&growing->meters);
	free(growing->memory[0]);
	free(growing->memory[1]);
	snprintf(command, sizeof(command), "rm -r %s", growing->folder);
	assert_int_equal(system(command), 0);
	free(growing);
}

static void add_kernel(struct growing *growing, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_wire_kernel *kernel = kwhy_block_writer_add(&growing->program, KWHY_WIRE_KERNEL);
	struct kwhy_wire_call *call = kwhy_block_writer_add(&growing->program, KWHY_WIRE_CALL);

	growing->kernels++;
	kernel->start_mono_ns = start_ns;
	kernel->end_mono_ns = end_ns;
	kernel->name = 2;
	kernel->correlation = growing->kernels;
	/* the host is ahead of the device */
	call->start_mono_ns = start_ns - 3 * APART_NS;
	call->end_mono_ns = call->start_mono_ns + 1000;
	call->correlation = growing->kernels;
}

static void add_reading(struct growing *growing, uint32_t source, int64_t value)
{
	struct kwhy_wire_reading *reading = kwhy_block_writer_add(&growing->meters, KWHY_WIRE_READING);

	*reading = (struct kwhy_wire_reading){growing->reading_ns, value, source, 0};
}

/* Adds what happens until a time. */
static void grow(struct growing *growing, int64_t until_ns, int64_t kernel_ns)
{
	for (; growing->kernel_ns < until_ns; growing->kernel_ns += APART_NS)
		add_kernel(growing, growing->kernel_ns, growing->kernel_ns + kernel_ns);
	for (; growing->reading_ns < until_ns; growing->reading_ns += READ_NS) {
		add_reading(growing, COUNTER, count_at(growing->reading_ns));
		add_reading(growing, GAUGE, 1980000000);
	}
	kwhy_block_writer_flush(&growing->program);
	kwhy_block_writer_flush(&growing->meters);
}

/* The rises of the counter in a section, and the gauge's readings. */
static void see_readings(struct growing *growing, const struct kwhy_block *block)
{
	int64_t first_ns = INT64_MAX, last_ns = 0, first = 0, last = 0;

	for (size_t i = 0; i < block->record_count; i++) {
		struct kwhy_wire_reading scratch;
		const struct kwhy_wire_reading *row = kwhy_block_record(block, i, &scratch, sizeof(scratch));

		growing->seen_gauges += row->source == GAUGE;
		if (row->source == COUNTER && row->time_mono_ns < first_ns) {
			first_ns = row->time_mono_ns;
			first = row->value;
		}
		if (row->source == COUNTER && row->time_mono_ns > last_ns) {
			last_ns = row->time_mono_ns;
			last = row->value;
		}
	}
	if (!growing->first_count)
		growing->first_count = first;
	growing->last_count = last;
	growing->seen_counts += last - first;
}

static void see_block(struct growing *growing, const struct kwhy_block *block)
{
	if (block->kind == KWHY_WIRE_READING)
		see_readings(growing, block);
	for (size_t i = 0; block->kind == KWHY_WIRE_KERNEL && i < block->record_count; i++) {
		struct kwhy_wire_kernel scratch;
		const struct kwhy_wire_kernel *row = kwhy_block_record(block, i, &scratch, sizeof(scratch));

		growing->has_seen[row->correlation]++;
		growing->seen_kernels++;
	}
	growing->seen_calls += block->kind == KWHY_WIRE_CALL ? (uint32_t)block->record_count : 0;
}

static void see_section(struct growing *growing, const char *folder)
{
	struct kwhy_bundle bundle;
	struct kwhy_error error;

	assert_int_equal(kwhy_bundle_open(&bundle, folder, &error), KWHY_OK);
	for (size_t i = 0; i < bundle.count; i++) {
		struct kwhy_block_reader reader;
		struct kwhy_block block;

		assert_int_equal(kwhy_block_reader_open(&reader, bundle.paths[i], &error), KWHY_OK);
		while (kwhy_block_reader_next(&reader, &block, &error) == 0) {
			assert_null(block.damage);
			see_block(growing, &block);
		}
		kwhy_block_reader_close(&reader);
	}
	kwhy_bundle_done(&bundle);
}

static bool cut(struct growing *growing)
{
	struct kwhy_section_state state;
	struct kwhy_record_section section;
	struct kwhy_error error;

	assert_int_equal(kwhy_section_state_open(&state, growing->folder, &error), KWHY_OK);
	assert_int_equal(
		kwhy_record_section_cut(&(struct kwhy_record_section_request){.recording = growing->folder,
						.rest = state.before,
						.out_section = state.section,
						.out_rest = state.next},
			&section, &error),
		KWHY_OK);
	growing->read_bytes = section.read_bytes;
	if (section.is_cut)
		see_section(growing, state.section);
	assert_int_equal(kwhy_section_state_keep(&state, &error), KWHY_OK);
	kwhy_section_state_close(&state);
	return section.is_cut;
}

static void assert_each_kernel_once(const struct growing *growing)
{
	assert_int_equal(growing->seen_kernels, growing->kernels);
	for (uint32_t i = 1; i <= growing->kernels; i++)
		assert_int_equal(growing->has_seen[i], 1);
	assert_int_equal(growing->seen_calls, growing->kernels);
}

static void each_record_is_read_once(void **state)
{
	struct growing *growing = begin();
	uint64_t second = 0;

	(void)state;
	for (int i = 1; i <= SECTIONS; i++) {
		grow(growing, i * LENGTH_S * SECOND_NS, KERNEL_NS);
		assert_true(cut(growing));
		if (i == 2)
			second = growing->read_bytes;
		else if (i >
			2) /* whatever the recording's size; blocks that straddle a cut differ a little */
			assert_in_range(growing->read_bytes, second / 2, second + second / 8);
	}
	assert_true(cut(growing));
	assert_false(cut(growing));
	assert_each_kernel_once(growing);
	assert_int_equal(growing->seen_counts, growing->last_count - growing->first_count);
	assert_int_equal(growing->first_count, count_at(SECOND_NS));
	assert_true(growing->seen_gauges > SECTIONS * LENGTH_S);
	end(growing);
}

static void a_device_that_never_rests_is_cut_too(void **state)
{
	struct growing *growing = begin();

	(void)state;
	for (int i = 1; i <= 4; i++) {
		grow(growing, i * LENGTH_S * SECOND_NS, 5 * APART_NS);
		assert_true(cut(growing));
	}
	cut(growing);
	assert_each_kernel_once(growing);
	end(growing);
}

static void a_record_that_comes_late_is_in_the_next_section(void **state)
{
	struct growing *growing = begin();
	const int64_t late_ns = 2 * SECOND_NS;

	(void)state;
	grow(growing, LENGTH_S * SECOND_NS, KERNEL_NS);
	assert_true(cut(growing));
	add_kernel(growing, late_ns, LENGTH_S * SECOND_NS);
	grow(growing, 2 * LENGTH_S * SECOND_NS, KERNEL_NS);
	assert_true(cut(growing));
	cut(growing);
	assert_each_kernel_once(growing);
	end(growing);
}

static void a_block_that_is_being_written_is_read_when_it_is_whole(void **state)
{
	struct growing *growing = begin();
	char path[128];
	struct stat facts;

	(void)state;
	grow(growing, LENGTH_S * SECOND_NS, KERNEL_NS);
	snprintf(path, sizeof(path), "%s/program" KWHY_BUNDLE_SUFFIX, growing->folder);
	assert_int_equal(stat(path, &facts), 0);
	for (off_t part = 100; part < facts.st_size; part += facts.st_size / 3) {
		char copy[160], command[800];

		snprintf(copy, sizeof(copy), "%s/whole", growing->folder);
		snprintf(command, sizeof(command), "mv %s %s && head -c %ld %s > %s", path, copy, (long)part,
			copy, path);
		assert_int_equal(system(command), 0);
		cut(growing);
		assert_int_equal(rename(copy, path), 0);
	}
	cut(growing);
	cut(growing);
	assert_int_equal(growing->seen_kernels, growing->kernels);
	end(growing);
}

static void a_state_that_was_not_kept_does_not_count(void **state)
{
	struct growing *growing = begin();
	struct kwhy_section_state broken;
	struct kwhy_error error;
	char path[160];

	(void)state;
	grow(growing, LENGTH_S * SECOND_NS, KERNEL_NS);
	assert_true(cut(growing));
	assert_int_equal(kwhy_section_state_open(&broken, growing->folder, &error), KWHY_OK);
	snprintf(path, sizeof(path), "%s/half", broken.next);
	assert_int_equal(close(creat(path, 0600)), 0);
	close(broken.lock); /* as when the process is killed */
	grow(growing, 2 * LENGTH_S * SECOND_NS, KERNEL_NS);
	assert_true(cut(growing));
	cut(growing);
	assert_each_kernel_once(growing);
	snprintf(path, sizeof(path), "%s/half", broken.after);
	assert_int_not_equal(access(path, F_OK), 0);
	kwhy_arena_done(&broken.arena);
	kwhy_section_states_delete(growing->folder);
	snprintf(path, sizeof(path), "test -z \"$(ls -d %s/digested.* 2>/dev/null)\"", growing->folder);
	assert_int_equal(system(path), 0);
	end(growing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_record_is_read_once),
		cmocka_unit_test(a_device_that_never_rests_is_cut_too),
		cmocka_unit_test(a_record_that_comes_late_is_in_the_next_section),
		cmocka_unit_test(a_block_that_is_being_written_is_read_when_it_is_whole),
		cmocka_unit_test(a_state_that_was_not_kept_does_not_count),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
