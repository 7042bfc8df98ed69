/* SPDX-License-Identifier: Apache-2.0 */
#include "../golden/schema_check.h"
#include "base/file.h"
#include "base/quantity.h"
#include "cmocka_all.h"
#include "report/shown_name.h"
#include "spawned_checks.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tests the first screen of `kwhy report`, as a new user sees it, and the options that show more. */

#define EXAMPLES KWHY_SOURCE_DIR "/examples/"
#define GOLDEN KWHY_SOURCE_DIR "/tests/golden/"
#define TINY GOLDEN "tiny.csv"

enum { WORDS_MAX = 80, RANKS = 64 };

static struct kwhy_error error;
static char folder[] = "kwhy-screen-XXXXXX";
static char rank_paths[RANKS][64];
static const char *many_ranks[RANKS + 1];

/* Arguments of `kwhy report`: example recordings, and inputs of the golden reports. */
static const char *const inputs[][12] = {
	{EXAMPLES "recordings/decode.kwhy"},
	{EXAMPLES "recordings/train.kwhy", "--price", "0.3EUR", "--intensity", "400"},
	{EXAMPLES "recordings/mix.kwhy"},
	{EXAMPLES "recordings/mix-probed.kwhy"},
	{EXAMPLES "recordings/transfer.kwhy"},
	{EXAMPLES "h200-decode/trace.json.zst", "--power", EXAMPLES "h200-decode/power.csv"},
	{EXAMPLES "h200-train/trace.json.zst", "--power", EXAMPLES "h200-train/power.csv"},
	{EXAMPLES "h200-mix-burst/activities.csv", "--power", EXAMPLES "h200-mix-burst/power.csv"},
	{EXAMPLES "recordings/ddp.kwhy"},
	{EXAMPLES "h200-mixtures/fine/activities.csv.zst", "--power",
		EXAMPLES "h200-mixtures/fine/power.csv"},
	{EXAMPLES "recordings/operators-probed.kwhy"},
	{EXAMPLES "h200-counters/mixed-1.kwhy"},
	{EXAMPLES "h100-counters/mixed-1.kwhy"},
	{EXAMPLES "h200-power/other.kwhy"},
	{TINY},
	{TINY, "--assume-power", "compute=300,collective=200,idle=100,h2d=150,d2h=140,memset=130", "--price",
		"0.30EUR", "--place", "THA"},
	{TINY, "--machine-profile", GOLDEN "peaks.json", "--work", "flop_bf16=2e9", "--work", "bytes=1.4e8"},
	{GOLDEN "windows.csv"},
};

enum { INPUTS = sizeof(inputs) / sizeof(inputs[0]) };

/* [input] the default text report (the first screen), and the JSON of --brief; made once for all tests */
static struct spawned screens[INPUTS], briefs[INPUTS];

static void fill_words(const char *words[WORDS_MAX], const char *first, const char *const *input)
{
	size_t count = 0;

	words[count++] = "report";
	words[count++] = "-q";
	if (first)
		words[count++] = first;
	if (first && strcmp(first, "--brief") == 0)
		words[count++] = "--json"; /* --brief is accepted only with --json */
	while (*input)
		words[count++] = *input++;
	words[count] = NULL;
}

static struct spawned report(const char *first, const char *const *input)
{
	const char *words[WORDS_MAX];

	fill_words(words, first, input);
	return spawn_run(&(struct spawn){.words = words});
}

/* Runs kwhy on a terminal of 24 lines and `columns` columns and returns all that it writes. */
static struct kwhy_text run_on_terminal(const char *const *words, unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	struct kwhy_text out = {0};
	char piece[4096];
	int master, state;
	ssize_t length;
	pid_t child = forkpty(&master, NULL, NULL, &size);

	assert_true(child >= 0);
	if (child == 0) {
		setenv("NO_COLOR", "1", 1);
		execv(KWHY_PROGRAM, (char *const *)words);
		_exit(127);
	}
	/* read() fails with EIO once the program has ended */
	while ((length = read(master, piece, sizeof(piece))) > 0)
		kwhy_text_add_bytes(&out, piece, (size_t)length);
	close(master);
	assert_int_equal(waitpid(child, &state, 0), child);
	assert_int_equal(state, 0);
	assert_false(out.failed);
	return out;
}

