/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "kwhy/transfer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char message[KWHY_TRANSFER_MESSAGE_BYTES];
static struct kwhy_transfer *transfer;

static int open_engine(void **state)
{
	struct kwhy_transfer_options options = {.size = sizeof(options), .backend = KWHY_TRANSFER_HOST};

	(void)state;
	return kwhy_transfer_open(&options, &transfer, message, sizeof(message));
}

static int close_engine(void **state)
{
	(void)state;
	kwhy_transfer_close(transfer);
	return 0;
}

static void succeeds(int code)
{
	kwhy_transfer_message(transfer, message, sizeof(message));
	if (code)
		fail_msg("%d: %s", code, message);
}

enum { BYTES = 100000, CHUNK = 7000 };

static char value_at(uint64_t offset)
{
	return (char)(offset * 13 + offset / 509);
}

/*
 * State of read_data(). next: expected offset of the next read; failing: a read at this offset or later
 * fails; 0: no read fails.
 */
struct data {
	uint64_t next, failing;
};

static int read_data(void *context, void *to, uint64_t offset, size_t bytes)
{
	struct data *data = context;

	if (offset != data->next)
		return 1;
	data->next = offset + bytes;
	for (size_t i = 0; i < bytes; i++)
		((char *)to)[i] = value_at(offset + i);
	return data->failing > 0 && offset >= data->failing;
}

static struct kwhy_transfer_loader_options options_of(struct data *data)
{
	return (struct kwhy_transfer_loader_options){.size = sizeof(struct kwhy_transfer_loader_options),
		.bytes = BYTES,
		.chunk_bytes = CHUNK,
		.read = read_data,
		.context = data};
}

/*
 * State of add_up(), the callback for chunks that have arrived on the device. next: expected offset
 * of the next chunk; bytes: bytes so far; wrong: number of chunks at another offset plus number of
 * wrong bytes; failing: what the callback returns.
 */
struct sum {
	uint64_t next, bytes;
	int wrong, failing;
};

static int add_up(void *context, const struct kwhy_transfer_chunk *chunk)
{
	struct sum *sum = context;
	const char *bytes = (const char *)(uintptr_t)chunk->device;

	if (chunk->offset != sum->next)
		sum->wrong++;
	for (uint64_t i = 0; i < chunk->bytes; i++)
		sum->wrong += bytes[i] != value_at(chunk->offset + i);
	sum->next = chunk->offset + chunk->bytes;
	sum->bytes += chunk->bytes;
	return sum->failing;
}

static void all_chunks_come_in_order_whatever_reads_them(void **state)
{
	struct data data = {0};
	struct kwhy_transfer_loader_options options = options_of(&data);
	struct sum sums[4] = {{0}, {0}, {0}, {0}};
	char *memory = malloc(BYTES);
	uint64_t pinned;

	(void)state;
	assert_non_null(memory);
	for (uint64_t i = 0; i < BYTES; i++)
		memory[i] = value_at(i);
	succeeds(kwhy_transfer_stream_through(transfer, &options, add_up, &sums[0]));
	options.read = NULL;
	options.from = memory;
	options.slots = 1;
	succeeds(kwhy_transfer_stream_through(transfer, &options, add_up, &sums[1]));
	options.slots = 3;
	options.threads = 5;
	succeeds(kwhy_transfer_stream_through(transfer, &options, add_up, &sums[3]));
	options.threads = 0;
	succeeds(kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_PINNED, BYTES, &pinned));
	memcpy((void *)(uintptr_t)pinned, memory, BYTES);
	options.from = (void *)(uintptr_t)pinned;
	options.pinned = 1;
	options.slots = 3;
	succeeds(kwhy_transfer_stream_through(transfer, &options, add_up, &sums[2]));
	for (int i = 0; i < 4; i++) {
		assert_int_equal(sums[i].wrong, 0);
		assert_int_equal(sums[i].bytes, BYTES);
	}
	kwhy_transfer_memory_free(transfer, pinned);
	free(memory);
}

static int read_numbers(void *context, void *to, uint64_t offset, size_t bytes)
{
	(void)context;
	for (size_t i = 0; i < bytes / sizeof(float); i++)
		((float *)to)[i] = (float)(offset / sizeof(float) + i);
	return 0;
}

