/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/pool.h"

#include <string.h>

enum { BYTES = 64 << 10 };

static void buffers_come_zeroed_again_and_again(void **state)
{
	struct kwhy_inject_pool pool;

	(void)state;
	assert_true(kwhy_inject_pool_init(&pool, BYTES, 2));
	for (int round = 0; round < 5; round++) {
		uint8_t *buffer = kwhy_inject_pool_take(&pool);

		assert_non_null(buffer);
		for (int i = 0; i < BYTES; i++)
			assert_int_equal(buffer[i], 0);
		memset(buffer, 0xff, BYTES / 2);
		assert_true(kwhy_inject_pool_take_back(&pool, buffer));
		kwhy_inject_pool_give(&pool, buffer, BYTES / 2);
	}
}

static void a_full_buffer_is_zeroed_to_its_end(void **state)
{
	struct kwhy_inject_pool pool;
	uint8_t *buffer;

	(void)state;
	assert_true(kwhy_inject_pool_init(&pool, BYTES, 1));
	buffer = kwhy_inject_pool_take(&pool);
	memset(buffer, 0xff, BYTES);
	assert_true(kwhy_inject_pool_take_back(&pool, buffer));
	kwhy_inject_pool_give(&pool, buffer, BYTES);
	assert_ptr_equal(kwhy_inject_pool_take(&pool), buffer);
	assert_int_equal(buffer[BYTES - 1], 0);
}

static void no_more_are_lent_than_there_are(void **state)
{
	struct kwhy_inject_pool pool;
	uint8_t *first, *second;

	(void)state;
	assert_true(kwhy_inject_pool_init(&pool, BYTES, 2));
	first = kwhy_inject_pool_take(&pool);
	second = kwhy_inject_pool_take(&pool);
	assert_ptr_not_equal(first, second);
	assert_null(kwhy_inject_pool_take(&pool));
	assert_true(kwhy_inject_pool_take_back(&pool, first));
	assert_null(kwhy_inject_pool_take(&pool));
	kwhy_inject_pool_give(&pool, first, 0);
	assert_ptr_equal(kwhy_inject_pool_take(&pool), first);
}

static void buffers_of_others_are_not_ours(void **state)
{
	struct kwhy_inject_pool pool;
	uint8_t other[64], *buffer;

	(void)state;
	assert_true(kwhy_inject_pool_init(&pool, BYTES, 2));
	assert_false(kwhy_inject_pool_take_back(&pool, pool.memory));
	buffer = kwhy_inject_pool_take(&pool);
	assert_false(kwhy_inject_pool_take_back(&pool, buffer + 8));
	assert_false(kwhy_inject_pool_take_back(&pool, other));
	assert_false(kwhy_inject_pool_take_back(&pool, NULL));
	assert_true(kwhy_inject_pool_take_back(&pool, buffer));
	assert_false(kwhy_inject_pool_take_back(&pool, buffer));
}

static void a_lent_buffer_that_was_written_to_is_withheld(void **state)
{
	struct kwhy_inject_pool pool;
	uint8_t *buffer;

	(void)state;
	assert_true(kwhy_inject_pool_init(&pool, BYTES, 2));
	buffer = kwhy_inject_pool_take(&pool);
	assert_int_equal(kwhy_inject_pool_withheld(&pool), 0);
	buffer[0] = 10;
	assert_int_equal(kwhy_inject_pool_withheld(&pool), 1);
	assert_true(kwhy_inject_pool_take_back(&pool, buffer));
	assert_int_equal(kwhy_inject_pool_withheld(&pool), 0);
	kwhy_inject_pool_give(&pool, buffer, 8);
	assert_int_equal(kwhy_inject_pool_withheld(&pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_come_zeroed_again_and_again),
		cmocka_unit_test(a_full_buffer_is_zeroed_to_its_end),
		cmocka_unit_test(no_more_are_lent_than_there_are),
		cmocka_unit_test(buffers_of_others_are_not_ours),
		cmocka_unit_test(a_lent_buffer_that_was_written_to_is_withheld),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
