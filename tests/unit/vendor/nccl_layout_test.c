/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "nccl_layout.h"
#include "vendor/nccl_abi.h"

#include <stdlib.h>

#define T(ours, theirs) {#ours, sizeof(ours)},
#define C(ours, theirs) {#ours, (size_t)(ours)},

static const struct nccl_layout_row ours[] = {NCCL_LAYOUT(T, C)};

static void sizes_and_constants_are_those_of_the_header(void **state)
{
	size_t count = sizeof(ours) / sizeof(ours[0]);

	(void)state;
#ifdef KWHY_HAVE_NCCL_H
	for (size_t i = 0; i < count; i++)
		if (ours[i].value != nccl_layout_of_toolkit[i].value)
			fail_msg("%s is %zu, %s is %zu", ours[i].what, ours[i].value,
				nccl_layout_of_toolkit[i].what, nccl_layout_of_toolkit[i].value);
#else
	(void)count;
	kwhy_skip("no nccl.h here");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_constants_are_those_of_the_header),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
