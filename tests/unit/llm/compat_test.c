/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the figures of other tools on answers with known times. docs/formats/llm.md has the definitions. */
#include "cmocka_all.h"
#include "llm/compat.h"

#include <math.h>

#define SECOND_NS INT64_C(1000000000)

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

/*
 * Returns the figures of two requests. The first is due at 0 s and sent at 1 s. An event without text comes
 * at 2 s, text comes at 3 s and 5 s, the last event at 6 s, and the response ends at 7 s; the answer has 5
 * tokens. The second request fails. The run ends at 10 s.
 */
static struct kwhy_llm_compat compat_of(enum kwhy_llm_compat_tool tool, struct kwhy_llm_limits limits)
{
	struct kwhy_llm_piece pieces[] = {{3 * SECOND_NS, 1, -1}, {5 * SECOND_NS, 1, -1}};
	struct kwhy_llm_record records[] = {{.sent_ns = 1 * SECOND_NS,
						    .end_ns = 7 * SECOND_NS,
						    .prompt_tokens = 20,
						    .completion_tokens = 5,
						    .first_event_ns = 2 * SECOND_NS,
						    .last_event_ns = 6 * SECOND_NS,
						    .pieces = pieces,
						    .piece_count = 2},
		{.sent_ns = 2 * SECOND_NS, .outcome = KWHY_LLM_BROKEN}};
	const struct kwhy_llm_run run = {.records = records, .count = 2, .end_ns = 10 * SECOND_NS};
	struct kwhy_llm_compat compat;
	struct kwhy_error error;

	assert_int_equal(kwhy_llm_compat_of(&run, tool, &limits, &compat, &error), KWHY_OK);
	return compat;
}

static const struct kwhy_llm_limits none = {NAN, NAN, NAN};

static void vllm_times_events(void **state)
{
	struct kwhy_llm_compat compat = compat_of(KWHY_LLM_COMPAT_VLLM, none);

	(void)state;
	assert_int_equal(compat.completed, 1);
	assert_int_equal(compat.failed, 1);
	assert_near(compat.seconds, 10);
	assert_near(compat.ttft.mean, 1);
	assert_near(compat.answer.median, 5);
	assert_near(compat.tpot.p99, 1);
	assert_near(compat.gap.mean, 2);
	assert_near(compat.prompt_tokens + compat.output_tokens, 25);
}

static void aiperf_times_text(void **state)
{
	struct kwhy_llm_compat compat = compat_of(KWHY_LLM_COMPAT_AIPERF, none);

	(void)state;
	assert_near(compat.seconds, 4);
	assert_near(compat.ttft.mean, 2);
	assert_near(compat.answer.mean, 4);
	assert_near(compat.tpot.mean, 0.5);
	assert_near(compat.ttft.deviation, 0);
}

static void good_answers_keep_the_limits(void **state)
{
	(void)state;
	assert_int_equal(compat_of(KWHY_LLM_COMPAT_VLLM, none).good, 1);
	assert_int_equal(compat_of(KWHY_LLM_COMPAT_VLLM, (struct kwhy_llm_limits){1.5, NAN, NAN}).good, 1);
	assert_int_equal(compat_of(KWHY_LLM_COMPAT_AIPERF, (struct kwhy_llm_limits){1.5, NAN, NAN}).good, 0);
	assert_int_equal(compat_of(KWHY_LLM_COMPAT_VLLM, (struct kwhy_llm_limits){NAN, 0.9, NAN}).good, 0);
	assert_int_equal(compat_of(KWHY_LLM_COMPAT_VLLM, (struct kwhy_llm_limits){NAN, NAN, 4.9}).good, 0);
}

static void a_run_without_answers_has_no_times(void **state)
{
	const struct kwhy_llm_run run = {.end_ns = SECOND_NS};
	struct kwhy_llm_compat compat;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_llm_compat_of(&run, KWHY_LLM_COMPAT_AIPERF, &none, &compat, &error), KWHY_OK);
	assert_true(isnan(compat.ttft.mean) && isnan(compat.answer.p99));
	assert_int_equal(compat.completed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vllm_times_events),
		cmocka_unit_test(aiperf_times_text),
		cmocka_unit_test(good_answers_keep_the_limits),
		cmocka_unit_test(a_run_without_answers_has_no_times),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
