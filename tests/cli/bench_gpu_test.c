/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests `kwhy bench` on its CUDA back end. The CUDA driver library that it loads is a fake, which runs the
 * kernels on the host.
 */
static int begin(void **state)
{
	(void)state;
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	return setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
}

static int on_cuda(void **state)
{
	(void)state;
	unsetenv("KWHY_FAKE_CUDA");
	return setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
}

static void assert_said(const struct spawned *spawned, const char *words)
{
	if (!strstr(spawned->out.data, words))
		fail_msg("not said: %s\n%s\n%s", words, spawned->out.data, spawned->err.data);
}

static void a_gpu_that_is_lost_ends_transfers_with_what_was_measured(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_CUDA", "fail:cuMemcpyAsync:2000:700", 1);
	spawned = SPAWN("bench", "transfer", "--quick", "--max-size", "64KiB", "--time", "3600", "-q");
	assert_int_equal(spawned.exit, 1);
	assert_said(&spawned, "From device to host");
	assert_said(&spawned, "lost");
	spawned_done(&spawned);
}

static void where_no_gpu_is_found_the_host_is_named(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_CUDA_DEVICES", "0", 1);
	spawned = SPAWN("bench", "ops", "-q");
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "; --backend host needs no GPU\n"));
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_gpu_that_is_lost_ends_transfers_with_what_was_measured, on_cuda),
		cmocka_unit_test_setup(where_no_gpu_is_found_the_host_is_named, on_cuda),
	};

	return kwhy_test_main(tests, begin, NULL);
}
