/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/stream.h"

#include <stdlib.h>
#include <string.h>

struct taken {
	struct kwhy_text text; /* data of all events, each in brackets */
	size_t most;
	size_t count;
};

static bool take(void *context, const char *data, size_t length)
{
	struct taken *taken = context;

	kwhy_text_add(&taken->text, "[");
	kwhy_text_add_bytes(&taken->text, data, length);
	kwhy_text_add(&taken->text, "]");
	return ++taken->count != taken->most;
}

static void assert_events(const char *bytes, size_t length, size_t cut, const char *expected)
{
	struct kwhy_llm_stream stream = {0};
	struct taken taken = {0};

	assert_int_equal(kwhy_llm_stream_feed(&stream, bytes, cut, take, &taken), KWHY_LLM_FED);
	assert_int_equal(
		kwhy_llm_stream_feed(&stream, bytes + cut, length - cut, take, &taken), KWHY_LLM_FED);
	assert_string_equal(taken.text.data, expected);
	kwhy_text_done(&taken.text);
	kwhy_llm_stream_done(&stream);
}

static void events_are_the_same_wherever_the_bytes_are_split(void **state)
{
	static const char bytes[] = ": comment\r\ndata: one\r\n\r\nid: 4\ndata:two\ndata: lines\n\ndata: "
				    "three\r\rdata\n\n\n\nevent: x\n\ndata: not over";

	(void)state;
	for (size_t cut = 0; cut < sizeof(bytes) - 1; cut++)
		assert_events(bytes, sizeof(bytes) - 1, cut, "[one][two\nlines][three][]");
}

static void a_line_without_end_is_refused_before_it_fills_memory(void **state)
{
	struct kwhy_llm_stream stream = {0};
	struct taken taken = {0};
	char block[4096];
	enum kwhy_llm_fed fed = KWHY_LLM_FED;
	size_t blocks = 0;

	(void)state;
	memset(block, 'x', sizeof(block));
	for (; fed == KWHY_LLM_FED && blocks < 1000; blocks++)
		fed = kwhy_llm_stream_feed(&stream, block, sizeof(block), take, &taken);
	assert_int_equal(fed, KWHY_LLM_FED_TOO_LONG);
	assert_int_equal(blocks, KWHY_LLM_EVENT_BYTES_MAX / sizeof(block) + 1);
	kwhy_llm_stream_done(&stream);
}

static void lines_that_never_end_an_event_are_refused_too(void **state)
{
	struct kwhy_llm_stream stream = {0};
	struct taken taken = {0};
	enum kwhy_llm_fed fed = KWHY_LLM_FED;

	(void)state;
	for (size_t i = 0; fed == KWHY_LLM_FED && i < KWHY_LLM_EVENT_BYTES_MAX; i++)
		fed = kwhy_llm_stream_feed(&stream, "data: 89\n", 9, take, &taken);
	assert_int_equal(fed, KWHY_LLM_FED_TOO_LONG);
	kwhy_llm_stream_done(&stream);
}

static void a_taker_that_refuses_ends_the_stream(void **state)
{
	struct kwhy_llm_stream stream = {0};
	struct taken taken = {.most = 1};
	static const char bytes[] = "data: 1\n\ndata: 2\n\n";

	(void)state;
	assert_int_equal(
		kwhy_llm_stream_feed(&stream, bytes, sizeof(bytes) - 1, take, &taken), KWHY_LLM_FED_REFUSED);
	assert_string_equal(taken.text.data, "[1]");
	kwhy_text_done(&taken.text);
	kwhy_llm_stream_done(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_the_same_wherever_the_bytes_are_split),
		cmocka_unit_test(a_line_without_end_is_refused_before_it_fills_memory),
		cmocka_unit_test(lines_that_never_end_an_event_are_refused_too),
		cmocka_unit_test(a_taker_that_refuses_ends_the_stream),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
