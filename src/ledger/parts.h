/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_PARTS_H
#define KWHY_LEDGER_PARTS_H

#include "ledger/energy/coverage.h"
#include "ledger/ledger_new.h"

/*
 * The steps of kwhy_ledger_new(), in order. Each one fills its part of the ledger, with memory from the
 * ledger's arena.
 */

/* Writes the coverage of one device's run: the recorded windows, and the unrecorded time between them. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_coverage(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	struct kwhy_error *error);

/* Writes the times of one device: disjoint categories, unions, sums and utilisations. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_time(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	struct kwhy_error *error);

/* Finds time in which the device had no context, from its power samples. */
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
 * Writes the energies of one device: powers, accounts with their intervals, groups, energy curve, balance.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_energy(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/*
 * Estimates figures of the whole run of one device from random windows, with their errors. Writes nothing
 * if there are too few random windows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_sampling(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Writes the share of the roofline: the time that the stated work would take at the devices' peaks, divided
 * by the time of the run. Called after kwhy_ledger_time().
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

/* Adds a sentence to the ledger's notes. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_note(struct kwhy_ledger *ledger, enum kwhy_note_kind kind,
	const char *id, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
