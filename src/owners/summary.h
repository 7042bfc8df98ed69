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

/* Kinds of waste: devices were held, but idle. */
enum kwhy_held_waste {
	KWHY_HELD_WELL,		/* no waste, or too little to report */
	KWHY_HELD_IDLE_DEVICES, /* some of the devices were idle all the time (busy for less than
				   KWHY_HELD_BUSY_RATIO of it) */
	KWHY_HELD_IDLE_TIME	/* nothing ran on the devices for a part of the time */
};

struct kwhy_owner_summary {
	struct kwhy_owner owner;		 /* fields by which the summary does not group are "" */
	kwhy_wide_nj energy_nj, low_nj, high_nj; /* energy of devices */
	kwhy_wide_nj idle_nj; /* the part of energy_nj that was used while nothing of the owner ran */
	kwhy_wide_nj host_nj, host_low_nj,
		host_high_nj; /* energy of the host, divided by CPU time (modelled) */
	/*
	 * Times summed over the devices: held, busy, and the part of held_ns for which it is unknown
	 * whether anything of the owner ran.
	 */
	int64_t held_ns, busy_ns, unknown_ns;
	int64_t first_unix_ns, last_unix_ns;
	uint32_t device_count;	      /* number of devices that the owner held or used */
	uint32_t idle_device_count;   /* number of these devices that count as idle (KWHY_HELD_BUSY_RATIO) */
	kwhy_wide_nj idle_devices_nj; /* energy of the idle devices */
};

/* A device that is busy for less than this share of the time in which an owner holds it counts as idle. */
#define KWHY_HELD_BUSY_RATIO 0.01
/* In ns: devices that were held for less than this time are not judged. */
#define KWHY_HELD_MIN_NS INT64_C(60000000000)
/* Waste is reported only from this share of the owner's energy on. */
#define KWHY_HELD_IDLE_RATIO 0.1

/* The kind of waste of a summary. *out_nj: its energy. */
enum kwhy_held_waste kwhy_summary_waste(const struct kwhy_owner_summary *summary, kwhy_wide_nj *out_nj);
/*
 * Describes the waste in words: "held 8 GPUs, 6 idle", "idle: 62 % of its energy", or "" if there is none
 * to report. Returns `out`.
 */
enum { KWHY_SUMMARY_WORDS_BYTES = 96 };
const char *kwhy_summary_words(const struct kwhy_owner_summary *summary, char out[KWHY_SUMMARY_WORDS_BYTES]);

struct kwhy_summary_filter {
	const char *name, *user, *space; /* only accounts with these values; NULL: any value */
};

/*
 * Sums the accounts that match the filter. Owners that are programs come first, sorted by energy, largest
 * first. The caller frees *out.
 */
KWHY_MUST_USE enum kwhy_status kwhy_summary_of(const struct kwhy_stored *stored, enum kwhy_summary_by by,
	const struct kwhy_summary_filter *filter, struct kwhy_owner_summary **out, size_t *out_count,
	struct kwhy_error *error);

#endif
