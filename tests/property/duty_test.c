/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "cmocka_all.h"
#include "ledger/ledger_new.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Records a program only in random windows, and compares the time of each kernel that the ledger
 * computes for the whole run with the true time. The program has phases that last seconds, each
 * with its own mixture of kernels and idle time. The true time must lie within the ledger's 90 %
 * interval in about 90 % of the cases.
 */

#define MS 1e6
#define RUN_NS 60e9
#define WINDOW_NS 300e6

enum { KERNELS = 3, PHASES = 4, RUNS = 120, WINDOWS_MAX = 100 };

static struct kwhy_error error;

struct windows {
	int64_t start_ns[WINDOWS_MAX], end_ns[WINDOWS_MAX];
	size_t count;
};

static double between(struct kwhy_random *random, double low, double high)
{
	return low + (high - low) * kwhy_random_uniform(random);
}

/*
 * Chooses random windows as docs/formats/recording.md defines them: an alternating renewal process that began
 * long before the run.
 */
static void draw_windows(struct windows *windows, struct kwhy_random *random, double share)
{
	double at_ns = -200e9;

	windows->count = 0;
	while (at_ns < RUN_NS && windows->count < WINDOWS_MAX) {
		double start_ns = at_ns + between(random, 0.5, 1.5) * WINDOW_NS * (1 / share - 1);

		at_ns = start_ns + between(random, 0.5, 1.5) * WINDOW_NS;
		if (at_ns <= 0 || start_ns >= RUN_NS)
			continue;
		windows->start_ns[windows->count] = (int64_t)fmax(start_ns, 0);
		windows->end_ns[windows->count++] = (int64_t)fmin(at_ns, RUN_NS);
	}
}

static bool is_seen(const struct windows *windows, double start_ns, double end_ns)
{
	for (size_t i = 0; i < windows->count; i++)
		if (start_ns < (double)windows->end_ns[i] && end_ns > (double)windows->start_ns[i])
			return true;
	return false;
}

struct program {
	struct kwhy_recording *recording;
	const struct windows *windows;
	struct kwhy_random random;
	double phase_ns; /* length of the longest phase */
	/* mean time of each kernel, and of idling, in a round; 0: not in this phase */
	double mix[PHASES][KERNELS + 1];
	double true_ns[KERNELS];
	uint32_t names[KERNELS];
};

static void run_kernel(struct program *program, int kernel, double start_ns, double end_ns)
{
	struct kwhy_activity row = kwhy_activity_unknown();

	program->true_ns[kernel] += end_ns - start_ns;
	if (!is_seen(program->windows, start_ns, end_ns))
		return;
	row.kind = KWHY_ACTIVITY_KERNEL;
	row.name = program->names[kernel];
	row.stream = 0;
	row.start_ns = (int64_t)start_ns;
	row.end_ns = (int64_t)end_ns;
	OK(kwhy_recording_add_activity(program->recording, &row, &error));
}

/* Runs one round of the phase: each of its kernels, then idle time. Returns the end. */
static double run_round(struct program *program, int phase, double at_ns)
{
	for (int kernel = 0; kernel <= KERNELS; kernel++) {
		double length_ns = program->mix[phase][kernel] * between(&program->random, 0.5, 1.5);
		double end_ns = fmin(at_ns + length_ns, RUN_NS);

		if (kernel < KERNELS && end_ns > at_ns)
			run_kernel(program, kernel, at_ns, end_ns);
		at_ns = end_ns;
	}
	return at_ns;
}

static void run_program(struct program *program)
{
	double at_ns = 0, next_ns = 0;
	int phase = 0;

	for (int p = 0; p < PHASES; p++)
		for (int kernel = 0; kernel <= KERNELS; kernel++)
			program->mix[p][kernel] = kwhy_random_uniform(&program->random) < 0.25
				? 0
				: between(&program->random, 1, 12) * MS;
	while (at_ns < RUN_NS) {
		if (at_ns >= next_ns) {
			phase = (int)(kwhy_random_uniform(&program->random) * PHASES);
			next_ns = at_ns + between(&program->random, 0.03, 1) * program->phase_ns;
		}
		at_ns = fmax(run_round(program, phase, at_ns), at_ns + 1 * MS);
	}
}