static struct kwhy_text on_terminal(const char *const *input, const char *first, unsigned short columns)
{
	const char *words[WORDS_MAX + 1] = {"kwhy"};

	fill_words(words + 1, first, input);
	return run_on_terminal(words, columns);
}

static void strip_returns(struct kwhy_text *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < text->length; i++)
		if (text->data[i] != '\r')
			text->data[kept++] = text->data[i];
	text->data[kept] = '\0';
	text->length = kept;
}

/* Checks that no line of more than 30 bytes occurs twice. */
static void assert_no_line_twice(char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			if (strlen(lines[i]) > 30 && strcmp(lines[i], lines[k]) == 0)
				fail_msg("twice: %s", lines[i]);
}

static void assert_screen(const char *text, size_t columns)
{
	char *copy = strdup(text), *lines[64];
	size_t count = 0;

	for (char *line = copy, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (count == 24)
			fail_msg("more than 24 lines: %s", text);
		if (kwhy_shown_columns(line) > columns)
			fail_msg("%zu columns: %s", kwhy_shown_columns(line), line);
		lines[count++] = line;
	}
	assert_no_line_twice(lines, count);
	assert_non_null(strstr(text, "What it cost"));
	assert_string_equal(lines[count - 1],
		"More: -v shows all, --section NAME one section, --section list their names.");
	free(copy);
}

static void the_first_screen_fits_a_terminal_of_80_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < INPUTS; i++) {
		assert_int_equal(screens[i].exit, 0);
		assert_screen(screens[i].out.data, 80);
	}
}

static void the_first_screen_fits_a_terminal_of_120_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < INPUTS; i++) {
		struct kwhy_text text = on_terminal(inputs[i], NULL, 120);

		strip_returns(&text);
		assert_screen(text.data, 120);
		kwhy_text_done(&text);
	}
}

/* Returns the text as one line with single spaces. The caller frees it. */
static char *unwrapped(const char *text)
{
	char *line = malloc(strlen(text) + 1);
	size_t length = 0;

	assert_non_null(line);
	for (; *text; text++) {
		bool space = *text == ' ' || *text == '\n';

		if (!space || (length && line[length - 1] != ' '))
			line[length++] = space ? ' ' : *text;
	}
	line[length] = '\0';
	return line;
}

/*
 * Checks that the first screen has the whole cures of three findings (of all if fewer), and that it advises
 * to probe the program exactly if little of the energy is known within 5 % (`is_vague`).
 */
static void assert_advice(size_t input, bool is_vague)
{
	struct spawned data = report("--json", inputs[input]);
	json_t *document = json_loadb(data.out.data, data.out.length, 0, NULL),
	       *findings = json_object_get(document, "findings"), *finding;
	char *line = unwrapped(screens[input].out.data);
	size_t i, whole = 0, count = json_array_size(findings);

	json_array_foreach(findings, i, finding)
		whole += strstr(line, json_string_value(json_object_get(finding, "cure"))) != NULL;
	if (whole < (count < 3 ? count : 3))
		fail_msg("%zu whole cures of %zu: %s", whole, count, screens[input].out.data);
	assert_int_equal(strstr(line, " is known within 5 %: probe ") != NULL, is_vague);
	free(line);
	json_decref(document);
	spawned_done(&data);
}

/* Of the first eight inputs only the last one, h200-mix-burst, needs no probing, as its work comes in random
 * bursts. */
static void the_first_screen_names_three_things_to_do_with_their_whole_cures(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++)
		assert_advice(i, i != 7);
}

