/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that each CUDA call that is recorded in a Python program has the source line that made it, with
 * every version of Python that is installed here.
 */
static char program[256];
#define KWHY_FAKE_PROGRAM program
#include "inject_run.h"

static const char *const interpreters[] = {
	"python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"};

static bool is_here(const char *interpreter)
{
	char check[600];

	snprintf(check, sizeof(check),
		"%s -c 'import ctypes; ctypes.pythonapi.PyGILState_GetThisThreadState' >/dev/null 2>&1",
		interpreter);
	return system(check) == 0;
}

/* Returns the number of the program's line that ends in "# LINE name". */
static uint32_t line_of(const char *name)
{
	char line[512], mark[64];
	FILE *file = fopen(KWHY_PYTHON_PROGRAM, "r");
	uint32_t number = 0;

	assert_non_null(file);
	snprintf(mark, sizeof(mark), "# LINE %s\n", name);
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (strstr(line, mark)) {
			fclose(file);
			return number;
		}
	}
	fail_msg("%s has no line %s", KWHY_PYTHON_PROGRAM, name);
	return 0;
}

/*
 * Counts the recorded stack frames at the line of the Python program that ends in "# LINE mark", in a
 * function whose qualified name ends in `function`.
 */
static size_t count_frames(const struct run *run, const char *mark, const char *function)
{
	const struct kwhy_host_ranges *rows = &run->recording->host_ranges;
	const uint32_t line = line_of(mark);
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const char *name = text_of(run, rows->name[i]);
		const size_t length = strlen(name), wanted = strlen(function);

		count += rows->kind[i] == KWHY_HOST_FRAME && kwhy_host_range_line(rows, i) == line &&
			!strcmp(text_of(run, kwhy_host_range_file(rows, i)), KWHY_PYTHON_PROGRAM) &&
			length >= wanted && !strcmp(name + length - wanted, function);
	}
	return count;
}

static size_t count_all_frames(const struct run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->host_ranges.count; i++)
		count += run->recording->host_ranges.kind[i] == KWHY_HOST_FRAME;
	return count;
}

static void check_interpreter(void **state, const char *interpreter)
{
	struct run *run = *state;

	snprintf(program, sizeof(program), "%s %s", interpreter, KWHY_PYTHON_PROGRAM);
	run_program(run, "PYTHONDONTWRITEBYTECODE=1", "");
	assert_exit(run, 0);
	assert_string_equal(run->out, "done 3\n");
	read_recording(run);
	assert_true(count_frames(run, "launch", "pause_and_launch") >= 3);
	assert_true(count_frames(run, "step", "step") >= 3);
	assert_true(count_frames(run, "loop", "main") >= 3);
	assert_true(count_frames(run, "generator", "rows") >= 1);
	assert_true(count_frames(run, "waiting", "main") >= 1);
	kwhy_recording_free(run->recording);
	run->recording = NULL;
}

static void python_programs_show_the_lines_of_their_launches(void **state)
{
	struct run *run = *state;
	char clear[100];
	bool any = false;

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		if (!is_here(interpreters[i]))
			continue;
		any = true;
		check_interpreter(state, interpreters[i]);
		snprintf(clear, sizeof(clear), "rm -f %s/*.blocks", run->folder);
		assert_int_equal(system(clear), 0);
	}
	if (!any)
		kwhy_skip("no Python here shows its symbols");
}

static void a_stack_stands_for_the_stretch_since_the_call_before(void **state)
{
	struct run *run = *state;
	const struct kwhy_host_ranges *rows;
	int64_t longest_ns = 0;

	if (!is_here("python3"))
		kwhy_skip("no Python here shows its symbols");
	snprintf(program, sizeof(program), "python3 %s", KWHY_PYTHON_PROGRAM);
	run_program(run, "", "");
	read_recording(run);
	rows = &run->recording->host_ranges;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->kind[i] == KWHY_HOST_FRAME && rows->end_ns[i] - rows->start_ns[i] > longest_ns)
			longest_ns = rows->end_ns[i] - rows->start_ns[i];
	assert_true(longest_ns >= 5000000);
}

static void lines_may_be_left_out(void **state)
{
	struct run *run = *state;

	if (!is_here("python3"))
		kwhy_skip("no Python here shows its symbols");
	snprintf(program, sizeof(program), "python3 %s", KWHY_PYTHON_PROGRAM);
	run_program(run, "KWHY_RECORD_LINES=off", "");
	read_recording(run);
	assert_true(count_calls(run, "cudaLaunchKernel") > 0);
	assert_int_equal(count_all_frames(run), 0);
}

/*
 * The stack frames of a native program are recorded, too: with elfutils' libdw by function ("main"),
 * without it by module and offset.
 */
static void other_programs_show_where_they_call_from(void **state)
{
	struct run *run = *state;
	const struct kwhy_host_ranges *rows;
	size_t count = 0;

	snprintf(program, sizeof(program), "%s", KWHY_NATIVE_PROGRAM);
	run_program(run, "", "cuda launch:100");
	assert_exit(run, 0);
	read_recording(run);
	rows = &run->recording->host_ranges;
	for (size_t i = 0; i < rows->count; i++) {
		const char *name = text_of(run, rows->name[i]);

		count += rows->kind[i] == KWHY_HOST_FRAME &&
			(!strcmp(name, "main") || strstr(name, "fake_cuda_program+0x"));
	}
	assert_true(count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(python_programs_show_the_lines_of_their_launches),
		CASE(a_stack_stands_for_the_stretch_since_the_call_before),
		CASE(lines_may_be_left_out),
		CASE(other_programs_show_where_they_call_from),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
