/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PACE_H
#define KWHY_INJECT_PROBE_PACE_H

#include "inject/probe/accounts.h"

/*
 * Decides when the next burst is due, and of which account. Bursts are short, and the program's own work runs
 * between them for random times. Those times are short while the program is young, so that short programs are
 * probed, too. When a burst is due, each launch may start it, with a probability that grows with the busy
 * time of its account.
 *
 * How well an account's power is known follows from the model of base/probe_width.h. Accounts that make up 95
 * % of the busy time are wanted.
 */
struct kwhy_probe_plan {
	double within; /* half-width, as a ratio, at which power counts as known; default 0.05 */
	double ratio;  /* largest ratio of time in bursts to time outside; default 3, INFINITY: no limit */
	int64_t budget_ns;  /* limit of the time in bursts */
	uint32_t share_ppm; /* share of all launches that start a burst, each equally likely; 0: choose by
			       account */
	int64_t least_ns, most_ns; /* bounds of the time of a burst's repeats */
	uint64_t seed;
};

struct kwhy_probe_pace {
	struct kwhy_probe_plan plan;
	_Atomic uint64_t random;
	atomic_int_least64_t
		begun_mono_ns; /* start of the program; bursts may take a multiple of the time since then */
	atomic_int_least64_t first_mono_ns; /* the program's first launch; 0: not yet */
	atomic_int_least64_t due_mono_ns, spent_ns, reviewed_mono_ns;
	atomic_int_least64_t worth_ns; /* sum of all accounts' worth at the last review */
	atomic_flag reviewing;
	atomic_bool is_over;
};

void kwhy_probe_pace_init(
	struct kwhy_probe_pace *pace, const struct kwhy_probe_plan *plan, int64_t begun_mono_ns);

/* True: no launch can start a burst now. */
bool kwhy_probe_pace_is_paused(const struct kwhy_probe_pace *pace, int64_t now_mono_ns);

/* Does this launch start the next burst? Any thread may call; cheap while no burst is due. */
bool kwhy_probe_pace_wants(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_account *account, int64_t now_mono_ns);

/* Time that the repeats of the account's next burst should take, in ns. */
int64_t kwhy_probe_pace_length(struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account);

/*
 * To be called when a kernel that only waits was launched: the program is about to time others, which no
 * burst may delay.
 */
void kwhy_probe_pace_hold(struct kwhy_probe_pace *pace, int64_t now_mono_ns);

/* Accounts for the time of a burst, or of an attempt at one, that has ended. */
void kwhy_probe_pace_spend(struct kwhy_probe_pace *pace, int64_t spent_ns, int64_t now_mono_ns);

/* Is the account's power known well enough? */
bool kwhy_probe_pace_knows(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account);

/* May the account be probed at all? */
bool kwhy_probe_pace_allows(const struct kwhy_probe_account *account);

/* Progress of the probing. */
struct kwhy_probe_progress {
	unsigned accounts, wanted, known;
	int64_t busy_ns, known_ns; /* busy time of the program's own kernels; of those, known accounts' */
};

/*
 * Chooses the wanted accounts anew by their current busy times; returns all 0 while another thread does so.
 */
struct kwhy_probe_progress kwhy_probe_pace_review(
	struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts, int64_t now_mono_ns);

#endif
