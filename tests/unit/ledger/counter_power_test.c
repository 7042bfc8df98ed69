/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/counter_power.h"
#include "unit/ledger/metered.h"

#include <math.h>
#include <string.h>

#define IDLE_W 120.0
#define BASE_W 80.0
#define SPREAD 0.1
#define JOULES 1e-6 /* energy of one instruction in the model of the test */

enum { SAMPLE_NS = 200000, RUNS_MAX = 4000 };

static struct kwhy_profile profile;

/*
 * Sets the profile's counter model: base power BASE_W, JOULES for each instruction, nothing for other counts.
 * Returns the profile.
 */
static const struct kwhy_profile *model(void)
{
	kwhy_profile_init(&profile);
	profile.counter_model = (struct kwhy_counter_model){
		.base_w = BASE_W, .spread = SPREAD, .sampling_w = 30};
	profile.counter_model.joules[KWHY_PERF_INSTRUCTIONS] = JOULES;
	return &profile;
}

/*
 * Adds a sample of performance counters that counts as many instructions as take energy_j joules in the
 * model.
 */
static void add_sample(struct kwhy_recording *recording, uint32_t device, int64_t start_ns, double energy_j)
{
	struct kwhy_perf_sample sample = {start_ns, SAMPLE_NS, device, {0}};

	sample.counts[KWHY_PERF_INSTRUCTIONS] = (float)(energy_j / JOULES);
	OK(kwhy_recording_add_perf_sample(recording, &sample, &error));
}

/*
 * Returns the energy, J, that work of power_w from start_ns to end_ns adds to the sample that begins at
 * from_ns.
 */
static double part_j(double power_w, int64_t start_ns, int64_t end_ns, int64_t from_ns)
{
	const int64_t low = start_ns > from_ns ? start_ns : from_ns,
		      high = end_ns < from_ns + SAMPLE_NS ? end_ns : from_ns + SAMPLE_NS;

	return high > low ? 1e-9 * (double)(high - low) * power_w : 0;
}

/*
 * Adds 20 ms of samples in which kernel "a" runs for a_ns at a_w and then "b" for b_ns at b_w, again and
 * again.
 */
static void alternate(struct kwhy_recording *recording, int64_t a_ns, double a_w, int64_t b_ns, double b_w)
{
	double energies_j[101] = {0};
	bool is_a = true;

	for (int64_t at_ns = 0; at_ns < 20000000; is_a = !is_a) {
		const int64_t end_ns = at_ns + (is_a ? a_ns : b_ns);

		build_kernel(recording, 0, at_ns, end_ns, is_a ? "a" : "b");
		for (int64_t i = at_ns / SAMPLE_NS; i <= end_ns / SAMPLE_NS && i < 101; i++)
			energies_j[i] += part_j(is_a ? a_w : b_w, at_ns, end_ns, i * SAMPLE_NS);
		at_ns = end_ns;
	}
	for (int64_t i = 0; i < 100; i++)
		add_sample(recording, 0, i * SAMPLE_NS, energies_j[i]);
}

/*
 * Returns the prior of the power of the account `name` that follows from the samples and the profile. Frees
 * the ledger and the recording.
 */
static struct kwhy_counter_prior prior_of(
	struct kwhy_recording *recording, const struct kwhy_profile *with, const char *name)
{
	struct kwhy_ledger *ledger = build_ledger(recording);
	struct kwhy_counter_prior priors[16];
	struct kwhy_counter_prior found;

	assert_true(ledger->devices[0].account_count <= 16);
	OK(kwhy_counter_priors_find(recording, 0, &ledger->devices[0], with, priors, &error));
	found = priors[build_account(ledger, 0, name) - ledger->devices[0].accounts];
	build_free(recording, ledger);
	return found;
}

static void kernels_shorter_than_a_sample_get_their_powers(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_counter_prior a, b;

	(void)state;
	alternate(recording, 37000, 500, 67000, 150);
	a = prior_of(recording, model(), "a");
	recording = build_one();
	alternate(recording, 37000, 500, 67000, 150);
	b = prior_of(recording, model(), "b");
	assert_float_equal(a.above_idle_w, BASE_W + 500, 0.1);
	assert_float_equal(b.above_idle_w, BASE_W + 150, 0.1);
	assert_float_equal(a.sd, SPREAD, 1e-3);
	assert_float_equal(b.sd, SPREAD, 1e-3);
}

