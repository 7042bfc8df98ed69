/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/pace.h"

#include <stddef.h>

#define RATIO UINT64_C(0x9e3779b97f4a7c15)
#define MODEL_NS 270e6	   /* six bursts of 45 ms ... */
#define MODEL_WITHIN 0.035 /* ... and what they came to */
#define GAP_NS 20e6	   /* of the program's own work at least, in the mean */
#define PATIENCE_NS INT64_C(300000000)
#define WANTED_RATIO 0.95
enum { BURSTS_LEAST = 4, REFUSALS_MOST = 12, HALVINGS = 60 };

/* SplitMix64, by any thread: from 0 to 1. */
static double draw(struct kwhy_probe_pace *pace)
{
	uint64_t bits = atomic_fetch_add_explicit(&pace->random, RATIO, memory_order_relaxed);

	bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

void kwhy_probe_pace_init(struct kwhy_probe_pace *pace, const struct kwhy_probe_plan *plan)
{
	pace->plan = *plan;
	atomic_store(&pace->random, plan->seed);
	atomic_store(&pace->due_mono_ns, 0);
	atomic_store(&pace->spent_ns, 0);
	atomic_store(&pace->target, NULL);
	atomic_store(&pace->is_over, false);
}

bool kwhy_probe_pace_knows(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account)
{
	const double ratio = MODEL_WITHIN / pace->plan.within;

	return atomic_load(&account->bursts) >= BURSTS_LEAST &&
		(double)atomic_load(&account->repeated_ns) >= MODEL_NS * ratio * ratio;
}

static bool is_for_good(enum kwhy_probe_reason reason)
{
	static const bool for_good[] = {
#define X(name, for_good, words) for_good,
		KWHY_PROBE_REASONS(X)
#undef X
	};

	return for_good[reason];
}

bool kwhy_probe_pace_allows(const struct kwhy_probe_account *account)
{
	return !is_for_good((enum kwhy_probe_reason)atomic_load(&account->reason)) &&
		(atomic_load(&account->bursts) || atomic_load(&account->refusals) < REFUSALS_MOST);
}

/* What a burst of it brings; before there are activity records every launch counts as one nanosecond. */
static double worth(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account)
{
	if (!atomic_load(&account->is_wanted) || !kwhy_probe_pace_allows(account) ||
		kwhy_probe_pace_knows(pace, account))
		return 0;
	return ((double)kwhy_probe_account_own_ns(account) + (double)atomic_load(&account->launches)) /
		(1 + atomic_load(&account->bursts));
}

static double total_worth(const struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts)
{
	const unsigned count = atomic_load(&accounts->count);
	double total = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct kwhy_probe_account *account = kwhy_probe_account_at(accounts, i);

		total += account ? worth(pace, account) : 0;
	}
	return total;
}

static struct kwhy_probe_account *choose(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts)
{
	const unsigned count = atomic_load(&accounts->count);
	double left = draw(pace) * total_worth(pace, accounts);

	for (unsigned i = 0; i < count; i++) {
		struct kwhy_probe_account *account = kwhy_probe_account_at(accounts, i);
		const double its = account ? worth(pace, account) : 0;

		if (its > 0 && left < its)
			return account;
		left -= its;
	}
	return NULL;
}

bool kwhy_probe_pace_wants(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_account *account, int64_t now_mono_ns)
{
	if (atomic_load_explicit(&pace->is_over, memory_order_relaxed))
		return false;
	if (pace->plan.share_ppm)
		return draw(pace) * 1e6 < pace->plan.share_ppm && kwhy_probe_pace_allows(account);
	if (now_mono_ns < atomic_load_explicit(&pace->due_mono_ns, memory_order_relaxed))
		return false;
	if (!atomic_load(&pace->target) || now_mono_ns > atomic_load(&pace->target_until_mono_ns)) {
		struct kwhy_probe_account *target = choose(pace, accounts);

		atomic_store(&pace->target_until_mono_ns, now_mono_ns + PATIENCE_NS);
		atomic_store(&pace->target, target);
		if (!target)
			atomic_store(&pace->due_mono_ns, now_mono_ns + (int64_t)GAP_NS);
	}
	return atomic_load(&pace->target) == account;
}

int64_t kwhy_probe_pace_length(struct kwhy_probe_pace *pace)
{
	const struct kwhy_probe_plan *plan = &pace->plan;

	return plan->least_ns + (int64_t)(draw(pace) * (double)(plan->most_ns - plan->least_ns));
}

void kwhy_probe_pace_spend(struct kwhy_probe_pace *pace, int64_t spent_ns, int64_t now_mono_ns)
{
	const double fair_ns = (double)spent_ns / pace->plan.ratio,
		     gap_ns = fair_ns > GAP_NS ? fair_ns : GAP_NS;

	atomic_store(&pace->target, NULL);
	atomic_store(&pace->due_mono_ns, now_mono_ns + (int64_t)(gap_ns * (0.5 + draw(pace))));
	if (atomic_fetch_add(&pace->spent_ns, spent_ns) + spent_ns >= pace->plan.budget_ns)
		atomic_store(&pace->is_over, true);
}

static int64_t sum_above(struct kwhy_probe_accounts *accounts, unsigned count, int64_t least_ns)
{
	int64_t sum_ns = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct kwhy_probe_account *account = kwhy_probe_account_at(accounts, i);
		const int64_t own_ns = account ? kwhy_probe_account_own_ns(account) : 0;

		sum_ns += own_ns >= least_ns ? own_ns : 0;
	}
	return sum_ns;
}

/* The largest busy time that, with all above, makes up what is wanted. */
static int64_t threshold(struct kwhy_probe_accounts *accounts, unsigned count, int64_t busy_ns)
{
	const int64_t wanted_ns = (int64_t)(WANTED_RATIO * (double)busy_ns);
	int64_t low_ns = 0, high_ns = busy_ns + 1;

	for (int i = 0; i < HALVINGS && high_ns - low_ns > 1; i++) {
		const int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;

		if (sum_above(accounts, count, middle_ns) >= wanted_ns)
			low_ns = middle_ns;
		else
			high_ns = middle_ns;
	}
	return low_ns;
}

struct kwhy_probe_progress kwhy_probe_pace_review(
	struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts)
{
	const unsigned count = atomic_load(&accounts->count);
	struct kwhy_probe_progress progress = {.accounts = count, .busy_ns = sum_above(accounts, count, 0)};
	const int64_t least_ns = threshold(accounts, count, progress.busy_ns);

	for (unsigned i = 0; i < count; i++) {
		struct kwhy_probe_account *account = kwhy_probe_account_at(accounts, i);

		if (!account)
			continue;
		const int64_t own_ns = kwhy_probe_account_own_ns(account);
		const bool is_known = kwhy_probe_pace_knows(pace, account);

		atomic_store(&account->is_wanted, own_ns >= least_ns);
		progress.wanted += own_ns >= least_ns;
		progress.known += is_known;
		progress.known_ns += is_known ? own_ns : 0;
	}
	return progress;
}
