/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the owners' accounts of a GPU while it is divided into MIG instances and while it is made whole
 * again.
 */
#include "keeper_watch.h"

#include "base/random.h"

#include <math.h>
#include <stdarg.h>

#define GPU "gpu \"NVIDIA H200\"\npower constant 300\n"
#define SMALL "mig \"MIG 3g\" MIG-1 60 71000 "
#define LARGE "mig \"MIG 4g\" MIG-2 64 71000 "
#define OTHER "mig \"MIG 7g\" MIG-3 132 143000 "

enum { POWER_W = 300, PART_S = 60 };

static const double part_j = POWER_W * PART_S;

/*
 * Returns the sums over all accounts of the owner with this kind and name, such as those of all steps of a
 * job.
 */
static struct kwhy_owner_shown sum_of(struct watch *watch, enum kwhy_owner_kind kind, const char *name)
{
	struct kwhy_keeper_state state = kwhy_keeper_state(watch->keeper);
	struct kwhy_owner_shown sum = {0};

	for (size_t i = 0; i < state.row_count; i++)
		for (size_t k = 0; state.rows[i].is_there && k < state.rows[i].account_count; k++) {
			const struct kwhy_owner_shown *one = &state.rows[i].accounts[k].shown;

			if (state.rows[i].owner.kind != kind || strcmp(state.rows[i].owner.name, name) != 0)
				continue;
			sum.energy_j += one->energy_j;
			sum.unsure_j += one->unsure_j;
			sum.busy_s += one->busy_s;
			sum.known_s += one->known_s;
		}
	return sum;
}

/*
 * Checks that truth_j lies in the interval of the job's energy (energy_j +- 2 x unsure_j), give or take 2 %
 * of a part's energy: which job ran between two looks is not known.
 */
static void holds(struct watch *watch, const char *job, double truth_j)
{
	struct kwhy_owner_shown sum = sum_of(watch, KWHY_OWNER_SLURM, job);

	printf("job %s: %.0f J +- %.0f J, in truth %.0f J\n", job, sum.energy_j, sum.unsure_j, truth_j);
	assert_true(sum.energy_j - 2 * sum.unsure_j <= truth_j + 0.02 * part_j);
	assert_true(sum.energy_j + 2 * sum.unsure_j >= truth_j - 0.02 * part_j);
}

static void put_mapping(char *mapping, size_t bytes)
{
	put("map/0.0", "5\n");
	put("map/0.1", "6\n");
	snprintf(mapping, bytes, "%s/map", root);
}

/*
 * The GPU is whole for 60 s, divided for 60 s, and whole again. While it is divided, job 5 has an instance
 * that works, and job 6 one that does not. The driver then tells the utilisation neither of the GPU nor of
 * processes, so either job may have used all energy.
 */
static void a_gpu_that_is_divided_and_made_whole_again(void **state)
{
	struct watch watch = {.path = NULL};
	double before_j;

	(void)state;
	begin(&watch, GPU SMALL "none\n" LARGE "none\nmig_from_s 60\nmig_until_s 120\n", NULL);
	pass(&watch, PART_S, "");
	assert_float_equal(sum_of(&watch, KWHY_OWNER_IDLE, "").energy_j, part_j, 450);
	pass(&watch, PART_S, "0 10 100 80\n0 20 100 0\n");
	holds(&watch, "5", part_j);
	holds(&watch, "6", 0);
	assert_true(sum_of(&watch, KWHY_OWNER_SLURM, "5").known_s < 4);
	before_j = sum_of(&watch, KWHY_OWNER_SLURM, "6").energy_j;
	pass(&watch, PART_S, "0 20 100 80\n");
	check_balance(&watch, 3 * part_j);
	assert_float_equal(sum_of(&watch, KWHY_OWNER_SLURM, "6").energy_j - before_j, part_j, 450);
	assert_float_equal(sum_of(&watch, KWHY_OWNER_SLURM, "6").busy_s, 0.8 * PART_S, 3);
	end(&watch);
}