static void a_kernel_without_counts_draws_the_base_power(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	alternate(recording, 110000, 0, 130000, 300);
	assert_float_equal(prior_of(recording, model(), "a").above_idle_w, BASE_W, 0.1);
}

/*
 * Kernels a and b run in turn for 100 us each, so each sample of 200 us has as much of one as of the other.
 * Their powers cannot be separated and stay unknown.
 */
static void kernels_that_no_sample_separates_have_no_power(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_counter_prior a;

	(void)state;
	alternate(recording, 100000, 500, 100000, 150);
	a = prior_of(recording, model(), "b");
	assert_true(isnan(a.above_idle_w) && isnan(a.sd));
}

/* Two kernels of 5 ms overlap for 3 ms, on two streams; each covers many samples wholly. */
static void kernels_longer_than_samples_may_overlap(void **state)
{
	struct kwhy_recording *recording;
	struct kwhy_counter_prior found[2];

	(void)state;
	for (int which = 0; which < 2; which++) {
		recording = build_one();
		build_stream(recording, 0, 0, 2);
		build_kernel(recording, 0, 50000, 5050000, "a");
		build_kernel(recording, 1, 2050000, 7050000, "b");
		for (int64_t at_ns = 0; at_ns < 8000000; at_ns += SAMPLE_NS)
			add_sample(recording, 0, at_ns,
				part_j(400, 50000, 5050000, at_ns) + part_j(100, 2050000, 7050000, at_ns));
		found[which] = prior_of(recording, model(), which ? "b" : "a");
	}
	assert_float_equal(found[0].above_idle_w, BASE_W + 400, 0.1);
	assert_float_equal(found[1].above_idle_w, BASE_W + 100, 0.1);
}

/*
 * 450,000 samples are more than the ledger uses. It uses every k-th over the whole run, so kernel b, which
 * runs in the second half only, must be known, too.
 */
static void many_samples_are_thinned(void **state)
{
	enum { COUNT = 450000 };
	struct kwhy_recording *recording = build_one();

	(void)state;
	build_kernel(recording, 0, 0, COUNT / 2 * (int64_t)SAMPLE_NS, "a");
	build_kernel(recording, 0, COUNT / 2 * (int64_t)SAMPLE_NS, COUNT * (int64_t)SAMPLE_NS, "b");
	for (int64_t i = 0; i < COUNT; i++)
		add_sample(recording, 0, i * SAMPLE_NS, 1e-9 * SAMPLE_NS * (i < COUNT / 2 ? 300 : 200));
	assert_float_equal(prior_of(recording, model(), "b").above_idle_w, BASE_W + 200, 0.1);
}

/* Samples of equal work count 10 % more and 10 % less in turn. Such scatter must widen the prior. */
static void noise_of_samples_widens_the_prior(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_counter_prior prior;

	(void)state;
	for (int i = 0; i < 10; i++) {
		build_kernel(recording, 0, i * SAMPLE_NS, (i + 1) * SAMPLE_NS, "a");
		add_sample(recording, 0, i * SAMPLE_NS, (i % 2 ? 1.1 : 0.9) * 400 * 1e-9 * SAMPLE_NS);
	}
	prior = prior_of(recording, model(), "a");
	assert_float_equal(prior.above_idle_w, BASE_W + 400, 0.1);
	/* the mean of ten samples, each with an error of 40 W */
	assert_float_equal(prior.sd, hypot(SPREAD, 40 / sqrt(10) / (BASE_W + 400)), 1e-3);
}

static void samples_that_overlap_and_of_other_devices_are_left_out(void **state)
{
	struct kwhy_recording *recording = build_one();
	const uint32_t other = build_device(recording, 1);

	(void)state;
	alternate(recording, 37000, 500, 67000, 150);
	add_sample(recording, 0, 0, 1);
	add_sample(recording, 0, 99 * SAMPLE_NS + 1, 1);
	add_sample(recording, other, 0, 1);
	assert_float_equal(prior_of(recording, model(), "a").above_idle_w, BASE_W + 500, 0.1);
}

