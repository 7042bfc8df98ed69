/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "cuda_layout.h"
#include "vendor/cuda_abi.h"
#include "vendor/nvrtc_abi.h"

#include <stdlib.h>

#define T(ours, theirs) {#ours, sizeof(ours)},
#define C(ours, theirs) {#ours, (size_t)(ours)},

static const struct cuda_layout_row ours[] = {CUDA_LAYOUT(T, C)};

static void sizes_and_constants_are_those_of_the_toolkit(void **state)
{
	(void)state;
#ifdef KWHY_HAVE_CUDA_H
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (ours[i].value != cuda_layout_of_toolkit[i].value)
			fail_msg("%s is %zu, %s is %zu", ours[i].what, ours[i].value,
				cuda_layout_of_toolkit[i].what, cuda_layout_of_toolkit[i].value);
#else
	print_message("no cuda.h here: %zu items not compared\n", sizeof(ours) / sizeof(ours[0]));
	exit(77);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_constants_are_those_of_the_toolkit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