static int check_halves(void *context, const struct kwhy_transfer_chunk *chunk)
{
	uint64_t *count = context;
	const uint16_t *halves = (const uint16_t *)(uintptr_t)chunk->device;

	for (uint64_t i = 0; i < chunk->bytes / 2; i++) {
		float number = (float)(chunk->offset / sizeof(float) + i);
		uint16_t expected;

		if (kwhy_transfer_convert(&expected, &number, 1, KWHY_TRANSFER_BF16, 0) ||
			halves[i] != expected)
			return 1;
		++*count;
	}
	return 0;
}

static void numbers_are_converted_before_they_are_sent(void **state)
{
	struct kwhy_transfer_loader_options options = {.size = sizeof(options),
		.bytes = 40000,
		.chunk_bytes = 1000,
		.read = read_numbers,
		.format = KWHY_TRANSFER_BF16};
	uint64_t count = 0;
	float *numbers = malloc(40000);

	(void)state;
	assert_non_null(numbers);
	succeeds(kwhy_transfer_stream_through(transfer, &options, check_halves, &count));
	assert_int_equal(count, 10000);
	assert_int_equal(read_numbers(NULL, numbers, 0, 40000), 0);
	options.read = NULL;
	options.from = numbers;
	count = 0;
	succeeds(kwhy_transfer_stream_through(transfer, &options, check_halves, &count));
	assert_int_equal(count, 10000);
	free(numbers);
}

struct expected {
	const float *numbers;
	int format;
	uint64_t bytes, wrong;
};

static int check_converted(void *context, const struct kwhy_transfer_chunk *chunk)
{
	struct expected *expected = context;
	uint64_t count = chunk->bytes / kwhy_transfer_format_bytes(expected->format);
	void *converted = malloc(chunk->bytes);

	if (!converted ||
		kwhy_transfer_convert(converted, expected->numbers + chunk->offset / sizeof(float), count,
			expected->format, 0.75F))
		return 1;
	expected->wrong += memcmp(converted, (const void *)(uintptr_t)chunk->device, chunk->bytes) != 0;
	expected->bytes += chunk->bytes;
	free(converted);
	return 0;
}

static void numbers_are_converted_on_the_device_page_locked_ones_too(void **state)
{
	uint64_t pinned;
	float *numbers;

	(void)state;
	succeeds(kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_PINNED, 40000, &pinned));
	numbers = (float *)(uintptr_t)pinned;
	for (int i = 0; i < 10000; i++)
		numbers[i] = (float)i * 0.013F - 60;
	for (int format = KWHY_TRANSFER_F16; format <= KWHY_TRANSFER_I8; format++)
		for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
			struct kwhy_transfer_loader_options options = {.size = sizeof(options),
				.bytes = 40000,
				.chunk_bytes = 3000,
				.from = numbers,
				.pinned = is_pinned,
				.format = format,
				.scale = 0.75F,
				.on_device = 1};
			struct expected expected = {.numbers = numbers, .format = format};

			succeeds(
				kwhy_transfer_stream_through(transfer, &options, check_converted, &expected));
			assert_int_equal(expected.wrong, 0);
			assert_int_equal(expected.bytes, 10000 * kwhy_transfer_format_bytes(format));
		}
	kwhy_transfer_memory_free(transfer, pinned);
}

