/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "recording/block_reader.h"
#include "recording/block_writer.h"
#include "recording/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

enum { SHARE_BYTES = 4096, WRITER = 7 };

/* A recording in a memfd. Writer and reader open it by its path in /proc. */
struct tape {
	int fd;
	char path[64];
	unsigned char *memory, *packed;
	struct kwhy_block_writer writer;
};

static size_t pack(void *context, void *packed, size_t space, const void *payload, size_t length)
{
	size_t got = ZSTD_compress(packed, space, payload, length, 1);

	(void)context;
	return ZSTD_isError(got) ? 0 : got;
}

static void tape_init(struct tape *tape)
{
	tape->fd = memfd_create("recording", 0);
	assert_true(tape->fd >= 0);
	snprintf(tape->path, sizeof(tape->path), "/proc/self/fd/%d", tape->fd);
	tape->memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES));
	tape->packed = malloc(SHARE_BYTES);
	kwhy_block_writer_init(&tape->writer, tape->fd, WRITER, tape->memory, SHARE_BYTES);
}

static void tape_done(struct tape *tape)
{
	free(tape->memory);
	free(tape->packed);
	close(tape->fd);
}

/* Returns kernel i of a test, all fields of which follow from i. */
static struct kwhy_wire_kernel kernel_of(uint32_t i)
{
	return (struct kwhy_wire_kernel){.start_mono_ns = 1000 * (int64_t)i,
		.end_mono_ns = 1000 * (int64_t)i + 700,
		.name = i % 5 + 1,
		.correlation = i,
		.blocks = 132 + i % 3,
		.stream = 7,
		.threads_per_block = 256};
}

static void record_kernels(struct tape *tape, uint32_t count)
{
	kwhy_block_writer_add_name(&tape->writer, 1, "gemm", 4);
	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_wire_kernel *kernel = kwhy_block_writer_add(&tape->writer, KWHY_WIRE_KERNEL);

		assert_non_null(kernel);
		*kernel = kernel_of(i);
	}
	kwhy_block_writer_finish(&tape->writer, 123);
}

/* Numbers of what a reader finds in the whole file; bytes: size of the file. */
struct found {
	uint64_t kernels, wrong_kernels, names, ends, blocks, damaged_bytes, damages, cuts;
	uint64_t bytes;
};

static void count_block(struct found *found, const struct kwhy_block *block)
{
	struct kwhy_wire_kernel scratch;
	const char *bytes;
	size_t at = 0, length;
	uint32_t id;

	assert_int_equal(block->writer, WRITER);
	for (size_t i = 0; block->kind == KWHY_WIRE_KERNEL && i < block->record_count; i++) {
		const struct kwhy_wire_kernel *kernel = kwhy_block_record(
			block, i, &scratch, sizeof(scratch));
		const struct kwhy_wire_kernel expected = kernel_of(kernel->correlation);

		found->wrong_kernels += memcmp(kernel, &expected, sizeof(expected)) != 0;
		found->kernels++;
	}
	while (block->kind == KWHY_WIRE_NAME && kwhy_block_name(block, &at, &id, &bytes, &length))
		found->names += id == 1 && length == 4 && !memcmp(bytes, "gemm", 4);
	found->ends += block->kind == KWHY_WIRE_END;
	found->blocks++;
}

static struct found walk(const char *path)
{
	struct kwhy_block_reader reader;
	struct kwhy_error error;
	struct kwhy_block block;
	struct found found = {0};

	assert_int_equal(kwhy_block_reader_open(&reader, path, &error), KWHY_OK);
	while (kwhy_block_reader_next(&reader, &block, &error) == 0) {
		assert_int_equal(block.offset, found.bytes);
		found.bytes += block.bytes;
		if (block.damage) {
			found.damages++;
			found.damaged_bytes += block.bytes;
			found.cuts += block.is_cut;
		} else {
			count_block(&found, &block);
		}
	}
	assert_int_equal(found.bytes, reader.length);
	kwhy_block_reader_close(&reader);
	return found;
}

