/* SPDX-License-Identifier: Apache-2.0 */
#include "host_engine.h"
#include "transfer/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Tests the transfer engine on the host back end, whose streams are CPU threads. */

static char message[KWHY_TRANSFER_MESSAGE_BYTES];

static struct kwhy_transfer *open_with(struct kwhy_transfer_options options)
{
	struct kwhy_transfer *transfer = NULL;

	options.size = sizeof(options);
	options.backend = KWHY_TRANSFER_HOST;
	if (kwhy_transfer_open(&options, &transfer, message, sizeof(message)))
		fail_msg("%s", message);
	return transfer;
}

static struct kwhy_transfer *open_default(void)
{
	return open_with((struct kwhy_transfer_options){0});
}

static char *words_of(struct kwhy_transfer *transfer)
{
	kwhy_transfer_message(transfer, message, sizeof(message));
	return message;
}

static struct kwhy_transfer_counts counts_of(struct kwhy_transfer *transfer)
{
	struct kwhy_transfer_counts counts = {.size = sizeof(counts)};

	assert_int_equal(kwhy_transfer_counts(transfer, &counts), KWHY_TRANSFER_OK);
	return counts;
}

static void many_small_pieces_arrive_by_one_call_of_the_driver(void **state)
{
	struct kwhy_transfer *transfer = open_default();
	char *device = device_memory(transfer, 4096), piece[38];

	(void)state;
	for (int i = 0; i < 22; i++) {
		memset(piece, i + 1, sizeof(piece));
		succeeds(transfer,
			kwhy_transfer_put(transfer, address(device + i * 100), piece, (size_t)(37 + i % 2)));
	}
	assert_int_equal(device[0], 0);
	flush_and_wait(transfer);
	for (int i = 0; i < 22; i++) {
		assert_int_equal(device[i * 100], i + 1);
		assert_int_equal(device[i * 100 + 36 + i % 2], i + 1);
		assert_int_equal(device[i * 100 + 37 + i % 2], 0);
	}
	assert_int_equal(counts_of(transfer).pieces, 22);
	assert_int_equal(counts_of(transfer).inlined, 1);
	assert_int_equal(counts_of(transfer).driver_calls, 1);
	kwhy_transfer_close(transfer);
}

static void gets_are_in_place_once_waited_for_and_not_before(void **state)
{
	struct kwhy_transfer *transfer = open_default();
	char *device = device_memory(transfer, 4096),
	     *pinned = memory_new(transfer, KWHY_TRANSFER_PINNED, 100), here[100] = {0};
	uint64_t first, second;

	(void)state;
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), "first", 5));
	succeeds(transfer, kwhy_transfer_get(transfer, here, address(device), 5));
	succeeds(transfer, kwhy_transfer_get(transfer, here + 10, address(device + 1), 3));
	succeeds(transfer, kwhy_transfer_get_pinned(transfer, pinned, address(device), 5));
	succeeds(transfer, kwhy_transfer_flush(transfer, &first));
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), "later", 5));
	succeeds(transfer, kwhy_transfer_get(transfer, here + 20, address(device), 5));
	succeeds(transfer, kwhy_transfer_flush(transfer, &second));
	assert_true(second > first);
	assert_int_equal(here[0], 0);
	succeeds(transfer, kwhy_transfer_wait(transfer, first));
	assert_memory_equal(here, "first", 5);
	assert_memory_equal(here + 10, "irs", 3);
	assert_memory_equal(pinned, "first", 5);
	succeeds(transfer, kwhy_transfer_wait(transfer, second));
	succeeds(transfer, kwhy_transfer_wait(transfer, second));
	assert_memory_equal(here + 20, "later", 5);
	assert_int_equal(kwhy_transfer_wait(transfer, second + 1), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_wait(transfer, 0), KWHY_TRANSFER_E_INPUT);
	kwhy_transfer_close(transfer);
}