static void a_loader_hands_out_chunks_to_a_program_that_waits_for_them(void **state)
{
	struct data data = {0};
	struct kwhy_transfer_loader_options options = options_of(&data);
	struct kwhy_transfer_loader *loader;
	struct kwhy_transfer_chunk chunks[3] = {
		{.size = sizeof(chunks[0])}, {.size = sizeof(chunks[0])}, {.size = sizeof(chunks[0])}};
	struct sum sum = {0};
	int code;

	(void)state;
	options.slots = 2;
	succeeds(kwhy_transfer_loader_open(transfer, &options, &loader));
	succeeds(kwhy_transfer_loader_next(loader, &chunks[0]));
	succeeds(kwhy_transfer_loader_next(loader, &chunks[1]));
	assert_int_equal(kwhy_transfer_loader_next(loader, &chunks[2]), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_loader_done(loader, &chunks[1]), KWHY_TRANSFER_E_INPUT);
	for (int i = 0; i < 2; i++) {
		succeeds(kwhy_transfer_loader_arrived(loader, &chunks[i]));
		assert_int_equal(add_up(&sum, &chunks[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		succeeds(kwhy_transfer_loader_done(loader, &chunks[i]));
	assert_int_equal(kwhy_transfer_loader_arrived(loader, &chunks[0]), KWHY_TRANSFER_E_INPUT);
	while ((code = kwhy_transfer_loader_next(loader, &chunks[0])) == KWHY_TRANSFER_OK) {
		succeeds(kwhy_transfer_loader_arrived(loader, &chunks[0]));
		assert_int_equal(add_up(&sum, &chunks[0]), 0);
		succeeds(kwhy_transfer_loader_done(loader, &chunks[0]));
	}
	assert_int_equal(code, KWHY_TRANSFER_END);
	assert_int_equal(sum.wrong, 0);
	assert_int_equal(sum.bytes, BYTES);
	kwhy_transfer_loader_close(loader);
	kwhy_transfer_loader_close(NULL);
}

static void a_reader_or_work_that_fails_ends_the_stream(void **state)
{
	struct data data = {.failing = 5 * CHUNK};
	struct kwhy_transfer_loader_options options = options_of(&data);
	struct sum sum = {0};

	(void)state;
	assert_int_equal(kwhy_transfer_stream_through(transfer, &options, add_up, &sum), KWHY_TRANSFER_E_IO);
	kwhy_transfer_message(transfer, message, sizeof(message));
	assert_non_null(strstr(message, "reader"));
	assert_int_equal(sum.wrong, 0);
	assert_true(sum.bytes <= 5 * CHUNK);
	sum = (struct sum){.failing = 1};
	data = (struct data){0};
	assert_int_equal(kwhy_transfer_stream_through(transfer, &options, add_up, &sum), KWHY_TRANSFER_E_IO);
	kwhy_transfer_message(transfer, message, sizeof(message));
	assert_non_null(strstr(message, "work on a chunk"));
}

static void cancelling_ends_a_loader_and_closing_one_early_is_allowed(void **state)
{
	struct data data = {0};
	struct kwhy_transfer_loader_options options = options_of(&data);
	struct kwhy_transfer_chunk chunk = {.size = sizeof(chunk)};
	struct kwhy_transfer_loader *loader;

	(void)state;
	succeeds(kwhy_transfer_loader_open(transfer, &options, &loader));
	succeeds(kwhy_transfer_loader_next(loader, &chunk));
	kwhy_transfer_cancel(transfer);
	assert_int_equal(kwhy_transfer_loader_next(loader, &chunk), KWHY_TRANSFER_CANCELLED);
	kwhy_transfer_loader_close(loader);
	data = (struct data){0};
	succeeds(kwhy_transfer_loader_open(transfer, &options, &loader));
	succeeds(kwhy_transfer_loader_next(loader, &chunk));
	kwhy_transfer_loader_close(loader);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	struct data data = {0};
	struct kwhy_transfer_loader_options good = options_of(&data), bad[8];
	struct kwhy_transfer_loader *loader = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = good;
	bad[0].bytes = 0;
	bad[1].read = NULL;
	bad[2].from = &data;
	bad[3].slots = 1U << 20;
	bad[4].format = 9;
	bad[5].pinned = 1;
	bad[6].format = KWHY_TRANSFER_F16;
	bad[6].bytes = 4002;
	bad[7].threads = 2;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
			kwhy_transfer_loader_open(transfer, &bad[i], &loader), KWHY_TRANSFER_E_INPUT);
	good.size = 0;
	assert_int_equal(kwhy_transfer_loader_open(transfer, &good, &loader), KWHY_TRANSFER_E_INPUT);
	kwhy_transfer_message(transfer, message, sizeof(message));
	assert_non_null(strstr(message, "set it to sizeof(struct kwhy_transfer_loader_options)"));
	assert_null(loader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_chunks_come_in_order_whatever_reads_them),
		cmocka_unit_test(numbers_are_converted_before_they_are_sent),
		cmocka_unit_test(numbers_are_converted_on_the_device_page_locked_ones_too),
		cmocka_unit_test(a_loader_hands_out_chunks_to_a_program_that_waits_for_them),
		cmocka_unit_test(a_reader_or_work_that_fails_ends_the_stream),
		cmocka_unit_test(cancelling_ends_a_loader_and_closing_one_early_is_allowed),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
	};

	return kwhy_test_main(tests, open_engine, close_engine);
}