/*
 * While the GPU is divided, kwhy may not list its processes. So nobody knows who used it, or whether anybody
 * did: the energy goes to the unknown owner, not to "idle".
 */
static void a_divided_gpu_whose_processes_are_not_listed_is_not_idle(void **state)
{
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch,
		GPU SMALL
		"none\nmig_from_s 60\nmig_until_s 120\n"
		"fail nvmlDeviceGetComputeRunningProcesses_v3 no_permission after_s 60 until_s 120\n",
		NULL);
	pass(&watch, PART_S, "");
	pass(&watch, PART_S, "0 10 100 80\n");
	assert_float_equal(sum_of(&watch, KWHY_OWNER_IDLE, "").energy_j, part_j, 900);
	assert_float_equal(sum_of(&watch, KWHY_OWNER_UNKNOWN, "").energy_j, part_j, 900);
	pass(&watch, PART_S, "0 10 100 80\n");
	check_balance(&watch, 3 * part_j);
	assert_float_equal(sum_of(&watch, KWHY_OWNER_SLURM, "5").energy_j, part_j, 900);
	end(&watch);
}

static void meters_that_are_refused_while_the_gpu_is_divided(void **state)
{
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch,
		GPU SMALL "none\nmig_from_s 60\nmig_until_s 120\n"
			  "fail nvmlDeviceGetTotalEnergyConsumption reset_required after_s 60 until_s 120\n"
			  "fail nvmlDeviceGetSamples unknown after_s 60 until_s 120\n",
		NULL);
	pass(&watch, PART_S, "0 10 100 80\n");
	pass(&watch, PART_S / 2, "0 10 100 80\n");
	pass(&watch, PART_S, "0 20 100 80\n");
	pass(&watch, PART_S / 2, "");
	check_balance(&watch, 3 * part_j);
	holds(&watch, "5", 1.5 * part_j);
	holds(&watch, "6", part_j);
	end(&watch);
}

static void a_divided_gpu_that_is_made_whole(void **state)
{
	struct watch watch = {.path = NULL};
	char mapping[128];

	(void)state;
	put_mapping(mapping, sizeof(mapping));
	begin(&watch, GPU SMALL "90\n" LARGE "0\nmig_until_s 60\n", mapping);
	pass(&watch, PART_S, "");
	holds(&watch, "5", part_j);
	put("map/0.0", "");
	put("map/0.1", "");
	pass(&watch, PART_S, "0 20 100 80\n");
	check_balance(&watch, 2 * part_j);
	holds(&watch, "6", part_j);
	assert_true(sum_of(&watch, KWHY_OWNER_SLURM, "6").energy_j > 0.95 * part_j);
	assert_true(sum_of(&watch, KWHY_OWNER_SLURM, "6").busy_s > 0.7 * PART_S);
	assert_true(sum_of(&watch, KWHY_OWNER_IDLE, "").energy_j < 0.05 * part_j);
	end(&watch);
}

/*
 * From 60 s to 120 s both jobs use a new instance; the driver gives it the handle of the first of the
 * instances that ended at 60 s. From 120 s on the old instances exist again.
 */
