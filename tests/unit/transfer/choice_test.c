/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "transfer/choice.h"

#include <stdlib.h>
#include <string.h>

/*
 * Tests which method the engine chooses to transfer the pieces of a slot, whether pieces of puts may overlap,
 * and how long the chunks of a large copy are. These decisions need no device.
 */

static const struct kwhy_transfer_limits limits = {
	.put_packed_bytes = 1000, .get_packed_bytes = 2000, .batch_bytes = 500};

static enum kwhy_transfer_method way_of(int wanted, uint32_t count, uint64_t bytes, uint64_t staged)
{
	struct kwhy_transfer_case at_hand = {
		.wanted = wanted, .has_batch = true, .count = count, .bytes = bytes, .staged = staged};

	return kwhy_transfer_choose(&limits, &at_hand);
}

static void few_bytes_are_read_by_the_kernel_many_are_copied_first(void **state)
{
	struct kwhy_transfer_case get = {
		.direction = KWHY_TRANSFER_GET, .count = 10, .bytes = 1500, .staged = 1500};

	(void)state;
	assert_int_equal(way_of(KWHY_TRANSFER_CHOOSE, 10, 999, 999), KWHY_TRANSFER_METHOD_MAPPED);
	assert_int_equal(way_of(KWHY_TRANSFER_CHOOSE, 10, 1000, 1000), KWHY_TRANSFER_METHOD_PACKED);
	assert_int_equal(way_of(KWHY_TRANSFER_CHOOSE, 10, 4000, 0), KWHY_TRANSFER_METHOD_MAPPED);
	assert_int_equal(kwhy_transfer_choose(&limits, &get), KWHY_TRANSFER_METHOD_MAPPED);
	get.bytes = get.staged = 2000;
	assert_int_equal(kwhy_transfer_choose(&limits, &get), KWHY_TRANSFER_METHOD_PACKED);
}

static void what_fits_a_kernels_argument_goes_as_one(void **state)
{
	struct kwhy_transfer_limits large = {.put_packed_bytes = 1, .batch_bytes = 500, .inline_bytes = 300};
	struct kwhy_transfer_case at_hand = {
		.count = 2, .bytes = 100, .staged = 100, .inlined = 148, .inlined_most = 200};

	(void)state;
	assert_int_equal(kwhy_transfer_choose(&large, &at_hand), KWHY_TRANSFER_METHOD_INLINE);
	at_hand.overlapping = true;
	assert_int_equal(kwhy_transfer_choose(&large, &at_hand), KWHY_TRANSFER_METHOD_INLINE);
	at_hand.inlined = 201;
	assert_int_equal(kwhy_transfer_choose(&large, &at_hand), KWHY_TRANSFER_METHOD_PACKED);
	at_hand.inlined = 148;
	large.inline_bytes = 147;
	assert_int_equal(kwhy_transfer_choose(&large, &at_hand), KWHY_TRANSFER_METHOD_PACKED);
	at_hand.wanted = KWHY_TRANSFER_INLINE;
	assert_int_equal(kwhy_transfer_choose(&large, &at_hand), KWHY_TRANSFER_METHOD_INLINE);
	at_hand.inlined_most = 0;
	assert_int_equal(kwhy_transfer_choose(&large, &at_hand), KWHY_TRANSFER_METHOD_PACKED);
}

static void large_pieces_go_by_the_batch_where_there_is_one_and_nothing_overlaps(void **state)
{
	struct kwhy_transfer_case at_hand = {.has_batch = true, .count = 2, .bytes = 1000, .staged = 1000};

	(void)state;
	assert_int_equal(kwhy_transfer_choose(&limits, &at_hand), KWHY_TRANSFER_METHOD_BATCH);
	at_hand.overlapping = true;
	assert_int_equal(kwhy_transfer_choose(&limits, &at_hand), KWHY_TRANSFER_METHOD_PACKED);
	at_hand.overlapping = false;
	at_hand.has_batch = false;
	assert_int_equal(kwhy_transfer_choose(&limits, &at_hand), KWHY_TRANSFER_METHOD_PACKED);
}

