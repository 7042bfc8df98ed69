/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "gpu/kernels.h"
#include "vendor/nvrtc.h"

#include <stdlib.h>
#include <string.h>

static void every_kernel_compiles_for_the_gpus_that_the_compiler_knows(void **state)
{
	static const int architectures[] = {80, 90, 100};
	struct kwhy_nvrtc nvrtc;
	struct kwhy_error error;

	(void)state;
	if (kwhy_nvrtc_open(&nvrtc, &error)) {
		print_message("%s\n", error.text);
		exit(77);
	}
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++) {
		char *cubin;

		if (kwhy_nvrtc_compile(
			    &nvrtc, "burn.cu", kwhy_kernels_burn, NULL, architectures[i], &cubin, &error)) {
			/* An older compiler may not know the newest GPU. */
			if (strstr(error.text, "NVRTC_ERROR_INVALID_OPTION"))
				continue;
			fail_msg("%s", error.text);
		}
		assert_memory_equal(cubin, "\177ELF", 4);
		free(cubin);
	}
	kwhy_nvrtc_close(&nvrtc);
}

static void what_the_compiler_says_is_in_the_error(void **state)
{
	struct kwhy_nvrtc nvrtc;
	struct kwhy_error error;
	char *cubin;

	(void)state;
	if (kwhy_nvrtc_open(&nvrtc, &error))
		skip();
	assert_int_equal(kwhy_nvrtc_compile(&nvrtc, "wrong.cu", "int f( {", NULL, 90, &cubin, &error),
		KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "NVRTC cannot compile wrong.cu"));
	assert_non_null(strstr(error.text, "wrong.cu(1)"));
	kwhy_nvrtc_close(&nvrtc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_compiles_for_the_gpus_that_the_compiler_knows),
		cmocka_unit_test(what_the_compiler_says_is_in_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
