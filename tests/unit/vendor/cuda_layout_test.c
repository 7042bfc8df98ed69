/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "cuda_layout.h"
#include "vendor/cuda_abi.h"
#include "vendor/nvrtc_abi.h"

#include <stdlib.h>

#define T(ours, theirs) {#ours, sizeof(ours)},
#define C(ours, theirs) {#ours, (size_t)(ours)},

static const struct cuda_layout_row ours[] = {CUDA_LAYOUT(T, C)};

#ifdef KWHY_HAVE_CUDA_H
static const struct cuda_layout_row our_batch[] = {CUDA_BATCH_LAYOUT(T, C)};

static void compare(const struct cuda_layout_row *mine, const struct cuda_layout_row *theirs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (mine[i].value != theirs[i].value)
			fail_msg("%s is %zu, %s is %zu", mine[i].what, mine[i].value, theirs[i].what,
				theirs[i].value);
}
#endif

static void sizes_and_constants_are_those_of_the_toolkit(void **state)
{
	(void)state;
#ifdef KWHY_HAVE_CUDA_H
	compare(ours, cuda_layout_of_toolkit, sizeof(ours) / sizeof(ours[0]));
	compare(our_batch, cuda_batch_layout_of_toolkit, cuda_batch_layout_rows);
#else
	(void)ours;
	kwhy_skip("no cuda.h here");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_constants_are_those_of_the_toolkit),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
