/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"

#include <math.h>

static enum kwhy_status import_text(const char *text, struct kwhy_profile **out)
{
	enum kwhy_status status;
	char path[32];

	write_file(path, text, strlen(text));
	status = kwhy_import_profile(path, out, &error);
	unlink(path);
	return status;
}

#define FRONT "{\"schema\":\"kwhy.profile/1\",\"device\":{\"name\":\"A\"}"

#define assert_within(value, low, high) assert_true((value) >= (low) && (value) <= (high))

static void check_bundled(const char *path, const char *device_name)
{
	struct kwhy_profile *profile;

	OK(kwhy_import_profile(path, &profile, &error));
	assert_string_equal(profile->device_name, device_name);
	assert_string_equal(profile->driver, "580.159.04");
	assert_string_equal(profile->path, path);
	assert_int_equal(profile->sm_count, 132);
	assert_int_equal(profile->threads_per_sm, 2048);
	/*
	 * The bundled profiles are measured again from time to time, so the limits are wide enough for every
	 * H100 and H200 measured so far.
	 */
	assert_within(profile->sensor.time_constant_s.value, 0.012, 0.016);
	assert_within(profile->sensor.time_constant_s.sd, 1e-4, 2e-3);
	assert_within(profile->sensor.delay_s.value, 0.0025, 0.0045);
	assert_within(profile->sensor.late_share, 0.03, 0.3);
	assert_within(profile->sensor.average_window_s, 0.98, 1.03);
	assert_within(profile->clean_idle_w.value, 70, 90);
	assert_within(profile->context_idle_w.value, 115, 130);
	assert_true(profile->limit_w == 700);
	assert_within(profile->h2d_pinned_rate_bytes_per_s.value, 54e9, 57e9);
	assert_within(profile->launch_s.value, 1e-6, 1e-5);
	assert_true(isnan(profile->memory_rate_bytes_per_s));
	assert_within(profile->peak_flop_per_s[KWHY_PRECISION_FP64], 30e12, 36e12);
	assert_within(profile->peak_flop_per_s[KWHY_PRECISION_FP32], 60e12, 67e12);
	assert_within(profile->peak_flop_per_s[KWHY_PRECISION_TF32], 400e12, 495e12);
	assert_within(profile->peak_flop_per_s[KWHY_PRECISION_BF16], 800e12, 990e12);
	assert_within(profile->peak_flop_per_s[KWHY_PRECISION_FP16], 800e12, 990e12);
	assert_within(profile->peak_flop_per_s[KWHY_PRECISION_FP8], 1.6e15, 1.98e15);
	assert_within(profile->peak_bytes_per_s, 3e12, 4.8e12);
	assert_non_null(profile->measured_on);
	assert_int_equal(profile->known_power_count, 0);
	kwhy_profile_free(profile);
}