static void a_piece_beyond_the_ring_goes_through_it(void **state)
{
	struct kwhy_transfer *transfer = open_with(
		(struct kwhy_transfer_options){.slot_bytes = 8192, .slots = 2});
	size_t bytes = 100001;
	char *device = device_memory(transfer, bytes), *from = malloc(bytes), *back = malloc(bytes);

	(void)state;
	assert_true(from && back);
	for (size_t i = 0; i < bytes; i++)
		from[i] = (char)(i * 7 + i / 251);
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), from, bytes));
	succeeds(transfer, kwhy_transfer_get(transfer, back, address(device), bytes));
	flush_and_wait(transfer);
	assert_memory_equal(device, from, bytes);
	assert_memory_equal(back, from, bytes);
	assert_int_equal(counts_of(transfer).pieces, 2);
	assert_true(counts_of(transfer).plain >= 26);
	free(from);
	free(back);
	kwhy_transfer_close(transfer);
}

static void every_way_moves_the_same_and_says_so(void **state)
{
	(void)state;
	for (int way = KWHY_TRANSFER_PACKED; way <= KWHY_TRANSFER_INLINE; way++) {
		struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.way = way});
		char *device = device_memory(transfer, 4096), here[2][50] = {{0}};
		struct kwhy_transfer_counts counts;

		succeeds(transfer, kwhy_transfer_put(transfer, address(device + 3), "one", 3));
		succeeds(transfer, kwhy_transfer_put(transfer, address(device + 77), "another", 7));
		succeeds(transfer, kwhy_transfer_get(transfer, here[0], address(device + 3), 3));
		succeeds(transfer, kwhy_transfer_get(transfer, here[1], address(device + 77), 7));
		flush_and_wait(transfer);
		assert_memory_equal(device + 3, "one", 4);
		assert_memory_equal(device + 77, "another", 8);
		assert_string_equal(here[0], "one");
		assert_string_equal(here[1], "another");
		counts = counts_of(transfer);
		assert_int_equal(counts.packed, way == KWHY_TRANSFER_PACKED ? 2 : 0);
		assert_int_equal(counts.mapped, way == KWHY_TRANSFER_MAPPED ? 2 : 0);
		assert_int_equal(counts.batched, way == KWHY_TRANSFER_BATCH ? 2 : 0);
		assert_int_equal(counts.inlined, way == KWHY_TRANSFER_INLINE ? 2 : 0);
		kwhy_transfer_close(transfer);
	}
}

static void of_puts_that_overlap_the_later_wins_by_every_way(void **state)
{
	(void)state;
	for (int way = KWHY_TRANSFER_CHOOSE; way <= KWHY_TRANSFER_INLINE; way++) {
		struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.way = way});
		char *device = device_memory(transfer, 100);

		succeeds(transfer, kwhy_transfer_put(transfer, address(device), "aaaaaa", 6));
		succeeds(transfer, kwhy_transfer_put(transfer, address(device + 2), "bb", 2));
		succeeds(transfer, kwhy_transfer_put(transfer, address(device + 3), "ccc", 3));
		flush_and_wait(transfer);
		assert_memory_equal(device, "aabccc", 6);
		assert_int_equal(counts_of(transfer).overlapping, 1);
		kwhy_transfer_close(transfer);
	}
}

static void numbers_are_converted_on_their_way(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.slot_bytes = 8192});
	enum { COUNT = 10000 };
	float *numbers = malloc(COUNT * sizeof(*numbers));
	uint16_t *halves = malloc(COUNT * sizeof(*halves));
	char *device = device_memory(transfer, 2 * COUNT);

	(void)state;
	assert_true(numbers && halves);
	for (int i = 0; i < COUNT; i++)
		numbers[i] = (float)i * 0.37F - 900;
	assert_int_equal(
		kwhy_transfer_convert(halves, numbers, COUNT, KWHY_TRANSFER_F16, 0), KWHY_TRANSFER_OK);
	succeeds(transfer,
		kwhy_transfer_put_numbers(transfer, address(device), numbers, COUNT, KWHY_TRANSFER_F16, 0));
	flush_and_wait(transfer);
	assert_memory_equal(device, halves, 2 * COUNT);
	assert_int_equal(
		kwhy_transfer_put_numbers(transfer, address(device), numbers, 1, KWHY_TRANSFER_I8, 0),
		KWHY_TRANSFER_E_INPUT);
	assert_int_equal(
		kwhy_transfer_put_numbers(transfer, address(device + 1), numbers, 1, KWHY_TRANSFER_F16, 0),
		KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_put_numbers(transfer, address(device), numbers, 1, 17, 0),
		KWHY_TRANSFER_E_INPUT);
	assert_non_null(strstr(words_of(transfer), "format 17"));
	free(numbers);
	free(halves);
	kwhy_transfer_close(transfer);
}

