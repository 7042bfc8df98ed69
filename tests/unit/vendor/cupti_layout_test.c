/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "cupti_layout.h"
#include "vendor/cupti_abi.h"
#include "vendor/nvtx_abi.h"

#include <stdlib.h>

#define M(ours, theirs, our_member, their_member) {#ours "." #our_member, offsetof(ours, our_member)},
#define C(ours, theirs) {#ours, (size_t)(ours)},

#if defined(KWHY_HAVE_CUPTI_H) || defined(KWHY_HAVE_NVTX_H)
static void assert_same(
	const struct cupti_layout_row *ours, const struct cupti_layout_row *theirs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ours[i].value != theirs[i].value)
			fail_msg("%s is %zu, %s is %zu", ours[i].what, ours[i].value, theirs[i].what,
				theirs[i].value);
}
#endif

static void records_and_numbers_of_cupti_are_those_of_the_toolkit(void **state)
{
	(void)state;
#ifdef KWHY_HAVE_CUPTI_H
	static const struct cupti_layout_row ours[] = {CUPTI_LAYOUT(M, C)};

	assert_same(ours, cupti_layout_of_toolkit, sizeof(ours) / sizeof(ours[0]));
#else
	kwhy_skip("no cupti.h here");
#endif
}

static void events_and_numbers_of_nvtx_are_those_of_its_headers(void **state)
{
	(void)state;
#ifdef KWHY_HAVE_NVTX_H
	static const struct cupti_layout_row ours[] = {NVTX_LAYOUT(M, C)};

	assert_same(ours, nvtx_layout_of_toolkit, sizeof(ours) / sizeof(ours[0]));
#else
	kwhy_skip("no nvToolsExt.h here");
#endif
}

static void records_are_as_all_versions_since_cuda_12_begin(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct kwhy_cupti_kernel, start_ns), 16);
	assert_int_equal(offsetof(struct kwhy_cupti_kernel, name), 104);
	assert_int_equal(offsetof(struct kwhy_cupti_kernel, graph_node), 144);
	assert_int_equal(offsetof(struct kwhy_cupti_copy, correlation), 44);
	assert_int_equal(offsetof(struct kwhy_cupti_peer_copy, correlation), 60);
	assert_int_equal(sizeof(struct kwhy_cupti_call), 40);
	assert_int_equal(offsetof(struct kwhy_nvtx_event, message), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_as_all_versions_since_cuda_12_begin),
		cmocka_unit_test(records_and_numbers_of_cupti_are_those_of_the_toolkit),
		cmocka_unit_test(events_and_numbers_of_nvtx_are_those_of_its_headers),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