static void one_piece_is_one_copy_and_a_wanted_way_is_taken_where_it_can_be(void **state)
{
	struct kwhy_transfer_case at_hand = {
		.wanted = KWHY_TRANSFER_BATCH, .count = 10, .bytes = 10, .staged = 10};

	(void)state;
	assert_int_equal(way_of(KWHY_TRANSFER_CHOOSE, 1, 4000, 4000), KWHY_TRANSFER_METHOD_PLAIN);
	assert_int_equal(way_of(KWHY_TRANSFER_PACKED, 1, 10, 10), KWHY_TRANSFER_METHOD_PACKED);
	assert_int_equal(way_of(KWHY_TRANSFER_PACKED, 2, 10, 0), KWHY_TRANSFER_METHOD_MAPPED);
	assert_int_equal(way_of(KWHY_TRANSFER_MAPPED, 2, 4000, 4000), KWHY_TRANSFER_METHOD_MAPPED);
	assert_int_equal(way_of(KWHY_TRANSFER_BATCH, 10, 10, 10), KWHY_TRANSFER_METHOD_BATCH);
	assert_int_equal(kwhy_transfer_choose(&limits, &at_hand), KWHY_TRANSFER_METHOD_MAPPED);
}

enum { PIECES = 8 };

struct memory {
	struct kwhy_transfer_piece pieces[PIECES];
	char data[256];
};

static bool overlap(const uint64_t (*extents)[2], uint32_t count)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	struct kwhy_transfer_slot slot = {0};
	struct kwhy_transfer_extent space[PIECES];
	bool overlaps;

	assert_non_null(memory);
	slot.host = memory->data;
	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_transfer_piece piece = {.to = extents[i][0], .bytes = (uint32_t)extents[i][1]};

		kwhy_transfer_slot_add(&slot, &piece, 0);
		kwhy_transfer_slot_write(&slot, piece.to, piece.bytes);
	}
	overlaps = kwhy_transfer_slot_overlaps(&slot, space);
	free(memory);
	return overlaps;
}

static void puts_overlap_where_two_write_the_same_byte(void **state)
{
	static const uint64_t up[][2] = {{100, 10}, {110, 10}, {130, 10}},
			      down[][2] = {{130, 10}, {110, 20}, {100, 10}},
			      mixed[][2] = {{100, 10}, {130, 10}, {110, 20}},
			      same[][2] = {{100, 10}, {100, 10}},
			      inside[][2] = {{100, 100}, {300, 10}, {150, 1}},
			      edge[][2] = {{100, 10}, {300, 10}, {105, 10}};

	(void)state;
	assert_false(overlap(up, 3));
	assert_false(overlap(down, 3));
	assert_false(overlap(mixed, 3));
	assert_true(overlap(same, 2));
	assert_true(overlap(inside, 3));
	assert_true(overlap(edge, 3));
}

static void data_lies_as_far_from_a_vectors_boundary_as_its_place_on_the_device(void **state)
{
	struct kwhy_transfer_slot slot = {0};

	(void)state;
	for (slot.staged = 0; slot.staged < 40; slot.staged++)
		for (uint64_t to = 1000; to < 1040; to++) {
			uint64_t place = kwhy_transfer_slot_reserve(&slot, to);

			assert_true(place >= slot.staged && place < slot.staged + 16);
			assert_int_equal(place % 16, to % 16);
		}
}

static void chunks_are_as_long_as_the_formula_says(void **state)
{
	const uint64_t gib = UINT64_C(1) << 30;

	(void)state;
	/*
	 * A copy of 1 GiB takes 19.2 ms, and each chunk costs 5 us more. The best number of chunks is
	 * sqrt(19.2 ms / 5 us) = 62, of 16.5 MiB each (a multiple of 64 KiB).
	 */
	assert_int_equal(kwhy_transfer_chunk_bytes(gib, 0.0192, 0.0192, 5e-6), 265 * 65536);
	assert_int_equal(kwhy_transfer_chunk_bytes(gib, 0.0192, 10, 5e-6), 265 * 65536);
	assert_int_equal(kwhy_transfer_chunk_bytes(gib, 0, 0.0192, 5e-6), gib);
	assert_int_equal(kwhy_transfer_chunk_bytes(gib, 0.0192, 0.0192, 0), gib);
	assert_int_equal(kwhy_transfer_chunk_bytes(gib, 1, 1, 1e-12), 65536);
	assert_int_equal(kwhy_transfer_chunk_bytes(gib, 1e-9, 1, 1), gib);
	assert_int_equal(kwhy_transfer_chunk_bytes(100, 1, 1, 1e-6), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_bytes_are_read_by_the_kernel_many_are_copied_first),
		cmocka_unit_test(what_fits_a_kernels_argument_goes_as_one),
		cmocka_unit_test(large_pieces_go_by_the_batch_where_there_is_one_and_nothing_overlaps),
		cmocka_unit_test(one_piece_is_one_copy_and_a_wanted_way_is_taken_where_it_can_be),
		cmocka_unit_test(puts_overlap_where_two_write_the_same_byte),
		cmocka_unit_test(data_lies_as_far_from_a_vectors_boundary_as_its_place_on_the_device),
		cmocka_unit_test(chunks_are_as_long_as_the_formula_says),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
