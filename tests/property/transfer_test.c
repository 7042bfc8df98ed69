/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/kernels.h"
#include "unit/transfer/host_engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares the transfer engine with an array of bytes, by random puts of 0 to 64 KiB. They may overlap, and
 * come from pageable and page-locked memory by every path and through staging rings of every size. The device
 * memory must be as if they were copied one after another. Gets must return what all puts before the same
 * flush have written. Runs on the host, or on the back end whose number in kwhy/transfer.h is
 * KWHY_TEST_BACKEND, with a fake or a real driver.
 */

enum {
	CASES = 60,
	FLUSHES = 12,
	DEVICE_BYTES = 200000,
	PIECE_MAX = 65536,
	PINNED_BYTES = 1 << 20,
	GETS_MAX = 40
};

struct random {
	uint64_t state;
};

static uint64_t below(struct random *random, uint64_t limit)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (random->state >> 33) % limit;
}

struct world {
	struct kwhy_transfer *transfer;
	struct random random;
	uint64_t device;
	char *expected; /* expected content of the device's memory */
	char *pinned;	/* page-locked memory; between two flushes no part of it is used for more than one put
			   or get */
	size_t pinned_used;
	char *source;
	struct {
		char *to, *expected;
		size_t bytes;
	} gets[GETS_MAX];
	int get_count;
};

/* Returns a random size, mostly a small one. */
static size_t random_bytes(struct random *random)
{
	static const size_t mosts[] = {40, 40, 40, 500, 5000, PIECE_MAX + 1};

	return (size_t)below(random, mosts[below(random, 6)]);
}

static void put_one(struct world *world)
{
	struct random *random = &world->random;
	size_t bytes = random_bytes(random), to = (size_t)below(random, DEVICE_BYTES - bytes),
	       from = (size_t)below(random, PIECE_MAX);
	const char *source = world->source + from;

	if (below(random, 3) == 0 && world->pinned_used + bytes <= PINNED_BYTES) {
		char *pinned = world->pinned + world->pinned_used;

		memcpy(pinned, source, bytes);
		world->pinned_used += bytes;
		succeeds(world->transfer,
			kwhy_transfer_put_pinned(world->transfer, world->device + to, pinned, bytes));
	} else {
		succeeds(world->transfer,
			kwhy_transfer_put(world->transfer, world->device + to, source, bytes));
	}
	memcpy(world->expected + to, source, bytes);
}

static void get_one(struct world *world)
{
	struct random *random = &world->random;
	size_t bytes = random_bytes(random), from = (size_t)below(random, DEVICE_BYTES - bytes);
	bool pinned = below(random, 3) == 0 && world->pinned_used + bytes <= PINNED_BYTES;
	char *to = pinned ? world->pinned + world->pinned_used : malloc(bytes + 1);
	int i = world->get_count++;

	assert_non_null(to);
	if (pinned)
		world->pinned_used += bytes;
	succeeds(world->transfer,
		pinned ? kwhy_transfer_get_pinned(world->transfer, to, world->device + from, bytes)
		       : kwhy_transfer_get(world->transfer, to, world->device + from, bytes));
	world->gets[i].to = to;
	world->gets[i].bytes = bytes;
	world->gets[i].expected = malloc(bytes + 1);
	assert_non_null(world->gets[i].expected);
	memcpy(world->gets[i].expected, world->expected + from, bytes);
}

static void check_gets(struct world *world)
{
	for (int i = 0; i < world->get_count; i++) {
		assert_memory_equal(world->gets[i].to, world->gets[i].expected, world->gets[i].bytes);
		free(world->gets[i].expected);
		if (world->gets[i].to < world->pinned || world->gets[i].to >= world->pinned + PINNED_BYTES)
			free(world->gets[i].to);
	}
	world->get_count = 0;
	world->pinned_used = 0;
}

static void one_flush(struct world *world)
{
	struct random *random = &world->random;
	int puts = (int)below(random, 30), gets = (int)below(random, GETS_MAX / 4);
	uint64_t ticket;

	for (int i = 0; i < puts; i++)
		put_one(world);
	for (int i = 0; i < gets && world->get_count < GETS_MAX; i++)
		get_one(world);
	succeeds(world->transfer, kwhy_transfer_flush(world->transfer, &ticket));
	if (below(random, 3) > 0 && world->get_count < GETS_MAX)
		return;
	succeeds(world->transfer, kwhy_transfer_wait(world->transfer, ticket));
	check_gets(world);
}