static void samples_may_be_in_any_order(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	build_kernel(recording, 0, 0, 50 * SAMPLE_NS, "a");
	build_kernel(recording, 0, 50 * SAMPLE_NS, 100 * SAMPLE_NS, "b");
	for (int64_t i = 50; i < 100; i++)
		add_sample(recording, 0, i * SAMPLE_NS, 1e-9 * SAMPLE_NS * 200);
	for (int64_t i = 0; i < 50; i++)
		add_sample(recording, 0, i * SAMPLE_NS, 1e-9 * SAMPLE_NS * 300);
	assert_float_equal(prior_of(recording, model(), "a").above_idle_w, BASE_W + 300, 0.1);
}

/* A count such as 1e30, as in a damaged file, is impossible; its sample must be left out. */
static void a_sample_that_no_device_can_give_is_left_out(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	alternate(recording, 37000, 500, 67000, 150);
	add_sample(recording, 0, 100 * SAMPLE_NS, 1e30);
	assert_float_equal(prior_of(recording, model(), "a").above_idle_w, BASE_W + 500, 0.1);
}

static void copies_and_collectives_have_no_power_by_counters(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	build_h2d(recording, 0, 0, SAMPLE_NS, 1 << 20, "copy");
	add_sample(recording, 0, 0, 1e-3);
	assert_true(isnan(prior_of(recording, model(), "copy").above_idle_w));
	recording = build_one();
	build_kind(recording, 0, 0, SAMPLE_NS, KWHY_ACTIVITY_COLLECTIVE);
	add_sample(recording, 0, 0, 1e-3);
	{
		struct kwhy_ledger *ledger = build_ledger(recording);
		struct kwhy_counter_prior priors[8];

		OK(kwhy_counter_priors_find(recording, 0, &ledger->devices[0], model(), priors, &error));
		for (size_t i = 0; i < ledger->devices[0].account_count; i++)
			assert_true(isnan(priors[i].above_idle_w));
		build_free(recording, ledger);
	}
}

static void without_model_or_samples_there_are_no_powers(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	alternate(recording, 37000, 500, 67000, 150);
	assert_true(isnan(prior_of(recording, NULL, "a").sd));
	recording = build_one();
	alternate(recording, 37000, 500, 67000, 150);
	kwhy_profile_init(&profile);
	assert_true(isnan(prior_of(recording, &profile, "a").sd));
	recording = build_one();
	build_kernel(recording, 0, 0, SAMPLE_NS, "a");
	assert_true(isnan(prior_of(recording, model(), "a").sd));
}

/*
 * Returns a recording in which kernels of 1 ms draw 500 W and 250 W in turn. Meter readings every 20 ms
 * cannot separate them; performance counters, added if is_sampled, can.
 */
static struct kwhy_recording *metered(bool is_sampled)
{
	static const struct metered_level levels[] = {{0, IDLE_W}};
	/* without a recorded window, the ledger assumes that counters are enabled from 0.15 s before the
	 * first sample */
	static const struct kwhy_counter_window window = {850000000, 3000000000, 0};
	const struct metered_windows windows = {&window, is_sampled, 30, 30, true};
	static struct metered_run runs[RUNS_MAX];
	struct metered_plan plan = {
		.levels = levels, .level_count = 1, .runs = runs, .end_s = 4, .noise_w = 2, .seed = 3};
	struct kwhy_recording *recording;

	for (double at_s = 1; at_s < 3 - 1e-3; at_s += 1e-3) {
		const bool is_high = plan.run_count % 2 == 0;

		runs[plan.run_count++] = (struct metered_run){
			at_s, at_s + 1e-3, is_high ? 500 : 250, is_high ? "high" : "low"};
	}
	recording = metered_build_counted(&plan, &windows);
	for (size_t i = 0; is_sampled && i < plan.run_count; i++)
		for (int k = 0; k < 5; k++)
			add_sample(recording, 0, 1000000000 + (int64_t)i * 1000000 + k * SAMPLE_NS,
				(runs[i].power_w - IDLE_W - BASE_W) * 1e-9 * SAMPLE_NS);
	return recording;
}