static void all_sections_fit_80_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < INPUTS; i++) {
		struct spawned spawned = report("-v", inputs[i]);

		assert_fits_80_columns(spawned.out.data);
		spawned_done(&spawned);
	}
}

static void sections_are_shown_by_name_and_listed(void **state)
{
	struct spawned list = SPAWN("report", "--section", "list");
	struct spawned two = SPAWN("report", "-q", TINY, "--section", "kernels", "--section", "streams");
	char *lines = strdup(list.out.data);

	(void)state;
	assert_int_equal(list.exit, 0);
	assert_fits_80_columns(list.out.data);
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
		struct spawned one;

		line[strcspn(line, " ")] = '\0';
		one = SPAWN("report", "-q", TINY, "--section", line);
		assert_int_equal(one.exit, 0);
		assert_true(one.out.length > 0);
		spawned_done(&one);
	}
	free(lines);
	assert_int_equal(two.exit, 0);
	assert_memory_equal(two.out.data, "Kernels", 7);
	assert_non_null(strstr(two.out.data, "\nStreams"));
	assert_null(strstr(two.out.data, "What it cost"));
	spawned_done(&two);
	spawned_done(&list);
	assert_fails(SPAWN("report", TINY, "--section", "all"), 2, "take one of cost, where, advice");
	assert_fails(SPAWN("report", TINY, "--json", "--section", "time"), 2,
		"--section chooses parts of the text");
	assert_says(SPAWN("report", "-q", TINY, "--section", "memory"),
		"memory: the recording has nothing for this section");
}

static void a_pager_shows_what_is_longer_than_a_screen_on_a_terminal_alone(void **state)
{
	struct kwhy_text text;
	struct spawned piped;

	(void)state;
	setenv("PAGER", "sed s/^/paged:/", 1);
	text = on_terminal(inputs[12], "-v", 80);
	assert_non_null(strstr(text.data, "paged:What it cost"));
	kwhy_text_done(&text);
	text = on_terminal(inputs[12], NULL, 80);
	assert_null(strstr(text.data, "paged:"));
	kwhy_text_done(&text);
	text = run_on_terminal((const char *[]){"kwhy", "whatif", "-q", "--plan", TINY, NULL}, 80);
	assert_non_null(strstr(text.data, "paged:"));
	kwhy_text_done(&text);
	text = run_on_terminal((const char *[]){"kwhy", "compare", "-q", TINY, TINY, NULL}, 80);
	assert_non_null(strstr(text.data, "paged:Summary"));
	kwhy_text_done(&text);
	text = run_on_terminal((const char *[]){"kwhy", "compare", "-q", "--json", TINY, TINY, NULL}, 80);
	assert_null(strstr(text.data, "paged:"));
	kwhy_text_done(&text);
	piped = report("-v", inputs[12]);
	assert_null(strstr(piped.out.data, "paged:"));
	spawned_done(&piped);
	setenv("PAGER", "true", 1); /* a pager that ends without reading what kwhy writes to it */
	text = on_terminal(inputs[12], "-v", 80);
	assert_null(strstr(text.data ? text.data : "", "What it cost"));
	kwhy_text_done(&text);
	setenv("PAGER", "kwhy-no-such-pager 2>/dev/null", 1);
	text = on_terminal(inputs[12], "-v", 80);
	assert_non_null(strstr(text.data, "What it cost"));
	kwhy_text_done(&text);
	setenv("PAGER", "", 1);
	text = on_terminal(inputs[12], "-v", 80);
	assert_non_null(strstr(text.data, "What it cost"));
	kwhy_text_done(&text);
	unsetenv("PAGER");
}

