/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the loads (sets of requests) that `kwhy llm` generates: arrival times, prompt and answer lengths,
 * conversations, replay of logs, latency limits (--slo), and the search for the highest rate within these.
 */
#include "llm_result.h"
#include "llm_server.h"
#include "spawned_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * 2000 connections must each carry a request at once. Where the machine is too busy to send them within 1
 * s, the load is repeated for 8 s, then for 60 s.
 */
static void thousands_of_requests_are_in_flight_at_once(void **state)
{
	static const char *const seconds[] = {"1", "8", "60"};
	struct llm_server server = llm_server_start(NULL, NULL);
	double requests = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]) && requests < 2000; i++) {
		json_t *root = json_of(SPAWN("llm", "--url", server.url, "-c", "2000", "--seconds",
			seconds[i], "--ramp", "0", "--stall", "120", "--no-energy", "--json"));
		const json_t *load = load_of(root);

		requests = number(load, "requests");
		assert_true(spread(load, "outcomes", "done") == requests);
		assert_true(number(load, "usage_tokens") == 4 * requests);
		json_decref(root);
	}
	llm_server_stop(&server);
	assert_true(requests >= 2000);
}

static void a_rate_makes_requests_at_random_times(void **state)
{
	struct llm_server server = llm_server_start("well", NULL);
	json_t *root = json_of(SPAWN("llm", "--url", server.url, "--rate", "40", "--seconds", "1", "--ramp",
		"0", "--no-energy", "--json"));
	const json_t *load = load_of(root);

	(void)state;
	llm_server_stop(&server);
	assert_string_equal(json_string_value(json_object_get(load, "loop")), "open");
	assert_in_range((long)number(load, "requests"), 20, 60);
	assert_true(number(load, "rate_per_s") == 40);
	json_decref(root);
}

static json_t *run_options(const char *const *options)
{
	struct llm_server server = llm_server_start("well", NULL);
	const char *words[24] = {"llm", "--url", server.url, "--no-energy", "--json"};
	json_t *root;

	for (size_t i = 0; options[i]; i++)
		words[5 + i] = options[i];
	root = json_of(spawn_run(&(struct spawn){.words = words}));
	llm_server_stop(&server);
	return root;
}

static void constant_arrivals_and_whole_answers(void **state)
{
	static const char *const options[] = {"--rate", "50", "--arrivals", "constant", "--no-stream",
		"--seconds", "1", "--ramp", "0", "--prompt-words", "lognormal:50,0.5", "--max-tokens",
		"uniform:1,20", NULL};
	json_t *root = run_options(options);
	const json_t *load = load_of(root);

	(void)state;
	assert_in_range((long)number(load, "requests"), 49, 50);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	assert_true(number(load, "usage_tokens") == 8 * number(load, "requests"));
	assert_true(spread(load, "first_s", "count") == 0);
	assert_true(number(load, "tokens") > 0);
	assert_true(number(load, "client_cpu_cores") > 0);
	json_decref(root);
}

/*
 * The three turns of each conversation are sent in order, each turn as a request after the answer to the
 * turn before.
 */
static void conversations_are_sent_turn_by_turn(void **state)
{
	static const char *const options[] = {
		"-c", "2", "--turns", "3", "--shared-words", "20", "--seconds", "0.5", "--ramp", "0", NULL};
	json_t *root = run_options(options);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(number(load, "requests") > 3);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	json_decref(root);
}

static void the_largest_load_within_limits_is_the_best(void **state)
{
	static const char *const options[] = {"--rate", "5,20", "--slo", "e2e=30s,tpot=10s,share=90%",
		"--seconds", "1", "--ramp", "0", NULL};
	json_t *root = run_options(options);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(root, "best_load")), 2);
	assert_true(number(load_of(root), "good") == number(load_of(root), "requests"));
	json_decref(root);
}

/*
 * No answer comes within the limit of a nanosecond for the first token, so the search halves the rate, 40 per
 * second at first, until it gives up without a best load.
 */
static void a_search_that_finds_no_rate_ends(void **state)
{
	static const char *const options[] = {"--search", "--rate", "40", "--slo", "ttft=0.000001ms",
		"--seconds", "0.2", "--ramp", "0", NULL};
	json_t *root = run_options(options);
	const json_t *loads = json_object_get(root, "loads");

	(void)state;
	assert_true(json_array_size(loads) > 1);
	assert_true(number(json_array_get(loads, 1), "rate_per_s") == 20);
	assert_true(json_is_null(json_object_get(root, "best_load")));
	json_decref(root);
}

static void a_trace_is_replayed_at_its_times(void **state)
{
	char path[] = "/tmp/kwhy-llm-trace-XXXXXX.jsonl";
	const char *options[] = {
		"--trace", path, "--trace-speed", "2", "--ramp", "0", "--requests", "llm-trace.csv", NULL};
	FILE *file = fdopen(mkstemps(path, 6), "w");
	struct kwhy_text csv = {0};
	struct kwhy_error error;
	json_t *root;

	assert_non_null(file);
	for (int i = 0; i < 5; i++)
		fprintf(file, "{\"timestamp\": %d, \"input_length\": 30, \"output_length\": 8}\n",
			1000 + 200 * i);
	fclose(file);
	root = run_options(options);
	(void)state;
	unlink(path);
	assert_string_equal(json_string_value(json_object_get(load_of(root), "arrivals")), "logged");
	assert_true(number(load_of(root), "requests") == 5);
	assert_int_equal(kwhy_file_read("llm-trace.csv", 1 << 20, &csv, &error), KWHY_OK);
	assert_non_null(strstr(csv.data, "1,done,0.1,")); /* second request: logged at 200 ms, sent at 100 ms
							     as the log is replayed at twice the speed */
	assert_non_null(strstr(csv.data, "1,done,0.4,"));
	kwhy_text_done(&csv);
	unlink("llm-trace.csv");
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_of_requests_are_in_flight_at_once),
		cmocka_unit_test(a_rate_makes_requests_at_random_times),
		cmocka_unit_test(constant_arrivals_and_whole_answers),
		cmocka_unit_test(conversations_are_sent_turn_by_turn),
		cmocka_unit_test(the_largest_load_within_limits_is_the_best),
		cmocka_unit_test(a_search_that_finds_no_rate_ends),
		cmocka_unit_test(a_trace_is_replayed_at_its_times),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
