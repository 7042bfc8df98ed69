/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "cmocka_all.h"

#include <stdlib.h>

static int by_value(const void *context, uint32_t a, uint32_t b)
{
	const int *values = context;

	return (values[a] > values[b]) - (values[a] < values[b]);
}

static void sorted_items_need_no_order(void **state)
{
	const int values[] = {1, 2, 2, 3};
	struct kwhy_error error;
	uint32_t *order;

	(void)state;
	assert_int_equal(kwhy_sort_order(4, by_value, values, &order, &error), KWHY_OK);
	assert_null(order);
	assert_int_equal(kwhy_sort_order(0, by_value, values, &order, &error), KWHY_OK);
	assert_null(order);
}

static void random_items_come_out_sorted_and_ties_keep_their_order(void **state)
{
	enum { COUNT = 5000 };
	int *values = malloc(COUNT * sizeof(*values));
	struct kwhy_error error;
	uint32_t *order;

	(void)state;
	srand(42);
	for (int i = 0; i < COUNT; i++)
		values[i] = rand() % 700;
	assert_int_equal(kwhy_sort_order(COUNT, by_value, values, &order, &error), KWHY_OK);
	for (int i = 1; i < COUNT; i++) {
		assert_true(values[order[i - 1]] <= values[order[i]]);
		if (values[order[i - 1]] == values[order[i]])
			assert_true(order[i - 1] < order[i]);
	}
	assert_int_equal(kwhy_sort_apply((void **)&values, sizeof(*values), COUNT, order, &error), KWHY_OK);
	for (int i = 1; i < COUNT; i++)
		assert_true(values[i - 1] <= values[i]);
	free(order);
	free(values);
}

struct grouped {
	uint32_t group[5000];
	int value[5000];
};

static int by_group_and_value(const void *context, uint32_t a, uint32_t b)
{
	const struct grouped *items = context;

	if (items->group[a] != items->group[b])
		return items->group[a] < items->group[b] ? -1 : 1;
	return (items->value[a] > items->value[b]) - (items->value[a] < items->value[b]);
}

/* Items are in groups 1 to 5 of 7; groups 0 and 6 are empty. */
static void items_gathered_by_group_have_the_same_order(void **state)
{
	enum { COUNT = 5000, GROUPS = 7 };
	struct grouped *items = malloc(sizeof(*items));
	uint32_t *order, *wanted;
	struct kwhy_error error;

	(void)state;
	srand(43);
	for (int i = 0; i < COUNT; i++) {
		items->group[i] = 1 + (uint32_t)rand() % (GROUPS - 2);
		items->value[i] = i / 10 + rand() % 3;
	}
	assert_int_equal(kwhy_sort_order(COUNT, by_group_and_value, items, &wanted, &error), KWHY_OK);
	assert_int_equal(kwhy_sort_order_in_groups(
				 COUNT, items->group, GROUPS, by_group_and_value, items, &order, &error),
		KWHY_OK);
	assert_memory_equal(order, wanted, COUNT * sizeof(*order));
	free(order);
	free(wanted);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_items_need_no_order),
		cmocka_unit_test(random_items_come_out_sorted_and_ties_keep_their_order),
		cmocka_unit_test(items_gathered_by_group_have_the_same_order),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