/* Writes the trace of a rank: 200 launches of a kernel of 5 us, 30 us to 40 us apart. */
static void write_rank(size_t rank)
{
	struct kwhy_text text = {0};
	size_t gap_us = 30 + rank * 7 % 11;

	kwhy_text_addf(&text,
		"{\"distributedInfo\":{\"rank\":%zu,\"world_size\":%d},\"deviceProperties\":[{\"id\":%zu,"
		"\"name\":\"NVIDIA "
		"H100\",\"numSms\":132,\"maxThreadsPerMultiprocessor\":2048}],\"traceEvents\":[",
		rank, RANKS, rank % 8);
	for (size_t i = 0; i < 200; i++) {
		size_t at_us = 1000 + i * gap_us;

		kwhy_text_addf(&text,
			"%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":%zu,"
			"\"tid\":1,"
			"\"ts\":%zu,\"dur\":4,\"args\":{\"correlation\":%zu}},"
			"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%zu,"
			"\"dur\":5,"
			"\"args\":{\"correlation\":%zu,\"device\":%zu,\"stream\":7,\"grid\":[10,1,1],"
			"\"block\":[256,1,1]}}",
			i ? "," : "", rank + 100, at_us, i + 1, at_us + 6, i + 1, rank % 8);
	}
	kwhy_text_add(&text, "]}");
	snprintf(rank_paths[rank], sizeof(rank_paths[rank]), "%s/rank%02zu.json", folder, rank);
	many_ranks[rank] = rank_paths[rank];
	assert_int_equal(kwhy_file_write(rank_paths[rank], text.data, text.length, &error), KWHY_OK);
	kwhy_text_done(&text);
}

static void findings_of_many_ranks_are_one_row_a_kind(void **state)
{
	struct spawned spawned = report(NULL, many_ranks);
	const char *first = strstr(spawned.out.data, "Launch-bound");

	(void)state;
	/* in ddp.kwhy four ranks share two GPUs, so the finding counts devices instead of ranks */
	assert_says(
		SPAWN("report", EXAMPLES "recordings/ddp.kwhy"), "1. Idle context on 2 of 2 devices, 5.50");
	assert_int_equal(spawned.exit, 0);
	assert_screen(spawned.out.data, 80);
	assert_non_null(strstr(
		spawned.out.data, "1. Launch-bound on 64 of 64 ranks, 4.98 to 6.97 ms, worst rank 3\n"));
	assert_null(strstr(first + 1, "Launch-bound"));
	spawned_done(&spawned);
	spawned = report("-v", many_ranks);
	assert_fits_80_columns(spawned.out.data);
	spawned_done(&spawned);
}

static json_t *brief_in(const struct spawned *spawned)
{
	json_t *brief = json_loadb(spawned->out.data, spawned->out.length, 0, NULL);

	assert_int_equal(spawned->exit, 0);
	assert_in_range(spawned->out.length, 200, 4096);
	assert_non_null(brief);
	assert_keeps_to_schema("brief", brief);
	return brief;
}

static double real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/*
 * Shares must fit the energies, and add up to 1 if no row is left out. Idle energy is part of the
 * metered one.
 */
static void assert_brief_agrees(const json_t *brief)
{
	const json_t *what = json_object_get(brief, "what"), *rows = json_object_get(brief, "where"), *row;
	double where_j = real_of(brief, "where_j"), shares = 0, tolerance_j = 1e-3 * where_j;
	size_t i;

	if (!(where_j > 0))
		return;
	json_array_foreach(rows, i, row)
	{
		shares += real_of(row, "share");
		assert_true(fabs(real_of(row, "share") * where_j - real_of(row, "energy_j")) <= tolerance_j);
	}
	assert_true(shares < 1.001);
	if (json_integer_value(json_object_get(brief, "where_left_out")) == 0)
		assert_true(shares > 0.999);
	assert_true(real_of(what, "idle_j") <= real_of(what, "metered_j"));
	if (json_is_number(json_object_get(what, "energy_j")))
		assert_true(real_of(what, "metered_j") <= real_of(what, "energy_j") + tolerance_j);
}

