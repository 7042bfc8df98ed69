/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/arrivals.h"
#include "llm/prompt.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *turn_of(const struct kwhy_llm_question *question, uint64_t number, size_t turn)
{
	struct kwhy_error error;
	char *body = NULL;
	json_t *root;

	assert_int_equal(kwhy_llm_body(question, number, turn, &body, &error), KWHY_OK);
	root = json_loads(body, 0, NULL);
	assert_non_null(root);
	free(body);
	return root;
}

static json_t *body_of(const struct kwhy_llm_question *question, uint64_t number)
{
	return turn_of(question, number, 0);
}

static const char *content_of(const json_t *root, size_t message)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(root, "messages"), message), "content"));
}

static size_t words_in(const char *text)
{
	size_t words = 1;

	for (; *text; text++)
		words += *text == ' ';
	return words;
}

static void a_body_asks_for_a_stream_with_usage(void **state)
{
	struct kwhy_llm_message messages[] = {{KWHY_LLM_USER, "say \"hi\""}, {KWHY_LLM_USER, "two"}};
	const struct kwhy_llm_dialog dialogs[] = {{.messages = messages, .message_count = 1, .turns = 1},
		{.messages = messages + 1, .message_count = 1, .turns = 1, .max_tokens = 77}};
	struct kwhy_llm_question question = {.model = "m",
		.dialogs = dialogs,
		.dialog_count = 2,
		.words = {.a = 1},
		.max_tokens = {.a = 9}};
	json_t *root = body_of(&question, 2);

	(void)state;
	assert_true(json_is_true(json_object_get(root, "stream")));
	assert_true(json_is_true(json_object_get(json_object_get(root, "stream_options"), "include_usage")));
	assert_null(json_object_get(json_object_get(root, "stream_options"), "continuous_usage_stats"));
	assert_int_equal(json_integer_value(json_object_get(root, "max_tokens")), 9);
	assert_null(json_object_get(root, "ignore_eos"));
	assert_string_equal(content_of(root, 0), "say \"hi\"");
	json_decref(root);
	question.endpoint = KWHY_LLM_COMPLETIONS;
	question.ignore_eos = question.usage_each = true;
	root = body_of(&question, 1);
	assert_string_equal(json_string_value(json_object_get(root, "prompt")), "two");
	assert_int_equal(json_integer_value(json_object_get(root, "max_tokens")), 77);
	assert_true(json_is_true(json_object_get(root, "ignore_eos")));
	assert_true(json_is_true(
		json_object_get(json_object_get(root, "stream_options"), "continuous_usage_stats")));
	json_decref(root);
	question.whole = true;
	root = body_of(&question, 1);
	assert_true(json_is_false(json_object_get(root, "stream")));
	assert_null(json_object_get(root, "stream_options"));
	json_decref(root);
}

static void made_up_prompts_have_their_words_and_differ_but_not_between_runs(void **state)
{
	const struct kwhy_llm_question question = {.endpoint = KWHY_LLM_COMPLETIONS,
		.model = "m",
		.words = {.a = 40},
		.max_tokens = {.a = 1},
		.seed = 3};
	json_t *first = body_of(&question, 0), *again = body_of(&question, 0), *next = body_of(&question, 1);

	(void)state;
	assert_int_equal(words_in(json_string_value(json_object_get(first, "prompt"))), 40);
	assert_true(json_equal(first, again));
	assert_false(json_equal(first, next));
	json_decref(first);
	json_decref(again);
	json_decref(next);
}

/*
 * The messages of a turn must begin with those of the earlier turns, unchanged. All conversations must begin
 * with the same 30 words (shared_words).
 */
static void conversations_grow_and_share_their_beginning(void **state)
{
	const struct kwhy_llm_question question = {.model = "m",
		.words = {KWHY_LLM_LENGTH_UNIFORM, 5, 20},
		.max_tokens = {.a = 7},
		.shared_words = 30,
		.turns = 3};
	json_t *one = turn_of(&question, 4, 0), *three = turn_of(&question, 4, 2),
	       *other = body_of(&question, 5);
	size_t shared = 0;

	(void)state;
	assert_int_equal(kwhy_llm_turns(&question, 4), 3);
	assert_int_equal(json_array_size(json_object_get(three, "messages")), 5);
	assert_string_equal(content_of(one, 0), content_of(three, 0));
	assert_int_equal(words_in(content_of(three, 1)), 7);
	assert_in_range(words_in(content_of(three, 4)), 5, 20);
	for (const char *a = content_of(one, 0), *b = content_of(other, 0); *a == *b; a++, b++)
		shared += *a == ' ';
	assert_true(shared >= 30);
	json_decref(one);
	json_decref(three);
	json_decref(other);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
	struct kwhy_llm_message message = {KWHY_LLM_USER, "\xff"};
	const struct kwhy_llm_dialog dialog = {.messages = &message, .message_count = 1, .turns = 1};
	const struct kwhy_llm_question question = {.model = "m",
		.dialogs = &dialog,
		.dialog_count = 1,
		.words = {.a = 1},
		.max_tokens = {.a = 9}};
	struct kwhy_error error;
	char *body = NULL;

	(void)state;
	assert_int_equal(kwhy_llm_body(&question, 0, 0, &body, &error), KWHY_E_INPUT);
	assert_null(body);
}

