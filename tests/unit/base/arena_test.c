/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "cmocka_all.h"

static void a_list_that_grows_keeps_its_items_and_moves_rarely(void **state)
{
	struct kwhy_arena arena = {0};
	int *items = NULL, moves = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int *grown = kwhy_arena_grow(&arena, items, (size_t)i, sizeof(*items));

		assert_non_null(grown);
		moves += grown != items;
		items = grown;
		items[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	assert_int_equal(moves, 11);
	kwhy_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_that_grows_keeps_its_items_and_moves_rarely),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
