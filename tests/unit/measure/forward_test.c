/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "measure/forward.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/kwhy-forward-XXXXXX";

static int begin(void **state)
{
	const int file = mkstemp(path);

	(void)state;
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("KWHY_WORK_FILE");
	return file < 0 ? -1 : close(file);
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

static void assert_file(const char *text)
{
	struct kwhy_text read = {0};
	struct kwhy_error error;

	assert_int_equal(kwhy_file_read(path, 4096, &read, &error), KWHY_OK);
	assert_string_equal(read.data ? read.data : "", text);
	kwhy_text_done(&read);
}

static void work_of(struct kwhy_forward *forward, const char *unit, double amount)
{
	const struct kwhy_event event = {.kind = KWHY_EVENT_WORK, .amount = amount};

	kwhy_forward_event(forward, &event, unit);
}

static void where_nobody_watches_there_is_nothing_to_forward_to(void **state)
{
	const struct kwhy_event event = {.kind = KWHY_EVENT_BEGIN};

	(void)state;
	assert_null(kwhy_forward_open());
	kwhy_forward_event(NULL, &event, "region");
	kwhy_forward_flush(NULL);
	kwhy_forward_close(NULL);
	setenv("KWHY_WORK_FILE", "/nowhere/at/all", 1);
	assert_null(kwhy_forward_open());
}

static void work_becomes_lines_a_sum_for_each_unit(void **state)
{
	struct kwhy_forward *forward;

	(void)state;
	setenv("KWHY_WORK_FILE", path, 1);
	forward = kwhy_forward_open();
	assert_non_null(forward);
	work_of(forward, "tokens", 7);
	work_of(forward, "steps", 1);
	work_of(forward, "tokens", 14.5);
	assert_file("");
	kwhy_forward_flush(forward);
	assert_file("tokens 21.5\nsteps 1\n");
	work_of(forward, "tokens", 3);
	kwhy_forward_close(forward);
	assert_file("tokens 21.5\nsteps 1\ntokens 3\n");
	assert_int_equal(truncate(path, 0), 0);
}

static void a_unit_that_no_line_can_say_is_left_out(void **state)
{
	struct kwhy_forward *forward;

	(void)state;
	setenv("KWHY_WORK_FILE", path, 1);
	forward = kwhy_forward_open();
	work_of(forward, "two words", 7);
	work_of(forward, "a\nline", 7);
	kwhy_forward_close(forward);
	assert_file("");
}

static void regions_without_a_recorder_go_nowhere(void **state)
{
	const struct kwhy_event begun = {.time_ns = 1, .kind = KWHY_EVENT_BEGIN},
				ended = {.time_ns = 2, .kind = KWHY_EVENT_END};
	struct kwhy_forward *forward;

	(void)state;
	setenv("KWHY_WORK_FILE", path, 1);
	forward = kwhy_forward_open();
	kwhy_forward_event(forward, &begun, "region");
	kwhy_forward_event(forward, &ended, "region");
	kwhy_forward_event(forward, &ended, "region");
	kwhy_forward_close(forward);
	assert_file("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nobody_watches_there_is_nothing_to_forward_to),
		cmocka_unit_test(work_becomes_lines_a_sum_for_each_unit),
		cmocka_unit_test(a_unit_that_no_line_can_say_is_left_out),
		cmocka_unit_test(regions_without_a_recorder_go_nowhere),
	};

	return kwhy_test_main(tests, begin, end);
}
