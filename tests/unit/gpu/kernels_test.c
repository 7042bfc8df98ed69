/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "vendor/rtc.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

static void compile_file(const struct kwhy_rtc *rtc, const char *path, const char *architecture)
{
	const char *const options[] = {architecture, NULL};
	struct kwhy_text text = {0};
	struct kwhy_rtc_code code;
	struct kwhy_error error;

	if (kwhy_file_read(path, 1 << 20, &text, &error))
		fail_msg("%s", error.text);
	if (kwhy_rtc_compile(rtc, strrchr(path, '/') + 1, text.data, options, &code, &error)) {
		/* the installed compiler is older than this architecture: nothing to check */
		if (!strstr(error.text, "NVRTC_ERROR_INVALID_OPTION"))
			fail_msg("%s for %s: %s", path, architecture, error.text);
	} else {
		assert_true(code.count > 64);
		free(code.bytes);
	}
	kwhy_text_done(&text);
}

/*
 * Glob patterns of file names: KWHY_KERNELS for all kernels, KWHY_HIP_KERNELS for those that HIP runs, too.
 */
#ifndef KWHY_HIP_KERNELS
#define KWHY_HIP_KERNELS KWHY_KERNELS
#endif

static void compile_all(enum kwhy_driver_vendor vendor, const char *pattern, const char *const *architectures)
{
	struct kwhy_error error;
	struct kwhy_rtc rtc;
	size_t compiled = 0;
	glob_t files;

	if (kwhy_rtc_open(vendor, &rtc, &error))
		kwhy_skip(error.text);
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++)
		for (const char *const *architecture = architectures; *architecture;
			architecture++, compiled++)
			compile_file(&rtc, files.gl_pathv[i], *architecture);
	assert_true(compiled > 0);
	globfree(&files);
	kwhy_rtc_close(&rtc);
}

static void every_kernel_compiles_for_the_gpus_that_nvrtc_knows(void **state)
{
	static const char *const architectures[] = {
		"--gpu-architecture=sm_80", "--gpu-architecture=sm_90", "--gpu-architecture=sm_100", NULL};

	(void)state;
	compile_all(KWHY_DRIVER_CUDA, KWHY_KERNELS, architectures);
}

static void every_kernel_compiles_for_the_gpus_that_hiprtc_knows(void **state)
{
	static const char *const architectures[] = {"--gpu-architecture=gfx90a", NULL};

	(void)state;
	compile_all(KWHY_DRIVER_HIP, KWHY_HIP_KERNELS, architectures);
}

static void what_the_compiler_says_is_in_the_error(void **state)
{
	static const char *const options[] = {"--gpu-architecture=sm_90", NULL};
	struct kwhy_rtc_code code;
	struct kwhy_error error;
	struct kwhy_rtc rtc;

	(void)state;
	if (kwhy_rtc_open(KWHY_DRIVER_CUDA, &rtc, &error))
		kwhy_skip(error.text);
	assert_int_equal(
		kwhy_rtc_compile(&rtc, "wrong.cu", "int f( {", options, &code, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "NVRTC cannot compile wrong.cu"));
	assert_non_null(strstr(error.text, "wrong.cu(1)"));
	kwhy_rtc_close(&rtc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_compiles_for_the_gpus_that_nvrtc_knows),
		cmocka_unit_test(every_kernel_compiles_for_the_gpus_that_hiprtc_knows),
		cmocka_unit_test(what_the_compiler_says_is_in_the_error),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
