/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "transfer/engine.h"

#include <stdlib.h>
#include <string.h>

/*
 * Tests the engine with a device whose nth call fails, for all n. The device's functions are those of the
 * host back end, each with a counter before it. From the failure on, the engine must report it, must not
 * hang, and must free everything when closed.
 */

static const struct kwhy_gpu_ops *real;
static struct kwhy_gpu_ops failing;
static long left; /* calls before the one that fails; negative: none fails */

static enum kwhy_status next(struct kwhy_error *error)
{
	if (left < 0 || left-- > 0)
		return KWHY_OK;
	left = 0;
	return kwhy_fail(error, KWHY_E_LOST, "the made-up device is gone; plug it in");
}

static enum kwhy_status enter(struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->enter(gpu, error);
}

static enum kwhy_status copy(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *what, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->copy(gpu, stream, what, error);
}

static enum kwhy_status copy_batch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->copy_batch(gpu, stream, copies, count, error);
}

static enum kwhy_status launch(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *what, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->launch(gpu, what, error);
}

static enum kwhy_status event_record(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->event_record(gpu, event, stream, error);
}

static enum kwhy_status event_reached(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->event_reached(gpu, event, out, error);
}

static enum kwhy_status event_synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->event_synchronize(gpu, event, error);
}

static enum kwhy_status stream_wait(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	enum kwhy_status status = next(error);

	return status ? status : real->stream_wait(gpu, stream, event, error);
}

/* Returns an engine whose device fails after `calls` further calls. */
static struct kwhy_transfer *open_failing(int way, long calls)
{
	struct kwhy_transfer_options options = {.size = sizeof(options),
		.backend = KWHY_TRANSFER_HOST,
		.way = way,
		.slots = 2,
		.slot_bytes = 8192};
	struct kwhy_transfer *transfer;

	assert_int_equal(kwhy_transfer_open(&options, &transfer, NULL, 0), KWHY_TRANSFER_OK);
	real = transfer->ops;
	failing = *real;
	failing.enter = enter;
	failing.copy = copy;
	failing.copy_batch = copy_batch;
	failing.launch = launch;
	failing.event_record = event_record;
	failing.event_reached = event_reached;
	failing.event_synchronize = event_synchronize;
	failing.stream_wait = stream_wait;
	transfer->ops = &failing;
	left = calls;
	return transfer;
}