static void what_was_written_is_read(void **state)
{
	struct tape tape;
	struct found found;

	(void)state;
	tape_init(&tape);
	record_kernels(&tape, 1000);
	found = walk(tape.path);
	assert_int_equal(found.kernels, 1000);
	assert_int_equal(found.wrong_kernels, 0);
	assert_int_equal(found.names, 1);
	assert_int_equal(found.ends, 1);
	assert_int_equal(found.damages, 0);
	assert_int_equal(found.bytes, tape.writer.written_bytes);
	tape_done(&tape);
}

static void packed_blocks_hold_the_same_and_are_smaller(void **state)
{
	struct tape tape;
	struct found found;

	(void)state;
	tape_init(&tape);
	tape.writer.pack = pack;
	tape.writer.packed = tape.packed;
	record_kernels(&tape, 1000);
	found = walk(tape.path);
	assert_int_equal(found.kernels, 1000);
	assert_int_equal(found.wrong_kernels, 0);
	assert_int_equal(found.damages, 0);
	assert_true(found.bytes < 1000 * sizeof(struct kwhy_wire_kernel) / 2);
	tape_done(&tape);
}

/*
 * A writer that is killed leaves a file that may end anywhere, also within a block. The reader must return
 * all whole blocks before the end.
 */
static void a_file_cut_anywhere_is_read_up_to_its_last_whole_block(void **state)
{
	struct tape tape;
	struct found whole;
	uint64_t last = UINT64_MAX;

	(void)state;
	tape_init(&tape);
	record_kernels(&tape, 200);
	whole = walk(tape.path);
	for (off_t length = (off_t)whole.bytes - 1; length >= 0; length -= length % 64 == 0 ? 61 : 1) {
		struct found found;

		assert_int_equal(ftruncate(tape.fd, length), 0);
		found = walk(tape.path);
		assert_true(found.kernels <= last && found.wrong_kernels == 0);
		assert_int_equal(found.damages, found.cuts);
		assert_true(found.damages <= 1);
		assert_true(found.blocks < whole.blocks);
		last = found.kernels;
	}
	tape_done(&tape);
}

/* A changed byte may cost only the block that it is in, and the data of that block must never be returned. */
static void a_wrong_byte_costs_one_block(void **state)
{
	struct tape tape;
	struct found whole;

	(void)state;
	tape_init(&tape);
	record_kernels(&tape, 200);
	whole = walk(tape.path);
	for (off_t at = 0; at < (off_t)whole.bytes; at += 13) {
		unsigned char byte, wrong;
		struct found found;

		assert_int_equal(pread(tape.fd, &byte, 1, at), 1);
		wrong = byte ^ 0x10;
		assert_int_equal(pwrite(tape.fd, &wrong, 1, at), 1);
		found = walk(tape.path);
		assert_int_equal(found.wrong_kernels, 0);
		assert_true(found.blocks + 1 >= whole.blocks);
		assert_true(found.damages <= 1);
		assert_int_equal(found.cuts, 0);
		assert_int_equal(pwrite(tape.fd, &byte, 1, at), 1);
	}
	tape_done(&tape);
}

static void files_may_follow_each_other_even_after_a_cut(void **state)
{
	struct tape tape;
	struct found found;
	off_t length;

	(void)state;
	tape_init(&tape);
	record_kernels(&tape, 100);
	length = (off_t)tape.writer.written_bytes - 5;
	assert_int_equal(ftruncate(tape.fd, length), 0);
	assert_int_equal(lseek(tape.fd, 0, SEEK_END), length);
	kwhy_block_writer_init(&tape.writer, tape.fd, WRITER, tape.memory, SHARE_BYTES);
	record_kernels(&tape, 100);
	found = walk(tape.path);
	assert_int_equal(found.kernels, 200);
	assert_int_equal(found.damages, 1);
	assert_int_equal(found.cuts, 1);
	assert_int_equal(found.ends, 1);
	tape_done(&tape);
}

/*
 * `cat` may join the files of killed writers, so that a block cut short is followed by another file. This is
 * a cut and no damage, wherever in the block it is.
 */