static void hold(struct kwhy_transfer *transfer, struct kwhy_gpu_gate **gate)
{
	struct kwhy_error error;

	assert_int_equal(transfer->ops->gate_new(transfer->gpu, gate, &error), KWHY_OK);
	assert_int_equal(transfer->ops->gate_hold(transfer->gpu, *gate, transfer->stream, &error), KWHY_OK);
}

static void let_go(struct kwhy_transfer *transfer, struct kwhy_gpu_gate *gate)
{
	struct kwhy_error error;

	assert_int_equal(transfer->ops->gate_open(transfer->gpu, gate, &error), KWHY_OK);
}

/*
 * Each of 700 flushes can be waited for, in any order and whatever methods their slots used. After a wait the
 * data of its flush must have arrived.
 */
static void any_flush_can_be_waited_for_in_any_order(void **state)
{
	enum { FLUSHES = 700 };
	struct kwhy_transfer *transfer = open_default();
	char *device = device_memory(transfer, 20000), data[10000], here[FLUSHES][2] = {{0}};
	uint64_t tickets[FLUSHES];

	(void)state;
	for (int i = 0; i < FLUSHES; i++) {
		memset(data, i % 251 + 1, sizeof(data));
		succeeds(transfer, kwhy_transfer_put(transfer, address(device), data, i % 3 ? 1 : 9000));
		succeeds(transfer, kwhy_transfer_put(transfer, address(device + 10000), data, 2));
		if (i % 2) {
			succeeds(transfer, kwhy_transfer_get(transfer, &here[i][0], address(device), 1));
			succeeds(transfer,
				kwhy_transfer_get(transfer, &here[i][1], address(device + 10001), 1));
		}
		succeeds(transfer, kwhy_transfer_flush(transfer, &tickets[i]));
	}
	for (int i = 0; i < FLUSHES; i++) {
		int k = i * 431 % FLUSHES;

		succeeds(transfer, kwhy_transfer_wait(transfer, tickets[k]));
		assert_int_equal((unsigned char)here[k][0], k % 2 ? k % 251 + 1 : 0);
		assert_int_equal((unsigned char)here[k][1], k % 2 ? k % 251 + 1 : 0);
	}
	assert_true(counts_of(transfer).inlined > 0 && counts_of(transfer).mapped > 0);
	kwhy_transfer_close(transfer);
}

static void a_full_ring_refuses_whole_pieces_where_it_may_not_wait(void **state)
{
	struct kwhy_transfer *transfer = open_with(
		(struct kwhy_transfer_options){.slot_bytes = 8192, .slots = 2, .refuse_full = 1});
	char *device = device_memory(transfer, 100000), *from = calloc(1, 100000);
	struct kwhy_gpu_gate *gate;
	uint64_t ticket;

	(void)state;
	assert_non_null(from);
	memset(from, 'x', 100000);
	hold(transfer, &gate);
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), from, 8000));
	assert_int_equal(kwhy_transfer_put(transfer, address(device + 8000), from, 9000), KWHY_TRANSFER_FULL);
	succeeds(transfer, kwhy_transfer_put(transfer, address(device + 8000), from, 8000));
	assert_int_equal(kwhy_transfer_put(transfer, address(device + 16000), from, 500), KWHY_TRANSFER_FULL);
	assert_non_null(strstr(words_of(transfer), "500 bytes"));
	assert_int_equal(kwhy_transfer_put(transfer, address(device), from, 100000), KWHY_TRANSFER_E_INPUT);
	succeeds(transfer, kwhy_transfer_flush(transfer, &ticket));
	assert_int_equal(kwhy_transfer_put_pinned(transfer, address(device), from, 1), KWHY_TRANSFER_FULL);
	let_go(transfer, gate);
	succeeds(transfer, kwhy_transfer_wait(transfer, ticket));
	succeeds(transfer, kwhy_transfer_put(transfer, address(device + 16000), from, 9000));
	flush_and_wait(transfer);
	assert_int_equal(device[15999], 'x');
	assert_int_equal(device[24999], 'x');
	assert_int_equal(device[25000], 0);
	free(from);
	kwhy_transfer_close(transfer);
}