static void open_program(struct program *program)
{
	static const char *const names[KERNELS] = {"alpha", "beta", "gamma"};
	const struct kwhy_selection selection = {KWHY_NONE, KWHY_CHOICE_DUTY, 0, (int64_t)RUN_NS, NULL, NAN};
	const struct kwhy_source source = {.path = "duty", .format = KWHY_FORMAT_KWHY};
	const struct kwhy_device device = {
		.rank = KWHY_NONE, .limit_mw = -1, .context_idle_mw = -1, .clean_idle_mw = -1};
	const struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};
	const struct kwhy_stream stream = {.context = -1};

	OK(kwhy_recording_new(&program->recording, &error));
	OK(kwhy_recording_add_source(program->recording, &source, NULL, &error));
	OK(kwhy_recording_add_device(program->recording, &device, NULL, &error));
	OK(kwhy_recording_add_process(program->recording, &process, NULL, &error));
	OK(kwhy_recording_add_stream(program->recording, &stream, NULL, &error));
	OK(kwhy_recording_add_selection(program->recording, &selection, &error));
	for (int i = 0; i < KERNELS; i++)
		OK(kwhy_names_intern(
			&program->recording->names, names[i], strlen(names[i]), &program->names[i], &error));
	for (size_t i = 0; i < program->windows->count; i++) {
		const struct kwhy_coverage row = {
			KWHY_NONE, program->windows->start_ns[i], program->windows->end_ns[i]};

		OK(kwhy_recording_add_coverage(program->recording, &row, &error));
	}
}

static const struct kwhy_account *account_of(const struct kwhy_ledger *ledger, const char *name)
{
	for (size_t i = 0; i < ledger->devices[0].account_count; i++)
		if (!strcmp(ledger->devices[0].accounts[i].name, name))
			return &ledger->devices[0].accounts[i];
	return NULL;
}

/*
 * Adds the number of kernels that have an account to `rows`, and to `held` the number of those whose true
 * time lies within the interval that the account states.
 */
static void judge(const struct program *program, const struct kwhy_ledger *ledger, size_t *rows, size_t *held)
{
	for (int i = 0; i < KERNELS; i++) {
		const struct kwhy_account *account = account_of(
			ledger, kwhy_names_get(&program->recording->names, program->names[i]));

		if (!account)
			continue;
		(*rows)++;
		*held += fabs((double)account->whole_ns - program->true_ns[i]) <=
			account->whole_error_ratio * RUN_NS;
	}
}

static double held_ratio(double share, double phase_ns)
{
	const struct kwhy_ledger_options options = kwhy_ledger_options_default();
	size_t rows = 0, held = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct windows windows;
		struct program program = {.windows = &windows, .phase_ns = phase_ns};
		struct kwhy_ledger *ledger;

		kwhy_random_init(&program.random, seed);
		draw_windows(&windows, &program.random, share);
		open_program(&program);
		run_program(&program);
		OK(kwhy_recording_finish(program.recording, &error));
		OK(kwhy_ledger_new(program.recording, &options, &ledger, &error));
		judge(&program, ledger, &rows, &held);
		kwhy_ledger_free(ledger);
		kwhy_recording_free(program.recording);
	}
	return (double)held / (double)rows;
}

/*
 * With phases as short as a window, each window samples the phases independently. So the interval must
 * contain the truth in 90 % of the cases, neither in fewer nor in more.
 */
static void shares_of_random_windows_lie_within_their_error_nine_times_in_ten(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		double ratio = held_ratio((double[]){0.05, 0.1, 0.3}[i], 0.3e9);

		assert_true(ratio > 0.86 && ratio < 0.96);
	}
}

/*
 * Windows are at nearly equal distances. Phases that are longer than this distance are therefore
 * sampled more evenly than by windows at independent times, and the interval may contain the truth
 * in more than 90 % of the cases.
 */
static void of_longer_phases_they_lie_within_their_error_at_least_as_often(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++)
		assert_true(held_ratio((double[]){0.05, 0.1, 0.3}[i % 3], (double[]){1e9, 3e9, 20e9}[i / 3]) >
			0.86);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_random_windows_lie_within_their_error_nine_times_in_ten),
		cmocka_unit_test(of_longer_phases_they_lie_within_their_error_at_least_as_often),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