static void instances_that_are_replaced_and_come_back(void **state)
{
	struct watch watch = {.path = NULL};
	double before_j, before_unsure_j;
	char mapping[128];

	(void)state;
	put_mapping(mapping, sizeof(mapping));
	begin(&watch,
		GPU SMALL "90 0 60\n" LARGE "0 0 60\n" OTHER "80 60 120\n" SMALL "90 120\n" LARGE "0 120\n",
		mapping);
	pass(&watch, PART_S, "");
	holds(&watch, "5", part_j);
	put("map/0.0", "");
	put("map/0.1", "");
	before_j = sum_of(&watch, KWHY_OWNER_SLURM, "5").energy_j;
	pass(&watch, PART_S, "0 10 100 80\n0 20 100 0\n");
	holds(&watch, "5", 2 * part_j);
	holds(&watch, "6", 0);
	assert_float_equal(sum_of(&watch, KWHY_OWNER_SLURM, "5").energy_j - before_j, part_j / 2, 900);
	put_mapping(mapping, sizeof(mapping));
	before_j = sum_of(&watch, KWHY_OWNER_SLURM, "5").energy_j;
	before_unsure_j = sum_of(&watch, KWHY_OWNER_SLURM, "5").unsure_j;
	pass(&watch, PART_S, "");
	check_balance(&watch, 3 * part_j);
	assert_true(sum_of(&watch, KWHY_OWNER_SLURM, "5").energy_j - before_j > 0.9 * part_j);
	assert_true(sum_of(&watch, KWHY_OWNER_SLURM, "5").unsure_j - before_unsure_j < 0.1 * part_j);
	end(&watch);
}

/*
 * A random course of phases. In each the GPU is whole or divided, jobs come and go, and calls of the driver
 * may fail. The power is 500 W for 70 % of the time and 100 W otherwise. For each job the test knows the
 * least and the most energy that it can have used.
 */
enum { PHASES = 6, HIGH_W = 500, LOW_W = 100, EDGE_S = 4 };

static const double course_w = 0.7 * HIGH_W + 0.3 * LOW_W;

struct course {
	char scenario[4096];
	int length_s[PHASES];
	const char *runs[PHASES];
	double least_j[2], most_j[2]; /* [0] of job 5, [1] of job 6 */
	double all_j;
	size_t opened; /* instance at the start, when meters are opened; 3: whole GPU */
};

/* Appends a formatted line to the scenario of the fake NVML. */
static void say(struct course *course, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct course *course, const char *format, ...)
{
	const size_t length = strlen(course->scenario);
	va_list args;

	va_start(args, format);
	vsnprintf(course->scenario + length, sizeof(course->scenario) - length, format, args);
	va_end(args);
}

/* Lets random calls of the driver fail in a phase. Returns whether kwhy then cannot know who uses the GPU. */
static bool add_failures(struct course *course, uint64_t *random, int from_s, int until_s)
{
	static const char *const calls[] = {"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetSamples",
		"nvmlDeviceGetProcessUtilization", "nvmlDeviceGetUtilizationRates",
		"nvmlDeviceGetComputeRunningProcesses_v3", "*"};
	static const char *const results[] = {
		"no_permission", "unknown", "reset_required", "not_supported", "invalid_argument"};
	bool is_blind = false;

	for (size_t i = 0; i < 6; i++) {
		if (kwhy_random_next(random) % 5)
			continue;
		say(course, "fail %s %s after_s %d until_s %d\n", calls[i],
			results[kwhy_random_next(random) % 5], from_s, until_s);
		is_blind |= i >= 4;
	}
	return is_blind;
}

static void make_phase(struct course *course, uint64_t *random, int phase, int at_s, bool is_divided)
{
	static const char *const runs[] = {
		"", "0 10 100 80\n", "0 20 100 60\n", "0 10 100 50\n0 20 100 30\n"};
	static const char *const instances[] = {SMALL "90", LARGE "10", OTHER "80"};
	const int length_s = 20 + (int)(kwhy_random_next(random) % 20);
	const size_t who = kwhy_random_next(random) % 4,
		     instance = is_divided ? kwhy_random_next(random) % 3 : 3;
	const double phase_j = length_s * course_w, edge_j = EDGE_S * (double)HIGH_W;
	bool is_blind;

	course->length_s[phase] = length_s;
	course->runs[phase] = runs[who];
	if (is_divided)
		say(course, "%s %d %d\n", instances[instance], at_s, at_s + length_s);
	course->opened = at_s ? course->opened : instance;
	/* none in the first phase: a meter that fails when meters are opened is not used at all */
	is_blind = at_s > 0 && add_failures(course, random, at_s, at_s + length_s);
	/* the fake NVML lists no processes of the instance with which the meters were opened */
	is_blind |= is_divided && instance == course->opened;
	for (size_t job = 0; job < 2; job++) {
		course->least_j[job] += who == job + 1 && !is_blind ? phase_j - edge_j : -edge_j;
		course->most_j[job] += edge_j + (who == job + 1 || who == 3 || is_blind ? phase_j : 0);
	}
	course->all_j += phase_j;
}