static void the_list_of_a_slot_is_bounded_too(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.pieces = 3, .slots = 2});
	char *device = device_memory(transfer, 1000),
	     *pinned = memory_new(transfer, KWHY_TRANSFER_PINNED, 100);

	(void)state;
	memset(pinned, 'p', 100);
	for (int i = 0; i < 20; i++)
		succeeds(transfer,
			i % 2 ? kwhy_transfer_put_pinned(transfer, address(device + 10 * i), pinned + i, 2)
			      : kwhy_transfer_put(transfer, address(device + 10 * i), "q", 1));
	flush_and_wait(transfer);
	for (int i = 0; i < 20; i++)
		assert_memory_equal(device + 10 * i, i % 2 ? "pp\0" : "q\0\0", 3);
	assert_int_equal(counts_of(transfer).inlined, 7);
	kwhy_transfer_close(transfer);
}

static void what_was_not_flushed_is_dropped_by_cancelling_and_the_engine_goes_on(void **state)
{
	struct kwhy_transfer *transfer = open_default();
	char *device = device_memory(transfer, 100), here[4] = "no";
	uint64_t ticket;

	(void)state;
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), "x", 1));
	succeeds(transfer, kwhy_transfer_get(transfer, here, address(device), 1));
	kwhy_transfer_cancel(transfer);
	flush_and_wait(transfer);
	assert_int_equal(device[0], 0);
	assert_string_equal(here, "no");
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), "y", 1));
	succeeds(transfer, kwhy_transfer_flush(transfer, &ticket));
	succeeds(transfer, kwhy_transfer_wait(transfer, ticket));
	assert_int_equal(device[0], 'y');
	kwhy_transfer_close(transfer);
}

struct waiter {
	struct kwhy_transfer *transfer;
	uint64_t ticket;
};

static void *wait_in_thread(void *context)
{
	struct waiter *waiter = context;

	return kwhy_transfer_wait(waiter->transfer, waiter->ticket) ? waiter : NULL;
}

static void *cancel_in_thread(void *context)
{
	kwhy_transfer_cancel(context);
	return NULL;
}

static void a_wait_ends_by_cancelling_as_soon_as_the_device_lets_it(void **state)
{
	struct kwhy_transfer *transfer = open_default();
	char *device = device_memory(transfer, 100);
	struct waiter waiter = {.transfer = transfer};
	struct kwhy_gpu_gate *gate;
	pthread_t threads[2];
	void *result;

	(void)state;
	hold(transfer, &gate);
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), "x", 1));
	succeeds(transfer, kwhy_transfer_flush(transfer, &waiter.ticket));
	assert_int_equal(pthread_create(&threads[0], NULL, wait_in_thread, &waiter), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, cancel_in_thread, transfer), 0);
	while (atomic_load(&transfer->cancels) == 0)
		sched_yield();
	let_go(transfer, gate);
	assert_int_equal(pthread_join(threads[0], &result), 0);
	assert_int_equal(pthread_join(threads[1], NULL), 0);
	assert_int_equal(device[0], 'x'); /* the put was flushed, so cancelling does not drop it */
	kwhy_transfer_close(transfer);
}

static void closing_delivers_what_was_flushed_and_drops_the_rest(void **state)
{
	struct kwhy_transfer *transfer = open_default();
	char *device = device_memory(transfer, 100), here[2] = {0, 0};

	(void)state;
	succeeds(transfer, kwhy_transfer_put(transfer, address(device), "x", 1));
	succeeds(transfer, kwhy_transfer_get(transfer, &here[0], address(device), 1));
	succeeds(transfer, kwhy_transfer_flush(transfer, NULL));
	succeeds(transfer, kwhy_transfer_get(transfer, &here[1], address(device), 1));
	kwhy_transfer_close(transfer);
	assert_int_equal(here[0], 'x');
	assert_int_equal(here[1], 0);
	kwhy_transfer_close(NULL);
}

