/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the command `kwhy llm` with a fake server that answers well or badly (tests/fakes/llm). */
#include "llm_result.h"
#include "llm_server.h"
#include "spawned_checks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct llm_server any; /* server that answers each request as its model's name says */

/*
 * Sends two concurrent requests again and again for 0.3 s to the server, which answers as `behaviour` says.
 * With no ramp the whole load counts as steady. A stalled request is given up after 0.5 s if the server
 * stalls on purpose, otherwise after 60 s. Returns the JSON; kwhy must exit with `status`.
 */
static json_t *load_with(const char *behaviour, int status)
{
	const char *stall_s = strcmp(behaviour, "stalls") == 0 ? "0.5" : "60";

	return json_with(SPAWN("llm", "--url", any.url, "--model", behaviour, "-c", "2", "--seconds", "0.3",
				 "--ramp", "0", "--stall", stall_s, "--no-energy", "--json"),
		status);
}

static void assert_all_failed(const char *behaviour, const char *outcome)
{
	json_t *root = load_with(behaviour, 1);
	const json_t *load = load_of(root);

	assert_true(number(load, "requests") > 0);
	if (spread(load, "outcomes", outcome) != number(load, "requests"))
		fail_msg("%s is not all %s: %s", behaviour, outcome, json_dumps(load, 0));
	assert_true(json_is_null(json_object_get(json_object_get(load, "answer_s"), "p50")));
	json_decref(root);
}

/*
 * Sends SIGTERM to kwhy 4.5 s after its start, in the second of two loads of 3 s. Its output must have the
 * first load only.
 */
static void an_interrupt_leaves_the_loads_before(void **state)
{
	char command[1024];
	struct kwhy_text text = {0};
	struct kwhy_error error;
	json_t *root;
	int status;

	(void)state;
	snprintf(command, sizeof(command),
		"exec 2>&1; '%s' llm --url '%s' -c 1,2 --seconds 3 --ramp 0 --no-energy -q -o "
		"llm-stopped.json & "
		"child=$!; sleep 4.5; kill -TERM $child; wait $child",
		KWHY_PROGRAM, any.url);
	status = system(command); // NOLINT(cert-env33-c): a shell sends the interrupt
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(kwhy_file_read("llm-stopped.json", 1 << 20, &text, &error), KWHY_OK);
	root = json_loads(text.data, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "loads")), 1);
	assert_string_equal(json_string_value(json_object_get(root, "ended")), "it was interrupted");
	json_decref(root);
	kwhy_text_done(&text);
	unlink("llm-stopped.json");
}

static void answers_have_times_and_tokens(void **state)
{
	json_t *root = load_with("well", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.llm/1");
	assert_string_equal(json_string_value(json_object_get(root, "model")), "well");
	assert_true(number(load, "requests") > 0);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	assert_true(number(load, "usage_tokens") == 8 * number(load, "requests"));
	assert_true(number(load, "usage_tokens") == number(load, "usage_pieces"));
	assert_true(spread(load, "first_s", "p50") > 0);
	assert_true(spread(load, "answer_s", "p50") >= spread(load, "first_s", "p50"));
	assert_true(spread(load, "gap_s", "count") == 7 * number(load, "requests"));
	assert_true(number(load, "tokens_per_s") > 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(load, "energy"), "missing")),
		"--no-energy");
	assert_true(json_is_null(
		json_object_get(json_object_get(json_object_get(load, "energy"), "j_a_token"), "value")));
	json_decref(root);
}

/*
 * With one request at a time, the next one must be sent as soon as an answer ends: at least 70 % of the time
 * must be answers. Otherwise the time and joules per token would include time in which the server waits for
 * kwhy.
 */
