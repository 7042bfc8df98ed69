/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "german_locale.h"
#include "golden/schema_check.h"
#include "kwhy/measure.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Tests libkwhy.so through its public header. It plays back readings of a GPU that draws 250 W. */

#define FIRST_UNIX_NS INT64_C(1795245124000000000)
#define MS INT64_C(1000000)

static char power_path[] = "/tmp/kwhy-library-XXXXXX";
static char message[KWHY_MESSAGE_BYTES];

static int write_power(void **state)
{
	int file = mkstemp(power_path);
	FILE *out = file >= 0 ? fdopen(file, "w") : NULL;

	(void)state;
	if (!out)
		return -1;
	fputs("time_ns,device,source,value\n", out);
	for (int64_t i = 0; i < 1500; i++) {
		fprintf(out, "%lld,0,nvml.sample_mw,250000\n", (long long)(FIRST_UNIX_NS + i * 20 * MS));
		if (i % 5 == 0)
			fprintf(out, "%lld,0,nvml.energy_mj,%lld\n", (long long)(FIRST_UNIX_NS + i * 20 * MS),
				(long long)(1000 + i * 5000));
	}
	return fclose(out);
}

static int remove_power(void **state)
{
	(void)state;
	return unlink(power_path);
}

static struct kwhy_session *open_session(void)
{
	struct kwhy_session_options options = {.size = sizeof(options), .replay_path = power_path};
	struct kwhy_session *session = NULL;

	if (kwhy_session_open(&options, &session, message, sizeof(message)))
		fail_msg("%s", message);
	return session;
}

static struct kwhy_results *results_of(struct kwhy_session *session)
{
	struct kwhy_results *results = NULL;

	if (kwhy_session_results(session, &results, message, sizeof(message)))
		fail_msg("%s", message);
	return results;
}

static struct kwhy_region_info info_of(const struct kwhy_results *results, const char *name)
{
	struct kwhy_region_info info = {.size = sizeof(info)};

	assert_int_equal(kwhy_results_region(results, kwhy_results_region_find(results, name), &info), 0);
	return info;
}

static struct kwhy_region_energy energy_of(const struct kwhy_results *results, const char *name)
{
	struct kwhy_region_energy energy = {.size = sizeof(energy)};

	assert_int_equal(
		kwhy_results_energy(results, kwhy_results_region_find(results, name), KWHY_ALL_GPUS, &energy),
		0);
	return energy;
}

static void run_for(int64_t length_ns)
{
	nanosleep(&(struct timespec){.tv_sec = length_ns / 1000000000, .tv_nsec = length_ns % 1000000000},
		NULL);
}

static void regions_nest_and_overlap_and_each_holds_the_energy_of_its_time(void **state)
{
	struct kwhy_session *session = open_session();
	uint32_t outer = kwhy_session_name(session, "outer"), inner = kwhy_session_name(session, "inner"),
		 late = kwhy_session_name(session, "late");
	struct kwhy_results *results;
	const char *names[] = {"(session)", "outer", "inner", "late"};

	(void)state;
	kwhy_region_begin(session, outer);
	kwhy_region_begin(session, inner);
	run_for(150 * MS);
	kwhy_region_end(session, inner);
	kwhy_region_begin(session, late);
	run_for(50 * MS);
	kwhy_region_end(session, outer);
	run_for(50 * MS);
	kwhy_region_end(session, late);
	results = results_of(session);
	for (int i = 0; i < 4; i++) {
		struct kwhy_region_info info = info_of(results, names[i]);
		struct kwhy_region_energy energy = energy_of(results, names[i]);

		assert_int_equal(energy.state, KWHY_ENERGY_STATE_MEASURED);
		assert_true(fabs(energy.joules - 250 * info.wall_s) < 0.1);
		assert_true(isnan(energy.net_joules));
	}
	kwhy_results_free(results);
	kwhy_session_close(session);
}