/* Shares on the first screen must say of how many joules they are shares. */
static void shares_of_the_first_screen_name_their_total(void **state)
{
	(void)state;
	for (size_t i = 0; i < INPUTS; i++) {
		json_t *brief = brief_in(&briefs[i]);
		char sum[KWHY_QUANTITY_BYTES], words[96];

		assert_brief_agrees(brief);
		kwhy_quantity_si(sum, real_of(brief, "where_j"), "J", 3);
		snprintf(words, sizeof(words), "share of %s", sum);
		if (real_of(brief, "where_j") > 0 && !strstr(screens[i].out.data, words)) {
			snprintf(words, sizeof(words), "share of the %s", sum);
			assert_non_null(strstr(screens[i].out.data, words));
		}
		json_decref(brief);
	}
}

/* In the accounts of the time around the run ("outside"), mean power times time must be the energy. */
static void energy_around_the_run_is_its_time_at_its_mean_power(void **state)
{
	const char *const *input = inputs[0];
	struct spawned spawned = report("--json", input);
	json_t *document = json_loadb(spawned.out.data, spawned.out.length, 0, NULL), *account;
	const json_t *device = json_array_get(json_object_get(document, "devices"), 0);
	size_t i, outside = 0;

	(void)state;
	json_array_foreach(json_object_get(device, "accounts"), i, account)
	{
		double gross_nj = real_of(account, "gross_nj");

		if (strcmp(json_string_value(json_object_get(account, "category")), "outside") != 0)
			continue;
		outside++;
		assert_true(fabs(real_of(account, "mean_power_mw") * 1e-3 * real_of(account, "time_ns") -
				    gross_nj) < 1e-4 * gross_nj);
	}
	assert_int_equal(outside, 2);
	json_decref(document);
	spawned_done(&spawned);
}

/*
 * Busy time is a share of both runs if these are equal, as of ranks 0 and 11, otherwise of their
 * sum.
 */
static void times_of_several_devices_are_not_one_long_run(void **state)
{
	const char *even[] = {rank_paths[0], rank_paths[11], NULL},
		   *uneven[] = {rank_paths[0], rank_paths[3], NULL};
	struct spawned spawned = report(NULL, even);

	(void)state;
	assert_non_null(strstr(spawned.out.data, "The devices were busy 16.7 % of 2 x 5.98 ms."));
	spawned_done(&spawned);
	spawned = report(NULL, uneven);
	assert_non_null(strstr(spawned.out.data, ", the sum of their runs."));
	spawned_done(&spawned);
}

/* Checks that no cure and no unknown fact ends in an ellipsis: what does not fit is left out as a whole. */
static void assert_whole(json_t *brief)
{
	static const char *const lists[] = {"do", "unknown"};
	json_t *entry;
	size_t i;

	for (size_t k = 0; k < 2; k++)
		json_array_foreach(json_object_get(brief, lists[k]), i, entry)
		{
			json_t *cure = json_object_get(entry, "cure");

			assert_null(strstr(json_string_value(cure ? cure : entry), "\xe2\x80\xa6"));
		}
}

static void the_brief_report_has_at_most_4_kb(void **state)
{
	struct spawned spawned = report("--brief", many_ranks);
	json_t *brief, *first;

	(void)state;
	for (size_t i = 0; i < INPUTS; i++) {
		assert_whole(brief = brief_in(&briefs[i]));
		json_decref(brief);
	}
	brief = brief_in(&spawned);
	spawned_done(&spawned);
	first = json_array_get(json_object_get(brief, "do"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "id")), "launch-bound");
	assert_int_equal(json_integer_value(json_object_get(first, "devices")), RANKS);
	json_decref(brief);
	assert_fails(SPAWN("report", TINY, "--brief"), 2, "--brief shortens JSON; add --json");
}

