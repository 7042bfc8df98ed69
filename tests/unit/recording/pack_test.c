/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "recording/block_reader.h"
#include "recording/block_writer.h"
#include "recording/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARE_BYTES = 65536, KERNELS = 5000 };

static char folder[] = "/tmp/kwhy-pack-XXXXXX";
static char in[80], out[80];

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(in, sizeof(in), "%s/in", folder);
	snprintf(out, sizeof(out), "%s/out", folder);
	return mkdir(in, 0777);
}

static int end(void **state)
{
	(void)state;
	return rmdir(in) || rmdir(folder);
}

static const char *file_of(int number)
{
	static char path[120];

	snprintf(path, sizeof(path), "%s/%d.blocks", in, number);
	return path;
}

static int end_one(void **state)
{
	(void)state;
	unlink(out);
	for (int i = 1; i <= 3; i++)
		unlink(file_of(i));
	return 0;
}

static void write_file(int number)
{
	static unsigned char memory[KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES)];
	struct kwhy_block_writer writer;
	int fd = open(file_of(number), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);

	assert_true(fd >= 0);
	kwhy_block_writer_init(&writer, fd, (uint64_t)number, memory, SHARE_BYTES);
	for (int i = 0; i < KERNELS; i++) {
		struct kwhy_wire_kernel *kernel = kwhy_block_writer_add(&writer, KWHY_WIRE_KERNEL);

		assert_non_null(kernel);
		*kernel = (struct kwhy_wire_kernel){.start_mono_ns = 1000 * i + number,
			.end_mono_ns = 1000 * i + 500,
			.correlation = (uint32_t)i};
	}
	kwhy_block_writer_finish(&writer, 1);
	close(fd);
}

static off_t bytes_of(const char *path)
{
	struct stat facts;

	assert_int_equal(stat(path, &facts), 0);
	return facts.st_size;
}

static void pack(void)
{
	struct kwhy_error error;
	struct kwhy_bundle bundle;

	assert_int_equal(kwhy_bundle_open(&bundle, in, &error), KWHY_OK);
	if (kwhy_recording_pack(&bundle, out, &error))
		fail_msg("%s", error.text);
	kwhy_bundle_done(&bundle);
}

/*
 * Sets counts[i] to the number of kernels of writer i in the packed file and checks the kernels' times.
 * Returns the number of damaged places.
 */
static size_t read_out(size_t counts[4])
{
	struct kwhy_error error;
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	struct kwhy_wire_kernel scratch;
	size_t damages = 0;

	memset(counts, 0, 4 * sizeof(*counts));
	assert_int_equal(kwhy_block_reader_open(&reader, out, &error), KWHY_OK);
	while (kwhy_block_reader_next(&reader, &block, &error) == 0) {
		damages += block.damage != NULL;
		for (size_t i = 0; !block.damage && block.kind == KWHY_WIRE_KERNEL && i < block.record_count;
			i++) {
			const struct kwhy_wire_kernel *kernel = kwhy_block_record(
				&block, i, &scratch, sizeof(scratch));

			assert_int_equal(kernel->start_mono_ns,
				1000 * (int64_t)kernel->correlation + (int64_t)block.writer);
			counts[block.writer]++;
		}
	}
	kwhy_block_reader_close(&reader);
	return damages;
}

static void all_files_become_one_that_is_smaller_and_says_the_same(void **state)
{
	size_t counts[4];

	(void)state;
	write_file(1);
	write_file(2);
	pack();
	assert_int_equal(read_out(counts), 0);
	assert_int_equal(counts[1], KERNELS);
	assert_int_equal(counts[2], KERNELS);
	assert_true(bytes_of(out) < bytes_of(file_of(1)) / 2);
}

static void what_is_cut_or_damaged_stays_so_and_the_rest_is_whole(void **state)
{
	size_t counts[4];
	int fd;

	(void)state;
	write_file(1);
	write_file(2);
	assert_int_equal(truncate(file_of(1), bytes_of(file_of(1)) - 77), 0);
	fd = open(file_of(2), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "damage", 6, 1000), 6);
	close(fd);
	pack();
	assert_true(read_out(counts) >= 2);
	assert_true(counts[1] > 0 && counts[1] <= KERNELS);
	assert_true(counts[2] > 0 && counts[2] < KERNELS);
}

static void what_was_packed_before_is_packed_no_further(void **state)
{
	off_t bytes;

	(void)state;
	write_file(1);
	pack();
	bytes = bytes_of(out);
	assert_int_equal(rename(out, file_of(1)), 0);
	pack();
	assert_int_equal(bytes_of(out), bytes);
}

static void a_file_that_is_there_is_left_alone(void **state)
{
	struct kwhy_error error;
	struct kwhy_bundle bundle;

	(void)state;
	write_file(1);
	pack();
	assert_int_equal(kwhy_bundle_open(&bundle, in, &error), KWHY_OK);
	assert_int_equal(kwhy_recording_pack(&bundle, out, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "File exists"));
	kwhy_bundle_done(&bundle);
}

static void nothing_is_left_of_what_cannot_be_packed(void **state)
{
	struct kwhy_error error;
	struct kwhy_bundle bundle;

	(void)state;
	write_file(1);
	assert_int_equal(kwhy_bundle_open(&bundle, in, &error), KWHY_OK);
	assert_int_equal(unlink(file_of(1)), 0);
	assert_int_not_equal(kwhy_recording_pack(&bundle, out, &error), KWHY_OK);
	assert_int_equal(access(out, F_OK), -1);
	kwhy_bundle_done(&bundle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(all_files_become_one_that_is_smaller_and_says_the_same, end_one),
		cmocka_unit_test_teardown(what_is_cut_or_damaged_stays_so_and_the_rest_is_whole, end_one),
		cmocka_unit_test_teardown(what_was_packed_before_is_packed_no_further, end_one),
		cmocka_unit_test_teardown(a_file_that_is_there_is_left_alone, end_one),
		cmocka_unit_test_teardown(nothing_is_left_of_what_cannot_be_packed, end_one),
	};

	return kwhy_test_main(tests, begin, end);
}