static void an_end_without_a_beginning_is_counted_and_a_region_still_open_is_told(void **state)
{
	struct kwhy_session *session = open_session();
	uint32_t name = kwhy_session_name(session, "odd");
	struct kwhy_results *results;
	struct kwhy_region_info info;

	(void)state;
	kwhy_region_end(session, name);
	kwhy_region_begin(session, name);
	kwhy_region_begin(session, KWHY_NO_NAME);
	run_for(20 * MS);
	results = results_of(session);
	info = info_of(results, "odd");
	assert_int_equal(info.unmatched, 1);
	assert_int_equal(info.open, 1);
	assert_true(info.wall_s >= 0.02);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

struct crossing {
	struct kwhy_session *session;
	uint32_t name;
};

static void *end_there(void *context)
{
	const struct crossing *crossing = context;

	kwhy_region_end(crossing->session, crossing->name);
	return NULL;
}

static void a_region_may_end_on_another_thread(void **state)
{
	struct kwhy_session *session = open_session();
	struct crossing crossing = {session, kwhy_session_name(session, "handed over")};
	struct kwhy_results *results;
	pthread_t thread;

	(void)state;
	kwhy_region_begin(session, crossing.name);
	assert_int_equal(pthread_create(&thread, NULL, end_there, &crossing), 0);
	pthread_join(thread, NULL);
	results = results_of(session);
	assert_int_equal(info_of(results, "handed over").open, 0);
	assert_int_equal(info_of(results, "handed over").unmatched, 0);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

enum { THREADS = 4, RUNS = 5000 };

static void *run_often(void *context)
{
	const struct crossing *crossing = context;

	for (int i = 0; i < RUNS; i++) {
		kwhy_region_begin(crossing->session, crossing->name);
		kwhy_region_work(crossing->session, crossing->name, 2);
		kwhy_region_end(crossing->session, crossing->name);
	}
	return NULL;
}

static void no_run_of_any_thread_is_lost(void **state)
{
	struct kwhy_session *session = open_session();
	struct crossing crossing = {session, kwhy_session_name(session, "often")};
	struct kwhy_region_work_done work = {.size = sizeof(work)};
	struct kwhy_results *results;
	pthread_t threads[THREADS];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, run_often, &crossing), 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	results = results_of(session);
	assert_int_equal(info_of(results, "often").count, 3 * THREADS * RUNS);
	assert_int_equal(info_of(results, "often").unmatched, 0);
	assert_int_equal(kwhy_results_lost_events(results), 0);
	assert_int_equal(kwhy_results_work(results, kwhy_results_region_find(results, "often"), 0, &work), 0);
	assert_true(work.amount == 2.0 * 3 * THREADS * RUNS);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

/* Makes the kernel kill this process at its next system call other than exit_group(). For a forked child. */
static void forbid_calls(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(77);
}

static void measure_without_calls(void)
{
	struct kwhy_session *session = NULL;
	struct kwhy_session_options options = {.size = sizeof(options), .replay_path = power_path};
	uint32_t name, unit;

	if (kwhy_session_open(&options, &session, NULL, 0))
		_exit(1);
	name = kwhy_session_name(session, "hot");
	unit = kwhy_session_name(session, "tokens");
	kwhy_region_begin(session, name);
	kwhy_region_end(session, name);
	forbid_calls();
	for (int i = 0; i < 20000; i++) {
		kwhy_region_begin(session, name);
		kwhy_region_work(session, unit, 1);
		kwhy_region_end(session, name);
	}
	syscall(__NR_exit_group, 0);
}

static void beginning_and_ending_a_region_makes_no_system_call(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		measure_without_calls();
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		kwhy_skip("no seccomp here");
	if (WIFSIGNALED(status))
		fail_msg("killed by signal %d: it made a system call", WTERMSIG(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_child_after_fork_records_nothing_and_may_close(void **state)
{
	struct kwhy_session *session = open_session();
	uint32_t name = kwhy_session_name(session, "twice");
	struct kwhy_results *results;
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		kwhy_region_begin(session, name);
		kwhy_region_end(session, name);
		status = kwhy_session_results(session, &results, NULL, 0) != KWHY_MEASURE_E_UNSUPPORTED;
		kwhy_session_close(session);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	results = results_of(session);
	assert_true(kwhy_results_region_find(results, "twice") == SIZE_MAX);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

static void a_region_has_the_number_of_its_name_whatever_was_made_of_the_name(void **state)
{
	struct kwhy_session *session = open_session();
	uint32_t name = kwhy_session_name(session, "with a\ttab");
	struct kwhy_results *results;

	(void)state;
	kwhy_region_begin(session, name);
	kwhy_region_end(session, name);
	results = results_of(session);
	assert_int_equal(info_of(results, "with a tab").number, name);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

static void structs_of_older_callers_are_filled_as_far_as_they_go(void **state)
{
	struct kwhy_session *session = open_session();
	struct kwhy_results *results = results_of(session);
	struct kwhy_region_info info;

	(void)state;
	memset(&info, 0x5a, sizeof(info));
	info.size = offsetof(struct kwhy_region_info, open);
	assert_int_equal(kwhy_results_region(results, 0, &info), 0);
	assert_int_equal(info.count, 1);
	assert_int_equal(info.open, UINT64_C(0x5a5a5a5a5a5a5a5a));
	info.size = 1;
	assert_int_equal(kwhy_results_region(results, 0, &info), KWHY_MEASURE_E_USAGE);
	info.size = sizeof(info);
	assert_int_equal(kwhy_results_region(results, 99, &info), KWHY_MEASURE_E_USAGE);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

/*
 * "(session)" and "(idle)" are regions of the session itself. If a program could end them, it would end the
 * measurement of the whole session.
 */
static void the_librarys_own_names_are_no_names_of_regions_or_units(void **state)
{
	static const char *const own[] = {"(session)", "(idle)"};
	struct kwhy_session *session = open_session();
	struct kwhy_results *results;

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		assert_int_equal(kwhy_session_name(session, own[i]), KWHY_NO_NAME);
		kwhy_region_end(session, kwhy_session_name(session, own[i]));
		assert_int_equal(kwhy_session_work(session, own[i], 1), KWHY_MEASURE_E_INPUT);
	}
	assert_int_not_equal(kwhy_session_name(session, "session"), KWHY_NO_NAME);
	results = results_of(session);
	assert_int_equal(info_of(results, "(session)").open, 1);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

static void what_is_refused_is_said_in_a_sentence(void **state)
{
	static const double ratios[] = {-1, NAN, INFINITY};
	struct kwhy_session_options options = {.size = sizeof(options), .replay_path = "no-such.csv"};
	struct kwhy_session *session = NULL;

	(void)state;
	assert_int_equal(kwhy_session_open(&options, &session, message, sizeof(message)), KWHY_MEASURE_E_IO);
	assert_non_null(strstr(message, "no-such.csv"));
	assert_null(session);
	options = (struct kwhy_session_options){.size = sizeof(options), .counter_period_s = -1};
	assert_int_equal(
		kwhy_session_open(&options, &session, message, sizeof(message)), KWHY_MEASURE_E_USAGE);
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		options = (struct kwhy_session_options){.size = sizeof(options), .enough_ratio = ratios[i]};
		assert_int_equal(kwhy_session_open(&options, &session, message, sizeof(message)),
			KWHY_MEASURE_E_USAGE);
		assert_non_null(strstr(message, "enough_ratio"));
	}
	options = (struct kwhy_session_options){.size = sizeof(&options), .without_gpus = 1};
	assert_int_equal(
		kwhy_session_open(&options, &session, message, sizeof(message)), KWHY_MEASURE_E_USAGE);
	session = open_session();
	assert_int_equal(kwhy_session_idle(session, -1, message, sizeof(message)), KWHY_MEASURE_E_USAGE);
	assert_true(strlen(message) > 20);
	kwhy_session_close(session);
}

static void work_that_is_no_amount_counts_nothing(void **state)
{
	static const double wrong[] = {NAN, INFINITY, -INFINITY, -1};
	struct kwhy_session *session = open_session();
	uint32_t name = kwhy_session_name(session, "region"), unit = kwhy_session_name(session, "tokens");
	struct kwhy_region_work_done work = {.size = sizeof(work)};
	struct kwhy_results *results;

	(void)state;
	kwhy_region_begin(session, name);
	kwhy_region_work(session, unit, 3);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		kwhy_region_work(session, unit, wrong[i]);
		assert_int_equal(kwhy_session_work(session, "tokens", wrong[i]), KWHY_MEASURE_E_INPUT);
	}
	kwhy_region_end(session, name);
	results = results_of(session);
	kwhy_results_work(results, kwhy_results_region_find(results, "region"), 0, &work);
	assert_true(work.amount == 3);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

static void the_document_keeps_to_its_schema(void **state)
{
	struct kwhy_session *session = open_session();
	uint32_t name = kwhy_session_name(session, "a \"name\" \\ with marks");
	struct kwhy_results *results;
	json_error_t wrong;
	json_t *document;

	(void)state;
	kwhy_region_begin(session, name);
	assert_int_equal(kwhy_session_work(session, "tokens", 3), 0);
	kwhy_region_end(session, name);
	results = results_of(session);
	document = json_loads(kwhy_results_json(results), 0, &wrong);
	if (!document)
		fail_msg("%s", wrong.text);
	assert_keeps_to_schema("measure", document);
	json_decref(document);
	kwhy_results_free(results);
	kwhy_session_close(session);
}

static void assert_work_file(const char *path, const char *expected)
{
	FILE *file = fopen(path, "re");
	char text[80] = "";

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, expected);
}

static void numbers_have_a_point_in_a_program_with_a_decimal_comma(void **state)
{
	char work_path[] = "/tmp/kwhy-work-XXXXXX";
	const int work_file = mkstemp(work_path);
	struct german_locale german;
	struct kwhy_session *session;
	struct kwhy_results *results;
	json_t *document;

	(void)state;
	german_locale_begin(&german);
	assert_true(work_file >= 0);
	setenv("KWHY_WORK_FILE", work_path, 1);
	session = open_session();
	assert_int_equal(kwhy_session_work(session, "tokens", 12.5), 0);
	results = results_of(session);
	kwhy_session_close(session);
	unsetenv("KWHY_WORK_FILE");
	assert_string_equal(localeconv()->decimal_point, ",");
	document = json_loads(kwhy_results_json(results), 0, NULL);
	assert_non_null(document);
	assert_keeps_to_schema("measure", document);
	assert_work_file(work_path, "tokens 12.5\n");
	json_decref(document);
	kwhy_results_free(results);
	close(work_file);
	unlink(work_path);
	german_locale_end(&german);
}

static void results_outlive_their_session(void **state)
{
	struct kwhy_session *session = open_session();
	struct kwhy_results *results = results_of(session);

	(void)state;
	kwhy_session_close(session);
	assert_non_null(strstr(kwhy_results_json(results), "\"kwhy.measure/1\""));
	assert_string_equal(info_of(results, "(session)").name, "(session)");
	kwhy_results_free(results);
}

static void gpus_that_the_program_cannot_see_are_no_meters_and_a_sentence_says_so(void **state)
{
	struct kwhy_session_options options = {.size = sizeof(options), .without_host = 1};
	struct kwhy_meter_info meter = {.size = sizeof(meter)};
	struct kwhy_session *session = NULL;

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/two_gpus.txt", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	if (kwhy_session_open(&options, &session, message, sizeof(message)))
		fail_msg("%s", message);
	assert_int_equal(kwhy_session_meter_count(session), 1);
	assert_int_equal(kwhy_session_meter(session, 0, &meter), 0);
	assert_int_equal(meter.index, 1);
	assert_non_null(strstr(kwhy_session_absence(session, 0), "GPU 0 left out"));
	kwhy_session_close(session);
	unsetenv("CUDA_VISIBLE_DEVICES");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_that_the_program_cannot_see_are_no_meters_and_a_sentence_says_so),
		cmocka_unit_test(regions_nest_and_overlap_and_each_holds_the_energy_of_its_time),
		cmocka_unit_test(an_end_without_a_beginning_is_counted_and_a_region_still_open_is_told),
		cmocka_unit_test(a_region_may_end_on_another_thread),
		cmocka_unit_test(no_run_of_any_thread_is_lost),
		cmocka_unit_test(beginning_and_ending_a_region_makes_no_system_call),
		cmocka_unit_test(a_child_after_fork_records_nothing_and_may_close),
		cmocka_unit_test(a_region_has_the_number_of_its_name_whatever_was_made_of_the_name),
		cmocka_unit_test(structs_of_older_callers_are_filled_as_far_as_they_go),
		cmocka_unit_test(the_librarys_own_names_are_no_names_of_regions_or_units),
		cmocka_unit_test(what_is_refused_is_said_in_a_sentence),
		cmocka_unit_test(work_that_is_no_amount_counts_nothing),
		cmocka_unit_test(the_document_keeps_to_its_schema),
		cmocka_unit_test(numbers_have_a_point_in_a_program_with_a_decimal_comma),
		cmocka_unit_test(results_outlive_their_session),
	};

	return kwhy_test_main(tests, write_power, remove_power);
}
