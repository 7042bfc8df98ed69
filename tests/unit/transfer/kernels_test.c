/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "transfer/kernels.h"
#include "vendor/rtc.h"

#include <stdlib.h>
#include <string.h>

/* Compiles the kernels' source with NVRTC for each of these architectures that this NVRTC knows. */
static void compile_all(const struct kwhy_rtc *rtc, const struct kwhy_gpu_source *source)
{
	static const char *const architectures[] = {
		"--gpu-architecture=sm_80", "--gpu-architecture=sm_90", "--gpu-architecture=sm_100"};
	struct kwhy_error error;

	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++) {
		const char *const options[] = {architectures[i], NULL};
		struct kwhy_rtc_code code;

		if (kwhy_rtc_compile(rtc, source->title, source->text, options, &code, &error)) {
			/* An older NVRTC does not know the newest architectures. */
			if (strstr(error.text, "NVRTC_ERROR_INVALID_OPTION"))
				break;
			fail_msg("%s", error.text);
		}
		assert_memory_equal(code.bytes, "\177ELF", 4);
		free(code.bytes);
	}
}

static void kernels_compile(void **state)
{
	struct kwhy_error error;
	struct kwhy_rtc rtc;

	(void)state;
	if (kwhy_rtc_open(KWHY_DRIVER_CUDA, &rtc, &error))
		kwhy_skip(error.text);
	compile_all(&rtc, &kwhy_transfer_kernels);
	compile_all(&rtc, &kwhy_transfer_convert_kernels);
	kwhy_rtc_close(&rtc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_compile)};

	return kwhy_test_main(tests, NULL, NULL);
}
