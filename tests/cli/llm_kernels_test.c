/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the joules by kernel of `kwhy llm --recording`, on a recording in examples/. */
#include "cmocka_all.h"
#include "llm_result.h"
#include "spawned_checks.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define DECODE KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy"
/* start of the recording in Unix time; it lasts 2.008 s and has decoding steps of a language model */
#define DECODE_START_UNIX_NS INT64_C(1795289717087403345)

/*
 * Writes kernels.json, a result of `kwhy llm` with two loads. The first begins `from_ns` after the
 * recording's start and lasts 0.4 s, the second begins 0.5 s after the first and lasts 1 s.
 */
static void write_result(int64_t from_ns)
{
	FILE *file = fopen("kernels.json", "w");

	assert_non_null(file);
	fputs("{\"schema\":\"kwhy.llm/1\",\"url\":\"http://x/v1\",\"model\":\"m\",\"loads\":[", file);
	for (int load = 0; load < 2; load++)
		fprintf(file,
			"%s{\"name\":null,\"loop\":\"closed\",\"concurrency\":%d,\"steady_start_unix_ns\":%"
			"lld,"
			"\"steady_s\":%s,\"requests\":4,\"outcomes\":{\"done\":4},\"tokens\":400,"
			"\"prompt_tokens\":2000,\"answers\":5}",
			load ? "," : "", load ? 8 : 1,
			(long long)(DECODE_START_UNIX_NS + from_ns + load * INT64_C(500000000)),
			load ? "1" : "0.4");
	fputs("]}\n", file);
	fclose(file);
}

static void the_parts_of_a_load_add_up(void **state)
{
	const json_t *load, *part;
	size_t i, k;
	json_t *root;

	(void)state;
	write_result(100000000);
	root = json_of(SPAWN("llm", "--recording", DECODE, "--result", "kernels.json", "--json"));
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.llm-kernels/1");
	assert_int_equal(json_array_size(json_object_get(root, "loads")), 2);
	json_array_foreach(json_object_get(root, "loads"), i, load)
	{
		const json_t *parts = json_object_get(load, "parts");
		json_int_t sum_nj = 0, all_nj = json_integer_value(json_object_get(load, "energy_nj"));
		double power_w = (double)all_nj * 1e-9 / number(load, "seconds");

		json_array_foreach(parts, k, part)
		{
			double nj = number(part, "energy_nj");

			sum_nj += json_integer_value(json_object_get(part, "energy_nj"));
			if (json_is_null(json_object_get(part, "name")))
				assert_true(json_is_null(json_object_get(part, "low_nj")));
			else
				assert_true(number(part, "low_nj") <= nj + 1 &&
					nj <= number(part, "high_nj") + 1);
			assert_true(fabs(number(part, "j_a_request") - nj * 1e-9 / 5) < 1e-6);
			assert_true(fabs(number(part, "j_a_prompt_token") - nj * 1e-9 / 2000) < 1e-6);
			assert_true(fabs(number(part, "j_an_output_token") - nj * 1e-9 / 400) < 1e-6);
		}
		assert_true(json_array_size(parts) > 5);
		assert_int_equal(sum_nj, all_nj);
		assert_true(number(load, "gaps_nj") > 0 && number(load, "gaps_nj") < number(load, "idle_nj"));
		assert_true(number(load, "idle_nj") < (double)all_nj && power_w > 100 && power_w < 700);
	}
	json_decref(root);
	assert_says(SPAWN("llm", "--recording", DECODE, "--result", "kernels.json"), "8 concurrent");
	unlink("kernels.json");
}

static void loads_outside_of_the_recording_are_refused(void **state)
{
	(void)state;
	write_result(1000000000);
	assert_fails(SPAWN("llm", "--recording", DECODE, "--result", "kernels.json"), 1,
		"window 2 is from 1.500 s to 2.500 s after the recording's start, and the recording has "
		"2.008 s");
	assert_fails(SPAWN("llm", "--recording", DECODE), 2, "--result");
	assert_fails(SPAWN("llm", "--recording", DECODE, "--result", "kernels.json", "--url", "http://x"), 2,
		"--url");
	assert_fails(
		SPAWN("llm", "--recording", DECODE, "--result", "kernels.json", "-o", "x.csv"), 2, ".json");
	assert_fails(SPAWN("llm", "--recording", DECODE, "--result", "none.json"), 1, "none.json");
	unlink("kernels.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_load_add_up),
		cmocka_unit_test(loads_outside_of_the_recording_are_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