static void check_device(struct world *world)
{
	char *back = malloc(DEVICE_BYTES);
	uint64_t ticket;

	assert_non_null(back);
	succeeds(world->transfer, kwhy_transfer_get(world->transfer, back, world->device, DEVICE_BYTES));
	succeeds(world->transfer, kwhy_transfer_flush(world->transfer, &ticket));
	succeeds(world->transfer, kwhy_transfer_wait(world->transfer, ticket));
	check_gets(world);
	assert_memory_equal(back, world->expected, DEVICE_BYTES);
	free(back);
}

static int backend(void)
{
	const char *named = getenv("KWHY_TEST_BACKEND");

	return named ? atoi(named) : KWHY_TRANSFER_HOST;
}

static void open_world(struct world *world, uint64_t seed)
{
	static const uint64_t slot_bytes[] = {8192, 10000, 70000, 0};
	static const uint32_t pieces[] = {3, 17, 0};
	struct random *random = &world->random;
	struct kwhy_transfer_options options = {.size = sizeof(options), .backend = backend()};
	char message[KWHY_TRANSFER_MESSAGE_BYTES];
	uint64_t pinned;

	random->state = seed * 77 + 5;
	options.way = (int32_t)(seed % 5);
	options.slot_bytes = slot_bytes[below(random, 4)];
	options.pieces = pieces[below(random, 3)];
	options.slots = (uint32_t)below(random, 4) + 2;
	if (kwhy_transfer_open(&options, &world->transfer, message, sizeof(message)))
		fail_msg("%s", message);
	succeeds(world->transfer,
		kwhy_transfer_memory_new(
			world->transfer, KWHY_TRANSFER_ON_DEVICE, DEVICE_BYTES, &world->device));
	succeeds(world->transfer,
		kwhy_transfer_memory_new(world->transfer, KWHY_TRANSFER_PINNED, PINNED_BYTES, &pinned));
	world->pinned = (char *)(uintptr_t)pinned;
	world->expected = calloc(1, DEVICE_BYTES);
	world->source = malloc(2 * PIECE_MAX + 1);
	assert_true(world->expected && world->source);
	for (size_t i = 0; i < 2 * PIECE_MAX + 1; i++)
		world->source[i] = (char)below(random, 256);
	succeeds(world->transfer,
		kwhy_transfer_put(world->transfer, world->device, world->expected, DEVICE_BYTES));
}

static void pieces_arrive_as_if_copied_one_after_another(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct world world = {0};

		open_world(&world, seed);
		for (int i = 0; i < FLUSHES; i++)
			one_flush(&world);
		check_device(&world);
		free(world.expected);
		free(world.source);
		kwhy_transfer_close(world.transfer);
	}
}

/*
 * Fixture: makes kwhy's kernels known, as C functions, to a fake driver. A real driver compiles them from
 * source.
 */
static int give_kernels(void **state)
{
	static const char *const drivers[] = {
		[KWHY_TRANSFER_CUDA] = "libcuda.so.1", [KWHY_TRANSFER_HIP] = "libamdhip64.so.6"};
	void *driver = backend() < KWHY_TRANSFER_HOST ? dlopen(drivers[backend()], RTLD_NOW) : NULL;
	void (*give)(const struct kwhy_gpu_host_kernel *kernels) = NULL;

	(void)state;
	if (driver)
		*(void **)&give = dlsym(driver, "kwhy_fake_gpu_kernels");
	if (give)
		give(kwhy_transfer_kernels.on_host);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_arrive_as_if_copied_one_after_another)};
	struct kwhy_error error;
	uint32_t count = 0;

	if (kwhy_gpu_count((enum kwhy_gpu_backend)backend(), &count, &error))
		return kwhy_skip_all(error.text);
	if (count == 0)
		return kwhy_skip_all("there is no such device");
	return kwhy_test_main(tests, give_kernels, NULL);
}
