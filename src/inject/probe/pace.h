/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PACE_H
#define KWHY_INJECT_PROBE_PACE_H

#include "inject/probe/accounts.h"

/*
 * When the next burst is due, and of which account. Bursts are short and lie apart, with the program's own
 * work of random length between them: little of it while the program is young, so that short programs are
 * probed, too. Each launch that comes when a burst is due may be the one, by a chance that makes bursts of an
 * account the likelier, the more busy time it has.
 *
 * How well an account's power is known is the model of base/probe_width.h. Of all accounts those are wanted
 * that make up 95 % of the busy time.
 */
struct kwhy_probe_plan {
	double within;		   /* half-width that is enough; 0.05 */
	double ratio;		   /* of the time in bursts to that outside of them; 3, INFINITY: any */
	int64_t budget_ns;	   /* of the time in bursts */
	uint32_t share_ppm;	   /* of all launches, each of which is as likely; 0: by account */
	int64_t least_ns, most_ns; /* of a burst's repeats */
	uint64_t seed;
};

struct kwhy_probe_pace {
	struct kwhy_probe_plan plan;
	_Atomic uint64_t random;
	atomic_int_least64_t begun_mono_ns; /* the program has; what it may take is a multiple of its time */
	atomic_int_least64_t first_mono_ns; /* its first launch; 0: not yet */
	atomic_int_least64_t due_mono_ns, spent_ns, reviewed_mono_ns;
	atomic_int_least64_t worth_ns; /* of all accounts, when they were last reviewed */
	atomic_flag reviewing;
	atomic_bool is_over;
};

void kwhy_probe_pace_init(
	struct kwhy_probe_pace *pace, const struct kwhy_probe_plan *plan, int64_t begun_mono_ns);

/* Is it of no use to ask about any launch now? */
bool kwhy_probe_pace_is_paused(const struct kwhy_probe_pace *pace, int64_t now_mono_ns);

/* May this launch be the next? By any thread: cheap where it is not. */
bool kwhy_probe_pace_wants(struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_account *account, int64_t now_mono_ns);

/* How long the repeats of the account's next burst are to take. */
int64_t kwhy_probe_pace_length(struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account);

/* A kernel that only waits was launched: the program is about to time others, which no burst may delay. */
void kwhy_probe_pace_hold(struct kwhy_probe_pace *pace, int64_t now_mono_ns);

/* A burst, or a try of one, took so long, and is over. */
void kwhy_probe_pace_spend(struct kwhy_probe_pace *pace, int64_t spent_ns, int64_t now_mono_ns);

/* Is the account's power known well enough? */
bool kwhy_probe_pace_knows(const struct kwhy_probe_pace *pace, const struct kwhy_probe_account *account);

/* May it be probed at all? */
bool kwhy_probe_pace_allows(const struct kwhy_probe_account *account);

/* How far it has come. */
struct kwhy_probe_progress {
	unsigned accounts, wanted, known;
	int64_t busy_ns, known_ns; /* of the program's own */
};

/* Chooses what is wanted anew by the busy times there are; nothing where another thread does so. */
struct kwhy_probe_progress kwhy_probe_pace_review(
	struct kwhy_probe_pace *pace, struct kwhy_probe_accounts *accounts, int64_t now_mono_ns);

#endif
