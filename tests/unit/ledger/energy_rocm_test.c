/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include <string.h>

/*
 * Tests ledgers with readings of AMD's meters. Their total energy is as exact as with NVML's, but how they
 * respond to a change of the power is unknown.
 */

/*
 * Makes kernel "a" (1 s at 300 W) and kernel "b" (1.5 s at 500 W). The device draws 100 W for 2 s before "a"
 * and between them, and for about 2 s after "b".
 */
static struct kwhy_recording *two_kernels(void)
{
	const struct metered_level level = {0, 100};
	const struct metered_run runs[] = {{2, 3, 300, "a"}, {5, 6.5, 500, "b"}};
	const struct metered_plan plan = {.levels = &level,
		.level_count = 1,
		.runs = runs,
		.run_count = 2,
		.end_s = 9,
		.noise_w = 0.5,
		.seed = 5};

	return metered_build(&plan);
}

/*
 * Replaces each sample by the mean of the last 50, which is the last second. Goes from the last
 * sample to the first, so that the samples that are still needed are unchanged.
 */
static void take_means(struct kwhy_power_series *series)
{
	enum { SAMPLES = 50 };

	for (size_t i = series->count; i-- > SAMPLES;) {
		int64_t sum_mw = 0;

		for (size_t k = 0; k < SAMPLES; k++)
			sum_mw += series->value[i - k];
		series->value[i] = sum_mw / SAMPLES;
	}
}

/*
 * Makes the recording of two_kernels() with readings of one AMD meter: those of the counter, or one-second
 * means of the samples.
 */
static struct kwhy_recording *metered_by(enum kwhy_meter meter)
{
	struct kwhy_recording *recording = two_kernels();

	for (size_t i = 0; i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];

		if (kwhy_meter_is_counter(series->meter) != kwhy_meter_is_counter(meter)) {
			series->count = 1;
			continue;
		}
		for (size_t k = 0; meter == KWHY_METER_ROCM_ENERGY && k < series->count; k++)
			series->value[k] *= 1000;
		if (meter == KWHY_METER_ROCM_POWER)
			take_means(series);
		series->meter = meter;
	}
	return recording;
}

static const char *response_note(const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->note_count; i++)
		if (!strcmp(ledger->notes[i].id, "meter-response-assumed"))
			return ledger->notes[i].text;
	return "";
}

static void assert_holds(const struct kwhy_ledger *ledger, const char *name, double energy_j)
{
	const struct kwhy_account *account = build_account(ledger, 0, name);

	assert_non_null(account);
	assert_true((double)account->low_nj * 1e-9 < energy_j);
	assert_true((double)account->high_nj * 1e-9 > energy_j);
}

static void an_amd_counter_is_the_total_in_its_own_unit(void **state)
{
	struct kwhy_recording *recording = metered_by(KWHY_METER_ROCM_ENERGY);
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_device_energy *energy = &ledger->devices[0].energy;

	(void)state;
	assert_true(energy->known);
	assert_string_equal(energy->source, "rocm.energy_uj");
	assert_int_equal(energy->measured_nj, energy->attributed_nj);
	assert_in_range(energy->measured_nj, INT64_C(1670000000000), INT64_C(1710000000000));
	assert_holds(ledger, "a", 300);
	assert_holds(ledger, "b", 750);
	build_free(recording, ledger);
}

/*
 * One reading of the counter is 200 J too low and a later one 200 J too high. The energy must be as without
 * these errors, and a note must count them.
 */
static void a_misread_counter_counts_nothing_more(void **state)
{
	const int64_t off_uj = 200000000;
	struct kwhy_recording *recordings[2];
	struct kwhy_ledger *ledgers[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		recordings[i] = metered_by(KWHY_METER_ROCM_ENERGY);
		for (size_t k = 0; i == 1 && k < recordings[i]->power_count; k++)
			if (kwhy_meter_is_counter((enum kwhy_meter)recordings[i]->power[k].meter)) {
				recordings[i]->power[k].value[30] -= off_uj;
				recordings[i]->power[k].value[60] += off_uj;
			}
		ledgers[i] = build_ledger(recordings[i]);
	}
	assert_int_equal(
		ledgers[0]->devices[0].energy.measured_nj, ledgers[1]->devices[0].energy.measured_nj);
	assert_holds(ledgers[1], "a", 300);
	assert_holds(ledgers[1], "b", 750);
	assert_int_equal(recordings[0]->note_count, 0);
	assert_int_equal(recordings[1]->note_count, 1);
	assert_non_null(strstr(recordings[1]->notes[0].text, "2 readings of rocm.energy_uj left the course"));
	for (int i = 0; i < 2; i++)
		build_free(recordings[i], ledgers[i]);
}

static void an_amd_power_is_taken_for_a_mean_and_says_so(void **state)
{
	struct kwhy_recording *recording = metered_by(KWHY_METER_ROCM_POWER);
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_device_energy *energy = &ledger->devices[0].energy;

	(void)state;
	assert_true(energy->known);
	assert_string_equal(energy->source, "rocm.power_mw");
	assert_int_equal(energy->measured_nj, energy->attributed_nj);
	assert_in_range(energy->measured_nj, INT64_C(1670000000000), INT64_C(1710000000000));
	assert_true(energy->highest_sample_w > 499);
	assert_non_null(strstr(response_note(ledger), "a mean over the last second"));
	assert_holds(ledger, "a", 300);
	assert_holds(ledger, "b", 750);
	build_free(recording, ledger);
}

/*
 * The response of a meter in a machine profile is that of NVML's meters. It must not be used for an AMD
 * meter.
 */
static void no_profile_tells_how_an_amd_meter_responds(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = metered_by(KWHY_METER_ROCM_ENERGY);
	struct kwhy_profile profile;
	struct kwhy_ledger *ledger;

	(void)state;
	kwhy_profile_init(&profile);
	profile.sensor.time_constant_s = (struct kwhy_measured){13.1e-3, 0.6e-3};
	profile.sensor.delay_s = (struct kwhy_measured){3.7e-3, 0.5e-3};
	options.profile = &profile;
	ledger = build_ledger_with(recording, &options);
	assert_non_null(
		strstr(response_note(ledger), "nobody has measured how fast AMD's meters follow the power"));
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_amd_counter_is_the_total_in_its_own_unit),
		cmocka_unit_test(a_misread_counter_counts_nothing_more),
		cmocka_unit_test(an_amd_power_is_taken_for_a_mean_and_says_so),
		cmocka_unit_test(no_profile_tells_how_an_amd_meter_responds),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
