/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "gpu/kernels.h"
#include "vendor/rtc.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} sources[] = {{"burn.cu", kwhy_kernels_burn}, {"gate.cu", kwhy_kernels_gate}};

static void compile_all(const struct kwhy_rtc *rtc, const char *architecture)
{
	const char *const options[] = {architecture, NULL};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct kwhy_rtc_code code;
		struct kwhy_error error;

		if (kwhy_rtc_compile(rtc, sources[i].name, sources[i].text, options, &code, &error)) {
			/* An older compiler may not know the newest GPU. */
			if (strstr(error.text, "NVRTC_ERROR_INVALID_OPTION"))
				return;
			fail_msg("%s", error.text);
		}
		assert_memory_equal(code.bytes, "\177ELF", 4);
		free(code.bytes);
	}
}

static void every_kernel_compiles_for_the_gpus_that_the_compiler_knows(void **state)
{
	struct kwhy_error error;
	struct kwhy_rtc rtc;

	(void)state;
	if (kwhy_rtc_open(KWHY_DRIVER_CUDA, &rtc, &error)) {
		print_message("%s\n", error.text);
		exit(77);
	}
	compile_all(&rtc, "--gpu-architecture=sm_80");
	compile_all(&rtc, "--gpu-architecture=sm_90");
	compile_all(&rtc, "--gpu-architecture=sm_100");
	kwhy_rtc_close(&rtc);
}

static void what_the_compiler_says_is_in_the_error(void **state)
{
	static const char *const options[] = {"--gpu-architecture=sm_90", NULL};
	struct kwhy_rtc_code code;
	struct kwhy_error error;
	struct kwhy_rtc rtc;

	(void)state;
	if (kwhy_rtc_open(KWHY_DRIVER_CUDA, &rtc, &error))
		skip();
	assert_int_equal(
		kwhy_rtc_compile(&rtc, "wrong.cu", "int f( {", options, &code, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "NVRTC cannot compile wrong.cu"));
	assert_non_null(strstr(error.text, "wrong.cu(1)"));
	kwhy_rtc_close(&rtc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_compiles_for_the_gpus_that_the_compiler_knows),
		cmocka_unit_test(what_the_compiler_says_is_in_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