static void a_cut_before_another_file_is_no_damage(void **state)
{
	(void)state;
	for (off_t length = 1; length < 64 + 16; length++) {
		struct tape tape;
		struct found found;

		tape_init(&tape);
		kwhy_block_writer_finish(&tape.writer, 5);
		assert_int_equal(ftruncate(tape.fd, length), 0);
		assert_int_equal(lseek(tape.fd, 0, SEEK_END), length);
		kwhy_block_writer_init(&tape.writer, tape.fd, WRITER, tape.memory, SHARE_BYTES);
		record_kernels(&tape, 10);
		found = walk(tape.path);
		assert_int_equal(found.kernels, 10);
		assert_int_equal(found.damages, 1);
		assert_int_equal(found.cuts, 1);
		tape_done(&tape);
	}
}

/*
 * If blocks of the same writer follow a gap, bytes were lost in the middle of its file: this is damage and
 * not a cut, whatever the length of the gap.
 */
static void bytes_lost_in_the_middle_are_damage(void **state)
{
	enum { LOST = 100 };
	struct tape tape;
	struct found found;
	unsigned char *bytes;
	size_t length;

	(void)state;
	tape_init(&tape);
	record_kernels(&tape, 200);
	length = tape.writer.written_bytes;
	bytes = malloc(length);
	assert_non_null(bytes);
	assert_int_equal(pread(tape.fd, bytes, length, 0), length);
	for (size_t at = 8; at + 2 * LOST < length / 2; at += 37) {
		assert_int_equal(pwrite(tape.fd, bytes, at, 0), at);
		assert_int_equal(pwrite(tape.fd, bytes + at + LOST, length - at - LOST, (off_t)at),
			length - at - LOST);
		assert_int_equal(ftruncate(tape.fd, (off_t)(length - LOST)), 0);
		found = walk(tape.path);
		assert_int_equal(found.wrong_kernels, 0);
		assert_true(found.damages >= 1);
		assert_int_equal(found.cuts, 0);
	}
	free(bytes);
	tape_done(&tape);
}

static void beyond_its_limit_a_writer_counts_and_says_what_it_lost(void **state)
{
	struct tape tape;
	struct found found;
	uint64_t refused = 0;

	(void)state;
	tape_init(&tape);
	tape.writer.limit_bytes = 3 * SHARE_BYTES;
	for (uint32_t i = 0; i < 1000; i++) {
		struct kwhy_wire_kernel *kernel = kwhy_block_writer_add(&tape.writer, KWHY_WIRE_KERNEL);

		if (kernel)
			*kernel = kernel_of(i);
		refused += !kernel;
	}
	kwhy_block_writer_finish(&tape.writer, 5);
	found = walk(tape.path);
	assert_true(refused > 0);
	assert_int_equal(found.kernels + tape.writer.lost_records, 1000);
	assert_int_equal(found.damages, 0);
	assert_int_equal(found.ends, 1);
	tape_done(&tape);
}

/*
 * A program may close all descriptors that it did not open, and then get their numbers for files of its own.
 * The writer must not write to those files.
 */
static void a_descriptor_that_has_become_another_files_is_not_touched(void **state)
{
	const int theirs = memfd_create("theirs", 0);
	struct tape tape;

	(void)state;
	tape_init(&tape);
	assert_true(theirs >= 0);
	assert_non_null(kwhy_block_writer_add(&tape.writer, KWHY_WIRE_KERNEL));
	assert_int_equal(dup2(theirs, tape.fd), tape.fd);
	kwhy_block_writer_finish(&tape.writer, 5);
	assert_int_equal(tape.writer.failure, EBADF);
	assert_int_equal(tape.writer.records, 0);
	assert_true(tape.writer.lost_records >= 1);
	kwhy_block_writer_close(&tape.writer);
	assert_int_equal(lseek(tape.fd, 0, SEEK_END), 0);
	close(theirs);
	tape_done(&tape);
}

static void a_writer_closes_the_file_that_it_was_given(void **state)
{
	struct tape tape;

	(void)state;
	tape_init(&tape);
	kwhy_block_writer_close(&tape.writer);
	assert_int_equal(fcntl(tape.fd, F_GETFD), -1);
	free(tape.memory);
	free(tape.packed);
}

/*
 * Records kernels beyond a limit on the size of files (as `ulimit -f` sets), then restores the
 * former limit. A write beyond the limit raises SIGXFSZ, which by default ends the process.
 */