/* The accounts that fit on the screen have less than half of the energy: groups are shown instead. */
static void little_room_shows_groups_of_accounts(void **state)
{
	struct spawned spawned = SPAWN("report", "-q", EXAMPLES "recordings/train.kwhy");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "    kernels           2.35 kJ"));
	assert_non_null(strstr(spawned.out.data, "    idle                498 J"));
	assert_non_null(strstr(spawned.out.data, "    copies and fills    278 J"));
	assert_null(strstr(spawned.out.data, "31 more"));
	spawned_done(&spawned);
}

/* If the trace has source lines, text and JSON must name them. */
static void what_to_do_names_file_and_line(void **state)
{
	char path[128];
	const char *input[] = {path, NULL};
	struct kwhy_text text = {0};
	struct spawned spawned;
	json_t *brief, *first;

	(void)state;
	kwhy_text_add(&text,
		"{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"/src/"
		"train.py(42): "
		"step\",\"pid\":1,\"tid\":1,\"ts\":900,\"dur\":90000,\"args\":{}}");
	for (size_t i = 0; i < 100; i++)
		kwhy_text_addf(&text,
			",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
			"\"tid\":1,"
			"\"ts\":%zu,\"dur\":20,\"args\":{\"correlation\":%zu}},"
			"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%zu,"
			"\"dur\":5,"
			"\"args\":{\"correlation\":%zu,\"device\":0,\"stream\":7}}",
			1000 + i * 50, i + 1, 1021 + i * 50, i + 1);
	kwhy_text_add(&text, "]}");
	snprintf(path, sizeof(path), "%s/lines.json", folder);
	assert_int_equal(kwhy_file_write(path, text.data, text.length, &error), KWHY_OK);
	kwhy_text_done(&text);
	spawned = report(NULL, input);
	assert_non_null(strstr(spawned.out.data, "train.py:42)"));
	spawned_done(&spawned);
	spawned = report("--brief", input);
	brief = brief_in(&spawned);
	spawned_done(&spawned);
	first = json_array_get(json_object_get(brief, "do"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "file")), "/src/train.py");
	assert_int_equal(json_integer_value(json_object_get(first, "line")), 42);
	json_decref(brief);
	unlink(path);
}

static int make_inputs(void **state)
{
	(void)state;
	unsetenv("PAGER");
	if (!mkdtemp(folder))
		return -1;
	for (size_t rank = 0; rank < RANKS; rank++)
		write_rank(rank);
	for (size_t i = 0; i < INPUTS; i++) {
		screens[i] = report(NULL, inputs[i]);
		briefs[i] = report("--brief", inputs[i]);
	}
	return 0;
}

static int remove_inputs(void **state)
{
	(void)state;
	for (size_t rank = 0; rank < RANKS; rank++)
		unlink(rank_paths[rank]);
	for (size_t i = 0; i < INPUTS; i++) {
		spawned_done(&screens[i]);
		spawned_done(&briefs[i]);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_screen_fits_a_terminal_of_80_columns),
		cmocka_unit_test(the_first_screen_fits_a_terminal_of_120_columns),
		cmocka_unit_test(the_first_screen_names_three_things_to_do_with_their_whole_cures),
		cmocka_unit_test(all_sections_fit_80_columns),
		cmocka_unit_test(sections_are_shown_by_name_and_listed),
		cmocka_unit_test(a_pager_shows_what_is_longer_than_a_screen_on_a_terminal_alone),
		cmocka_unit_test(findings_of_many_ranks_are_one_row_a_kind),
		cmocka_unit_test(shares_of_the_first_screen_name_their_total),
		cmocka_unit_test(energy_around_the_run_is_its_time_at_its_mean_power),
		cmocka_unit_test(times_of_several_devices_are_not_one_long_run),
		cmocka_unit_test(the_brief_report_has_at_most_4_kb),
		cmocka_unit_test(little_room_shows_groups_of_accounts),
		cmocka_unit_test(what_to_do_names_file_and_line),
	};

	return kwhy_test_main(tests, make_inputs, remove_inputs);
}
