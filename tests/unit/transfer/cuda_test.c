/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "kwhy/transfer.h"
#include "transfer/kernels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests the transfer engine in a program that uses CUDA itself, and with a driver whose calls fail. The
 * driver is the fake of tests/fakes/cuda.
 */

static void *driver;
static char message[KWHY_TRANSFER_MESSAGE_BYTES];

static int begin(void **state)
{
	void (*give)(const struct kwhy_gpu_host_kernel *kernels) = NULL;

	(void)state;
	unsetenv("KWHY_FAKE_CUDA");
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (driver)
		*(void **)&give = dlsym(driver, "kwhy_fake_gpu_kernels");
	if (!give)
		return -1;
	give(kwhy_transfer_kernels.on_host);
	return 0;
}

static struct kwhy_transfer *open_engine(void *stream, int way)
{
	struct kwhy_transfer_options options = {.size = sizeof(options), .stream = stream, .way = way};
	struct kwhy_transfer *transfer;

	if (kwhy_transfer_open(&options, &transfer, message, sizeof(message)))
		fail_msg("%s", message);
	return transfer;
}

/*
 * Puts two strings to the device, gets them back and compares them. Returns the code of the first call that
 * fails; 0: all succeed.
 */
static int round_trip(struct kwhy_transfer *transfer, uint64_t device)
{
	char back[2][6] = {"", ""};
	uint64_t ticket;
	int code = kwhy_transfer_put(transfer, device, "first", 6);

	if (!code)
		code = kwhy_transfer_put(transfer, device + 100, "other", 6);
	if (!code)
		code = kwhy_transfer_get(transfer, back[0], device, 6);
	if (!code)
		code = kwhy_transfer_get(transfer, back[1], device + 100, 6);
	if (!code)
		code = kwhy_transfer_flush(transfer, &ticket);
	if (!code)
		code = kwhy_transfer_wait(transfer, ticket);
	if (!code) {
		assert_string_equal(back[0], "first");
		assert_string_equal(back[1], "other");
	}
	return code;
}

static void a_programs_own_stream_is_used_and_left_to_it(void **state)
{
	int (*retain)(void **context, int device) = NULL, (*set)(void *context) = NULL,
					  (*make)(void **stream, unsigned flags) = NULL,
					  (*release)(int device) = NULL, (*synchronize)(void *stream) = NULL,
					  (*destroy)(void *stream) = NULL;
	void *context, *stream;
	struct kwhy_transfer *transfer;
	uint64_t device;

	(void)state;
	*(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
	*(void **)&release = dlsym(driver, "cuDevicePrimaryCtxRelease_v2");
	*(void **)&set = dlsym(driver, "cuCtxSetCurrent");
	*(void **)&make = dlsym(driver, "cuStreamCreate");
	*(void **)&synchronize = dlsym(driver, "cuStreamSynchronize");
	*(void **)&destroy = dlsym(driver, "cuStreamDestroy_v2");
	assert_true(retain && release && set && make && synchronize && destroy);
	assert_int_equal(((int (*)(unsigned))dlsym(driver, "cuInit"))(0), 0);
	assert_int_equal(retain(&context, 0), 0);
	assert_int_equal(set(context), 0);
	assert_int_equal(make(&stream, 1), 0);
	transfer = open_engine(stream, KWHY_TRANSFER_CHOOSE);
	assert_ptr_equal(kwhy_transfer_stream(transfer), stream);
	assert_int_equal(
		kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_ON_DEVICE, 200, &device), KWHY_TRANSFER_OK);
	assert_int_equal(round_trip(transfer, device), KWHY_TRANSFER_OK);
	kwhy_transfer_close(transfer);
	assert_int_equal(synchronize(stream), 0);
	assert_int_equal(destroy(stream), 0);
	assert_int_equal(release(0), 0);
}

/*
 * The fake driver does the work of a slot before the call that submits it returns. So the engine
 * must never wait for a free slot (counts.waits).
 */
