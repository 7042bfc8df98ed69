/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_PARTS_H
#define KWHY_LEDGER_PARTS_H

#include "ledger/energy/coverage.h"
#include "ledger/ledger_new.h"

/*
 * The functions that kwhy_ledger_new() calls, in this order. Each one fills its part of the ledger, with
 * memory from the ledger's arena.
 */

/* Writes the coverage of one device's run: the recorded windows, and the unrecorded time between them. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_coverage(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	struct kwhy_error *error);

/* Writes the times of one device: disjoint categories, unions, sums and utilisations. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_time(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	struct kwhy_error *error);

/*
 * Finds time without a context, and elevated idle time, before and after the activities of a device, from its
 * power samples (energy/clean_idle.h).
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_clean(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	const struct kwhy_ledger_options *options, struct kwhy_error *error);

/*
 * Makes the accounts of one device, idle accounts included, with their counts and times. Sets account_of of
 * every activity.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_accounts(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Writes the energies of one device: powers, energies of accounts with their 90 % intervals, groups, energy
 * curve, and sums for the balance.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_energy(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/*
 * Estimates time and energy of each account in the whole run of one device, with errors, from windows at
 * random times. Writes nothing if the windows were not chosen at random, or if there are fewer than 3.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_sampling(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Writes the share of the roofline: the least time that the stated work takes at the devices' peaks, divided
 * by the longest run of a device. Writes NAN, mostly with a note, if it is unknown. Called after
 * kwhy_ledger_time().
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_roofline(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/*
 * Writes the sums over API calls, ranges, steps, ranks, streams, memory and host meters. Called after
 * kwhy_ledger_energy().
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_sums(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/*
 * Adds a note, written as by printf, to the ledger. `id` names the kind of note, such as "readings-hole", and
 * must outlive the ledger.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_note(struct kwhy_ledger *ledger, enum kwhy_note_kind kind,
	const char *id, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
