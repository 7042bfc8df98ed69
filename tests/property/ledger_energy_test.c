/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "ledger/ledger_new.h"
#include "ok.h"

#include <stdlib.h>
#include <string.h>

/*
 * Checks what must hold for the energies in the ledger of any recording with any meter, on random (seeded)
 * recordings.
 */

static struct kwhy_error error;

enum { CASES = 400, ROWS_MAX = 60, READINGS_MAX = 60, NAMES = 6 };

struct random {
	uint64_t state;
};

static uint64_t below(struct random *random, uint64_t limit)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (random->state >> 33) % limit;
}

/*
 * How the recording of a seed is built: all times `shift_ns` later, and with rows added in reverse order if
 * `backwards`.
 */
struct variant {
	int64_t shift_ns;
	bool backwards;
};

static void add_row(struct kwhy_recording *recording, struct random *random, const struct variant *variant)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	char name[8] = {'k', (char)('a' + below(random, NAMES)), 0};
	bool copy = below(random, 4) == 0;

	row.start_ns = (int64_t)below(random, 900) * 1000003 + variant->shift_ns;
	row.end_ns = row.start_ns + (int64_t)below(random, 40000000);
	row.stream = (uint32_t)below(random, 2);
	row.kind = copy ? KWHY_ACTIVITY_COPY : KWHY_ACTIVITY_KERNEL;
	row.copy_kind = copy ? KWHY_COPY_H2D : KWHY_COPY_UNKNOWN;
	row.bytes = copy ? below(random, 1 << 20) : KWHY_UNKNOWN_BYTES;
	row.blocks = below(random, 3) ? (uint32_t)below(random, 300) : KWHY_UNKNOWN_BLOCKS;
	OK(kwhy_names_intern(&recording->names, name, strlen(name), &row.name, &error));
	OK(kwhy_recording_add_activity(recording, &row, &error));
}

static void add_rows(struct kwhy_recording *recording, uint64_t seed, const struct variant *variant)
{
	struct random random = {seed};
	size_t count = below(&random, ROWS_MAX);

	for (size_t i = 0; i < count; i++) {
		struct random own = {seed * 1000 + (variant->backwards ? count - 1 - i : i)};

		add_row(recording, &own, variant);
	}
}

/*
 * Adds random readings of a counter, of samples, of both or of neither. The counter may be stuck or restart
 * at 0.
 */
static void add_readings(struct kwhy_recording *recording, uint64_t seed, const struct variant *variant)
{
	struct random random = {seed ^ 77};
	size_t count = below(&random, READINGS_MAX);
	bool counter = below(&random, 3) > 0, samples = below(&random, 3) > 0,
	     stuck = below(&random, 12) == 0;
	int64_t total_mj = (int64_t)below(&random, 1000000), at_ns = variant->shift_ns;

	for (size_t i = 0; i < count; i++) {
		int64_t power_mw = (int64_t)below(&random, 400000);

		at_ns += 5000000 + (int64_t)below(&random, 60000000);
		total_mj = below(&random, 40) ? total_mj + (stuck ? 0 : power_mw / 40) : 0;
		if (counter)
			OK(kwhy_recording_add_reading(
				recording, KWHY_METER_NVML_ENERGY, 0, 0, at_ns, total_mj, &error));
		if (samples)
			OK(kwhy_recording_add_reading(
				recording, KWHY_METER_NVML_SAMPLE, 0, 0, at_ns, power_mw, &error));
	}
}

static struct kwhy_recording *build(uint64_t seed, const struct variant *variant)
{
	struct kwhy_device device = {.rank = KWHY_NONE,
		.sm_count = seed % 2 ? 132 : 0,
		.limit_mw = -1,
		.context_idle_mw = seed % 3 ? -1 : 60000,
		.clean_idle_mw = seed % 5 ? -1 : 40000};
	struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};
	struct kwhy_coverage coverage = {KWHY_NONE, variant->shift_ns, variant->shift_ns + 1000000000};
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_recording_add_device(recording, &device, NULL, &error));
	OK(kwhy_recording_add_process(recording, &process, NULL, &error));
	for (int64_t id = 0; id < 2; id++) {
		struct kwhy_stream stream = {.context = 1, .id = id};

		OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	}
	if (seed % 4)
		OK(kwhy_recording_add_coverage(recording, &coverage, &error));
	add_rows(recording, seed, variant);
	add_readings(recording, seed, variant);
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

/*
 * Returns the ledger, or NULL if it was refused because the readings show more power than any device can
 * draw. The refusal must have a message.
 */
