/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/pace.h"

#include "base/probe_width.h"
#include "base/random.h"

#include <stddef.h>

/*
 * Mean time between two bursts: GAP_SHARE of the program's time outside of bursts since its first launch, but
 * at least GAP_MIN_NS and at most GAP_MAX_NS.
 */
#define GAP_SHARE 0.01
#define GAP_MIN_NS 50e3
#define GAP_MAX_NS 2e6
/*
 * At most this much of a program's time before its first launch counts as time outside of bursts. plan.ratio
 * limits the time in bursts by the time outside of them. Without START_MAX_NS, a program that loads for
 * minutes could thus be delayed for several times as long by bursts without a pause.
 */
#define START_MAX_NS INT64_C(5000000000)
/*
 * Time between two reviews, which decide what accounts are wanted: REVIEW_NS, plus REVIEW_ACCOUNT_NS for each
 * account, since reviews of more accounts take longer.
 */
#define REVIEW_NS INT64_C(5000000)
#define REVIEW_ACCOUNT_NS INT64_C(50000)
#define WANTED_RATIO 0.95
/*
 * After the launch of a kernel that only waits, no burst starts for this time. XLA times candidates for a
 * kernel one by one, with such a kernel (DelayKernel) before each; the launches of a candidate are assumed to
 * take no longer than this. Bursts between these launches made five of XLA's measurements on an H200 invalid.
 */
#define TIMED_NS INT64_C(50000000)
enum { REFUSALS_MAX = 12, HALVINGS = 60, FEW_LAUNCHES = 16 };

/* Random number in [0, 1); any thread may call it. */
static double draw(struct kwhy_probe_pace *pace)
{
	return kwhy_random_share(kwhy_random_of(
		atomic_fetch_add_explicit(&pace->random, KWHY_RANDOM_STEP, memory_order_relaxed)));
}

void kwhy_probe_pace_init(
	struct kwhy_probe_pace *pace, const struct kwhy_probe_plan *plan, int64_t begun_mono_ns)
{
	pace->plan = *plan;
	atomic_store(&pace->random, plan->seed);
	atomic_store(&pace->begun_mono_ns, begun_mono_ns);
	atomic_store(&pace->first_mono_ns, 0);
	atomic_store(&pace->due_mono_ns, 0);
	atomic_store(&pace->spent_ns, 0);
	atomic_store(&pace->reviewed_mono_ns, 0);
	atomic_store(&pace->worth_ns, 0);
	atomic_flag_clear(&pace->reviewing);
	atomic_store(&pace->is_over, false);
}

bool kwhy_probe_pace_knows(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account)
{
	return atomic_load(&account->is_known) ||
		kwhy_probe_width_is_within(
			atomic_load(&account->bursts), atomic_load(&account->repeated_ns), pace->plan.within);
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
		(atomic_load(&account->bursts) || atomic_load(&account->refusals) < REFUSALS_MAX);
}

/*
 * Benefit of a burst of an account: its busy time in ns, so that large accounts come first if time is
 * limited. If memory is restored between repeats, it is multiplied by the kernel's share of the burst's time.
 * 0: the account is not wanted, cannot be probed, or its power is known.
 */
static double worth_ns(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account)
{
	const double kernel_ns = 1 + (double)atomic_load(&account->kernel_ns);

	if (!atomic_load(&account->is_wanted) || !kwhy_probe_pace_allows(account) ||
		kwhy_probe_pace_knows(pace, account))
		return 0;
	return (double)kwhy_probe_account_own_ns(account) * kernel_ns /
		(kernel_ns + (double)atomic_load(&account->copies_ns));
}

/* The program's time outside of bursts since its first launch, in ns. */
static double own_ns(const struct kwhy_probe_pace *pace, int64_t now_mono_ns)
{
	const int64_t first_mono_ns = atomic_load(&pace->first_mono_ns);

	return first_mono_ns ? (double)(now_mono_ns - first_mono_ns - atomic_load(&pace->spent_ns)) : 0;
}

static double gap_ns(double own_ns)
{
	const double gap_ns = GAP_SHARE * own_ns;

	return gap_ns < GAP_MIN_NS ? GAP_MIN_NS : gap_ns > GAP_MAX_NS ? GAP_MAX_NS : gap_ns;
}

/*
 * Probability that this launch starts a burst, now that one is due. It is chosen so that one burst starts per
 * gap (gap_ns()) on average, and that each account's share of the bursts is proportional to worth_ns(). The
 * estimate assumes that an account will be launched as often as it was so far.
 */
static double chance(
	const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account, int64_t now_mono_ns)
{
	const double own = own_ns(pace, now_mono_ns), gaps = (own + GAP_MIN_NS) / gap_ns(own),
		     its_ns = worth_ns(pace, account), all_ns = (double)atomic_load(&pace->worth_ns);

	return gaps * its_ns / ((its_ns > all_ns ? its_ns : all_ns) + 1) /
		(double)(atomic_load(&account->launches) + 1);
}

bool kwhy_probe_pace_is_paused(const struct kwhy_probe_pace *pace, int64_t now_mono_ns)
{
	return atomic_load_explicit(&pace->is_over, memory_order_relaxed) ||
		(!pace->plan.share_ppm &&
			now_mono_ns < atomic_load_explicit(&pace->due_mono_ns, memory_order_relaxed));
}

