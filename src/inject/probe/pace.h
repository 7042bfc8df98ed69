/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PACE_H
#define KWHY_INJECT_PROBE_PACE_H

#include "inject/probe/accounts.h"

/*
 * Decides when the next burst (repeats of one kernel in a row) is due, and which launch starts it. The time
 * between two bursts is random, and shorter soon after the program's first launch, so that short programs are
 * probed, too. When a burst is due, each launch may start it, with a probability that grows with the busy
 * time of the launch's account.
 *
 * base/probe_width.h has the model of how precisely an account's power is known after a number of bursts. The
 * accounts with the largest busy times that together make up 95 % of all busy time are wanted: they are
 * probed until their power is known.
 */
struct kwhy_probe_plan {
	double within; /* an account's power counts as known if the half-width of its 90 % interval, divided
			  by the power, is at most this; default 0.05 */
	double ratio; /* largest ratio of the program's time in bursts to its other time; default 3; INFINITY:
			 no limit */
	int64_t budget_ns;  /* total time in bursts after which probing ends */
	uint32_t share_ppm; /* if above 0, each launch of a kernel that may be probed starts a burst with this
			       probability, in millionths, and the rules above do not apply */
	int64_t least_ns, most_ns; /* shortest and longest time of the repeats of a burst */
	uint64_t seed;
};

struct kwhy_probe_pace {
	struct kwhy_probe_plan plan;
	_Atomic uint64_t random;
	atomic_int_least64_t
		begun_mono_ns; /* start of the program on CLOCK_MONOTONIC, or at most 5 s before its first
				  launch; for plan.ratio, the program's time counts from here */
	atomic_int_least64_t
		first_mono_ns; /* time of the program's first launch; 0: it has launched nothing yet */
	atomic_int_least64_t due_mono_ns, spent_ns, reviewed_mono_ns;
	atomic_int_least64_t worth_ns; /* sum over all accounts of the benefit of a burst, worth_ns() in
					  pace.c, at the last review */
	atomic_flag reviewing;
	atomic_bool is_over;
};

void kwhy_probe_pace_init(
	struct kwhy_probe_pace *pace, const struct kwhy_probe_plan *plan, int64_t begun_mono_ns);

/* Whether no launch may start a burst at `now_mono_ns`. */
bool kwhy_probe_pace_is_paused(const struct kwhy_probe_pace *pace, int64_t now_mono_ns);

/*
 * Whether a launch of the account that comes now starts a burst. Any thread may call it; while no burst is
 * due it takes little time.
 */
bool kwhy_probe_pace_wants(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_account *account, int64_t now_mono_ns);

/* Time that the repeats of the account's next burst should take, in ns. */
int64_t kwhy_probe_pace_length(struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account);

/*
 * Call it when the program has launched a kernel that only waits. The program is then about to time other
 * kernels, which a burst would disturb, so none starts for the next 50 ms.
 */
void kwhy_probe_pace_hold(struct kwhy_probe_pace *pace, int64_t now_mono_ns);

/*
 * Adds the time of a burst that has ended, or of an attempt at one, to the time in bursts, and sets when the
 * next burst is due.
 */
void kwhy_probe_pace_spend(struct kwhy_probe_pace *pace, int64_t spent_ns, int64_t now_mono_ns);

/* Whether the account's power is known to the precision that the plan requires. */
bool kwhy_probe_pace_knows(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account);

/*
 * Whether bursts of this account may still be tried: no reason excludes it for good, and either it has had a
 * burst or its attempts have not failed too often.
 */
bool kwhy_probe_pace_allows(const struct kwhy_probe_account *account);

/* Progress of the probing. The counts are numbers of accounts. */
struct kwhy_probe_progress {
	unsigned accounts, wanted, known;
	int64_t busy_ns, known_ns; /* busy time of the program's own launches in all accounts, and in those
				      whose power is known */
};

/*
 * Reviews the accounts: decides by their present busy times which are wanted (is_wanted), and returns the
 * progress; zeros if another thread is reviewing them at this moment.
 */
struct kwhy_probe_progress kwhy_probe_pace_review(
	struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts, int64_t now_mono_ns);

#endif
