/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/missed.h"

#include "cmocka_all.h"

enum { A, B, IDLE, UNKNOWN };

#define LENGTH_NS INT64_C(40000000000)
#define ENERGY_NJ INT64_C(4000000000000)

/*
 * Adds `looks` looks at which the `count` owners from `first` on (A, B) held the device. is_unseen: processes
 * could not be listed.
 */
static void look(struct kwhy_missed *missed, int looks, uint32_t first, size_t count, bool is_unseen)
{
	struct kwhy_holders holders = {.count = count, .is_unseen = is_unseen};

	for (uint32_t i = 0; i < count; i++)
		holders.items[i] = (struct kwhy_share_holder){.owner = first + i, .part = 2};
	for (int i = 0; i < looks; i++)
		kwhy_missed_add(missed, &holders, false);
}

static size_t divide(struct kwhy_missed *missed, struct kwhy_share_of *out)
{
	struct kwhy_share_window window = {
		.energy_nj = ENERGY_NJ, .length_ns = LENGTH_NS, .idle_owner = IDLE, .unknown_owner = UNKNOWN};

	return kwhy_missed_divide(missed, &window, out);
}

static void expect(const struct kwhy_share_of *share, uint32_t owner, int64_t energy_nj, int64_t held_ns)
{
	assert_int_equal(share->owner, owner);
	assert_int_equal(share->share.energy_nj, energy_nj);
	assert_int_equal(share->share.held_ns, held_ns);
	assert_int_equal(share->share.unknown_ns, held_ns);
	assert_int_equal(share->share.busy_ns, 0);
	assert_int_equal(share->share.low_nj, 0);
	assert_int_equal(share->share.high_nj, ENERGY_NJ);
}

static void energy_goes_to_all_who_were_seen_as_often_as_they_were(void **state)
{
	static struct kwhy_missed missed;
	struct kwhy_share_of shares[KWHY_HOLDERS_MAX];

	(void)state;
	look(&missed, 1, A, 1, false);
	assert_false(kwhy_missed_differs(&missed));
	look(&missed, 1, B, 1, false);
	assert_true(kwhy_missed_differs(&missed));
	look(&missed, 2, 0, 0, false);
	assert_int_equal(divide(&missed, shares), 3);
	expect(&shares[0], A, ENERGY_NJ / 4, LENGTH_NS / 4);
	expect(&shares[1], B, ENERGY_NJ / 4, LENGTH_NS / 4);
	expect(&shares[2], IDLE, ENERGY_NJ / 2, 0);
}

static void what_nobody_saw_is_of_an_unknown_owner(void **state)
{
	static struct kwhy_missed some, none;
	struct kwhy_share_of shares[KWHY_HOLDERS_MAX];

	(void)state;
	look(&some, 3, A, 1, false);
	look(&some, 1, 0, 0, true);
	assert_int_equal(divide(&some, shares), 2);
	expect(&shares[0], A, ENERGY_NJ / 4 * 3, LENGTH_NS / 4 * 3);
	expect(&shares[1], UNKNOWN, ENERGY_NJ / 4, 0);
	look(&none, 2, 0, 0, true);
	assert_true(kwhy_missed_differs(&none));
	assert_int_equal(divide(&none, shares), 1);
	assert_int_equal(shares[0].owner, UNKNOWN);
}

static void several_holders_differ_if_their_use_is_not_known(void **state)
{
	static struct kwhy_missed vague, known;
	const struct kwhy_holders both = {
		.items = {{.owner = A, .part = 2}, {.owner = B, .part = 2}}, .count = 2};

	(void)state;
	look(&vague, 1, A, 2, false);
	assert_true(kwhy_missed_differs(&vague));
	kwhy_missed_add(&known, &both, true);
	kwhy_missed_add(&known, &both, true);
	assert_false(kwhy_missed_differs(&known));
	look(&known, 1, A, 1, false);
	assert_true(kwhy_missed_differs(&known));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_goes_to_all_who_were_seen_as_often_as_they_were),
		cmocka_unit_test(what_nobody_saw_is_of_an_unknown_owner),
		cmocka_unit_test(several_holders_differ_if_their_use_is_not_known),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