bool kwhy_probe_pace_wants(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_account *account, int64_t now_mono_ns)
{
	int64_t never = 0;

	if (kwhy_probe_pace_is_paused(pace, now_mono_ns))
		return false;
	if (pace->plan.share_ppm)
		return draw(pace) * 1e6 < pace->plan.share_ppm && kwhy_probe_pace_allows(account);
	if (atomic_compare_exchange_strong(&pace->first_mono_ns, &never, now_mono_ns) &&
		now_mono_ns - atomic_load(&pace->begun_mono_ns) > START_MAX_NS)
		atomic_store(&pace->begun_mono_ns, now_mono_ns - START_MAX_NS);
	if (now_mono_ns - atomic_load(&pace->reviewed_mono_ns) >
		REVIEW_NS + REVIEW_ACCOUNT_NS * atomic_load(&accounts->count))
		kwhy_probe_pace_review(pace, accounts, now_mono_ns);
	return draw(pace) < chance(pace, account, now_mono_ns);
}

/*
 * The length is random between plan.least_ns and plan.most_ns. An account with fewer than FEW_LAUNCHES
 * launches gets the longest, because it may not be launched again.
 */
int64_t kwhy_probe_pace_length(struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account)
{
	const struct kwhy_probe_plan *plan = &pace->plan;
	const double share = atomic_load(&account->launches) < FEW_LAUNCHES ? 1 : draw(pace);

	return plan->least_ns + (int64_t)(share * (double)(plan->most_ns - plan->least_ns));
}

/*
 * Time in ns for which the program must run without bursts until the ratio of the time in bursts (spent_ns)
 * to its other time has fallen to plan.ratio; negative: it is below already.
 */
static double debt_ns(const struct kwhy_probe_pace *pace, int64_t spent_ns, int64_t now_mono_ns)
{
	const double outside_ns = (double)(now_mono_ns - atomic_load(&pace->begun_mono_ns) - spent_ns);

	return (double)spent_ns / pace->plan.ratio - outside_ns;
}

void kwhy_probe_pace_spend(struct kwhy_probe_pace *pace, int64_t spent_ns, int64_t now_mono_ns)
{
	const int64_t all_ns = atomic_fetch_add(&pace->spent_ns, spent_ns) + spent_ns;
	const double gap = gap_ns(own_ns(pace, now_mono_ns)) * (0.5 + draw(pace)),
		     debt = debt_ns(pace, all_ns, now_mono_ns);

	atomic_store(&pace->due_mono_ns, now_mono_ns + (int64_t)(debt > gap ? debt : gap));
	if (all_ns >= pace->plan.budget_ns)
		atomic_store(&pace->is_over, true);
}

void kwhy_probe_pace_hold(struct kwhy_probe_pace *pace, int64_t now_mono_ns)
{
	if (atomic_load(&pace->due_mono_ns) < now_mono_ns + TIMED_NS)
		atomic_store(&pace->due_mono_ns, now_mono_ns + TIMED_NS);
}

/* Busy time of an account in ns; 0 for kernels that only wait, whose power need not be known. */
static int64_t work_ns(const struct kwhy_probe_account *account)
{
	return !account || atomic_load(&account->reason) == KWHY_PROBE_WAITS
		? 0
		: kwhy_probe_account_own_ns(account);
}

static int64_t sum_above(struct kwhy_probe_accounts *accounts, unsigned count, int64_t least_ns)
{
	int64_t sum_ns = 0;

	for (unsigned i = 0; i < count; i++) {
		const int64_t own_ns = work_ns(kwhy_probe_account_at(accounts, i));

		sum_ns += own_ns >= least_ns ? own_ns : 0;
	}
	return sum_ns;
}

/*
 * The largest busy time for which the accounts with at least that busy time make up at least WANTED_RATIO of
 * `busy_ns`.
 */
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

static struct kwhy_probe_progress review(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts)
{
	const unsigned count = atomic_load(&accounts->count);
	struct kwhy_probe_progress progress = {.accounts = count, .busy_ns = sum_above(accounts, count, 0)};
	const int64_t least_ns = threshold(accounts, count, progress.busy_ns);
	double all_ns = 0;

	for (unsigned i = 0; i < count; i++) {
		struct kwhy_probe_account *account = kwhy_probe_account_at(accounts, i);

		if (!account)
			continue;
		const int64_t own_ns = work_ns(account);
		const bool is_known = kwhy_probe_pace_knows(pace, account);

		atomic_store(&account->is_wanted, own_ns >= least_ns);
		progress.wanted += own_ns >= least_ns;
		progress.known += is_known;
		progress.known_ns += is_known ? own_ns : 0;
		all_ns += worth_ns(pace, account);
	}
	atomic_store(&pace->worth_ns, (int64_t)all_ns);
	return progress;
}

struct kwhy_probe_progress kwhy_probe_pace_review(
	struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts, int64_t now_mono_ns)
{
	struct kwhy_probe_progress progress = {0};

	if (atomic_flag_test_and_set(&pace->reviewing))
		return progress;
	progress = review(pace, accounts);
	atomic_store(&pace->reviewed_mono_ns, now_mono_ns);
	atomic_flag_clear(&pace->reviewing);
	return progress;
}
