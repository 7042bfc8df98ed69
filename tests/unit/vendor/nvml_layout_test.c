/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "nvml_layout.h"
#include "vendor/nvml_abi.h"

#include <stdlib.h>

#define T(ours, theirs) {#ours, sizeof(ours)},
#define M(ours, theirs, our_member, their_member) {#ours "." #our_member, offsetof(ours, our_member)},
#define C(ours, theirs) {#ours, (size_t)(ours)},

static const struct nvml_layout_row ours[] = {NVML_LAYOUT(T, M, C)};

static void sizes_offsets_and_constants_are_those_of_the_toolkit(void **state)
{
	(void)state;
#ifdef KWHY_HAVE_NVML_H
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (ours[i].value != nvml_layout_of_toolkit[i].value)
			fail_msg("%s is %zu, %s is %zu", ours[i].what, ours[i].value,
				nvml_layout_of_toolkit[i].what, nvml_layout_of_toolkit[i].value);
#else
	(void)ours;
	kwhy_skip("no nvml.h here");
#endif
}

static void layouts_are_as_the_64_bit_interface_has_them(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct kwhy_nvml_sample), 16);
	assert_int_equal(sizeof(struct kwhy_nvml_field), 40);
	assert_int_equal(sizeof(struct kwhy_nvml_pci), 68);
	assert_int_equal(sizeof(struct kwhy_nvml_memory_v2), 40);
	assert_int_equal(sizeof(struct kwhy_nvml_process), 24);
	assert_int_equal(sizeof(struct kwhy_nvml_process_utilization), 32);
	assert_int_equal(sizeof(struct kwhy_nvml_attributes), 40);
	assert_int_equal(sizeof(struct kwhy_nvml_gpm_metric), 40);
	assert_int_equal(offsetof(struct kwhy_nvml_gpm_metrics, metrics), 24);
	assert_int_equal(KWHY_NVML_MEMORY_V2, 0x02000028);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_are_as_the_64_bit_interface_has_them),
		cmocka_unit_test(sizes_offsets_and_constants_are_those_of_the_toolkit),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
