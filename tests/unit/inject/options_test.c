/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/facts.h"
#include "inject/options.h"

#include <math.h>
#include <string.h>

/* Environment of a test: names and values in turn, ended by NULL. */
static const char *const *environment;

static char *get(const char *name)
{
	for (size_t i = 0; environment[i]; i += 2)
		if (!strcmp(environment[i], name))
			return (char *)environment[i + 1];
	return NULL;
}

#define ENVIRONMENT(...)                    \
	environment = (const char *const[]) \
	{                                   \
		__VA_ARGS__, NULL           \
	}

static void without_a_folder_nothing_is_to_be_recorded(void **state)
{
	struct kwhy_inject_options options;

	(void)state;
	ENVIRONMENT("KWHY_RECORD_MAX_BYTES", "7");
	assert_false(kwhy_inject_options_read(&options, get));
	ENVIRONMENT("KWHY_RECORD_DIR", "");
	assert_false(kwhy_inject_options_read(&options, get));
}

static void what_is_not_said_has_its_usual_value(void **state)
{
	struct kwhy_inject_options options;

	(void)state;
	ENVIRONMENT("KWHY_RECORD_DIR", "/a/b");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_string_equal(options.folder, "/a/b");
	assert_string_equal(options.cupti, "");
	assert_int_equal(options.limit_bytes, 0);
	assert_int_equal(options.period_ms, 100);
	assert_int_equal(options.buffer_bytes, 1 << 20);
	assert_int_equal(options.kinds,
		KWHY_INJECT_KERNEL | KWHY_INJECT_COPY | KWHY_INJECT_MEMSET | KWHY_INJECT_CALL |
			KWHY_INJECT_OVERHEAD | KWHY_INJECT_RANGE | KWHY_INJECT_LINE);
}

static void lines_may_be_left_out(void **state)
{
	struct kwhy_inject_options options;

	(void)state;
	ENVIRONMENT("KWHY_RECORD_DIR", "x", "KWHY_RECORD_LINES", "off");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_int_equal(options.kinds, KWHY_INJECT_USUAL & ~KWHY_INJECT_LINE);
	ENVIRONMENT("KWHY_RECORD_DIR", "x", "KWHY_RECORD_KINDS", "kernel,line");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_int_equal(options.kinds, KWHY_INJECT_KERNEL | KWHY_INJECT_LINE);
}

static void words_and_numbers_are_taken_and_nonsense_is_not(void **state)
{
	struct kwhy_inject_options options;

	(void)state;
	ENVIRONMENT("KWHY_RECORD_DIR", "x", "KWHY_RECORD_KINDS", "graph,,copy,nonsense",
		"KWHY_RECORD_MAX_BYTES", "123456789012", "KWHY_RECORD_PERIOD_MS", "soon",
		"KWHY_RECORD_BUFFERS", "1000000");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_int_equal(options.kinds, KWHY_INJECT_GRAPH | KWHY_INJECT_COPY);
	assert_int_equal(options.limit_bytes, 123456789012);
	assert_int_equal(options.period_ms, 100);
	assert_int_equal(options.buffer_count, 32);
}

static void assert_ranks(uint32_t rank, uint32_t world_size, uint32_t local_rank)
{
	const struct kwhy_inject_ranks ranks = kwhy_inject_ranks(get);

	assert_int_equal(ranks.rank, rank);
	assert_int_equal(ranks.world_size, world_size);
	assert_int_equal(ranks.local_rank, local_rank);
}

static void a_rank_needs_its_world_and_the_closest_launcher_wins(void **state)
{
	const uint32_t unknown = KWHY_WIRE_UNKNOWN_U32;

	(void)state;
	ENVIRONMENT("HOME", "/");
	assert_ranks(unknown, unknown, unknown);
	ENVIRONMENT("RANK", "5", "SLURM_PROCID", "1", "SLURM_NTASKS", "2");
	assert_ranks(1, 2, unknown);
	ENVIRONMENT("RANK", "5", "WORLD_SIZE", "8", "LOCAL_RANK", "1", "SLURM_PROCID", "1", "SLURM_NTASKS",
		"2", "SLURM_LOCALID", "0");
	assert_ranks(5, 8, 1);
	ENVIRONMENT(
		"OMPI_COMM_WORLD_RANK", "-1", "OMPI_COMM_WORLD_SIZE", "2", "PMI_RANK", "0", "PMI_SIZE", "4");
	assert_ranks(0, 4, unknown);
	ENVIRONMENT("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_RANK",
		"1", "PMI_RANK", "0", "PMI_SIZE", "1");
	assert_ranks(3, 4, 1);
	ENVIRONMENT("MV2_COMM_WORLD_RANK", "2", "MV2_COMM_WORLD_SIZE", "4");
	assert_ranks(2, 4, unknown);
}

static void windows_are_said_by_the_environment_and_nonsense_is_not(void **state)
{
	struct kwhy_inject_options options;
	const struct kwhy_clock_relation relation = {.mono_ns = 500, .offset_ns = 1000000};
	struct kwhy_inject_plan plan;

	(void)state;
	ENVIRONMENT("KWHY_RECORD_DIR", "x");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_int_equal(kwhy_inject_choice(&options), KWHY_WIRE_CHOICE_ALL);
	plan = kwhy_inject_plan_of(&options, &relation);
	assert_int_equal(plan.from_mono_ns, INT64_MIN);
	assert_int_equal(plan.until_mono_ns, INT64_MAX);
	assert_true(isnan(plan.share_ratio));
	ENVIRONMENT("KWHY_RECORD_DIR", "x", "KWHY_RECORD_FROM", "1000700", "KWHY_RECORD_UNTIL", "soon",
		"KWHY_RECORD_ORIGIN", "1000700", "KWHY_RECORD_SHARE_PPM", "250000", "KWHY_RECORD_SEED", "9",
		"KWHY_RECORD_WINDOW_NS", "5");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_int_equal(kwhy_inject_choice(&options), KWHY_WIRE_CHOICE_DUTY);
	plan = kwhy_inject_plan_of(&options, &relation);
	assert_int_equal(plan.from_mono_ns, 700);
	assert_int_equal(plan.until_mono_ns, INT64_MAX);
	assert_true(plan.share_ratio == 0.25);
	assert_int_equal(plan.window_ns, 300000000);
	assert_int_equal(plan.seed, 9);
	ENVIRONMENT("KWHY_RECORD_DIR", "x", "KWHY_RECORD_RANGE", "step*", "KWHY_RECORD_KINDS", "kernel",
		"KWHY_RECORD_GRAPHS", "graph");
	assert_true(kwhy_inject_options_read(&options, get));
	assert_int_equal(kwhy_inject_choice(&options), KWHY_WIRE_CHOICE_RANGE);
	assert_int_equal(options.kinds, KWHY_INJECT_KERNEL | KWHY_INJECT_RANGE | KWHY_INJECT_GRAPH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_folder_nothing_is_to_be_recorded),
		cmocka_unit_test(what_is_not_said_has_its_usual_value),
		cmocka_unit_test(lines_may_be_left_out),
		cmocka_unit_test(words_and_numbers_are_taken_and_nonsense_is_not),
		cmocka_unit_test(windows_are_said_by_the_environment_and_nonsense_is_not),
		cmocka_unit_test(a_rank_needs_its_world_and_the_closest_launcher_wins),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