static struct kwhy_llm_dialogs read_dialogs(const char *path, const char *text, enum kwhy_status expected)
{
	struct kwhy_llm_dialogs dialogs;
	struct kwhy_error error = {0};
	enum kwhy_status status = kwhy_llm_dialogs_read(path, text, strlen(text), &dialogs, &error);

	if (status != expected)
		fail_msg("%s '%s': %s", path, text, error.text);
	if (expected && !strstr(error.text, path))
		fail_msg("'%s' does not name the file", error.text);
	return dialogs;
}

static void files_of_each_form_are_read(void **state)
{
	struct kwhy_llm_dialogs dialogs = read_dialogs("p.txt", "one\n\ntwo\n", KWHY_OK);

	(void)state;
	assert_int_equal(dialogs.count, 2);
	assert_string_equal(dialogs.items[1].messages[0].text, "two");
	kwhy_llm_dialogs_done(&dialogs);
	dialogs = read_dialogs("p.jsonl",
		"{\"prompt\":\"a\",\"max_tokens\":5}\n\n"
		"{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"}"
		","
		"{\"role\":\"assistant\",\"content\":\"v\"},{\"role\":\"user\",\"content\":\"w\"}]}\n",
		KWHY_OK);
	assert_int_equal(dialogs.count, 2);
	assert_int_equal(dialogs.items[0].max_tokens, 5);
	assert_int_equal(dialogs.items[1].turns, 2);
	assert_int_equal(dialogs.items[1].message_count, 4);
	kwhy_llm_dialogs_done(&dialogs);
	dialogs = read_dialogs("sharegpt.json",
		"[{\"id\":\"x\",\"conversations\":[{\"from\":\"human\",\"value\":\"q\"},{\"from\":\"gpt\","
		"\"value\":\"r\"}]},{\"conversations\":[{\"from\":\"gpt\",\"value\":\"alone\"}]}]",
		KWHY_OK);
	assert_int_equal(dialogs.count, 1);
	assert_int_equal(
		dialogs.items[0].message_count, 1); /* the answer that ends the conversation is not sent */
	kwhy_llm_dialogs_done(&dialogs);
}

/*
 * Requests of a log whose first hash_ids are equal must have prompts that begin with the same words. A block
 * has 512 tokens, each made as one word. Prompts and answers must have the lengths that the log states.
 */
static void logs_give_lengths_times_and_shared_blocks(void **state)
{
	struct kwhy_llm_dialogs dialogs = read_dialogs("t.jsonl",
		"{\"timestamp\": 500, \"input_length\": 600, \"output_length\": 52, \"hash_ids\": [46, 47]}\n"
		"{\"timestamp\": 1500, \"input_length\": 700, \"output_length\": 3, \"hash_ids\": [46, "
		"48]}\n",
		KWHY_OK);
	const struct kwhy_llm_question question = {.endpoint = KWHY_LLM_COMPLETIONS,
		.model = "m",
		.dialogs = dialogs.items,
		.dialog_count = 2,
		.words = {.a = 1},
		.max_tokens = {.a = 1}};
	json_t *one = body_of(&question, 0), *two = body_of(&question, 1);
	const char *a = json_string_value(json_object_get(one, "prompt")),
		   *b = json_string_value(json_object_get(two, "prompt"));
	size_t shared = 0;

	(void)state;
	assert_int_equal(words_in(a), 600);
	assert_int_equal(words_in(b), 700);
	assert_int_equal(json_integer_value(json_object_get(one, "max_tokens")), 52);
	assert_true(dialogs.items[0].at_s == 0 && dialogs.items[1].at_s == 1);
	for (; *a == *b; a++, b++)
		shared += *a == ' ';
	assert_in_range(shared, 511, 520);
	json_decref(one);
	json_decref(two);
	kwhy_llm_dialogs_done(&dialogs);
}