static void one_request_at_once_follows_the_other_without_a_pause(void **state)
{
	json_t *root = json_of(SPAWN("llm", "--url", any.url, "-c", "1", "--seconds", "1", "--ramp", "0",
		"--no-energy", "--json"));
	const json_t *load = load_of(root);
	double answering_s = spread(load, "answer_s", "count") * spread(load, "answer_s", "mean");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "model")), "made-up");
	if (answering_s < 0.7 * number(load, "steady_s"))
		fail_msg("answers take %g s of %g s", answering_s, number(load, "steady_s"));
	json_decref(root);
}

static void events_split_at_every_byte_are_the_same(void **state)
{
	json_t *root = load_with("bytewise", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(number(load, "requests") > 0);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	assert_true(number(load, "usage_tokens") == 8 * number(load, "requests"));
	assert_true(number(load, "usage_tokens") == number(load, "usage_pieces"));
	json_decref(root);
}

static void characters_split_over_events_are_pieces(void **state)
{
	json_t *root = load_with("splits_characters", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(number(load, "requests") > 0);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	assert_true(number(load, "usage_pieces") == 8 * number(load, "requests"));
	json_decref(root);
}

static void counts_that_lie_or_lack_are_told(void **state)
{
	json_t *root = load_with("lies", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(number(load, "answers_of_fewer_tokens_than_pieces") == number(load, "requests"));
	assert_true(number(load, "usage_tokens") == 3 * number(load, "requests"));
	json_decref(root);
	root = load_with("without_usage", 0);
	load = load_of(root);
	assert_true(number(load, "answers_without_usage") == number(load, "requests"));
	assert_true(number(load, "tokens") > 0);
	json_decref(root);
}

/*
 * This server states no number of tokens, so kwhy counts them by a tokenizer, in which each character is a
 * token. The server's 8 pieces have three characters each, which makes 24 tokens.
 */
static void a_tokenizer_counts_what_the_server_does_not(void **state)
{
	static const char tokenizer[] =
		"{\"model\": {\"type\": \"BPE\", \"unk_token\": \"u\", \"vocab\": {\"u\": 0, "
		"\"t\": 1}, \"merges\": []}}";
	FILE *file = fopen("llm-tokenizer.json", "w");
	const json_t *load;
	json_t *root;

	(void)state;
	assert_non_null(file);
	fputs(tokenizer, file);
	assert_int_equal(fclose(file), 0);
	root = json_of(SPAWN("llm", "--url", any.url, "--model", "without_usage", "-c", "2", "--seconds", "1",
		"--ramp", "0", "--no-energy", "--json", "--tokenizer", "llm-tokenizer.json"));
	load = load_of(root);
	assert_true(number(load, "answers_counted_by_tokenizer") == number(load, "requests"));
	assert_true(number(load, "answers_without_usage") == 0);
	assert_true(
		fabs(number(load, "tokens") - 24 * number(load, "answers")) < 1e-6 * number(load, "tokens"));
	assert_true(number(load, "prompt_tokens") > 5 * 128 * number(load, "answers"));
	json_decref(root);
	assert_fails(SPAWN("llm", "--url", any.url, "--model", "without_usage", "--tokenizer",
			     "llm-tokenizer.json", "--prompt-tokens", "9", "--no-energy"),
		1, "use --prompt-words");
	assert_fails(SPAWN("llm", "--url", any.url, "--model", "without_usage", "--prompt-tokens", "9"), 2,
		"by a --tokenizer");
	unlink("llm-tokenizer.json");
}

/*
 * An answer of 8 tokens comes in four pieces of 1, 4, 2 and 1 tokens. The time per token is the
 * time from the first piece to the last, divided by the number of tokens after the first piece. If
 * the server states the tokens of each piece, these are 7. If not, kwhy counts one token for each
 * piece and divides the other 4 in proportion to the bytes of the pieces: the first piece counts 1
 * + 4 / 8 = 1.5, so 6.5 come after it.
 */
static void a_token_is_timed_by_the_tokens_of_pieces(void **state)
{
	static const struct {
		const char *behaviour;
		bool is_stated;
	} cases[] = {{"states_each", true}, {"groups", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *root = load_with(cases[i].behaviour, 0);
		const json_t *load = load_of(root);
		double tokens = cases[i].is_stated ? 7 : 7.0 - 4.0 / 8;
		double pieces_s = spread(load, "gap_s", "mean") * 3;

		assert_true(number(load, "answers_with_usage_of_each_piece") ==
			(cases[i].is_stated ? number(load, "requests") : 0));
		assert_true(number(load, "usage_pieces") == 4 * number(load, "requests"));
		if (fabs(spread(load, "token_s", "mean") * tokens / pieces_s - 1) > 1e-6)
			fail_msg("%s: %g s a token", cases[i].behaviour, spread(load, "token_s", "mean"));
		json_decref(root);
	}
}

static void a_strict_server_is_asked_for_no_extension(void **state)
{
	json_t *root = load_with("strict", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(number(load, "requests") > 0);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	json_decref(root);
}

static void answers_without_text_or_count_are_answers(void **state)
{
	json_t *root = load_with("no_text", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(number(load, "requests") > 0);
	assert_true(spread(load, "outcomes", "done") == number(load, "requests"));
	assert_true(spread(load, "first_s", "count") == 0);
	json_decref(root);
	root = load_with("usage_of_nothing", 0);
	load = load_of(root);
	assert_true(number(load, "answers_without_usage") == number(load, "requests"));
	assert_true(number(load, "tokens") > 0);
	json_decref(root);
}

static void each_failure_is_counted_by_its_kind(void **state)
{
	(void)state;
	assert_all_failed("breaks", "broken");
	assert_all_failed("closes_early", "broken");
	assert_all_failed("refuses", "status");
	assert_all_failed("reports", "reported");
	assert_all_failed("ends_in_object_error", "reported");
	assert_all_failed("ends_in_code", "reported");
	assert_all_failed("ends_in_error_event", "reported");
	assert_all_failed("ends_in_error_field", "reported");
	assert_all_failed("ends_in_reason_error", "reported");
	assert_all_failed("ends_in_reason_abort", "reported");
	assert_all_failed("only_done", "empty");
	assert_all_failed("only_finish", "empty");
	assert_all_failed("done_in_the_middle", "broken");
	assert_all_failed("huge_line", "malformed");
	assert_all_failed("no_json", "malformed");
}

/*
 * A request without an answer for 0.5 s is given up as "stalled", unless the load ends before that: then it
 * is "cut".
 */
static void those_that_stall_are_given_up(void **state)
{
	json_t *root = load_with("stalls", 1);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(spread(load, "outcomes", "stalled") > 0);
	assert_true(spread(load, "outcomes", "stalled") + spread(load, "outcomes", "cut") ==
		number(load, "requests"));
	json_decref(root);
}

static void failures_beside_answers_leave_their_times_alone(void **state)
{
	json_t *root = load_with("half_bad", 0);
	const json_t *load = load_of(root);

	(void)state;
	assert_true(spread(load, "outcomes", "status") > 0);
	assert_true(number(load, "first_failed_status") == 500);
	assert_true(spread(load, "outcomes", "done") == spread(load, "answer_s", "count"));
	json_decref(root);
}

static void the_key_goes_from_the_environment_to_the_server(void **state)
{
	struct llm_server server = llm_server_start("well", "secret");
	const char *const words[] = {"llm", "--url", server.url, "-c", "1", "--seconds", "1", "--ramp", "0",
		"--no-energy", "--json", NULL};
	json_t *root = json_of(
		spawn_run(&(struct spawn){.words = words, .environment = "KWHY_LLM_KEY=secret"}));

	(void)state;
	assert_true(spread(load_of(root), "outcomes", "done") > 0);
	json_decref(root);
	root = json_with(spawn_run(&(struct spawn){.words = words}), 1);
	assert_true(number(load_of(root), "first_failed_status") == 401);
	json_decref(root);
	llm_server_stop(&server);
}

static void a_server_that_is_not_there_is_told(void **state)
{
	struct spawned spawned = SPAWN("llm", "--url", "http://127.0.0.1:1/v1", "--no-energy");
	json_t *root;

	(void)state;
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "does not answer"));
	spawned_done(&spawned);
	root = json_with(SPAWN("llm", "--url", "http://127.0.0.1:1/v1", "--model", "m", "-c", "1",
				 "--seconds", "0.3", "--ramp", "0", "--no-energy", "--json"),
		1);
	assert_true(spread(load_of(root), "outcomes", "refused") > 0);
	json_decref(root);
}

static void the_table_says_what_failed_and_what_is_not_known(void **state)
{
	struct spawned spawned = SPAWN("llm", "--url", any.url, "--model", "half_bad", "-c", "1,2",
		"--seconds", "0.5", "--ramp", "0", "--no-energy");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "2 concurrent"));
	assert_non_null(strstr(spawned.out.data, "status: HTTP status 500 first"));
	assert_non_null(strstr(spawned.out.data, "not available: --no-energy"));
	spawned_done(&spawned);
}

static void figures_of_other_tools_and_a_csv_are_written(void **state)
{
	struct spawned spawned = SPAWN("llm", "--url", any.url, "-c", "1", "--seconds", "0.5", "--ramp", "0",
		"--no-energy", "--compat", "vllm", "--details");
	struct kwhy_text csv = {0};
	struct kwhy_error error;
	size_t commas[2] = {0, 0}, line = 0;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "Output token throughput (tok/s):"));
	assert_null(strstr(spawned.out.data, "goodput"));
	assert_non_null(strstr(spawned.out.data, "Latency"));
	spawned_done(&spawned);
	spawned = SPAWN("llm", "--url", any.url, "--rate", "20", "--arrivals", "constant", "--seconds", "0.5",
		"--ramp", "0", "--no-energy", "--compat", "vllm", "--slo", "e2e=60s");
	assert_non_null(strstr(spawned.out.data, "Request goodput (req/s):"));
	spawned_done(&spawned);
	spawned = SPAWN("llm", "--url", any.url, "--rate", "20", "--arrivals", "constant", "--seconds", "0.5",
		"--ramp", "0", "--no-energy", "-o", "llm-loads.csv");
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_int_equal(kwhy_file_read("llm-loads.csv", 1 << 20, &csv, &error), KWHY_OK);
	for (size_t i = 0; i < csv.length && line < 2; i++) {
		commas[line] += csv.data[i] == ',';
		line += csv.data[i] == '\n';
	}
	assert_int_equal(line, 2);
	assert_int_equal(commas[0], commas[1]);
	assert_non_null(strstr(csv.data, "\n1,,open,20,,")); /* an open loop has no fixed concurrency */
	kwhy_text_done(&csv);
	unlink("llm-loads.csv");
}

