/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/whole_make.h"

#include "ledger/energy/model_power.h"

/*
 * Makes each call in the ledger's code that allocates memory fail once, in recordings in which it is made.
 * The ledger must then return KWHY_E_MEMORY and leave nothing allocated. Link the program with --wrap for the
 * allocation functions, also for that of arenas.
 */

enum { PLACES_MAX = 1000 };

struct places {
	const void *known[PLACES_MAX]; /* return addresses of calls that have failed */
	size_t count;
	bool is_on, failed;
};

static struct places places;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes);

/*
 * Whether the allocation that is called from `place`, its return address, must fail. It must fail
 * the first time that it is called from there, unless another allocation has failed in this run.
 */
static bool fails(const void *place)
{
	if (!places.is_on || places.failed)
		return false;
	for (size_t i = 0; i < places.count; i++)
		if (places.known[i] == place)
			return false;
	assert_true(places.count < PLACES_MAX);
	places.known[places.count++] = place;
	return places.failed = true;
}

void *__wrap_malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __real_calloc(count, size);
}

void *__wrap_kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : __real_kwhy_arena_alloc(arena, count, item_bytes);
}

/* Makes the ledger and its power over time once, with failing allocations switched on. */
static void try_once(const struct whole_made *made)
{
	struct kwhy_ledger *ledger = NULL;
	struct kwhy_power_curve *curves;
	enum kwhy_status status;

	places.is_on = true;
	status = kwhy_ledger_new(made->recording, &made->options, &ledger, &error);
	places.is_on = false;
	assert_true(status != KWHY_OK || ledger != NULL);
	assert_true(!places.failed || (status == KWHY_E_MEMORY && !ledger));
	if (ledger && !places.failed) {
		places.is_on = true;
		status = kwhy_ledger_model_power(ledger, made->recording, 3, &curves, &error);
		places.is_on = false;
		assert_true((status == KWHY_E_MEMORY) == places.failed);
	}
	kwhy_ledger_free(ledger);
}

/*
 * Makes the recording of a seed and its ledger, until each place that allocates has failed once. Returns how
 * many places had not failed for earlier recordings.
 */
static size_t fail_at_each_place(void (*make)(struct whole_made *, uint64_t), uint64_t seed)
{
	const size_t before = places.count;
	struct whole_made made;

	make(&made, seed);
	OK(kwhy_recording_finish(made.recording, &error));
	do {
		places.failed = false;
		try_once(&made);
	} while (places.failed);
	kwhy_recording_free(made.recording);
	return places.count - before;
}

static void whichever_place_fails_it_is_said_and_no_ledger_is_left(void **state)
{
	/* seeds whose recordings together reach all places that the first recordings reach */
	static const uint64_t timed[] = {0, 2}, metered[] = {15, 39, 20, 3, 40, 6, 14, 34, 72, 120};
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
		count += fail_at_each_place(whole_make_timed, timed[i]);
	assert_true(count > 40);
	for (size_t i = 0; i < sizeof(metered) / sizeof(metered[0]); i++)
		count += fail_at_each_place(whole_make_metered, metered[i]);
	assert_true(count > 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whichever_place_fails_it_is_said_and_no_ledger_is_left),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
