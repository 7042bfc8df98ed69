/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/prompt.h"
#include "llm/run.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *body_of(const struct kwhy_llm_question *question, uint64_t number)
{
	struct kwhy_error error;
	char *body = NULL;
	json_t *root;

	assert_int_equal(kwhy_llm_body(question, number, &body, &error), KWHY_OK);
	root = json_loads(body, 0, NULL);
	assert_non_null(root);
	free(body);
	return root;
}

static void a_body_asks_for_a_stream_with_usage(void **state)
{
	static const char *const prompts[] = {"say \"hi\"", "two"};
	struct kwhy_llm_question question = {
		.model = "m", .prompts = prompts, .prompt_count = 2, .max_tokens = 9};
	json_t *root = body_of(&question, 2);
	const json_t *message = json_array_get(json_object_get(root, "messages"), 0);

	(void)state;
	assert_true(json_is_true(json_object_get(root, "stream")));
	assert_true(json_is_true(json_object_get(json_object_get(root, "stream_options"), "include_usage")));
	assert_int_equal(json_integer_value(json_object_get(root, "max_tokens")), 9);
	assert_null(json_object_get(root, "ignore_eos"));
	assert_string_equal(json_string_value(json_object_get(message, "content")), "say \"hi\"");
	json_decref(root);
	question.endpoint = KWHY_LLM_COMPLETIONS;
	question.ignore_eos = true;
	root = body_of(&question, 1);
	assert_string_equal(json_string_value(json_object_get(root, "prompt")), "two");
	assert_true(json_is_true(json_object_get(root, "ignore_eos")));
	json_decref(root);
}

static void made_up_prompts_have_so_many_words_and_differ_but_not_between_runs(void **state)
{
	const struct kwhy_llm_question question = {
		.endpoint = KWHY_LLM_COMPLETIONS, .model = "m", .words = 40, .max_tokens = 1, .seed = 3};
	json_t *first = body_of(&question, 0), *again = body_of(&question, 0), *next = body_of(&question, 1);
	const char *prompt = json_string_value(json_object_get(first, "prompt"));
	size_t words = 1;

	(void)state;
	for (const char *at = prompt; *at; at++)
		words += *at == ' ';
	assert_int_equal(words, 40);
	assert_true(json_equal(first, again));
	assert_false(json_equal(first, next));
	json_decref(first);
	json_decref(again);
	json_decref(next);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
	static const char *const prompts[] = {"\xff"};
	const struct kwhy_llm_question question = {
		.model = "m", .prompts = prompts, .prompt_count = 1, .max_tokens = 9};
	struct kwhy_error error;
	char *body = NULL;

	(void)state;
	assert_int_equal(kwhy_llm_body(&question, 0, &body, &error), KWHY_E_INPUT);
	assert_null(body);
}

/* In a Poisson process the gaps have a mean and a standard deviation of 1/rate. */
static void arrivals_come_at_the_rate_and_are_the_seeds(void **state)
{
	struct kwhy_llm_arrivals arrivals, same;
	double sum = 0, squares = 0;
	int64_t before_ns = 0;
	enum { COUNT = 100000 };

	(void)state;
	kwhy_llm_arrivals_init(&arrivals, 50, 1, 0);
	kwhy_llm_arrivals_init(&same, 50, 1, 0);
	assert_int_equal(arrivals.next_ns, same.next_ns);
	for (int i = 0; i < COUNT; i++) {
		double gap_s = (double)(arrivals.next_ns - before_ns) * 1e-9;

		assert_true(gap_s >= 0);
		sum += gap_s;
		squares += gap_s * gap_s;
		before_ns = arrivals.next_ns;
		kwhy_llm_arrivals_step(&arrivals);
	}
	assert_true(fabs(sum / COUNT * 50 - 1) < 0.02);
	assert_true(fabs(sqrt(squares / COUNT - sum / COUNT * sum / COUNT) * 50 - 1) < 0.03);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_asks_for_a_stream_with_usage),
		cmocka_unit_test(made_up_prompts_have_so_many_words_and_differ_but_not_between_runs),
		cmocka_unit_test(text_that_is_not_utf8_is_refused),
		cmocka_unit_test(arrivals_come_at_the_rate_and_are_the_seeds),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
