/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_PARTS_H
#define KWHY_LEDGER_PARTS_H

#include "ledger/energy/coverage.h"
#include "ledger/ledger_new.h"

/* The named steps of kwhy_ledger_new(), in order; each fills its part of the ledger from the arena. */

/* What is known of one device's run: windows, and what lies between them. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_coverage(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	struct kwhy_error *error);

/* Disjoint time categories, unions, sums, utilisations of one device. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_time(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	struct kwhy_error *error);

/* When the device had no context, as its samples show. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_clean(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_covered *covered,
	const struct kwhy_ledger_options *options, struct kwhy_error *error);

/* Opens the accounts of one device: account_of for every activity, counts, times, idle accounts. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_accounts(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/* Posts energy to the accounts of one device: powers, intervals, groups, curve, balance. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_energy(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/* What random windows tell of the whole run, with their error; nothing without such. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_sampling(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/* What the stated work would take at the devices' peaks, against what the run took. After the times. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_roofline(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/* Sums over API calls, ranges, steps, ranks, streams, memory, host meters. After the energy. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_sums(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

/* Adds a sentence to the ledger's notes. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_note(struct kwhy_ledger *ledger, enum kwhy_note_kind kind,
	const char *id, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