/* The text for the default loads must have at most 24 lines of 80 columns. */
static void the_text_is_one_screen(void **state)
{
	struct spawned spawned = SPAWN("llm", "--url", any.url, "--seconds", "0.5", "--ramp", "0",
		"--no-energy", "--slo", "ttft=9s");
	size_t lines = 0, column = 0;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	for (size_t i = 0; i < spawned.out.length; i++) {
		column += ((unsigned char)spawned.out.data[i] & 0xC0) != 0x80;
		if (spawned.out.data[i] != '\n')
			continue;
		assert_true(column <= 81);
		column = 0;
		lines++;
	}
	assert_true(lines > 5 && lines <= 24);
	spawned_done(&spawned);
}

static void assert_inside(const json_t *part, double truth)
{
	if (!(number(part, "low") <= truth && truth <= number(part, "high")))
		fail_msg("%g is not in %g to %g", truth, number(part, "low"), number(part, "high"));
}

/*
 * Two GPUs draw a constant 300 W and 200 W. So the gross power is 500 W, which gives 1000 J in the steady
 * window of 2 s, and the energy above idle is 0.
 */
static void joules_of_all_gpus_are_shared_by_tokens_and_requests(void **state)
{
	char scenario[] = "/tmp/kwhy-llm-gpu-XXXXXX";
	FILE *file = fdopen(mkstemp(scenario), "w");
	json_t *root;
	const json_t *load, *energy;

	(void)state;
	assert_non_null(file);
	fputs("gpu \"NVIDIA H200\"\npower constant 300\ngpu \"NVIDIA H200\"\npower constant 200\n", file);
	fclose(file);
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", scenario, 1);
	root = json_of(SPAWN("llm", "--url", any.url, "-c", "2", "--seconds", "3", "--ramp", "0.5", "--idle",
		"2", "--json"));
	unsetenv("KWHY_FAKE_NVML");
	unsetenv("LD_LIBRARY_PATH");
	unlink(scenario);
	load = load_of(root);
	energy = json_object_get(load, "energy");
	assert_true(json_is_null(json_object_get(energy, "missing")));
	assert_true(number(root, "idle_w") > 450 && number(root, "idle_w") < 550);
	assert_inside(json_object_get(energy, "gross_j"), 1000);
	assert_inside(json_object_get(energy, "above_idle_j"), 0);
	assert_inside(json_object_get(energy, "j_a_token"), 1000 / number(load, "tokens"));
	assert_inside(json_object_get(energy, "j_a_request"), 1000 / number(load, "answers"));
	assert_inside(json_object_get(energy, "tokens_a_j"), number(load, "tokens") / 1000);
	json_decref(root);
}