static void record_beyond_the_limit_of_the_process(struct tape *tape)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){2 * SHARE_BYTES, before.rlim_max};
	tape_init(tape);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	kwhy_block_writer_add_name(&tape->writer, 1, "gemm", 4);
	for (uint32_t i = 0; i < 1000; i++) {
		struct kwhy_wire_kernel *kernel = kwhy_block_writer_add(&tape->writer, KWHY_WIRE_KERNEL);

		if (kernel)
			*kernel = kernel_of(i);
	}
	kwhy_block_writer_finish(&tape->writer, 5);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static bool is_pending(int signal)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, signal);
}

static void a_limit_of_the_process_is_a_failure_and_no_signal(void **state)
{
	struct found found;
	sigset_t blocked;
	struct tape tape;

	(void)state;
	record_beyond_the_limit_of_the_process(&tape);
	assert_int_equal(tape.writer.failure, EFBIG);
	found = walk(tape.path);
	assert_true(found.kernels > 0 && found.wrong_kernels == 0);
	assert_int_equal(found.damages, found.cuts);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	assert_false(sigismember(&blocked, SIGXFSZ));
	tape_done(&tape);
}

static void a_signal_of_the_limit_that_was_the_programs_stays(void **state)
{
	const struct timespec at_once = {0};
	sigset_t limit, before;
	struct tape tape;

	(void)state;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	record_beyond_the_limit_of_the_process(&tape);
	assert_false(is_pending(SIGXFSZ));
	tape_done(&tape);
	raise(SIGXFSZ);
	record_beyond_the_limit_of_the_process(&tape);
	assert_int_equal(tape.writer.failure, EFBIG);
	assert_true(is_pending(SIGXFSZ));
	assert_int_equal(sigtimedwait(&limit, NULL, &at_once), SIGXFSZ);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	tape_done(&tape);
}

/* Writes a block of the given header and payload, with right checksums. */
static void write_block(int fd, struct kwhy_wire_header header, const void *payload)
{
	header.magic = KWHY_WIRE_MAGIC;
	header.version = KWHY_WIRE_VERSION;
	header.writer = WRITER;
	header.payload_crc32c = kwhy_crc32c(payload, header.stored_bytes);
	header.header_crc32c = kwhy_crc32c(&header, offsetof(struct kwhy_wire_header, header_crc32c));
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	assert_int_equal(write(fd, payload, header.stored_bytes), header.stored_bytes);
}

static struct kwhy_block first_block(struct kwhy_block_reader *reader, const char *path)
{
	struct kwhy_error error;
	struct kwhy_block block;

	assert_int_equal(kwhy_block_reader_open(reader, path, &error), KWHY_OK);
	assert_int_equal(kwhy_block_reader_next(reader, &block, &error), 0);
	return block;
}

static void shorter_records_of_an_older_program_end_in_zeros_and_longer_ones_are_cut(void **state)
{
	const struct kwhy_wire_header shorter = {.kind = KWHY_WIRE_CLOCK,
		.record_count = 2,
		.record_bytes = 16,
		.stored_bytes = 32,
		.raw_bytes = 32};
	const int64_t values[] = {1, 2, 3, 4};
	struct kwhy_block_reader reader;
	struct kwhy_wire_clock scratch;
	const struct kwhy_wire_clock *clock;
	struct kwhy_block block;
	struct tape tape;

	(void)state;
	tape_init(&tape);
	write_block(tape.fd, shorter, values);
	block = first_block(&reader, tape.path);
	clock = kwhy_block_record(&block, 1, &scratch, sizeof(scratch));
	assert_int_equal(clock->mono_ns, 3);
	assert_int_equal(clock->offset_ns, 4);
	assert_int_equal(clock->width_ns, 0);
	kwhy_block_reader_close(&reader);
	tape_done(&tape);
}

