/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collectives.h"

#include "cmocka_all.h"

enum { MEMBERS = 3, COUNT = 2500 };

static float places[MEMBERS][COUNT];

static void floats_are_added_up_in_the_order_of_members(void **state)
{
	struct kwhy_collectives_member members[MEMBERS];
	struct kwhy_collectives *group;
	uint64_t addresses[MEMBERS];
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu *gpu;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_gpu_open(KWHY_GPU_HOST, NULL, &gpu, &error), KWHY_OK);
	assert_int_equal(gpu->ops->stream_new(gpu, &stream, &error), KWHY_OK);
	for (int m = 0; m < MEMBERS; m++) {
		members[m] = (struct kwhy_collectives_member){gpu, stream};
		addresses[m] = kwhy_gpu_address(places[m]);
		for (int i = 0; i < COUNT; i++)
			places[m][i] = (float)(i + 1) * (m == 1 ? 1e8f : m == 2 ? -1e8f : 1);
	}
	assert_int_equal(kwhy_collectives_own_new(members, MEMBERS, &group, &error), KWHY_OK);
	assert_int_equal(group->ops->sum_floats(group, addresses, COUNT, &error), KWHY_OK);
	assert_int_equal(gpu->ops->synchronize(gpu, stream, &error), KWHY_OK);
	for (int i = 0; i < COUNT; i++) {
		float one = (float)(i + 1), sum = one + one * 1e8f;

		for (int m = 0; m < MEMBERS; m++)
			assert_true(places[m][i] == sum + one * -1e8f);
	}
	group->ops->free(group);
	gpu->ops->stream_free(gpu, stream);
	gpu->ops->close(gpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(floats_are_added_up_in_the_order_of_members)};

	return kwhy_test_main(tests, NULL, NULL);
}