/*
 * The GPU draws a constant 300 W, so no request has energy above idle. In nanojoules, prefill, decode and
 * idle must add up exactly to what the meter shows.
 */
static void joules_of_requests_add_up_to_the_meter(void **state)
{
	char scenario[] = "/tmp/kwhy-llm-gpu-XXXXXX";
	FILE *file = fdopen(mkstemp(scenario), "w");
	struct kwhy_text csv = {0};
	struct kwhy_error error;
	size_t lines = 0, records = 0, i;
	json_t *root;
	const json_t *load;

	(void)state;
	assert_non_null(file);
	fputs("gpu \"NVIDIA H200\"\npower constant 300\n", file);
	fclose(file);
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", scenario, 1);
	root = json_of(SPAWN("llm", "--url", any.url, "--model", "states_each", "--design", "--seconds",
		"1.6", "--ramp", "0.05", "--idle", "1", "--json", "--requests", "llm-requests.csv"));
	unsetenv("KWHY_FAKE_NVML");
	unsetenv("LD_LIBRARY_PATH");
	unlink(scenario);
	assert_int_equal(json_array_size(json_object_get(root, "loads")), 6);
	json_array_foreach(json_object_get(root, "loads"), i, load)
	{
		const json_t *parts = json_object_get(load, "requests_nj");

		assert_non_null(json_string_value(json_object_get(load, "name")));
		assert_true(json_integer_value(json_object_get(parts, "metered")) > 400000000000);
		assert_int_equal(json_integer_value(json_object_get(parts, "metered")),
			json_integer_value(json_object_get(parts, "prefill")) +
				json_integer_value(json_object_get(parts, "decode")) +
				json_integer_value(json_object_get(parts, "idle")));
		records += (size_t)number(load, "requests");
	}
	assert_true(json_is_null(json_object_get(json_object_get(root, "requests_energy"), "missing")));
	/*
	 * in some runs the 90 % interval of idle_w does not contain 300 W, so only the estimate is tested
	 */
	assert_float_equal(
		number(json_object_get(json_object_get(root, "requests_energy"), "idle_w"), "value"), 300, 3);
	assert_int_equal(kwhy_file_read("llm-requests.csv", 1 << 24, &csv, &error), KWHY_OK);
	for (i = 0; i < csv.length; i++)
		lines += csv.data[i] == '\n';
	assert_true(lines > records); /* the file also has requests outside the steady windows */
	assert_non_null(strstr(csv.data,
		",5,2,8,4,")); /* tokens: 5 of the prompt, 2 of these cached, 8 of the output; 4 pieces */
	kwhy_text_done(&csv);
	unlink("llm-requests.csv");
	json_decref(root);
}