static void files_of_no_form_are_refused_by_place(void **state)
{
	static const struct {
		const char *path, *text;
	} cases[] = {{"p.txt", ""}, {"p.jsonl", "{\"prompt\":\"a\"}\nx\n"}, {"p.jsonl", "{\"a\":1}"},
		{"p.jsonl", "{\"messages\":[{\"role\":\"wizard\",\"content\":\"s\"}]}"},
		{"p.jsonl", "{\"messages\":[]}"}, {"p.jsonl", "{\"input_length\":1000001}"}, {"p.json", "{}"},
		{"p.json", "[{}]"}, {"p.json", "[]"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_llm_dialogs dialogs = read_dialogs(cases[i].path, cases[i].text, KWHY_E_INPUT);

		kwhy_llm_dialogs_done(&dialogs);
	}
}

static void lengths_have_their_distribution(void **state)
{
	static const struct {
		const char *text;
		double mean, deviation;
	} cases[] = {{"128", 128, 0}, {"uniform:10,20", 15, 3.162}, {"normal:500,50", 500, 50},
		{"lognormal:100,0.5", 113.3, 60.4}};
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_llm_length length;
		struct kwhy_random random;
		double sum = 0, squares = 0;
		enum { COUNT = 40000 };

		kwhy_random_init(&random, 1);
		assert_int_equal(kwhy_llm_length_read("--x", cases[i].text, &length, &error), KWHY_OK);
		for (int k = 0; k < COUNT; k++) {
			double value = (double)kwhy_llm_length_draw(&length, &random);

			sum += value;
			squares += value * value;
		}
		sum /= COUNT;
		assert_true(fabs(sum / cases[i].mean - 1) < 0.02);
		assert_true(fabs(sqrt(fmax(squares / COUNT - sum * sum, 0)) - cases[i].deviation) <=
			0.03 * cases[i].deviation);
	}
	for (size_t i = 0; i < 8; i++) {
		static const char *const wrong[] = {
			"", "0", "1.5", "x", "uniform:5", "uniform:9,3", "normal:0,1", "lognormal:5,9"};
		struct kwhy_llm_length length;

		assert_int_equal(kwhy_llm_length_read("--x", wrong[i], &length, &error), KWHY_E_USAGE);
	}
}

/*
 * For each distribution, the mean interval between requests must be 1/rate, and the ratio of standard
 * deviation to mean must be `deviation`: 1 for a Poisson process, 0 for constant intervals,
 * 1/sqrt(burstiness) for bursts.
 */
static void arrivals_come_at_the_rate_and_are_the_seeds(void **state)
{
	static const struct {
		struct kwhy_llm_arrival_plan plan;
		double deviation;
	} cases[] = {{{.kind = KWHY_LLM_POISSON, .rate_per_s = 50, .seed = 1}, 1},
		{{.kind = KWHY_LLM_CONSTANT, .rate_per_s = 50, .seed = 1}, 0},
		{{.kind = KWHY_LLM_BURST, .rate_per_s = 50, .burstiness = 0.25, .seed = 1}, 2},
		{{.kind = KWHY_LLM_BURST, .rate_per_s = 50, .burstiness = 4, .seed = 1}, 0.5}};
	enum { COUNT = 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_llm_arrivals arrivals, same;
		double sum = 0, squares = 0, deviation;
		int64_t before_ns = 0;

		kwhy_llm_arrivals_init(&arrivals, &cases[i].plan, 0);
		kwhy_llm_arrivals_init(&same, &cases[i].plan, 0);
		assert_int_equal(arrivals.next_ns, same.next_ns);
		for (int k = 0; k < COUNT; k++) {
			double gap_s = (double)(arrivals.next_ns - before_ns) * 1e-9;

			assert_true(gap_s >= 0);
			sum += gap_s;
			squares += gap_s * gap_s;
			before_ns = arrivals.next_ns;
			kwhy_llm_arrivals_step(&arrivals);
		}
		deviation = sqrt(fmax(squares / COUNT - sum / COUNT * sum / COUNT, 0)) * 50;
		assert_true(fabs(sum / COUNT * 50 - 1) < 0.03);
		if (fabs(deviation - cases[i].deviation) > 0.05 * cases[i].deviation + 1e-4)
			fail_msg("case %zu: %g", i, deviation);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_asks_for_a_stream_with_usage),
		cmocka_unit_test(made_up_prompts_have_their_words_and_differ_but_not_between_runs),
		cmocka_unit_test(conversations_grow_and_share_their_beginning),
		cmocka_unit_test(text_that_is_not_utf8_is_refused),
		cmocka_unit_test(files_of_each_form_are_read),
		cmocka_unit_test(logs_give_lengths_times_and_shared_blocks),
		cmocka_unit_test(files_of_no_form_are_refused_by_place),
		cmocka_unit_test(lengths_have_their_distribution),
		cmocka_unit_test(arrivals_come_at_the_rate_and_are_the_seeds),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