struct putter {
	struct kwhy_transfer *transfer;
	char *device;
	char sign;
};

/* Thread: puts and gets data in 50 rounds. Returns NULL if all went well. */
static void *put_in_thread(void *context)
{
	struct putter *putter = context;

	for (int round = 0; round < 50; round++) {
		uint64_t ticket;
		char back[20] = {0};

		for (int i = 0; i < 20; i++)
			if (kwhy_transfer_put(
				    putter->transfer, address(putter->device + 3 * i), &putter->sign, 1))
				return putter;
		if (kwhy_transfer_flush(putter->transfer, NULL) ||
			kwhy_transfer_get(putter->transfer, back, address(putter->device), 1) ||
			kwhy_transfer_flush(putter->transfer, &ticket) ||
			kwhy_transfer_wait(putter->transfer, ticket))
			return putter;
		if (back[0] != putter->sign)
			return putter;
	}
	return NULL;
}

static void threads_share_an_engine(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.slots = 2, .pieces = 33});
	struct putter putters[3];
	pthread_t threads[3];
	void *failure;

	(void)state;
	for (int i = 0; i < 3; i++) {
		putters[i] = (struct putter){transfer, device_memory(transfer, 100), (char)('a' + i)};
		assert_int_equal(pthread_create(&threads[i], NULL, put_in_thread, &putters[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &failure), 0);
		assert_null(failure);
		for (int k = 0; k < 20; k++)
			assert_int_equal(putters[i].device[3 * k], 'a' + i);
	}
	kwhy_transfer_close(transfer);
}

static void wrong_options_are_refused_with_the_cure(void **state)
{
	static const struct kwhy_transfer_options wrong[] = {{.backend = 3}, {.backend = -1},
		{.backend = KWHY_TRANSFER_HOST, .way = 5}, {.backend = KWHY_TRANSFER_HOST, .slots = 1},
		{.backend = KWHY_TRANSFER_HOST, .slot_bytes = 100},
		{.backend = KWHY_TRANSFER_HOST, .pieces = 1U << 30},
		{.backend = KWHY_TRANSFER_HOST, .numa = -1}, {.backend = KWHY_TRANSFER_HOST, .numa = 2000}};
	struct kwhy_transfer_options nowhere = {
		.size = sizeof(nowhere), .backend = KWHY_TRANSFER_HOST, .device = "99"};
	struct kwhy_transfer *transfer = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct kwhy_transfer_options options = wrong[i];

		options.size = sizeof(options);
		assert_int_equal(kwhy_transfer_open(&options, &transfer, message, sizeof(message)),
			KWHY_TRANSFER_E_INPUT);
		assert_non_null(strstr(message, "give "));
	}
	assert_int_equal(kwhy_transfer_open(&nowhere, &transfer, NULL, 0), KWHY_TRANSFER_E_UNSUPPORTED);
	assert_null(transfer);
}

/*
 * Members beyond the stated size are not read. With these sizes `backend` would not be read, and the default
 * back end, CUDA, would be used by mistake; so they must be refused.
 */
static void options_without_their_size_are_refused(void **state)
{
	static const size_t sizes[] = {0, sizeof(size_t) - 1, sizeof(struct kwhy_transfer_options *)};
	struct kwhy_transfer *transfer = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct kwhy_transfer_options options = {
			.size = sizes[i], .backend = KWHY_TRANSFER_HOST};

		assert_int_equal(kwhy_transfer_open(&options, &transfer, message, sizeof(message)),
			KWHY_TRANSFER_E_INPUT);
		assert_non_null(strstr(message, "set it to sizeof(struct kwhy_transfer_options)"));
	}
	assert_null(transfer);
}