static void wrong_usage_is_refused_by_name(void **state)
{
	static const struct {
		const char *words[8], *says;
	} cases[] = {
		{{"llm"}, "--url"},
		{{"llm", "--url", "ftp://x"}, "is not the address of a server"},
		{{"llm", "--url", "http://x", "-c", "1,,2"}, "--concurrency"},
		{{"llm", "--url", "http://x", "-c", ""}, "--concurrency"},
		{{"llm", "--url", "http://x", "--rate", ""}, "--rate"},
		{{"llm", "--url", "http://x", "-c", "1.5"}, "--concurrency"},
		{{"llm", "--url", "http://x", "-r", "0"}, "--rate"},
		{{"llm", "--url", "http://x", "--ramp", "15"}, "--ramp"},
		{{"llm", "--url", "http://x", "--endpoint", "y"}, "--endpoint"},
		{{"llm", "--url", "http://x", "-o", "x.xml"}, ".json"},
		{{"llm", "--url", "http://x", "--compat", "ab"}, "--compat"},
		{{"llm", "--url", "http://x", "--design", "-c", "1"}, "--design"},
		{{"llm", "--url", "http://x", "--prompt-words", "normal:5"}, "--prompt-words"},
		{{"llm", "--url", "http://x", "--arrivals", "often"}, "--arrivals"},
		{{"llm", "--url", "http://x", "--slo", "ttft=fast"}, "--slo"},
		{{"llm", "--url", "http://x", "--slo", "share=500ms"}, "--slo takes"},
		{{"llm", "--url", "http://x", "--slo", "share=1s"}, "--slo takes"},
		{{"llm", "--url", "http://x", "--slo", "ttft=5%"}, "--slo takes"},
		{{"llm", "--url", "http://x", "--search"}, "--slo"},
		{{"llm", "--url", "http://x", "--turns", "0"}, "--turns"},
		{{"llm", "--url", "http://x", "--design", "--no-energy"}, "--design"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_fails(spawn_run(&(struct spawn){.words = cases[i].words}), 2, cases[i].says);
}

static int begin(void **state)
{
	(void)state;
	any = llm_server_start("as_the_model_says", NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	llm_server_stop(&any);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_have_times_and_tokens),
		cmocka_unit_test(an_interrupt_leaves_the_loads_before),
		cmocka_unit_test(one_request_at_once_follows_the_other_without_a_pause),
		cmocka_unit_test(events_split_at_every_byte_are_the_same),
		cmocka_unit_test(characters_split_over_events_are_pieces),
		cmocka_unit_test(counts_that_lie_or_lack_are_told),
		cmocka_unit_test(a_token_is_timed_by_the_tokens_of_pieces),
		cmocka_unit_test(a_strict_server_is_asked_for_no_extension),
		cmocka_unit_test(answers_without_text_or_count_are_answers),
		cmocka_unit_test(each_failure_is_counted_by_its_kind),
		cmocka_unit_test(those_that_stall_are_given_up),
		cmocka_unit_test(failures_beside_answers_leave_their_times_alone),
		cmocka_unit_test(the_key_goes_from_the_environment_to_the_server),
		cmocka_unit_test(a_server_that_is_not_there_is_told),
		cmocka_unit_test(the_table_says_what_failed_and_what_is_not_known),
		cmocka_unit_test(figures_of_other_tools_and_a_csv_are_written),
		cmocka_unit_test(the_text_is_one_screen),
		cmocka_unit_test(joules_of_all_gpus_are_shared_by_tokens_and_requests),
		cmocka_unit_test(joules_of_requests_add_up_to_the_meter),
		cmocka_unit_test(a_tokenizer_counts_what_the_server_does_not),
		cmocka_unit_test(wrong_usage_is_refused_by_name),
	};

	return kwhy_test_main(tests, begin, end);
}