static void the_bundled_profiles_hold_what_was_measured_and_nothing_else(void **state)
{
	(void)state;
	check_bundled(KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", "NVIDIA H200");
	check_bundled(KWHY_SOURCE_DIR "/profiles/nvidia-h100.json", "NVIDIA H100 80GB HBM3");
}

static void a_profile_of_a_name_alone_knows_nothing(void **state)
{
	struct kwhy_profile *profile;

	(void)state;
	OK(import_text(FRONT ",\"of the future\":[1]}", &profile));
	assert_string_equal(profile->device_name, "A");
	assert_int_equal(profile->sm_count, 0);
	assert_true(isnan(profile->sensor.time_constant_s.value));
	assert_true(isnan(profile->sensor.late_share));
	assert_true(isnan(profile->d2h_pageable_rate_bytes_per_s.value));
	assert_true(isnan(profile->limit_w));
	for (int i = 0; i < KWHY_PRECISION_COUNT; i++)
		assert_true(isnan(profile->peak_flop_per_s[i]));
	assert_true(isnan(profile->peak_bytes_per_s));
	kwhy_profile_free(profile);
}

#define OPERATIONS(rows) FRONT ",\"operations\":{\"schema\":\"kwhy.ops/1\",\"operations\":[" rows "]}}"
#define OPERATION(id, unit, rate) "{\"id\":\"" id "\",\"unit\":\"" unit "\",\"rate_per_s\":" rate "}"

static void peaks_are_the_fastest_operations_that_were_measured(void **state)
{
	struct kwhy_profile *profile;

	(void)state;
	OK(import_text(
		OPERATIONS(OPERATION("fp64-tensor", "FLOP", "3e13") "," OPERATION(
			"fp64", "FLOP", "2e13") "," OPERATION("fp8-tensor", "FLOP",
			"null") "," OPERATION("memory-read", "B", "4e12") "," OPERATION("memory-copy", "B",
			"3e12") "," OPERATION("cache-read", "B", "9e12") "," OPERATION("int8", "OP", "1e15")),
		&profile));
	assert_true(profile->peak_flop_per_s[KWHY_PRECISION_FP64] == 3e13);
	assert_true(isnan(profile->peak_flop_per_s[KWHY_PRECISION_FP8]));
	assert_true(isnan(profile->peak_flop_per_s[KWHY_PRECISION_FP32]));
	assert_true(profile->peak_bytes_per_s == 4e12);
	kwhy_profile_free(profile);
}

static void operations_that_cannot_be_are_refused_by_name(void **state)
{
	static const char *const cases[][2] = {
		{FRONT ",\"operations\":[]}", "operations has not the schema"},
		{FRONT ",\"operations\":{\"schema\":\"kwhy.ops/1\"}}", "operations.operations is not a list"},
		{OPERATIONS(OPERATION("fp32", "OP", "1e12")), "operations.fp32 is counted in another unit"},
		{OPERATIONS(OPERATION("fp32", "FLOP", "-1")), "operations.fp32 has no rate"},
		{OPERATIONS(OPERATION("memory-read", "B", "1e300")), "operations.memory-read has no rate"},
		{OPERATIONS(OPERATION("memory-read", "B", "\"1e12\"")), "operations.memory-read has no rate"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_profile *profile = NULL;

		refused(import_text(cases[i][0], &profile), cases[i][1]);
		assert_null(profile);
	}
}

static void known_powers_keep_their_order(void **state)
{
	struct kwhy_profile *profile;

	(void)state;
	OK(import_text(FRONT ",\"known_powers\":[{\"pattern\":\"gemm\",\"power_w\":{\"value\":690,\"unit\":"
			     "\"W\",\"spread\":2}},"
			     "{\"pattern\":\"a\\nb\",\"power_w\":{\"value\":100,\"unit\":\"W\"}}]}",
		&profile));
	assert_int_equal(profile->known_power_count, 2);
	assert_string_equal(profile->known_powers[0].pattern, "gemm");
	assert_true(profile->known_powers[0].power_w.value == 690);
	assert_string_equal(profile->known_powers[1].pattern, "a b");
	assert_true(isnan(profile->known_powers[1].power_w.sd));
	kwhy_profile_free(profile);
}

static void what_is_wrong_is_refused_with_its_name(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"", "line 1"},
		{"{\"schema\":", "line 1"},
		{"[]", "is not a machine profile"},
		{"{\"schema\":\"kwhy.profile/2\"}", "is not a machine profile"},
		{"{\"schema\":\"kwhy.profile/1\"}", "device.name is missing"},
		{"{\"schema\":\"kwhy.profile/1\",\"device\":{\"name\":\"\"}}", "device.name is not a text"},
		{"{\"schema\":\"kwhy.profile/1\",\"device\":{\"name\":\"A\",\"multiprocessors\":0}}",
			"device.multiprocessors is not a whole number"},
		{FRONT ",\"power\":{\"clean_idle_w\":79}}", "power.clean_idle_w is not an object"},
		{FRONT ",\"power\":{\"clean_idle_w\":{\"value\":79}}}",
			"power.clean_idle_w has not the unit \"W\""},
		{FRONT ",\"power\":{\"clean_idle_w\":{\"value\":79,\"unit\":\"mW\"}}}",
			"has not the unit \"W\""},
		{FRONT ",\"power\":{\"clean_idle_w\":{\"value\":\"79\",\"unit\":\"W\"}}}",
			"has no value between"},
		{FRONT ",\"power\":{\"clean_idle_w\":{\"value\":-1,\"unit\":\"W\"}}}",
			"has no value between"},
		{FRONT ",\"power\":{\"clean_idle_w\":{\"value\":1,\"spread\":-1,\"unit\":\"W\"}}}",
			"has a spread"},
		{FRONT ",\"sensor\":{\"late_ratio\":{\"value\":20,\"unit\":\"1\"}}}",
			"sensor.late_ratio has no value"},
		{FRONT ",\"known_powers\":{}}", "known_powers is not a list"},
		{FRONT ",\"known_powers\":[{}]}", "known_powers.pattern is missing"},
		{FRONT ",\"known_powers\":[{\"pattern\":\"a\"}]}", "known_powers.power_w is not an object"},
		{FRONT ",\"schema\":\"kwhy.profile/1\"}", "duplicate"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_profile *profile = NULL;

		refused(import_text(cases[i].text, &profile), cases[i].words);
		assert_null(profile);
	}
}

static void a_file_that_is_too_large_or_not_there_is_refused(void **state)
{
	struct kwhy_profile *profile = NULL;
	size_t length = (4 << 20) + 1;
	char *text = malloc(length + 1);

	(void)state;
	assert_non_null(text);
	memset(text, ' ', length);
	text[length] = '\0';
	refused(import_text(text, &profile), "larger than 4 MiB");
	free(text);
	assert_int_equal(kwhy_import_profile("/nonexistent/profile", &profile, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "/nonexistent/profile"));
	assert_null(profile);
}

#define CURVE(segments)                                                                                  \
	",\"transfers\":{\"curves\":[{\"strategy\":\"pinned\",\"direction\":\"h2d\",\"clock\":\"host\"," \
	"\"segments\":[" segments "]}]}}"
#define CHOICE(members) ",\"transfers\":{\"choices\":[{\"direction\":\"h2d\"," members "}]}}"

static void curves_and_the_fastest_ways_of_transfers_are_read(void **state)
{
	struct kwhy_profile *profile;
	const struct kwhy_transfers *transfers;
	const struct kwhy_transfer_segment *segments;

	(void)state;
	OK(import_text(FRONT
		",\"transfers\":{\"curves\":[{\"strategy\":\"pinned\",\"direction\":\"d2h\",\"clock\":"
		"\"host\","
		"\"points\":31,\"segments\":[{\"from_bytes\":1,\"to_bytes\":1024,\"alpha_s\":2e-6,\"beta_s_"
		"per_byte\":0},"
		"{\"from_bytes\":1024,\"to_bytes\":1e9,\"alpha_s\":1e-6,\"beta_s_per_byte\":2e-11}]},"
		"{\"strategy\":\"pinned\",\"direction\":\"h2d\",\"clock\":\"energy\","
		"\"segments\":[{\"from_bytes\":1,\"to_bytes\":2,\"alpha_j\":1e-3,\"beta_j_per_byte\":1e-9}]}]"
		","
		"\"choices\":[{\"direction\":\"h2d\",\"piece_bytes\":16,\"pieces\":64,\"strategy\":"
		"\"packed\","
		"\"median_s\":5e-6,\"second\":\"batch\",\"second_s\":9e-6,\"sure\":true}],"
		"\"overtaking\":{\"put_packed_bytes\":65536,\"get_packed_bytes\":null}}}",
		&profile));
	transfers = profile->transfers;
	assert_non_null(transfers);
	assert_int_equal(transfers->curve_count, 2);
	assert_int_equal(transfers->curves[0].segment_count, 2);
	segments = transfers->curves[0].segments;
	assert_true(segments[0].to_bytes == 1024);
	assert_true(segments[0].alpha_s + segments[0].beta_s_per_byte * 100 == 2e-6);
	assert_true(fabs(segments[1].alpha_s + segments[1].beta_s_per_byte * 1e6 - 21e-6) < 1e-12);
	assert_true(isnan(transfers->curves[0].held_out_ratio));
	assert_true(transfers->curves[1].is_energy);
	assert_int_equal(transfers->choice_count, 1);
	assert_string_equal(transfers->choices[0].second, "batch");
	assert_true(transfers->choices[0].is_sure);
	assert_int_equal(transfers->crossover.put_packed_bytes, 65536);
	assert_int_equal(transfers->crossover.get_packed_bytes, 0);
	kwhy_profile_free(profile);
}

static void transfers_that_cannot_be_are_refused_by_name(void **state)
{
	static const char *const texts[] = {
		FRONT ",\"transfers\":[]}",
		FRONT ",\"transfers\":{\"curves\":{}}}",
		FRONT CURVE(""),
		FRONT CURVE("{\"from_bytes\":1}"),
		FRONT CURVE("{\"from_bytes\":2,\"to_bytes\":1,\"alpha_s\":1,\"beta_s_per_byte\":1}"),
		FRONT CURVE("{\"from_bytes\":1,\"to_bytes\":2,\"alpha_s\":1,\"beta_s_per_byte\":-1}"),
		FRONT CURVE("{\"from_bytes\":1,\"to_bytes\":2,\"alpha_j\":1,\"beta_j_per_byte\":1}"),
		FRONT CHOICE("\"piece_bytes\":0,\"pieces\":1,\"strategy\":\"a\",\"median_s\":1"),
		FRONT CHOICE("\"piece_bytes\":1,\"pieces\":1,\"strategy\":\"\",\"median_s\":1"),
		FRONT CHOICE("\"piece_bytes\":1,\"pieces\":1,\"strategy\":\"a\",\"median_s\":0"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct kwhy_profile *profile;

		assert_int_equal(import_text(texts[i], &profile), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "transfers"));
	}
}

#define KINDS(rows)                                                                                     \
	FRONT ",\"kernel_kinds\":{\"ramp_s\":4e-5,\"ramp_exponent\":0.4,\"fill_exponent\":1,\"kinds\":" \
	      "[" rows "]}}"
#define WATTS "\"above_idle_w\":{\"value\":500,\"spread\":100,\"unit\":\"W\"}"

static void powers_of_kinds_keep_their_order_and_patterns(void **state)
{
	struct kwhy_profile *profile;

	(void)state;
	assert_int_equal(KWHY_OK,
		import_text(KINDS("{\"kind\":\"a\",\"names\":[\"*x*\",\"y*\"]," WATTS "},"
				  "{\"kind\":\"b\",\"names\":[\"*\"]," WATTS "}"),
			&profile));
	assert_int_equal(profile->kernel_kinds.count, 2);
	assert_int_equal(profile->kernel_kinds.items[0].name_count, 2);
	assert_string_equal(profile->kernel_kinds.items[0].names[1], "y*");
	assert_string_equal(profile->kernel_kinds.items[1].kind, "b");
	assert_true(profile->kernel_kinds.items[1].above_idle_w.sd == 100);
	assert_true(profile->kernel_kinds.ramp_s == 4e-5);
	kwhy_profile_free(profile);
}

static void kinds_that_cannot_be_are_refused_by_name(void **state)
{
	static const char *const texts[] = {
		FRONT ",\"kernel_kinds\":[]}",
		FRONT
		",\"kernel_kinds\":{\"ramp_s\":0,\"ramp_exponent\":0.4,\"fill_exponent\":1,\"kinds\":[]}}",
		KINDS(""),
		KINDS("{\"kind\":\"a\",\"names\":[]," WATTS "}"),
		KINDS("{\"kind\":\"a\",\"names\":[\"\"]," WATTS "}"),
		KINDS("{\"kind\":\"a\",\"names\":[\"*\"]}"),
		KINDS("{\"kind\":\"a\",\"names\":[\"*\"],\"above_idle_w\":{\"value\":5,\"spread\":1,\"unit\":"
		      "\"kW\"}}"),
		KINDS("{\"kind\":\"a\",\"names\":[\"*\"],\"above_idle_w\":{\"value\":5,\"spread\":0,\"unit\":"
		      "\"W\"}}"),
		KINDS("{\"names\":[\"*\"]," WATTS "}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct kwhy_profile *profile;

		assert_int_equal(import_text(texts[i], &profile), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "kernel_kinds"));
	}
}

#define COUNTERS(base, spread, read)                                                            \
	FRONT ",\"counter_model\":{\"base_w\":" base ",\"sampling_w\":30,\"spread\":" spread    \
	      ",\"joules\":{\"instructions\":1e-8,"                                             \
	      "\"fma_instructions\":2e-8,\"fp64_cycles\":3e-8,\"tensor_cycles\":4e-8,"          \
	      "\"l1_request_cycles\":5e-8,\"dram_read_bytes\":" read ",\"dram_write_bytes\":0," \
	      "\"l2_sectors\":7e-8}}}"

static void the_power_model_by_counters_is_read_in_their_order(void **state)
{
	struct kwhy_profile *profile;

	(void)state;
	assert_int_equal(KWHY_OK, import_text(COUNTERS("86", "0.14", "6e-8"), &profile));
	assert_true(profile->counter_model.base_w == 86);
	assert_true(profile->counter_model.spread == 0.14);
	assert_true(profile->counter_model.sampling_w == 30);
	assert_true(profile->counter_model.joules[KWHY_PERF_INSTRUCTIONS] == 1e-8);
	assert_true(profile->counter_model.joules[KWHY_PERF_FMA] == 2e-8);
	assert_true(profile->counter_model.joules[KWHY_PERF_FP64] == 3e-8);
	assert_true(profile->counter_model.joules[KWHY_PERF_TENSOR] == 4e-8);
	assert_true(profile->counter_model.joules[KWHY_PERF_L1_REQUESTS] == 5e-8);
	assert_true(profile->counter_model.joules[KWHY_PERF_DRAM_READ] == 6e-8);
	assert_true(profile->counter_model.joules[KWHY_PERF_DRAM_WRITE] == 0);
	assert_true(profile->counter_model.joules[KWHY_PERF_L2_SECTORS] == 7e-8);
	kwhy_profile_free(profile);
}

static void a_power_model_by_counters_that_cannot_be_is_refused_by_name(void **state)
{
	static const struct {
		const char *text, *key;
	} rows[] = {
		{FRONT ",\"counter_model\":[]}", "base_w"},
		{FRONT ",\"counter_model\":{\"base_w\":80,\"spread\":0.1}}", "sampling_w"},
		{FRONT ",\"counter_model\":{\"base_w\":80,\"sampling_w\":30,\"spread\":0.1}}",
			"instructions"},
		{COUNTERS("-1", "0.14", "0"), "base_w"},
		{COUNTERS("86", "0", "0"), "spread"},
		{COUNTERS("86", "0.14", "-1e-9"), "dram_read_bytes"},
		{COUNTERS("86", "0.14", "\"1\""), "dram_read_bytes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kwhy_profile *profile;
		char name[64];

		snprintf(name, sizeof(name), "counter_model.%s is not a number", rows[i].key);
		assert_int_equal(import_text(rows[i].text, &profile), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bundled_profiles_hold_what_was_measured_and_nothing_else),
		cmocka_unit_test(a_profile_of_a_name_alone_knows_nothing),
		cmocka_unit_test(peaks_are_the_fastest_operations_that_were_measured),
		cmocka_unit_test(operations_that_cannot_be_are_refused_by_name),
		cmocka_unit_test(known_powers_keep_their_order),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_name),
		cmocka_unit_test(a_file_that_is_too_large_or_not_there_is_refused),
		cmocka_unit_test(curves_and_the_fastest_ways_of_transfers_are_read),
		cmocka_unit_test(transfers_that_cannot_be_are_refused_by_name),
		cmocka_unit_test(powers_of_kinds_keep_their_order_and_patterns),
		cmocka_unit_test(kinds_that_cannot_be_are_refused_by_name),
		cmocka_unit_test(the_power_model_by_counters_is_read_in_their_order),
		cmocka_unit_test(a_power_model_by_counters_that_cannot_be_is_refused_by_name),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
