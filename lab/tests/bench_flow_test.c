/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab flow` as a shell sees it, on the host's back end and on fake libraries of NVIDIA's. */
#include "spawned_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const json_t *row_of(const json_t *root, const char *id, int flows)
{
	const json_t *rows = json_object_get(root, "variants");
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) if (strcmp(json_string_value(json_object_get(row, "id")), id) == 0 &&
		json_integer_value(json_object_get(row, "flows")) == flows) return row;
	fail_msg("no row %s of %d flows", id, flows);
	return NULL;
}

static void every_variant_and_number_of_flows_is_a_row(void **state)
{
	json_t *root = json_of(SPAWN(
		"flow", "--backend", "host", "--flows", "3,12", "--steps", "4", "--repeat", "2", "--json"));
	static const char *const ids[] = {"n0", "n0c", "n0p", "n0t", "n2", "n2t", "n3", "n4", "n5", "n5w"};

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.flow/1");
	assert_int_equal(json_array_size(json_object_get(root, "variants")), 2 * 13);
	assert_true(number_in(row_of(root, "cpu", 12), NULL, "flow_steps_per_s") > 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const json_t *row = row_of(root, ids[i], 12);

		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(json_is_null(json_object_get(row, "wrong")));
		assert_true(number_in(row, "step_s", "median") >= 0);
		assert_true(number_in(row, NULL, "flow_steps_per_s") > 0);
		assert_true(number_in(row, "a_run", "calls") > 0);
		assert_true(number_in(row, "proof", "error_h") <= number_in(row, "proof", "tolerance_h"));
		assert_true(json_is_null(json_object_get(row, "nvml_ratio")));
		assert_null(json_object_get(row, "components"));
		assert_true(number_in(row, "a_run", "text_lines") >= 0);
	}
	assert_non_null(strstr(
		json_string_value(json_object_get(row_of(root, "n1", 3), "missing")), "run n1 on a GPU"));
	assert_non_null(
		strstr(json_string_value(json_object_get(row_of(root, "n6", 3), "missing")), "--device 0,1"));
	assert_true(number_in(row_of(root, "n0", 12), "a_run", "launches") == 4 * (10 * 12 + 1));
	/* 500,000 cells of 16 floats, at least; a workspace of each step counts as one that stays */
	assert_true(number_in(row_of(root, "n0", 12), NULL, "memory_bytes") > 500000 * 16 * 4);
	assert_true(number_in(row_of(root, "n0", 12), NULL, "memory_bytes") ==
		number_in(row_of(root, "n0c", 12), NULL, "memory_bytes"));
	assert_true(number_in(row_of(root, "n5w", 12), NULL, "memory_bytes") >
		number_in(row_of(root, "n3", 12), NULL, "memory_bytes"));
	assert_true(json_is_null(json_object_get(row_of(root, "n6", 3), "memory_bytes")));
	json_decref(root);
}

static void more_flows_than_the_proof_has_are_proved_by_more(void **state)
{
	json_t *root = json_of(SPAWN("flow", "--backend", "host", "--flows", "9,1001", "--steps", "2",
		"--variant", "n3", "--repeat", "1", "--json"));
	const json_t *few = json_object_get(row_of(root, "n3", 9), "crowd"),
		     *many = json_object_get(row_of(root, "n3", 1001), "crowd");

	(void)state;
	assert_null(few);
	assert_int_equal(json_integer_value(json_object_get(many, "flows")), 1001);
	assert_int_equal(json_integer_value(json_object_get(many, "steps")), 3);
	assert_true(json_real_value(json_object_get(many, "worst_h")) < 1e-5);
	json_decref(root);
}

static void several_gpus_have_their_flows_where_one_has_them(void **state)
{
	json_t *root = json_of(SPAWN("flow", "--backend", "host", "--device", "0,1", "--flows", "12",
		"--steps", "4", "--variant", "n2,n6", "--repeat", "2", "--json"));
	const json_t *row = row_of(root, "n6", 12);

	(void)state;
	assert_true(json_is_null(json_object_get(row, "missing")));
	assert_true(json_is_null(json_object_get(row, "wrong")));
	assert_true(number_in(row, NULL, "gpus") == 2);
	assert_true(number_in(row_of(root, "n2", 12), NULL, "gpus") == 1);
	assert_string_equal(json_string_value(json_object_get(row, "collectives")), "own");
	assert_true(json_is_null(json_object_get(row_of(root, "n2", 12), "collectives")));
	assert_true(number_in(row, "a_run", "peer_copies") == 2 * 4);
	assert_true(number_in(row, "a_run", "peer_bytes") == 12 * 40 * 4 * 4);
	json_decref(root);
}

static double component(const json_t *row, const char *name, const char *member)
{
	const json_t *components = json_object_get(row, "components");
	size_t i;
	json_t *one;

	json_array_foreach(
		components, i, one) if (strcmp(json_string_value(json_object_get(one, "name")), name) ==
		0) return json_is_null(json_object_get(one, member))
		? NAN
		: number_in(one, NULL, member);
	return NAN;
}

static void assert_has_components(const json_t *row, bool has_text)
{
	static const char *const names[] = {"neuron", "carrier", "memory operations", "text bridge"};
	double sum = 0;

	for (size_t i = 0; i < 3 + (size_t)has_text; i++) {
		const double time_ratio = component(row, names[i], "time_ratio"),
			     busy_ratio = component(row, names[i], "busy_ratio");

		sum += time_ratio;
		/* on a busy machine another one may take nearly all of the run */
		assert_true(time_ratio < 1e-3 ? isnan(busy_ratio) : busy_ratio > 0);
	}
	assert_true(sum > 0.1 && sum <= 1);
	assert_int_equal(json_array_size(json_object_get(row, "components")), 3 + (size_t)has_text);
	assert_true(number_in(row, NULL, "apart_run_s") > 0);
}

static void components_stand_beside_those_of_the_document(void **state)
{
	json_t *root = json_of(SPAWN("flow", "--backend", "host", "--flows", "200", "--steps", "2",
		"--variant", "n2,n2t,n4", "--repeat", "1", "--components", "--json"));
	const json_t *text = row_of(root, "n2t", 200);

	(void)state;
	assert_has_components(text, true);
	assert_has_components(row_of(root, "n2", 200), false);
	assert_null(json_object_get(row_of(root, "n4", 200), "components"));
	assert_true(number_in(text, "a_run", "text_lines") > 0);
	assert_true(number_in(row_of(root, "n2", 200), "a_run", "text_lines") == 0);
	assert_true(component(text, "neuron", "document_ratio") == 0.05);
	assert_true(component(text, "carrier", "document_ratio") == 0.15);
	assert_true(component(text, "memory operations", "document_ratio") == 0.35);
	assert_true(component(text, "text bridge", "document_ratio") == 0.25);
	/* The host's back end has no rate to compare with. */
	assert_true(isnan(component(text, "carrier", "roofline_ratio")));
	json_decref(root);
}

static size_t place_of_range(const json_t *ranges, const char *name)
{
	for (size_t i = 0; i < json_array_size(ranges); i++)
		if (strcmp(json_string_value(json_object_get(json_array_get(ranges, i), "name")), name) == 0)
			return i;
	fail_msg("no range '%s'", name);
	return 0;
}

static json_int_t count_of_range(const json_t *report, const char *name)
{
	const json_t *ranges = json_object_get(report, "ranges");

	return json_integer_value(
		json_object_get(json_array_get(ranges, place_of_range(ranges, name)), "count"));
}

static bool overlap(const json_t *report, const char *a, const char *b)
{
	const json_t *ranges = json_object_get(report, "ranges");
	const json_t *places = json_object_get(json_array_get(ranges, place_of_range(ranges, a)), "overlaps");

	for (size_t i = 0; i < json_array_size(places); i++)
		if ((size_t)json_integer_value(json_array_get(places, i)) == place_of_range(ranges, b))
			return true;
	return false;
}

/* A first run and a timed one, of two steps each. */
static void a_recording_has_components_as_ranges(void **state)
{
	static char path[] = "kwhy-flow-XXXXXX";
	static const char *const words[] = {"record", "-q", "--one-file", "-o", path, "--", KWHY_PROGRAM,
		"flow", "--backend", "host", "--flows", "9", "--steps", "2", "--variant", "n2t", "--repeat",
		"1", "--runs-only", "-q", "-o", "/dev/null", "--json", NULL};
	struct spawned spawned;
	json_t *report;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	close(made);
	unlink(path);
	spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	report = json_of(SPAWN("report", path, "--json"));
	assert_int_equal(count_of_range(report, "n2t"), 2);
	assert_int_equal(count_of_range(report, "neuron"), 4);
	assert_int_equal(count_of_range(report, "carrier"), 4);
	assert_int_equal(count_of_range(report, "memory operations"), 8);
	assert_int_equal(count_of_range(report, "text bridge"), 4);
	assert_true(overlap(report, "n2t", "neuron") && overlap(report, "neuron", "n2t"));
	assert_false(overlap(report, "neuron", "carrier") || overlap(report, "n2t", "n2t"));
	json_decref(report);
	unlink(path);
}

static void components_of_the_text_fit_80_columns(void **state)
{
	struct spawned spawned = SPAWN("flow", "--backend", "host", "--flows", "9", "--steps", "2",
		"--variant", "n2t", "--repeat", "1", "--components");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "Components, each waited for by itself"));
	assert_non_null(strstr(spawned.out.data, "text bridge"));
	assert_non_null(strstr(spawned.out.data, "25.0 %"));
	assert_non_null(strstr(spawned.out.data, "times as long with a wait after each component"));
	spawned_done(&spawned);
}

static void the_text_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN(
		"flow", "--backend", "host", "--flows", "9", "--steps", "2", "--repeat", "1");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, " memory "));
	assert_non_null(strstr(spawned.out.data, "those of every step of every run were the reference's"));
	spawned_done(&spawned);
}

static void on_the_chosen_path_it_is_told_how_many_are_elsewhere(void **state)
{
	struct spawned spawned = SPAWN("flow", "--backend", "host", "--flows", "9", "--steps", "3",
		"--repeat", "1", "--variant", "n3", "--path", "argmax");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "n3: 0 flows of the reference are elsewhere after 3 steps"));
	spawned_done(&spawned);
}

static void the_steps_go_to_a_csv(void **state)
{
	static char path[] = "kwhy-flow-XXXXXX";
	struct spawned spawned;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	close(made);
	spawned = SPAWN("flow", "--backend", "host", "--flows", "5", "--steps", "3", "--variant", "n2,n4",
		"--repeat", "2", "--csv", path);
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_int_equal(lines_of(path), 1 + 2 * 2 * 3);
	unlink(path);
}

/* The fake's tensor cores have no rate, but its meters say something. */
static void on_a_gpu_products_are_cublas_s_and_three_utilisations_stand_side_by_side(void **state)
{
	struct spawned text;
	json_t *root;
	const json_t *row;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	root = json_of(SPAWN("flow", "--flows", "10", "--steps", "3", "--variant", "n3,n4", "--components",
		"--precision", "fp32", "--repeat", "1", "--seconds", "1.5", "--json"));
	row = row_of(root, "n3", 10);
	assert_string_equal(json_string_value(json_object_get(row, "products")), "cuBLAS 13.0.2");
	assert_true(number_in(root, "peak_flop_per_s", "fp32") > 0);
	assert_true(number_in(row, NULL, "roofline_ratio") > 0);
	assert_true(json_is_number(json_object_get(row, "nvml_ratio")));
	assert_has_components(row, false);
	assert_true(component(row, "carrier", "roofline_ratio") > 0);
	assert_true(isnan(component(row, "memory operations", "roofline_ratio")));
	assert_true(number_in(row_of(root, "n4", 10), NULL, "busy_ratio") > 0);
	assert_string_equal(json_string_value(json_object_get(row_of(root, "n4", 10), "precision")), "bf16");
	assert_true(number_in(row, "energy", "runs") > 0);
	assert_true(number_in(row, NULL, "memory_bytes") > 500000 * 16 * 4 + (32 << 20));
	json_decref(root);
	text = SPAWN("flow", "--flows", "1000", "--steps", "2", "--variant", "n3,n4", "--repeat", "1",
		"--seconds", "1", "-q");
	assert_int_equal(text.exit, 0);
	assert_non_null(strstr(text.out.data, "Energy of a million flow-steps"));
	assert_fits_80_columns(text.out.data);
	spawned_done(&text);
	unsetenv("LD_LIBRARY_PATH");
}

static void wrong_words_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("flow", "--backend", "host", "--variant", "n9"), 2, "no variant 'n9'");
	assert_fails(SPAWN("flow", "--backend", "host", "--variant", ""), 2, "no variant ''");
	assert_fails(SPAWN("flow", "--backend", "host", "--flows", "10,x"), 2, "--flows takes numbers");
	assert_fails(SPAWN("flow", "--backend", "host", "--flows", "0"), 2, "--flows takes numbers");
	assert_fails(SPAWN("flow", "--backend", "host", "--flows", "1,2,3,4,5,6,7,8,9,10,11"), 2,
		"--flows takes 1 to 10 numbers, not 11");
	assert_fails(SPAWN("flow", "--steps", "4001"), 2, "--steps takes 1 to 4000");
	assert_fails(SPAWN("flow", "--path", "x"), 2, "--path takes fixed or argmax");
	assert_fails(SPAWN("flow", "--precision", "fp8"), 2, "--precision takes fp32, tf32 or bf16");
	assert_fails(SPAWN("flow", "-o", "x.csv"), 2, "flow writes .txt or .json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variant_and_number_of_flows_is_a_row),
		cmocka_unit_test(more_flows_than_the_proof_has_are_proved_by_more),
		cmocka_unit_test(several_gpus_have_their_flows_where_one_has_them),
		cmocka_unit_test(components_stand_beside_those_of_the_document),
		cmocka_unit_test(a_recording_has_components_as_ranges),
		cmocka_unit_test(components_of_the_text_fit_80_columns),
		cmocka_unit_test(the_text_is_no_wider_than_80_columns),
		cmocka_unit_test(on_the_chosen_path_it_is_told_how_many_are_elsewhere),
		cmocka_unit_test(the_steps_go_to_a_csv),
		cmocka_unit_test(on_a_gpu_products_are_cublas_s_and_three_utilisations_stand_side_by_side),
		cmocka_unit_test(wrong_words_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
