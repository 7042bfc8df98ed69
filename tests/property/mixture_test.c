/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "ledger/ledger_new.h"
#include "mixture_score.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests synthetic mixtures (runs of several kinds of work whose true energies are known), then ledgers of
 * such mixtures.
 */

static struct kwhy_error error;

#define SECONDS 4.0

static struct kwhy_mixture made(int schedule, uint64_t seed)
{
	struct kwhy_mixture_options options = {.schedule = schedule, .seed = seed, .duration_s = SECONDS};
	struct kwhy_mixture mixture;

	OK(kwhy_mixture_init(&mixture, &options, &error));
	return mixture;
}

static const struct kwhy_power_series *series_of(const struct kwhy_mixture *mixture, enum kwhy_meter meter)
{
	const struct kwhy_recording *recording = mixture->recording;

	for (size_t i = 0; i < recording->power_count; i++)
		if (recording->power[i].meter == meter)
			return &recording->power[i];
	fail_msg("no series of %s", kwhy_meter_name(meter));
	return NULL;
}

static double truth_nj(const struct kwhy_mixture *mixture, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_mixture_truth truth = {
		.row_nj = calloc(mixture->work_count, sizeof(*truth.row_nj)),
	};
	double sum_nj;

	assert_non_null(truth.row_nj);
	kwhy_mixture_truth_sum(mixture, start_ns, end_ns, &truth);
	sum_nj = truth.idle_nj + truth.outside_nj;
	for (size_t i = 0; i < mixture->work_count; i++)
		sum_nj += truth.row_nj[i];
	free(truth.row_nj);
	return sum_nj;
}

static void the_same_seed_gives_the_same_mixture(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture a = made(schedule, 7), b = made(schedule, 7);
		const struct kwhy_power_series *left = series_of(&a, KWHY_METER_NVML_SAMPLE);
		const struct kwhy_power_series *right = series_of(&b, KWHY_METER_NVML_SAMPLE);

		assert_int_equal(a.recording->activities.count, b.recording->activities.count);
		assert_memory_equal(a.recording->activities.start_ns, b.recording->activities.start_ns,
			a.work_count * sizeof(int64_t));
		assert_int_equal(left->count, right->count);
		assert_memory_equal(left->value, right->value, left->count * sizeof(int64_t));
		kwhy_mixture_done(&a);
		kwhy_mixture_done(&b);
	}
}

static void the_truth_of_a_window_is_the_sum_of_its_parts(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture mixture = made(schedule, 3);
		int64_t start_ns = mixture.origin_ns, middle_ns = start_ns + 1234567891,
			end_ns = start_ns + (int64_t)(SECONDS * 1e9);
		double whole_nj = truth_nj(&mixture, start_ns, end_ns);
		double parts_nj = truth_nj(&mixture, start_ns, middle_ns) +
			truth_nj(&mixture, middle_ns, end_ns);

		assert_true(fabs(parts_nj / whole_nj - 1) < 1e-9);
		kwhy_mixture_done(&mixture);
	}
}

/*
 * Between two of its updates the counter must rise by the true energy times the meter's gain. The
 * meter's low-pass and delay move some energy over the ends of this window, but less than 35 J (700
 * W for 50 ms).
 */
static void the_counter_meters_the_truth_with_its_gain(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture mixture = made(schedule, 11);
		const struct kwhy_power_series *ticks = series_of(&mixture, KWHY_METER_NVML_ENERGY);
		size_t first = 15, last = ticks->count - 10;
		double metered_nj = 1e6 * (double)(ticks->value[last] - ticks->value[first]);
		double true_nj = truth_nj(&mixture, ticks->time_ns[first], ticks->time_ns[last]);

		assert_true(fabs(metered_nj - mixture.gain * true_nj) < 700 * 0.05e9);
		kwhy_mixture_done(&mixture);
	}
}

/* After the work the device idles. Its last power samples must show its idle power. */
static void the_last_samples_read_idle(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture mixture = made(schedule, 5);
		const struct kwhy_power_series *samples = series_of(&mixture, KWHY_METER_NVML_SAMPLE);
		double last_w = 1e-3 * (double)samples->value[samples->count - 1];

		assert_true(fabs(last_w / (mixture.gain * mixture.idle_w) - 1) < 0.1);
		kwhy_mixture_done(&mixture);
	}
}

