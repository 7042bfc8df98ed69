/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_energy.h"

#include <math.h>

/* How long readings saw the run; not above 0: not at all. */
static int64_t seen_ns(const struct kwhy_device_ledger *books)
{
	const struct kwhy_device_energy *energy = &books->energy;
	int64_t from_ns = energy->start_ns > books->time.first_ns ? energy->start_ns : books->time.first_ns;
	int64_t to_ns = energy->end_ns < books->time.last_ns ? energy->end_ns : books->time.last_ns;

	return to_ns - from_ns;
}

/* An account without a known energy is in no sum, so there is nothing of it to take away. */
static double gross_nj(const struct kwhy_account *account)
{
	return account->gross_nj == KWHY_UNKNOWN_NJ ? 0 : (double)account->gross_nj;
}

/* The run's time that was not recorded: at the mean power of what was metered of that; NAN: nothing was. */
static double between_nj(const struct kwhy_device_ledger *books)
{
	double metered_ns = (double)books->energy.between_ns;

	if (books->time.unrecorded_ns <= 0)
		return 0;
	return metered_ns > 0
		? (double)books->energy.between_nj * fmax(1, (double)books->time.unrecorded_ns / metered_ns)
		: NAN;
}

/*
 * The energy before and behind the run, which is taken away, has an interval, and time of the run that the
 * meter did not see may have drawn anything from the idle level to the highest reading.
 */
static double half_nj(const struct kwhy_device_ledger *books)
{
	double range_w = books->energy.highest_sample_w - books->energy.context_idle_w, half_nj = 0;
	double unseen_ns = fmax(0, (double)books->time.span_ns - (double)seen_ns(books));

	for (size_t i = 0; i < books->account_count; i++) {
		const struct kwhy_account *account = &books->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE && account->low_nj != KWHY_UNKNOWN_NJ &&
			account->high_nj != KWHY_UNKNOWN_NJ)
			half_nj = hypot(half_nj, ((double)account->high_nj - (double)account->low_nj) / 2);
	}
	if (unseen_ns > 0)
		half_nj = hypot(half_nj, 0.45 * range_w * unseen_ns); /* 90 % of a uniform one */
	return books->energy.modelled ? NAN : half_nj;
}

struct kwhy_run_energy kwhy_run_energy_of(const struct kwhy_device_ledger *books)
{
	const struct kwhy_device_energy *energy = &books->energy;
	struct kwhy_run_energy run = {NAN, NAN, NAN, NAN, NAN};

	if (!kwhy_device_was_active(&books->time))
		return (struct kwhy_run_energy){0};
	if (!energy->known || seen_ns(books) <= 0)
		return run;
	run.recorded_unmetered_nj = energy->edge_nj == KWHY_UNKNOWN_NJ ? 0 : (double)energy->edge_nj;
	run.recorded_nj = (double)energy->attributed_nj + run.recorded_unmetered_nj;
	for (size_t i = 0; i < books->account_count; i++) {
		const struct kwhy_account *account = &books->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE ||
			account->category == KWHY_CATEGORY_UNRECORDED)
			run.recorded_nj -= gross_nj(account);
	}
	run.run_nj = run.recorded_nj + between_nj(books);
	if (isnan(run.run_nj))
		return run;
	run.unmetered_nj = run.recorded_unmetered_nj;
	if (books->time.unrecorded_ns > 0)
		run.unmetered_nj += between_nj(books) - (double)energy->between_nj;
	run.half_nj = half_nj(books);
	return run;
}
