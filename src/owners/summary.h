/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SUMMARY_H
#define KWHY_OWNERS_SUMMARY_H

#include "owners/stored.h"

#include <stdbool.h>

/* Sums of a file of accounts by job, user, namespace or kind. Pure. */

enum kwhy_summary_by {
	KWHY_SUMMARY_BY_JOB,
	KWHY_SUMMARY_BY_USER,
	KWHY_SUMMARY_BY_NAMESPACE,
	KWHY_SUMMARY_BY_KIND
};

/* Kinds of waste: an owner held devices on which none of its kernels ran. */
enum kwhy_held_waste {
	KWHY_HELD_WELL, /* no waste, or too little to report */
	/*
	 * the owner held several devices, of which some count as idle (KWHY_HELD_BUSY_RATIO), and the energy
	 * of those is at least half of idle_nj
	 */
	KWHY_HELD_IDLE_DEVICES,
	KWHY_HELD_IDLE_TIME /* at least KWHY_HELD_IDLE_RATIO of the energy was used while nothing ran */
};

struct kwhy_owner_summary {
	struct kwhy_owner owner;		 /* fields by which the summary does not group are "" */
	kwhy_wide_nj energy_nj, low_nj, high_nj; /* energy of devices */
	/* the part of energy_nj that was used while nothing at all ran on the device */
	kwhy_wide_nj idle_nj;
	kwhy_wide_nj host_nj, host_low_nj,
		host_high_nj; /* energy of the host, divided by CPU time (modelled) */
	/*
	 * Times summed over the devices: held, busy, and the part of held_ns for which it is unknown
	 * whether anything of the owner ran.
	 */
	int64_t held_ns, busy_ns, unknown_ns;
	int64_t first_unix_ns, last_unix_ns;
	uint32_t device_count;	      /* number of devices of which the owner has an account */
	uint32_t idle_device_count;   /* number of these that count as idle (KWHY_HELD_BUSY_RATIO) */
	kwhy_wide_nj idle_devices_nj; /* energy of the idle devices */
};

/*
 * A device that was busy for less than this share of the time for which an owner held it counts as idle,
 * unless it was held for less than KWHY_HELD_MIN_NS or it is partly unknown whether it was busy.
 */
#define KWHY_HELD_BUSY_RATIO 0.01
/*
 * In ns: an owner that held its devices for less than this, summed over the devices, has no waste; a device
 * that the owner held for less than this does not count as idle.
 */
#define KWHY_HELD_MIN_NS INT64_C(60000000000)
/* KWHY_HELD_IDLE_TIME is reported only if idle_nj is at least this share of energy_nj. */
#define KWHY_HELD_IDLE_RATIO 0.1

/* The kind of waste of a summary. *out_nj: the wasted energy, nJ; 0 for KWHY_HELD_WELL. */
enum kwhy_held_waste kwhy_summary_waste(const struct kwhy_owner_summary *summary, kwhy_wide_nj *out_nj);
/*
 * Describes the waste in words: "held 8 GPUs, 6 idle", "idle: 62 % of its energy", or "" if there is none
 * to report. Returns `out`.
 */
enum { KWHY_SUMMARY_WORDS_BYTES = 96 };
const char *kwhy_summary_words(const struct kwhy_owner_summary *summary, char out[KWHY_SUMMARY_WORDS_BYTES]);

struct kwhy_summary_filter {
	/*
	 * only accounts with these values; NULL: any value. If any of them is not NULL, accounts of owners
	 * that are no programs (kwhy_owner_is_program()) do not match
	 */
	const char *name, *user, *space;
};

/*
 * Sums the accounts that match the filter. Owners that are programs come first, then the others
 * (kwhy_owner_is_program()), each of the two groups sorted by energy, largest first. The caller frees *out.
 */
KWHY_MUST_USE enum kwhy_status kwhy_summary_of(const struct kwhy_stored *stored, enum kwhy_summary_by by,
	const struct kwhy_summary_filter *filter, struct kwhy_owner_summary **out, size_t *out_count,
	struct kwhy_error *error);

#endif