static void headers_that_contradict_themselves_are_damage(void **state)
{
	static const struct kwhy_wire_header headers[] = {
		{.kind = KWHY_WIRE_CLOCK,
			.record_count = 3,
			.record_bytes = 16,
			.stored_bytes = 32,
			.raw_bytes = 32},
		{.kind = KWHY_WIRE_CLOCK,
			.record_count = 2,
			.record_bytes = 0,
			.stored_bytes = 32,
			.raw_bytes = 32},
		{.kind = KWHY_WIRE_NAME,
			.record_count = 2,
			.record_bytes = 16,
			.stored_bytes = 32,
			.raw_bytes = 32},
		{.kind = KWHY_WIRE_CLOCK,
			.record_count = 2,
			.record_bytes = 16,
			.stored_bytes = 32,
			.raw_bytes = 40},
		{.kind = KWHY_WIRE_CLOCK,
			.record_count = 2,
			.record_bytes = 16,
			.stored_bytes = 32,
			.raw_bytes = 32,
			.codec = 9},
		{.kind = KWHY_WIRE_CLOCK,
			.record_count = 2,
			.record_bytes = 16,
			.stored_bytes = 32,
			.raw_bytes = 32,
			.codec = KWHY_WIRE_ZSTD},
	};
	const int64_t values[] = {1, 2, 3, 4};

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct kwhy_block_reader reader;
		struct tape tape;

		tape_init(&tape);
		write_block(tape.fd, headers[i], values);
		assert_non_null(first_block(&reader, tape.path).damage);
		kwhy_block_reader_close(&reader);
		tape_done(&tape);
	}
}

static void a_name_that_claims_more_than_its_block_ends_the_names(void **state)
{
	const struct kwhy_wire_header header = {
		.kind = KWHY_WIRE_NAME, .record_count = 1, .stored_bytes = 16, .raw_bytes = 16};
	const uint32_t lying[] = {1, UINT32_MAX, 0, 0};
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	struct tape tape;
	const char *bytes;
	size_t at = 0, length;
	uint32_t id;

	(void)state;
	tape_init(&tape);
	write_block(tape.fd, header, lying);
	block = first_block(&reader, tape.path);
	assert_null(block.damage);
	assert_false(kwhy_block_name(&block, &at, &id, &bytes, &length));
	kwhy_block_reader_close(&reader);
	tape_done(&tape);
}

/* If another program truncates a file while kwhy reads it, the old content is read. */
static void a_file_that_is_truncated_while_it_is_read_is_read_as_it_was(void **state)
{
	struct kwhy_block_reader reader;
	struct kwhy_error error;
	struct kwhy_block block;
	struct tape tape;
	uint64_t kernels = 0;

	(void)state;
	tape_init(&tape);
	record_kernels(&tape, 1000);
	assert_int_equal(kwhy_block_reader_open(&reader, tape.path, &error), KWHY_OK);
	assert_int_equal(ftruncate(tape.fd, 100), 0);
	while (kwhy_block_reader_next(&reader, &block, &error) == 0) {
		assert_null(block.damage);
		kernels += block.kind == KWHY_WIRE_KERNEL ? block.record_count : 0;
	}
	assert_int_equal(kernels, 1000);
	kwhy_block_reader_close(&reader);
	tape_done(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_file_that_is_truncated_while_it_is_read_is_read_as_it_was),
		cmocka_unit_test(packed_blocks_hold_the_same_and_are_smaller),
		cmocka_unit_test(a_file_cut_anywhere_is_read_up_to_its_last_whole_block),
		cmocka_unit_test(a_wrong_byte_costs_one_block),
		cmocka_unit_test(files_may_follow_each_other_even_after_a_cut),
		cmocka_unit_test(a_cut_before_another_file_is_no_damage),
		cmocka_unit_test(bytes_lost_in_the_middle_are_damage),
		cmocka_unit_test(beyond_its_limit_a_writer_counts_and_says_what_it_lost),
		cmocka_unit_test(a_descriptor_that_has_become_another_files_is_not_touched),
		cmocka_unit_test(a_writer_closes_the_file_that_it_was_given),
		cmocka_unit_test(a_limit_of_the_process_is_a_failure_and_no_signal),
		cmocka_unit_test(a_signal_of_the_limit_that_was_the_programs_stays),
		cmocka_unit_test(shorter_records_of_an_older_program_end_in_zeros_and_longer_ones_are_cut),
		cmocka_unit_test(headers_that_contradict_themselves_are_damage),
		cmocka_unit_test(a_name_that_claims_more_than_its_block_ends_the_names),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