static void says_that_it_is_gone(struct kwhy_transfer *transfer)
{
	char text[KWHY_TRANSFER_MESSAGE_BYTES];
	struct kwhy_transfer_loader_options options = {.size = sizeof(options), .bytes = 10, .from = text};
	struct kwhy_transfer_part part = {1, text, 1};
	struct kwhy_transfer_loader *loader;
	uint64_t address;
	size_t taken = 9;

	kwhy_transfer_message(transfer, text, sizeof(text));
	assert_string_equal(text, "the made-up device is gone; plug it in");
	assert_int_equal(kwhy_transfer_put(transfer, 1, "x", 1), KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(kwhy_transfer_put_pinned(transfer, 1, "x", 1), KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(kwhy_transfer_get(transfer, text, 1, 1), KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(kwhy_transfer_get_many(transfer, &part, 1, 0, &taken), KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(taken, 0);
	assert_int_equal(kwhy_transfer_flush(transfer, NULL), KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(kwhy_transfer_wait(transfer, 1), KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_PINNED, 1, &address),
		KWHY_TRANSFER_E_DEVICE);
	assert_int_equal(kwhy_transfer_loader_open(transfer, &options, &loader), KWHY_TRANSFER_E_DEVICE);
	kwhy_transfer_message(transfer, text, sizeof(text));
	assert_string_equal(text, "the made-up device is gone; plug it in");
}

/*
 * Puts and gets enough to use each slot of the ring several times. Returns the code of the first call that
 * fails; 0: all succeed.
 */
static int work(struct kwhy_transfer *transfer, char *device, char *back, const char *data)
{
	int code = KWHY_TRANSFER_OK;

	for (int i = 0; i < 12 && !code; i++) {
		uint64_t ticket = 0;

		code = kwhy_transfer_put(transfer, kwhy_gpu_address(device), data, 3000);
		if (!code)
			code = kwhy_transfer_put(transfer, kwhy_gpu_address(device + 3000), data, 5000);
		if (!code)
			code = kwhy_transfer_get(transfer, back, kwhy_gpu_address(device), 2500);
		if (!code)
			code = kwhy_transfer_get(transfer, back + 4000, kwhy_gpu_address(device), 5000);
		if (!code)
			code = kwhy_transfer_flush(transfer, &ticket);
		if (!code && i % 5 == 4)
			code = kwhy_transfer_wait(transfer, ticket);
	}
	return code;
}

static void a_device_that_fails_at_any_call_poisons_the_engine_by_every_way(void **state)
{
	char *device = calloc(3, 10000);

	(void)state;
	assert_non_null(device);
	for (int way = KWHY_TRANSFER_CHOOSE; way <= KWHY_TRANSFER_INLINE; way++)
		for (long calls = 0;; calls++) {
			struct kwhy_transfer *transfer = open_failing(way, calls);
			int code = work(transfer, device, device + 10000, device + 20000);

			if (code) {
				assert_int_equal(code, KWHY_TRANSFER_E_DEVICE);
				says_that_it_is_gone(transfer);
			}
			left = -1;
			kwhy_transfer_close(transfer);
			if (!code) {
				assert_true(calls > 30);
				break;
			}
		}
	free(device);
}

static void a_device_that_fails_while_a_kernel_is_waited_for_ends_the_wait(void **state)
{
	char *device = calloc(1, 100);
	struct kwhy_transfer *transfer = open_failing(KWHY_TRANSFER_INLINE, -1);
	struct kwhy_gpu_gate *gate;
	struct kwhy_error error;
	uint64_t ticket;

	(void)state;
	assert_non_null(device);
	assert_int_equal(real->gate_new(transfer->gpu, &gate, &error), KWHY_OK);
	assert_int_equal(real->gate_hold(transfer->gpu, gate, transfer->stream, &error), KWHY_OK);
	assert_int_equal(kwhy_transfer_put(transfer, kwhy_gpu_address(device), "first", 5), KWHY_TRANSFER_OK);
	assert_int_equal(
		kwhy_transfer_put(transfer, kwhy_gpu_address(device + 50), "other", 5), KWHY_TRANSFER_OK);
	assert_int_equal(kwhy_transfer_flush(transfer, &ticket), KWHY_TRANSFER_OK);
	left = 3;
	assert_int_equal(kwhy_transfer_wait(transfer, ticket), KWHY_TRANSFER_E_DEVICE);
	says_that_it_is_gone(transfer);
	left = -1;
	assert_int_equal(real->gate_open(transfer->gpu, gate, &error), KWHY_OK);
	kwhy_transfer_close(transfer);
	free(device);
}

static int do_nothing(void *context, const struct kwhy_transfer_chunk *chunk)
{
	(void)context;
	return chunk->bytes == 0;
}

static void a_device_that_fails_under_a_loader_ends_it(void **state)
{
	char *data = calloc(1, 100000);
	struct kwhy_transfer_loader_options options = {
		.size = sizeof(options), .bytes = 100000, .chunk_bytes = 10000, .from = data, .pinned = 1};
	int code;

	(void)state;
	assert_non_null(data);
	for (long calls = 0;; calls++) {
		struct kwhy_transfer *transfer = open_failing(KWHY_TRANSFER_CHOOSE, calls);

		code = kwhy_transfer_stream_through(transfer, &options, do_nothing, NULL);
		if (code) {
			assert_int_equal(code, KWHY_TRANSFER_E_DEVICE);
			says_that_it_is_gone(transfer);
		}
		left = -1;
		kwhy_transfer_close(transfer);
		if (!code) {
			assert_true(calls > 50);
			break;
		}
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_fails_at_any_call_poisons_the_engine_by_every_way),
		cmocka_unit_test(a_device_that_fails_while_a_kernel_is_waited_for_ends_the_wait),
		cmocka_unit_test(a_device_that_fails_under_a_loader_ends_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