static void rows_of_the_recording_follow_their_true_work_within_microseconds(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture mixture = made(schedule, 9);
		const struct kwhy_activities *rows = &mixture.recording->activities;

		for (size_t i = 0; i < mixture.work_count; i++) {
			const struct kwhy_mixture_work *work = &mixture.works[i];
			const char *name = kwhy_names_get(&mixture.recording->names, rows->name[work->row]);
			double off_ns = (double)(rows->start_ns[work->row] - mixture.origin_ns) -
				work->start_ns;

			assert_string_equal(name, mixture.kinds[work->kind].name);
			assert_true(fabs(off_ns) < 50e3);
		}
		kwhy_mixture_done(&mixture);
	}
}

enum { JUDGED_SEEDS = 4 };

/*
 * Returns the share of a mixture's energy that the ledger puts on wrong accounts. The true energy of a kind
 * of work is what it draws when it runs alone. Adds the number of accounts compared to `rows`, and to
 * `covered` the number of those whose interval contains the truth.
 */
static double judged_wrong_ratio(int schedule, uint64_t seed, size_t *rows, size_t *covered)
{
	struct kwhy_mixture mixture = made(schedule, seed);
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_mixture_truth truth = {.alone = true};
	struct kwhy_mixture_score score;
	struct kwhy_ledger *ledger;
	double wrong_ratio;
	int64_t lag_ns; /* time by which readings lag behind the power that they show */

	options.profile = &mixture.profile;
	OK(kwhy_ledger_new(mixture.recording, &options, &ledger, &error));
	truth.row_nj = calloc(mixture.work_count, sizeof(*truth.row_nj));
	assert_non_null(truth.row_nj);
	lag_ns = llround(
		1e9 * (ledger->devices[0].energy.delay_s + ledger->devices[0].energy.time_constant_s));
	kwhy_mixture_truth_sum(&mixture, ledger->devices[0].energy.start_ns - lag_ns,
		ledger->devices[0].energy.end_ns - lag_ns, &truth);
	OK(kwhy_mixture_score_init(&score, mixture.recording, ledger, &truth, &error));
	*rows += score.row_count;
	*covered += score.covered_count;
	wrong_ratio = score.wrong_ratio;
	kwhy_mixture_score_done(&score);
	free(truth.row_nj);
	kwhy_ledger_free(ledger);
	kwhy_mixture_done(&mixture);
	return wrong_ratio;
}

static void long_bursts_are_divided_to_a_hundredth(void **state)
{
	size_t rows = 0, covered = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= JUDGED_SEEDS; seed++) {
		assert_true(judged_wrong_ratio(KWHY_MIXTURE_BURST, seed, &rows, &covered) < 0.012);
		assert_true(judged_wrong_ratio(KWHY_MIXTURE_STREAMS, seed, &rows, &covered) < 0.012);
	}
	assert_true(10 * covered >= 8 * rows);
}

/* In each schedule of the mixtures, at least three of four 90 % intervals must contain the truth. */
static void intervals_hold_the_truth_about_as_often_as_they_say(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		size_t rows = 0, covered = 0;

		for (uint64_t seed = 1; seed <= JUDGED_SEEDS; seed++)
			judged_wrong_ratio(schedule, seed, &rows, &covered);
		if (4 * covered < 3 * rows)
			fail_msg("%s: %zu of %zu rows covered", kwhy_mixture_schedule_name(schedule), covered,
				rows);
	}
}

static struct kwhy_ledger *ledger_of(const struct kwhy_mixture *mixture, uint64_t seed)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger;

	options.profile = &mixture->profile;
	options.seed = seed;
	OK(kwhy_ledger_new(mixture->recording, &options, &ledger, &error));
	return ledger;
}

static const struct kwhy_account *same_account(
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_account *asked)
{
	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (device_ledger->accounts[i].category == asked->category &&
			!strcmp(device_ledger->accounts[i].name, asked->name))
			return &device_ledger->accounts[i];
	fail_msg("no account of %s", asked->name);
	return NULL;
}

/*
 * The ledger computes intervals from random draws. Another seed of these changes figures, as rounding on
 * another machine does. The change must be small compared with the interval.
 */
