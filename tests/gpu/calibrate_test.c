/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy calibrate` on a real NVIDIA GPU that nothing else uses meanwhile. Takes some 15 s; skipped
 * where there is no GPU.
 */
#include "../cli/spawn.h"
#include "../golden/schema_check.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static double figure(const json_t *document, const char *part, const char *key)
{
	const json_t *place = json_object_get(json_object_get(document, part), key);

	return place ? json_number_value(json_object_get(place, "value")) : NAN;
}

static json_t *calibrate(void)
{
	struct spawned spawned = SPAWN("calibrate", "--quick", "--json", "-q");
	json_t *profile;

	if (spawned.exit)
		fail_msg("%s", spawned.err.data);
	profile = json_loadb(spawned.out.data, spawned.out.length, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(profile);
	spawned_done(&spawned);
	return profile;
}

static double error_of(const json_t *load, const char *method)
{
	return json_number_value(
		json_object_get(json_object_get(json_object_get(load, "energies"), method), "error_ratio"));
}

static void a_real_gpu_is_measured_plausibly(void **state)
{
	json_t *profile = calibrate(), *load;
	size_t i;

	(void)state;
	assert_keeps_to_schema("profile", profile);
	assert_true(figure(profile, "power", "context_idle_w") > 5);
	assert_false(
		figure(profile, "power", "clean_idle_w") > figure(profile, "power", "context_idle_w") + 2);
	assert_true(figure(profile, "cost", "launch_s") < 1e-3);
	json_array_foreach(json_object_get(json_object_get(profile, "self_test"), "loads"), i, load)
		assert_true(fabs(error_of(load, "window")) < 0.05);
	json_decref(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_real_gpu_is_measured_plausibly)};

	if (access("/dev/nvidiactl", R_OK)) {
		return kwhy_skip_all("no NVIDIA GPU here");
	}
	return kwhy_test_main(tests, NULL, NULL);
}
