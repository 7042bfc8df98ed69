/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab twin` and `kwhy-lab flow`, run as commands on the host back end. */
#include "spawned_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const json_t *row_of(const json_t *rows, const char *id)
{
	size_t i;
	json_t *row;

	json_array_foreach(
		rows, i, row) if (strcmp(json_string_value(json_object_get(row, "id")), id) == 0) return row;
	fail_msg("no row %s", id);
	return NULL;
}

static const json_t *phase_of(const json_t *row)
{
	return json_array_get(json_object_get(row, "phases"), 0);
}

static void every_variant_of_twin_is_a_row_with_times_and_counts(void **state)
{
	json_t *root = json_of(SPAWN("twin", "--backend", "host", "--steps", "4", "--ranks", "2", "--device",
		"0,1", "--repeat", "2", "--json"));
	const json_t *rows = json_object_get(root, "rows");
	static const char *const ids[] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"};

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.twin/1");
	assert_int_equal(json_array_size(rows), 11);
	assert_true(number_in(phase_of(row_of(rows, "cpu")), "run_s", "median") > 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const json_t *row = row_of(rows, ids[i]);

		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(number_in(phase_of(row), "run_s", "median") > 0);
		assert_true(number_in(row, "step_s", "median") > 0);
		assert_true(number_in(row, "a_run", "calls") > 0);
		assert_true(json_is_null(
			json_object_get(json_object_get(phase_of(row), "gross_j_per_item"), "value")));
	}
	assert_true(number_in(row_of(rows, "v9"), NULL, "gpus") == 2);
	assert_true(number_in(row_of(rows, "v0"), "a_run", "h2d_copies") == 4 * 22 - 1);
	assert_true(number_in(row_of(rows, "v8"), "a_run", "h2d_copies") == 0);
	json_decref(root);
}

static void the_text_of_twin_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN("twin", "--backend", "host", "--steps", "2", "--repeat", "1");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	spawned_done(&spawned);
}

static void the_steps_of_twin_go_to_a_csv(void **state)
{
	static char path[] = "kwhy-twin-XXXXXX";
	struct spawned spawned;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	close(made);
	spawned = SPAWN("twin", "--backend", "host", "--steps", "3", "--variant", "v5,v8", "--repeat", "2",
		"--csv", path);
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_int_equal(lines_of(path), 1 + 2 * 2 * 3);
	unlink(path);
}

static void wrong_words_of_twin_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("twin", "--backend", "host", "--variant", "v10"), 2, "no variant 'v10'");
	assert_fails(SPAWN("twin", "--backend", "host", "--variant", ""), 2, "no variant ''");
	assert_fails(SPAWN("twin", "--backend", "host", "--device", ""), 2, "names no GPU");
	assert_fails(SPAWN("twin", "--backend", "host", "--device", "0,0"), 2, "GPU '0' twice");
	assert_fails(SPAWN("twin", "--backend", "tpu"), 2, "--backend takes cuda, hip or host");
	assert_fails(SPAWN("twin", "--backend", "host", "--steps", "289"), 2, "--steps takes 1 to 288");
	assert_fails(SPAWN("twin", "--backend", "host", "--ranks", "9"), 2, "--ranks takes 1 to 8");
	assert_fails(SPAWN("twin", "--backend", "host", "--loop", "shut"), 2, "--loop takes");
	assert_fails(SPAWN("twin", "--backend", "host", "-o", "x.csv"), 2, "--csv FILE");
}

static void checks_of_flow_are_left_out_where_only_runs_are_wanted(void **state)
{
	json_t *root = json_of(SPAWN("flow", "--backend", "host", "--flows", "10", "--steps", "2", "--repeat",
		"1", "--variant", "n3", "--runs-only", "--json"));
	const json_t *row = row_of(json_object_get(root, "rows"), "n3");

	(void)state;
	assert_true(json_is_null(json_object_get(row, "busy_ratio")));
	assert_true(json_is_null(json_object_get(json_object_get(row, "proof"), "error_h")));
	assert_true(number_in(phase_of(row), "run_s", "median") > 0);
	json_decref(root);
}

static void every_variant_and_number_of_flows_is_a_row(void **state)
{
	json_t *root = json_of(SPAWN("flow", "--backend", "host", "--flows", "4,12", "--device", "0,1",
		"--steps", "4", "--repeat", "1", "--json"));
	const json_t *rows = json_object_get(root, "rows"), *row;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.flow/1");
	assert_int_equal(json_array_size(rows), 2 * 9);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		assert_true(json_is_null(json_object_get(row, "wrong")));
		if (!strcmp(json_string_value(json_object_get(row, "id")), "n1"))
			continue; /* the lattice is too large for the host */
		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(number_in(phase_of(row), NULL, "items_per_s") > 0);
	}
	row = row_of(rows, "n6");
	assert_true(number_in(row, NULL, "gpus") == 2);
	assert_true(number_in(row, "a_run", "gathers") == 4);
	assert_true(number_in(row, "proof", "error_h") <= number_in(row, "proof", "tolerance_h"));
	assert_true(number_in(row_of(rows, "n0"), "a_run", "kernels") == 4 * (10 * 4 + 1));
	assert_true(number_in(row_of(rows, "n0"), NULL, "memory_bytes") > 500000 * 16 * 4);
	json_decref(root);
}

static void the_page_of_flow_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN(
		"flow", "--backend", "host", "--flows", "9,8", "--steps", "2", "--repeat", "1");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "flows were where the reference has them"));
	spawned_done(&spawned);
}

/*
 * Runs on fakes of CUDA, cuBLASLt and NVML. The row n3 must have NVML's utilisation, energies and a
 * share of the roofline, since the peak rate of fp32 is measured. The row n4, in bf16, for which
 * the fake has no peak rate, must have a busy share.
 */
static void on_a_gpu_three_utilisations_and_energy_are_known(void **state)
{
	json_t *root;
	const json_t *row;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_CUBLASLT_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	root = json_of(SPAWN("flow", "--flows", "10", "--steps", "3", "--variant", "n3,n4", "--precision",
		"fp32", "--repeat", "1", "--seconds", "1.5", "--json"));
	row = row_of(json_object_get(root, "rows"), "n3");
	assert_string_equal(json_string_value(json_object_get(row, "products")), "cuBLASLt 13.0.2");
	assert_true(number_in(root, "peak_flop_per_s", "fp32") > 0);
	assert_true(number_in(row, NULL, "roofline_ratio") > 0);
	assert_true(json_is_number(json_object_get(row, "nvml_ratio")));
	assert_true(number_in(phase_of(row), NULL, "energy_runs") > 0);
	assert_true(number_in(phase_of(row), "gross_j_per_item", "value") > 0);
	row = row_of(json_object_get(root, "rows"), "n4");
	assert_true(number_in(row, NULL, "busy_ratio") > 0);
	assert_string_equal(json_string_value(json_object_get(row, "precision")), "bf16");
	json_decref(root);
	unsetenv("LD_LIBRARY_PATH");
}

static void wrong_words_of_flow_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("flow", "--backend", "host", "--variant", "n9"), 2, "no variant 'n9'");
	assert_fails(SPAWN("flow", "--backend", "host", "--flows", "10,x"), 2, "--flows takes numbers");
	assert_fails(SPAWN("flow", "--backend", "host", "--flows", "0"), 2, "--flows takes numbers");
	assert_fails(SPAWN("flow", "--steps", "4001"), 2, "--steps takes 1 to 4000");
	assert_fails(SPAWN("flow", "--path", "x"), 2, "--path takes fixed or argmax");
	assert_fails(SPAWN("flow", "--precision", "fp8"), 2, "--precision takes fp32 or tf32");
	assert_fails(SPAWN("flow", "-o", "x.csv"), 2, "flow writes .txt or .json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variant_of_twin_is_a_row_with_times_and_counts),
		cmocka_unit_test(the_text_of_twin_is_no_wider_than_80_columns),
		cmocka_unit_test(the_steps_of_twin_go_to_a_csv),
		cmocka_unit_test(wrong_words_of_twin_are_usage_errors),
		cmocka_unit_test(checks_of_flow_are_left_out_where_only_runs_are_wanted),
		cmocka_unit_test(every_variant_and_number_of_flows_is_a_row),
		cmocka_unit_test(the_page_of_flow_is_no_wider_than_80_columns),
		cmocka_unit_test(on_a_gpu_three_utilisations_and_energy_are_known),
		cmocka_unit_test(wrong_words_of_flow_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