static void the_seed_of_the_draws_moves_a_figure_by_less_than_a_fifth_of_its_interval(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct kwhy_mixture mixture = made(i ? KWHY_MIXTURE_TRAIN : KWHY_MIXTURE_DECODE, 3);
		struct kwhy_ledger *one = ledger_of(&mixture, 1), *other = ledger_of(&mixture, 2);

		for (size_t a = 0; a < one->devices[0].account_count; a++) {
			const struct kwhy_account *left = &one->devices[0].accounts[a];
			const struct kwhy_account *right = same_account(&other->devices[0], left);

			if (llabs(left->gross_nj - right->gross_nj) >
				(left->high_nj - left->low_nj) / 5 + 1000)
				fail_msg("%s: %.3f or %.3f J", left->name, 1e-9 * (double)left->gross_nj,
					1e-9 * (double)right->gross_nj);
		}
		kwhy_ledger_free(one);
		kwhy_ledger_free(other);
		kwhy_mixture_done(&mixture);
	}
}

/* Returns a learnt power for each kind of the mixture. Each may be wrong by up to a factor of three. */
static struct kwhy_learnt_powers *guess_powers(const struct kwhy_mixture *mixture, uint64_t seed)
{
	struct kwhy_learnt_powers *powers = calloc(1, sizeof(*powers));

	assert_non_null(powers);
	powers->device_name = "guessed";
	powers->context_idle_w = NAN;
	powers->items = kwhy_arena_alloc(&powers->arena, mixture->kind_count, sizeof(*powers->items));
	assert_non_null(powers->items);
	for (size_t i = 0; i < mixture->kind_count; i++) {
		double above_idle_w = 200 * exp(sin((double)(seed * 31 + i * 7)));

		powers->items[powers->count++] = (struct kwhy_learnt_power){.name = mixture->kinds[i].name,
			.grid = {KWHY_UNKNOWN_BLOCKS, KWHY_NONE},
			.above_idle_w = above_idle_w,
			.sd_w = above_idle_w / 20};
	}
	return powers;
}

static void learnt_powers_move_energy_between_accounts_and_none_beyond(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture mixture = made(schedule, 5);
		struct kwhy_learnt_powers *powers = guess_powers(&mixture, (uint64_t)schedule);
		const struct kwhy_learnt_powers *const list[] = {powers};
		struct kwhy_ledger_options options = kwhy_ledger_options_default();
		struct kwhy_ledger *ledger;
		int64_t sum_nj = 0;

		mixture.recording->devices[0].name = "guessed";
		options.learnt = list;
		options.learnt_count = 1;
		OK(kwhy_ledger_new(mixture.recording, &options, &ledger, &error));
		for (size_t a = 0; a < ledger->devices[0].account_count; a++) {
			const struct kwhy_account *account = &ledger->devices[0].accounts[a];

			sum_nj += account->gross_nj;
			assert_true(account->low_nj <= account->gross_nj &&
				account->gross_nj <= account->high_nj);
			assert_int_equal(account->gross_nj, account->idle_nj + account->net_nj);
		}
		assert_int_equal(sum_nj, ledger->devices[0].energy.measured_nj);
		kwhy_ledger_free(ledger);
		kwhy_learnt_powers_free(powers);
		kwhy_mixture_done(&mixture);
	}
}

/* Bursts determine each power, so learnt powers, however wrong, must hardly change the result. */
static void bursts_overrule_whatever_was_learnt(void **state)
{
	struct kwhy_mixture mixture = made(KWHY_MIXTURE_BURST, 5);
	struct kwhy_learnt_powers *powers = guess_powers(&mixture, 3);
	const struct kwhy_learnt_powers *const list[] = {powers};
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *guessed, *plain;

	(void)state;
	mixture.recording->devices[0].name = "guessed";
	OK(kwhy_ledger_new(mixture.recording, &options, &plain, &error));
	options.learnt = list;
	options.learnt_count = 1;
	OK(kwhy_ledger_new(mixture.recording, &options, &guessed, &error));
	for (size_t a = 0; a < plain->devices[0].account_count; a++) {
		const struct kwhy_account *left = &plain->devices[0].accounts[a];
		const struct kwhy_account *right = same_account(&guessed->devices[0], left);

		if (llabs(left->gross_nj - right->gross_nj) > (left->high_nj - left->low_nj) / 4 + 1000)
			fail_msg("%s: %.3f J, and %.3f J with a guess", left->name,
				1e-9 * (double)left->gross_nj, 1e-9 * (double)right->gross_nj);
	}
	kwhy_ledger_free(plain);
	kwhy_ledger_free(guessed);
	kwhy_learnt_powers_free(powers);
	kwhy_mixture_done(&mixture);
}