static void a_ring_whose_slots_have_run_goes_round_without_waiting(void **state)
{
	struct kwhy_transfer *transfer = open_engine(NULL, KWHY_TRANSFER_MAPPED);
	struct kwhy_transfer_counts counts = {.size = sizeof(counts)};
	uint64_t device, ticket;

	(void)state;
	assert_int_equal(
		kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_ON_DEVICE, 200, &device), KWHY_TRANSFER_OK);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(kwhy_transfer_put(transfer, device, "first", 6), KWHY_TRANSFER_OK);
		assert_int_equal(kwhy_transfer_put(transfer, device + 100, "other", 6), KWHY_TRANSFER_OK);
		assert_int_equal(kwhy_transfer_flush(transfer, &ticket), KWHY_TRANSFER_OK);
	}
	assert_int_equal(kwhy_transfer_counts(transfer, &counts), KWHY_TRANSFER_OK);
	assert_int_equal(counts.waits, 0);
	assert_int_equal(counts.mapped, 100);
	assert_int_equal(counts.driver_calls, 100);
	assert_int_equal(round_trip(transfer, device), KWHY_TRANSFER_OK);
	kwhy_transfer_close(transfer);
}

static void a_context_that_dies_is_told_in_the_drivers_words_from_then_on(void **state)
{
	/* The engine waits for an event by repeated cuEventQuery(). */
	static const char *const calls[] = {"cuLaunchKernel", "cuEventRecord", "cuEventQuery"};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		char scenario[100];
		struct kwhy_transfer *transfer;
		uint64_t device;
		int code = KWHY_TRANSFER_OK;

		snprintf(scenario, sizeof(scenario), "fail:%s:3:719", calls[i]);
		setenv("KWHY_FAKE_CUDA", scenario, 1);
		/*
		 * The engine knows that a batch has ended by an event, and that a kernel has ended by a mark
		 * that the kernel writes. So calls of events can fail only with batches.
		 */
		transfer = open_engine(NULL, i == 0 ? KWHY_TRANSFER_CHOOSE : KWHY_TRANSFER_BATCH);
		assert_int_equal(kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_ON_DEVICE, 200, &device),
			KWHY_TRANSFER_OK);
		for (int round = 0; round < 10 && !code; round++)
			code = round_trip(transfer, device);
		assert_int_equal(code, KWHY_TRANSFER_E_DEVICE);
		kwhy_transfer_message(transfer, message, sizeof(message));
		assert_non_null(strstr(message, "unspecified launch failure"));
		assert_int_equal(kwhy_transfer_put(transfer, device, "x", 1), KWHY_TRANSFER_E_DEVICE);
		kwhy_transfer_close(transfer);
	}
	unsetenv("KWHY_FAKE_CUDA");
}

static void no_gpu_is_told_with_a_cure(void **state)
{
	struct kwhy_transfer *transfer = NULL;

	(void)state;
	setenv("KWHY_FAKE_CUDA", "no-device", 1);
	assert_int_equal(
		kwhy_transfer_open(NULL, &transfer, message, sizeof(message)), KWHY_TRANSFER_E_UNSUPPORTED);
	assert_null(transfer);
	assert_true(strlen(message) > 20);
	setenv("KWHY_FAKE_CUDA", "no-memory", 1);
	assert_int_equal(
		kwhy_transfer_open(NULL, &transfer, message, sizeof(message)), KWHY_TRANSFER_E_MEMORY);
	assert_null(transfer);
	unsetenv("KWHY_FAKE_CUDA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_programs_own_stream_is_used_and_left_to_it),
		cmocka_unit_test(a_ring_whose_slots_have_run_goes_round_without_waiting),
		cmocka_unit_test(a_context_that_dies_is_told_in_the_drivers_words_from_then_on),
		cmocka_unit_test(no_gpu_is_told_with_a_cure),
	};

	return kwhy_test_main(tests, begin, NULL);
}
