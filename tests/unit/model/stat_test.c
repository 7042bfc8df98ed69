/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/stat.h"

#include <math.h>

static void assert_close(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void work_is_held_against_the_total_else_the_first_device(void **state)
{
	struct kwhy_stat_domain domains[] = {{.kind = KWHY_STAT_WALL}, {.kind = KWHY_STAT_HOST},
		{.kind = KWHY_STAT_DEVICE}, {.kind = KWHY_STAT_DEVICE}, {.kind = KWHY_STAT_TOTAL}};
	struct kwhy_stat stat = {.domains = domains};

	(void)state;
	assert_int_equal(kwhy_stat_main_domain(&stat), KWHY_STAT_NO_DOMAIN);
	for (size_t count = 1; count <= 5; count++) {
		static const size_t expected[] = {0, 0, 1, 2, 2, 4};

		stat.domain_count = count;
		assert_int_equal(kwhy_stat_main_domain(&stat), expected[count]);
	}
}

static void the_total_adds_half_widths_and_is_unknown_with_any_part(void **state)
{
	struct kwhy_stat_domain domains[] = {{.kind = KWHY_STAT_DEVICE, .in_total = true},
		{.kind = KWHY_STAT_WALL}, {.kind = KWHY_STAT_HOST, .in_total = true},
		{.kind = KWHY_STAT_TOTAL}, {.kind = KWHY_STAT_DEVICE, .in_total = true}};
	struct kwhy_stat stat = {.domains = domains, .domain_count = 4}; /* domains[4] must not count */
	struct kwhy_stat_energy energies[5] = {{.joules = 100, .low_j = 99, .high_j = 102, .mean_w = 50},
		{.joules = 500}, {.joules = 30, .low_j = 28, .high_j = 31, .mean_w = 15}, {.joules = 0},
		{.joules = 7000}};

	(void)state;
	kwhy_stat_sum_energies(&stat, energies);
	assert_close(energies[3].joules, 130);
	assert_close(energies[3].low_j, 127);
	assert_close(energies[3].high_j, 133);
	assert_close(energies[3].mean_w, 65);
	assert_true(isnan(energies[3].peak_w));
	assert_string_equal(energies[3].basis, "sum");
	energies[2].missing = "why";
	energies[2].joules = NAN;
	kwhy_stat_sum_energies(&stat, energies);
	assert_true(isnan(energies[3].joules));
	assert_string_equal(energies[3].missing, "why");
	assert_null(energies[3].basis);
}

static void net_energy_carries_the_uncertainty_of_idle_too(void **state)
{
	struct kwhy_stat_domain domain = {.idle = {.watts = 80, .low_w = 79, .high_w = 81}};
	struct kwhy_stat_energy gross = {.joules = 1000, .low_j = 997, .high_j = 1003, .mean_w = 250};
	struct kwhy_stat_energy net = kwhy_stat_net(&domain, &gross, 4);

	(void)state;
	assert_close(net.joules, 680);
	assert_close(net.low_j, 675);
	assert_close(net.high_j, 685);
	assert_close(net.mean_w, 170);
	domain.idle.watts = NAN;
	assert_true(isnan(kwhy_stat_net(&domain, &gross, 4).joules));
}

/*
 * In the two runs the CPUs were busy for 4 s, 0.04 s of which (1 %) kwhy's sampler used. So it used 1 % of
 * the packages' 400 J or, once their idle power of 50 W is known (idle_s), of the 300 J above idle.
 */
static void the_samplers_joules_are_its_part_of_what_the_packages_used(void **state)
{
	struct kwhy_stat_domain domains[] = {{.kind = KWHY_STAT_DEVICE},
		{.kind = KWHY_STAT_HOST, .is_package = true, .idle = {.watts = 20}},
		{.kind = KWHY_STAT_HOST, .is_package = true, .idle = {.watts = 30}}};
	struct kwhy_stat_energy energies[2][3] = {{{.joules = 900}, {.joules = 100}, {.joules = 100}},
		{{.joules = 900}, {.joules = 120}, {.joules = 80}}};
	struct kwhy_stat_run runs[] = {
		{.seconds = 1, .energies = energies[0]}, {.seconds = 1, .energies = energies[1]}};
	struct kwhy_stat stat = {.domains = domains,
		.domain_count = 3,
		.runs = runs,
		.run_count = 2,
		.idle_s = NAN,
		.cost = {.cpu_s = 0.04, .busy_s = 4}};

	(void)state;
	assert_close(kwhy_stat_cost_j(&stat), 4);
	stat.idle_s = 5;
	assert_close(kwhy_stat_cost_j(&stat), 3);
}

static void the_samplers_joules_are_unknown_without_packages_or_busy_time(void **state)
{
	struct kwhy_stat_domain domain = {.kind = KWHY_STAT_HOST, .is_package = true, .idle = {.watts = 20}};
	struct kwhy_stat_energy energy = {.joules = 100};
	struct kwhy_stat_run run = {.seconds = 1, .energies = &energy};
	struct kwhy_stat stat = {.domains = &domain,
		.domain_count = 1,
		.runs = &run,
		.run_count = 1,
		.idle_s = NAN,
		.cost = {.cpu_s = 0.04, .busy_s = NAN}};

	(void)state;
	assert_true(isnan(kwhy_stat_cost_j(&stat)));
	stat.cost.busy_s = 0.01; /* less than the sampler's 0.04 s */
	assert_true(isnan(kwhy_stat_cost_j(&stat)));
	stat.cost.busy_s = 4;
	assert_close(kwhy_stat_cost_j(&stat), 1);
	energy.joules = NAN;
	assert_true(isnan(kwhy_stat_cost_j(&stat)));
	energy.joules = 100;
	domain.is_package = false;
	assert_true(isnan(kwhy_stat_cost_j(&stat)));
}

static void means_are_of_the_best_runs_that_there_are(void **state)
{
	struct kwhy_stat_run runs[3] = {{.exit = 1}, {.exit = 0}, {.exit = 0, .interrupted = true}};
	struct kwhy_stat stat = {.runs = runs, .run_count = 3};

	(void)state;
	kwhy_stat_choose_runs(&stat);
	assert_true(!runs[0].counted && runs[1].counted && !runs[2].counted);
	runs[1].exit = 2;
	kwhy_stat_choose_runs(&stat);
	assert_true(runs[0].counted && runs[1].counted && !runs[2].counted);
	stat.runs = &runs[2];
	stat.run_count = 1;
	kwhy_stat_choose_runs(&stat);
	assert_true(runs[2].counted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_held_against_the_total_else_the_first_device),
		cmocka_unit_test(the_total_adds_half_widths_and_is_unknown_with_any_part),
		cmocka_unit_test(net_energy_carries_the_uncertainty_of_idle_too),
		cmocka_unit_test(the_samplers_joules_are_its_part_of_what_the_packages_used),
		cmocka_unit_test(the_samplers_joules_are_unknown_without_packages_or_busy_time),
		cmocka_unit_test(means_are_of_the_best_runs_that_there_are),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