/*
 * Marks random activities as repeats or as copies made by kwhy probe, and every 50th as within a burst,
 * whether or not that makes sense. The ledger must balance all the same.
 */
static void scatter_origins(struct kwhy_mixture *mixture, uint64_t state)
{
	struct kwhy_activities *rows = &mixture->recording->activities;

	for (size_t row = 0; row < rows->count; row++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		rows->origin[row] = (uint8_t)(state >> 62 ? 0 : 1 + (state >> 40) % 2);
	}
	for (size_t row = 0; row < rows->count; row += 50) {
		const struct kwhy_burst burst = {.start_ns = rows->start_ns[row],
			.end_ns = rows->end_ns[row] + 1000000,
			.stream = KWHY_NONE};

		OK(kwhy_recording_add_burst(mixture->recording, &burst, &error));
	}
}

static void check_probed(const struct kwhy_mixture *mixture, const struct kwhy_ledger *ledger)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[0];
	const struct kwhy_device_time *time = &device_ledger->time;
	const struct kwhy_activities *rows = &mixture->recording->activities;
	int64_t sum_nj = 0;

	for (size_t a = 0; a < device_ledger->account_count; a++) {
		sum_nj += device_ledger->accounts[a].gross_nj;
		assert_true(device_ledger->accounts[a].low_nj <= device_ledger->accounts[a].gross_nj &&
			device_ledger->accounts[a].gross_nj <= device_ledger->accounts[a].high_nj);
	}
	assert_int_equal(sum_nj, device_ledger->energy.measured_nj);
	assert_int_equal(
		time->span_ns, time->busy_ns + time->idle_ns + time->probing_ns + time->unrecorded_ns);
	assert_true(time->probing_ns > 0 && time->probing_idle_ns >= 0 && time->idle_ns >= 0);
	assert_int_equal(time->unrecorded_ns, 0);
	assert_int_equal(rows->first[1], rows->count);
	for (size_t row = 0; row < rows->count; row++) {
		assert_int_equal(rows->origin[row], KWHY_ORIGIN_PROGRAM);
		assert_true(device_ledger->accounts[device_ledger->account_of[row]].category <=
			KWHY_CATEGORY_MEMSET);
	}
}

static void ledger_balances_whatever_is_called_a_repeat(void **state)
{
	(void)state;
	for (int schedule = 0; schedule < KWHY_MIXTURE_SCHEDULE_COUNT; schedule++) {
		struct kwhy_mixture mixture = made(schedule, 7);
		const struct kwhy_ledger_options options = kwhy_ledger_options_default();
		struct kwhy_ledger *ledger;

		scatter_origins(&mixture, (uint64_t)schedule);
		OK(kwhy_ledger_new_of_program(mixture.recording, &options, &ledger, &error));
		check_probed(&mixture, ledger);
		kwhy_ledger_free(ledger);
		kwhy_mixture_done(&mixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_gives_the_same_mixture),
		cmocka_unit_test(the_truth_of_a_window_is_the_sum_of_its_parts),
		cmocka_unit_test(the_counter_meters_the_truth_with_its_gain),
		cmocka_unit_test(the_last_samples_read_idle),
		cmocka_unit_test(rows_of_the_recording_follow_their_true_work_within_microseconds),
		cmocka_unit_test(long_bursts_are_divided_to_a_hundredth),
		cmocka_unit_test(intervals_hold_the_truth_about_as_often_as_they_say),
		cmocka_unit_test(the_seed_of_the_draws_moves_a_figure_by_less_than_a_fifth_of_its_interval),
		cmocka_unit_test(learnt_powers_move_energy_between_accounts_and_none_beyond),
		cmocka_unit_test(bursts_overrule_whatever_was_learnt),
		cmocka_unit_test(ledger_balances_whatever_is_called_a_repeat),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
