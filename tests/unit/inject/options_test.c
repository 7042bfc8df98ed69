/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/facts.h"
#include "inject/options.h"

#include <string.h>

/* An environment of a test: pairs, ended by NULL. */
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
			KWHY_INJECT_OVERHEAD | KWHY_INJECT_RANGE);
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

static void a_rank_needs_its_world_and_the_closest_launcher_wins(void **state)
{
	uint32_t rank, world_size;

	(void)state;
	ENVIRONMENT("HOME", "/");
	kwhy_inject_rank(get, &rank, &world_size);
	assert_int_equal(rank, KWHY_WIRE_UNKNOWN_U32);
	assert_int_equal(world_size, KWHY_WIRE_UNKNOWN_U32);
	ENVIRONMENT("RANK", "5", "SLURM_PROCID", "1", "SLURM_NTASKS", "2");
	kwhy_inject_rank(get, &rank, &world_size);
	assert_int_equal(rank, 1);
	assert_int_equal(world_size, 2);
	ENVIRONMENT("RANK", "5", "WORLD_SIZE", "8", "SLURM_PROCID", "1", "SLURM_NTASKS", "2");
	kwhy_inject_rank(get, &rank, &world_size);
	assert_int_equal(rank, 5);
	assert_int_equal(world_size, 8);
	ENVIRONMENT(
		"OMPI_COMM_WORLD_RANK", "-1", "OMPI_COMM_WORLD_SIZE", "2", "PMI_RANK", "0", "PMI_SIZE", "4");
	kwhy_inject_rank(get, &rank, &world_size);
	assert_int_equal(rank, 0);
	assert_int_equal(world_size, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_folder_nothing_is_to_be_recorded),
		cmocka_unit_test(what_is_not_said_has_its_usual_value),
		cmocka_unit_test(words_and_numbers_are_taken_and_nonsense_is_not),
		cmocka_unit_test(a_rank_needs_its_world_and_the_closest_launcher_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