static double half_ratio(const struct kwhy_ledger *ledger, const char *name)
{
	const struct kwhy_account *account = build_account(ledger, 0, name);

	return (double)(account->high_nj - account->low_nj) / 2 / (double)account->gross_nj;
}

static void counters_divide_what_readings_cannot(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *plain = metered(false), *sampled = metered(true);
	struct kwhy_ledger *alone = build_ledger(plain), *counted;

	(void)state;
	options.profile = model();
	counted = build_ledger_with(sampled, &options);
	assert_true(half_ratio(alone, "high") > 0.15 && half_ratio(alone, "low") > 0.2);
	assert_true(half_ratio(counted, "high") < 0.1 && half_ratio(counted, "low") < 0.15);
	assert_float_equal((double)build_account(counted, 0, "high")->mean_power_mw, 500e3, 25e3);
	assert_float_equal((double)build_account(counted, 0, "low")->mean_power_mw, 250e3, 25e3);
	assert_string_equal(build_note(counted, "powers-counted"),
		"2 of the 2 powers of device 0 start from its performance counters");
	assert_string_equal(build_note(counted, "counting-energy"),
		"the performance counters of device 0 were enabled for 2.00 s of its run, in which it drew "
		"30 ± "
		"12 W more; no figure of the run includes these 60 J");
	assert_null(build_note(alone, "powers-counted"));
	assert_float_equal((double)counted->devices[0].energy.counting_nj * 1e-9, 60, 0.1);
	assert_int_equal(alone->devices[0].energy.counting_nj, 0);
	assert_int_equal(alone->overhead_count, 0);
	assert_int_equal(counted->overhead_count, 1);
	assert_string_equal(kwhy_overhead_kind_name(counted->overheads[0].kind), "counters");
	assert_int_equal(counted->overheads[0].device, 0);
	assert_int_equal(counted->overheads[0].time_ns, counted->devices[0].energy.counting_ns);
	assert_int_equal(counted->overheads[0].energy_nj, counted->devices[0].energy.counting_nj);
	build_free(plain, alone);
	build_free(sampled, counted);
}

/*
 * Two recorders that run at the same time sample the same intervals. The power that sampling draws must count
 * once.
 */
static void samples_that_overlap_draw_their_power_once(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = metered(true);
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i < 10000; i++)
		add_sample(recording, 0, 1000000000 + i * SAMPLE_NS, 0);
	options.profile = model();
	ledger = build_ledger_with(recording, &options);
	assert_float_equal((double)ledger->devices[0].energy.counting_nj * 1e-9, 60, 0.1);
	build_free(recording, ledger);
}

static void counters_without_a_model_are_noted(void **state)
{
	struct kwhy_recording *recording = metered(true);
	struct kwhy_ledger *ledger = build_ledger(recording);

	(void)state;
	assert_string_equal(build_note(ledger, "counters-unused"),
		"the performance counters of device 0 are not used: its machine profile has no power model "
		"by "
		"counters");
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_shorter_than_a_sample_get_their_powers),
		cmocka_unit_test(a_kernel_without_counts_draws_the_base_power),
		cmocka_unit_test(kernels_that_no_sample_separates_have_no_power),
		cmocka_unit_test(kernels_longer_than_samples_may_overlap),
		cmocka_unit_test(many_samples_are_thinned),
		cmocka_unit_test(noise_of_samples_widens_the_prior),
		cmocka_unit_test(samples_that_overlap_and_of_other_devices_are_left_out),
		cmocka_unit_test(samples_may_be_in_any_order),
		cmocka_unit_test(a_sample_that_no_device_can_give_is_left_out),
		cmocka_unit_test(copies_and_collectives_have_no_power_by_counters),
		cmocka_unit_test(without_model_or_samples_there_are_no_powers),
		cmocka_unit_test(counters_divide_what_readings_cannot),
		cmocka_unit_test(samples_that_overlap_draw_their_power_once),
		cmocka_unit_test(counters_without_a_model_are_noted),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