static void make_course(struct course *course, uint64_t seed)
{
	uint64_t random = seed * 7919 + 1;
	const int first = (int)(kwhy_random_next(&random) % (PHASES + 1)),
		  last = first + (int)(kwhy_random_next(&random) % PHASES);
	int at_s = 0, from_s = 0, until_s = 0;

	*course = (struct course){.all_j = 0};
	say(course, "gpu \"NVIDIA H200\"\npower square %d %d 700 300\n", LOW_W, HIGH_W);
	for (int i = 0; i < PHASES; i++) {
		const bool is_divided = i >= first && i <= last;

		make_phase(course, &random, i, at_s, is_divided);
		from_s = i == first ? at_s : from_s;
		at_s += course->length_s[i];
		until_s = is_divided ? at_s : until_s;
	}
	if (until_s)
		say(course, "mig_from_s %d\nmig_until_s %d\n", from_s, until_s);
}

static void check_course(uint64_t seed)
{
	const double truth_end_j = 30 * course_w;
	struct watch watch = {.path = NULL};
	struct kwhy_keeper_state state;
	struct course course;
	double sum_j = 0;

	make_course(&course, seed);
	begin(&watch, course.scenario, NULL);
	for (int i = 0; i < PHASES; i++)
		pass(&watch, course.length_s[i], course.runs[i]);
	pass(&watch, 30, "");
	state = kwhy_keeper_state(watch.keeper);
	for (size_t i = 0; i < state.row_count; i++)
		for (size_t k = 0; state.rows[i].is_there && k < state.rows[i].account_count; k++)
			sum_j += state.rows[i].accounts[k].shown.energy_j;
	assert_float_equal(sum_j, (double)state.meters[0].total.booked_nj * 1e-9, 1e-6);
	if (fabs(sum_j - course.all_j - truth_end_j) > 2 * HIGH_W)
		fail_msg("seed %d: %.0f J, in truth %.0f J\n%s", (int)seed, sum_j, course.all_j + truth_end_j,
			course.scenario);
	for (size_t job = 0; job < 2; job++) {
		struct kwhy_owner_shown sum = sum_of(&watch, KWHY_OWNER_SLURM, job ? "6" : "5");

		if (sum.energy_j - 2 * sum.unsure_j > course.most_j[job] ||
			sum.energy_j + 2 * sum.unsure_j < course.least_j[job])
			fail_msg("seed %d: job %d has %.0f J +- %.0f J, in truth %.0f to %.0f J\n%s",
				(int)seed, (int)job + 5, sum.energy_j, sum.unsure_j, course.least_j[job],
				course.most_j[job], course.scenario);
	}
	end(&watch);
}

static void any_course_balances_and_holds_the_truth(void **state)
{
	const char *seeds = getenv("KWHY_TEST_SEEDS"), *first = getenv("KWHY_TEST_SEED");
	const uint64_t from = first ? strtoull(first, NULL, 10) : 0;

	(void)state;
	for (uint64_t seed = from; seed < from + (seeds ? strtoull(seeds, NULL, 10) : 4); seed++)
		check_course(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_that_is_divided_and_made_whole_again),
		cmocka_unit_test(a_divided_gpu_whose_processes_are_not_listed_is_not_idle),
		cmocka_unit_test(meters_that_are_refused_while_the_gpu_is_divided),
		cmocka_unit_test(a_divided_gpu_that_is_made_whole),
		cmocka_unit_test(instances_that_are_replaced_and_come_back),
		cmocka_unit_test(any_course_balances_and_holds_the_truth),
	};

	return kwhy_test_main(tests, make_root, remove_root);
}