static struct kwhy_ledger *ledger_of(const struct kwhy_recording *recording)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger = NULL;

	if (kwhy_ledger_new(recording, &options, &ledger, &error) == KWHY_OK)
		return ledger;
	assert_int_equal(error.status, KWHY_E_INPUT);
	assert_true(strlen(error.text) > 20);
	return NULL;
}

static void check_account(const struct kwhy_account *account, uint64_t seed)
{
	if (account->gross_nj != account->idle_nj + account->net_nj)
		fail_msg("seed %llu: %s: gross is not idle + net", (unsigned long long)seed, account->name);
	if (account->gross_nj < 0 || account->low_nj > account->gross_nj ||
		account->high_nj < account->gross_nj)
		fail_msg("seed %llu: %s: interval does not hold the figure", (unsigned long long)seed,
			account->name);
}

static void check_balance(const struct kwhy_device_ledger *device, uint64_t seed)
{
	const struct kwhy_device_energy *energy = &device->energy;
	int64_t gross_nj = 0, idle_nj = 0, net_nj = 0, clean_nj = energy->clean_idle_nj;

	for (size_t i = 0; i < device->account_count; i++) {
		check_account(&device->accounts[i], seed);
		gross_nj += device->accounts[i].gross_nj;
		idle_nj += device->accounts[i].idle_nj;
		net_nj += device->accounts[i].net_nj;
	}
	if (gross_nj != energy->measured_nj || energy->attributed_nj != energy->measured_nj)
		fail_msg("seed %llu: accounts sum to %lld, the meter says %lld", (unsigned long long)seed,
			(long long)gross_nj, (long long)energy->measured_nj);
	assert_int_equal(net_nj, energy->net_nj);
	assert_int_equal(idle_nj, energy->context_idle_nj + (clean_nj == KWHY_UNKNOWN_NJ ? 0 : clean_nj));
}

static void what_is_attributed_is_what_was_measured_to_the_nanojoule(void **state)
{
	size_t known = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct kwhy_recording *recording = build(seed, &(struct variant){0});
		struct kwhy_ledger *ledger = ledger_of(recording);

		if (ledger && ledger->devices[0].energy.known) {
			check_balance(&ledger->devices[0], seed);
			known++;
		}
		kwhy_ledger_free(ledger);
		kwhy_recording_free(recording);
	}
	assert_true(known > CASES / 4);
}

/* Checks that both ledgers have the same accounts, by name, with the same figures. */
static void check_same(
	const struct kwhy_device_ledger *left, const struct kwhy_device_ledger *right, uint64_t seed)
{
	assert_int_equal(left->account_count, right->account_count);
	for (size_t i = 0; i < left->account_count; i++) {
		const struct kwhy_account *a = &left->accounts[i], *b = &right->accounts[i];

		if (strcmp(a->name, b->name) != 0 || a->gross_nj != b->gross_nj || a->low_nj != b->low_nj ||
			a->net_nj != b->net_nj)
			fail_msg("seed %llu: %s %lld became %s %lld", (unsigned long long)seed, a->name,
				(long long)a->gross_nj, b->name, (long long)b->gross_nj);
	}
}

/*
 * Builds the recording as `variant` says and compares ledgers. Another order of rows must keep every figure.
 * With shifted times only the totals and the balance, which are integers, must be kept: doubles are rounded
 * differently then, which may change the random draws of intervals.
 */
static void check_variant(uint64_t seed, const struct variant *variant)
{
	struct kwhy_recording *plain = build(seed, &(struct variant){0}), *other = build(seed, variant);
	struct kwhy_ledger *left = ledger_of(plain), *right = ledger_of(other);

	assert_int_equal(left != NULL, right != NULL);
	if (left) {
		assert_int_equal(left->devices[0].energy.measured_nj, right->devices[0].energy.measured_nj);
		if (right->devices[0].energy.known)
			check_balance(&right->devices[0], seed);
		if (variant->backwards)
			check_same(&left->devices[0], &right->devices[0], seed);
	}
	kwhy_ledger_free(left);
	kwhy_ledger_free(right);
	kwhy_recording_free(plain);
	kwhy_recording_free(other);
}

static void a_shifted_clock_keeps_totals_and_balance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES / 4; seed++)
		check_variant(seed, &(struct variant){.shift_ns = 123456789012345678});
}

static void the_order_of_rows_changes_no_figure(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES / 4; seed++)
		check_variant(seed, &(struct variant){.backwards = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_attributed_is_what_was_measured_to_the_nanojoule),
		cmocka_unit_test(a_shifted_clock_keeps_totals_and_balance),
		cmocka_unit_test(the_order_of_rows_changes_no_figure),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
