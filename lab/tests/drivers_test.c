/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Runs kwhy-lab on fakes of the drivers of CUDA 13.0, 12.8, 11.4 and HIP. A fake driver has the functions of
 * that version, and runs the kernels compiled as C for the host. kwhy-lab itself checks every byte and every
 * bit of the results.
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

static void run_twin(const char *backend, const char *folder)
{
	struct spawned spawned;
	char folders[2048];

	snprintf(folders, sizeof(folders), "%s:%s", folder, KWHY_FAKE_CUDA_DIR);
	setenv("LD_LIBRARY_PATH", folders, 1);
	spawned = SPAWN("twin", "--backend", backend, "--steps", "12", "--repeat", "1", "--seconds", "0");
	if (spawned.exit != 0)
		fail_msg("%s", spawned.err.data);
	assert_said(&spawned, "every step of every run gave the bits of the reference");
	assert_said(&spawned, "\n  v8 ");
	spawned_done(&spawned);
}

static void every_driver_gives_the_bits_of_the_reference(void **state)
{
	(void)state;
	run_twin("cuda", KWHY_FAKE_CUDA_DIR);
	run_twin("cuda", KWHY_FAKE_CUDA_12_DIR);
	run_twin("cuda", KWHY_FAKE_CUDA_11_DIR);
	run_twin("hip", KWHY_FAKE_HIP_DIR);
}

static void two_gpus_in_a_ring_give_them_too(void **state)
{
	struct spawned spawned = SPAWN("twin", "--device", "0,1", "--ranks", "4", "--variant",
		"v5,v6,v7,v8,v9", "--steps", "12", "--repeat", "1", "--seconds", "0");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_said(&spawned, "4 ranks");
	assert_said(&spawned, "and others (cuda): ");
	assert_said(&spawned, "every step of every run gave the bits of the reference");
	spawned_done(&spawned);
}

static void a_gpu_that_is_lost_ends_twin_with_what_was_measured(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_CUDA", "fail:cuMemcpyBatchAsync_v2:3:719", 1);
	spawned = SPAWN("twin", "--steps", "12", "--repeat", "1", "--seconds", "0", "-q");
	assert_int_equal(spawned.exit, 1);
	assert_said(&spawned, "\n  v0 ");
	assert_said(&spawned, "ended ");
	assert_said(&spawned, "lost to this");
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_driver_gives_the_bits_of_the_reference, on_cuda),
		cmocka_unit_test_setup(two_gpus_in_a_ring_give_them_too, on_cuda),
		cmocka_unit_test_setup(a_gpu_that_is_lost_ends_twin_with_what_was_measured, on_cuda),
	};

	return kwhy_test_main(tests, begin, NULL);
}