static void memory_and_counts_refuse_what_is_not(void **state)
{
	struct kwhy_transfer *transfer = open_default();
	struct kwhy_transfer_counts counts = {.size = 2 * sizeof(size_t)}, none = {0};
	uint64_t memory;

	(void)state;
	assert_int_equal(kwhy_transfer_memory_new(transfer, 7, 10, &memory), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_PINNED, SIZE_MAX / 4, &memory),
		KWHY_TRANSFER_E_MEMORY);
	assert_int_equal(kwhy_transfer_put_pinned(transfer, 0, NULL, SIZE_MAX), KWHY_TRANSFER_E_INPUT);
	succeeds(transfer, kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_PINNED, 10, &memory));
	kwhy_transfer_memory_free(transfer, memory);
	kwhy_transfer_memory_free(transfer, memory);
	succeeds(transfer, kwhy_transfer_put(transfer, 1, NULL, 0));
	assert_int_equal(kwhy_transfer_counts(transfer, &none), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_counts(transfer, &counts), KWHY_TRANSFER_OK);
	assert_int_equal(counts.pieces, 1);
	assert_int_equal(counts.size, 2 * sizeof(size_t));
	assert_null(kwhy_transfer_stream(transfer));
	kwhy_transfer_close(transfer);
}

static void many_parts_are_taken_at_once_or_as_far_as_there_is_room(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){
		.way = KWHY_TRANSFER_MAPPED, .pieces = 10, .slots = 2, .refuse_full = 1});
	char *device = device_memory(transfer, 3000),
	     *pinned = memory_new(transfer, KWHY_TRANSFER_PINNED, 3000), here[30];
	struct kwhy_transfer_part parts[30];
	struct kwhy_gpu_gate *gate;
	size_t taken = 99;
	uint64_t ticket;

	(void)state;
	for (int i = 0; i < 30; i++) {
		pinned[i * 100] = (char)(i + 1);
		parts[i] = (struct kwhy_transfer_part){address(device + i * 100), pinned + i * 100, 1};
	}
	hold(transfer, &gate);
	assert_int_equal(kwhy_transfer_put_many(transfer, parts, 30, 1, &taken), KWHY_TRANSFER_FULL);
	assert_int_equal(taken, 20);
	let_go(transfer, gate);
	succeeds(transfer, kwhy_transfer_flush(transfer, &ticket));
	succeeds(transfer, kwhy_transfer_wait(transfer, ticket));
	succeeds(transfer, kwhy_transfer_put_many(transfer, parts + 20, 10, 0, &taken));
	assert_int_equal(taken, 10);
	flush_and_wait(transfer);
	for (int i = 0; i < 30; i++)
		parts[i].host = here + i;
	for (int i = 0; i < 3; i++) {
		succeeds(transfer, kwhy_transfer_get_many(transfer, parts + 10 * i, 10, 0, NULL));
		flush_and_wait(transfer);
	}
	for (int i = 0; i < 30; i++)
		assert_int_equal(here[i], i + 1);
	parts[1].bytes = UINT64_C(1) << 32;
	assert_int_equal(kwhy_transfer_get_many(transfer, parts, 2, 1, &taken), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(taken, 1);
	kwhy_transfer_close(transfer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_small_pieces_arrive_by_one_call_of_the_driver),
		cmocka_unit_test(gets_are_in_place_once_waited_for_and_not_before),
		cmocka_unit_test(a_piece_beyond_the_ring_goes_through_it),
		cmocka_unit_test(every_way_moves_the_same_and_says_so),
		cmocka_unit_test(of_puts_that_overlap_the_later_wins_by_every_way),
		cmocka_unit_test(numbers_are_converted_on_their_way),
		cmocka_unit_test(any_flush_can_be_waited_for_in_any_order),
		cmocka_unit_test(a_full_ring_refuses_whole_pieces_where_it_may_not_wait),
		cmocka_unit_test(the_list_of_a_slot_is_bounded_too),
		cmocka_unit_test(what_was_not_flushed_is_dropped_by_cancelling_and_the_engine_goes_on),
		cmocka_unit_test(a_wait_ends_by_cancelling_as_soon_as_the_device_lets_it),
		cmocka_unit_test(closing_delivers_what_was_flushed_and_drops_the_rest),
		cmocka_unit_test(threads_share_an_engine),
		cmocka_unit_test(wrong_options_are_refused_with_the_cure),
		cmocka_unit_test(options_without_their_size_are_refused),
		cmocka_unit_test(memory_and_counts_refuse_what_is_not),
		cmocka_unit_test(many_parts_are_taken_at_once_or_as_far_as_there_is_room),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
