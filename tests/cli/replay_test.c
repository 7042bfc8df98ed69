/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy replay` without a GPU: on its host back end, and on its CUDA back end with a fake driver
 * library.
 */
#include "../golden/schema_check.h"
#include "base/file.h"
#include "spawned_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TINY KWHY_SOURCE_DIR "/tests/golden/tiny.csv"

static json_t *load(const struct spawned *spawned)
{
	json_t *document = json_in(spawned);

	assert_keeps_to_schema("replay", document);
	return document;
}

static json_int_t count(const json_t *document, const char *part, const char *inner, const char *key)
{
	return json_integer_value(
		json_object_get(json_object_get(json_object_get(document, part), inner), key));
}

static void an_imported_trace_is_rehearsed_and_says_so(void **state)
{
	struct spawned spawned = SPAWN(
		"replay", "--json", "--assume-power", "150", "-q", "--backend", "host", TINY);
	json_t *replay = load(&spawned);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(json_string_value(json_object_get(replay, "schema")), "kwhy.replay/1");
	assert_true(json_is_true(json_object_get(replay, "rehearsal")));
	assert_true(count(replay, "as_recorded", "pattern", "kernels") > 10);
	assert_true(json_is_null(json_object_get(replay, "changed")));
	/*
	 * The recording has two devices, and a replay runs the work of one. Of the energy only the sum over
	 * both is known, so the recorded energy to compare with is null.
	 */
	assert_true(count(replay, "as_recorded", "otherwise", "other_devices") > 0);
	assert_true(json_is_null(json_object_get(
		json_object_get(json_object_get(replay, "as_recorded"), "recorded"), "energy_j")));
	json_decref(replay);
	spawned_done(&spawned);
}

static void a_changed_replay_stands_beside_its_projection(void **state)
{
	struct spawned spawned = SPAWN(
		"replay", "--thin-collectives=2", "--pinned", "-q", "--backend", "host", TINY);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "projected"));
	assert_non_null(strstr(spawned.out.data, "a rehearsal"));
	spawned_done(&spawned);
}

static const char *on_fakes(void)
{
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	return KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR;
}

/*
 * The fake meter reads 124 W at all times. The power of each proxy kernel and the energy of the replayed runs
 * must be computed from that.
 */
static void a_meter_tells_powers_and_energy(void **state)
{
	struct spawned spawned;
	json_t *replay, *proxy, *energy;

	(void)state;
	setenv("LD_LIBRARY_PATH", on_fakes(), 1);
	spawned = SPAWN("replay", "--repeat", "1", "--seconds", "0.5", "--json", "-q", "--assume-power",
		"compute=300,collective=300,copy=150,memset=150,idle=100", TINY);
	unsetenv("LD_LIBRARY_PATH");
	replay = load(&spawned);
	proxy = json_array_get(json_object_get(replay, "standins"), 0);
	energy = json_object_get(json_object_get(replay, "as_recorded"), "energy_j");
	assert_true(json_is_null(json_object_get(replay, "energy_missing")));
	assert_true(json_number_value(json_object_get(energy, "value")) > 0);
	/*
	 * Mean power of the recorded kernels of this proxy. Each is assumed to draw 300 W alone, and less
	 * while it shares the device with other work; 279.8 W is the mean over their time.
	 */
	assert_float_equal(json_number_value(json_object_get(proxy, "recorded_w")), 279.807692, 1e-6);
	assert_true(json_number_value(json_object_get(proxy, "power_w")) > 60);
	json_decref(replay);
	spawned_done(&spawned);
}

/* Writes a recording of ten kernels of 2 ms on one device, each followed by a wait of the host. */
static void write_recording(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs("# device 0 name=\"Example GPU\" sms=132\nkind,name,device,stream,start_ns,end_ns,bytes,blocks,"
	      "threads_per_block\n",
		file);
	for (int i = 0; i < 10; i++) {
		int start_ns = 3000000 * i;

		fprintf(file, "kernel,burn,0,7,%d,%d,,132,256\n", start_ns, start_ns + 2000000);
		fprintf(file, "sync,cudaStreamSynchronize,,,%d,%d,,,\n", start_ns + 10000,
			start_ns + 2005000);
	}
	fclose(file);
}

/*
 * Replays write_recording()'s recording with `powers` as assumed powers, on a fake GPU whose metered power
 * depends on the kernels that run. The caller owns the result.
 */
static json_t *replayed_at(const char *powers)
{
	char path[] = "/tmp/kwhy-replay-XXXXXX.csv";
	char drawn[] = "/tmp/kwhy-fake-load-XXXXXX";
	struct spawned spawned;
	json_t *replay;

	close(mkstemp(drawn));
	close(mkstemps(path, (int)strlen(".csv")));
	write_recording(path);
	setenv("LD_LIBRARY_PATH", on_fakes(), 1);
	setenv("KWHY_FAKE_GPU_LOAD", drawn, 1);
	spawned = SPAWN("replay", "--repeat", "1", "--seconds", "0.5", "--json", "-q", "--assume-power",
		powers, path);
	unsetenv("KWHY_FAKE_GPU_LOAD");
	unsetenv("LD_LIBRARY_PATH");
	unlink(drawn);
	unlink(path);
	replay = load(&spawned);
	spawned_done(&spawned);
	return replay;
}

static double number(const json_t *replay, const char *key)
{
	return json_number_value(json_object_get(replay, key));
}

static double recorded_net(const json_t *replay)
{
	return number(json_object_get(json_object_get(replay, "as_recorded"), "recorded"), "net_j");
}

/*
 * The replay tries several work factors of its proxy kernels. It must keep the one whose net energy differs
 * least from the recorded one. How much it differs is not checked, as that depends on the load of the host.
 */
static void stand_ins_work_more_or_less_to_draw_what_was_recorded(void **state)
{
	json_t *replay = replayed_at("compute=220,idle=100"), *step;
	double wanted_j = recorded_net(replay), first_off = NAN, least_off = INFINITY, factor = NAN;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(replay, "settling"), i, step)
	{
		double off = number(step, "net_j") / wanted_j - 1;

		if (json_is_null(json_object_get(step, "net_j")))
			continue;
		first_off = isfinite(first_off) ? first_off : off;
		factor = fabs(off) < least_off ? number(step, "work_factor") : factor;
		least_off = fmin(least_off, fabs(off));
	}
	assert_float_equal(number(replay, "first_net_off_ratio"), first_off, 1e-6);
	assert_float_equal(number(replay, "work_factor"), factor, 1e-9);
	json_decref(replay);
}

static void a_power_that_no_stand_in_reaches_is_told(void **state)
{
	json_t *replay = replayed_at("compute=9000,idle=100");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(replay, "work_bound")), "all work");
	assert_true(number(replay, "first_net_off_ratio") < -0.3);
	json_decref(replay);
}

/*
 * The fake driver must be able to replay what the host back end can: kernels of length 0, many copies, waits
 * and several threads.
 */
static void a_driver_runs_what_the_host_does(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("LD_LIBRARY_PATH", on_fakes(), 1);
	spawned = SPAWN("replay", "--graph", "--repeat", "2", "--seconds", "0", "-q", TINY);
	unsetenv("LD_LIBRARY_PATH");
	if (spawned.exit != 0)
		fail_msg("%s", spawned.err.data);
	assert_non_null(strstr(spawned.out.data, "(cuda), 2 times"));
	assert_null(strstr(spawned.out.data, "rehearsal"));
	spawned_done(&spawned);
}

/*
 * Starts a replay on the host that would take an hour, and sends SIGTERM `seconds` after its start. Returns
 * the status of system().
 */
static int interrupt_after(int seconds)
{
	char line[512];

	snprintf(line, sizeof(line),
		"'" KWHY_PROGRAM "' replay --backend host --repeat 100000 --thin-collectives=2 -q "
		"-o replay-stopped.json '" TINY "' & child=$!; sleep %d; kill -TERM $child; wait $child",
		seconds);
	return system(line); // NOLINT(cert-env33-c): a shell sends the interrupt
}

static void an_interrupt_leaves_the_runs_before(void **state)
{
	struct kwhy_text text = {0};
	struct kwhy_error error;
	json_t *replay;
	int status = 0;

	(void)state;
	unlink("replay-stopped.json");
	/* if the first run has not ended, there is no file: tries again with twice the time */
	for (int seconds = 2; access("replay-stopped.json", F_OK) && seconds <= 64; seconds *= 2)
		status = interrupt_after(seconds);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(kwhy_file_read("replay-stopped.json", 1 << 20, &text, &error), KWHY_OK);
	replay = json_loads(text.data, 0, NULL);
	assert_keeps_to_schema("replay", replay);
	assert_true(json_integer_value(json_object_get(json_object_get(replay, "as_recorded"), "runs")) > 0);
	assert_true(json_is_null(json_object_get(replay, "changed")));
	assert_non_null(
		strstr(json_string_value(json_object_get(replay, "ended")), "it was interrupted, after "));
	json_decref(replay);
	kwhy_text_done(&text);
	unlink("replay-stopped.json");
}

static void what_changed_replays_write_holds_to_the_schema(void **state)
{
	struct spawned spawned = SPAWN("replay", "--thin-collectives=2", "--graph", "--json", "-q",
		"--backend", "host", "--assume-power", "150", TINY);
	json_t *replay = load(&spawned), *changed = json_object_get(replay, "changed");

	(void)state;
	assert_true(json_is_object(changed));
	assert_int_equal(json_array_size(json_object_get(changed, "changes")), 1);
	assert_int_equal(json_array_size(json_object_get(replay, "refused")), 1);
	json_decref(replay);
	spawned_done(&spawned);
}

static void wrong_usage_is_reported(void **state)
{
	(void)state;
	assert_fails(SPAWN("replay"), 2, "needs a recording");
	assert_fails(SPAWN("replay", "--repeat", "100001", TINY), 2, "--repeat takes 1 to");
	assert_fails(SPAWN("replay", "--repeat", "0", TINY), 2, "--repeat takes 1 to");
	assert_fails(SPAWN("replay", "--seconds", "601", TINY), 2, "--seconds takes 0");
	assert_fails(SPAWN("replay", "--backend", "vulkan", TINY), 2, "--backend");
	assert_fails(SPAWN("replay", "-o", "x.csv", TINY), 2, ".txt and .json");
	assert_fails(SPAWN("replay", "--batch", "1", TINY), 2, "--batch takes a number from 2 to 4294967295");
	assert_fails(
		SPAWN("replay", "--host-speed", "200", TINY), 2, "a replay has the host that it runs on");
}

static void a_gpu_that_is_not_there_is_told_with_the_cure(void **state)
{
	struct spawned spawned = SPAWN("replay", "--device", "9", "-q", TINY);

	(void)state;
	assert_int_equal(spawned.exit, 1);
	assert_int_equal(spawned.out.length, 0);
	assert_true(spawned.err.length > 0);
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_imported_trace_is_rehearsed_and_says_so),
		cmocka_unit_test(a_changed_replay_stands_beside_its_projection),
		cmocka_unit_test(a_driver_runs_what_the_host_does),
		cmocka_unit_test(a_meter_tells_powers_and_energy),
		cmocka_unit_test(stand_ins_work_more_or_less_to_draw_what_was_recorded),
		cmocka_unit_test(a_power_that_no_stand_in_reaches_is_told),
		cmocka_unit_test(an_interrupt_leaves_the_runs_before),
		cmocka_unit_test(what_changed_replays_write_holds_to_the_schema),
		cmocka_unit_test(wrong_usage_is_reported),
		cmocka_unit_test(a_gpu_that_is_not_there_is_told_with_the_cure),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
