/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_HEADS_H
#define KWHY_DIGEST_HEADS_H

#include "digest/job.h"

/*
 * The head of a file identifies the digest in it, and is read before the digest's sums. The heads decide
 * which files are the digests of one job, and that each digest counts once.
 */

/* One device in the head of a file. */
struct kwhy_head_device {
	uint64_t uuid; /* hash of the UUID; 0: unknown */
	uint64_t key; /* the UUID's hash or, without one, that of host and PCI address; 0: neither is known */
	int64_t busy_ns, metered_ns, measured_nj;
	bool is_shared;	     /* other ranks of the job use the device at the same time */
	double energy_ratio; /* part of measured_nj that counts for this rank; 1 if the device is not shared
			      */
};

struct kwhy_head {
	const char *path;
	char identity[20];
	uint64_t devices; /* hash of the host's name and of the numbers and UUIDs of the devices */
	struct kwhy_head_device *each;
	size_t device_count;
	uint32_t rank, world_size;
	const uint32_t *others; /* ranks whose work is in this digest too */
	size_t other_count;
	bool is_unix_clock, is_readable;
	bool is_unused;		  /* the digest is of one device, and no rank used it */
	int64_t start_ns, end_ns; /* ns; Unix times if is_unix_clock */
	int64_t origin_unix_ns;
	int64_t activities;
	const char *why; /* why the file could not be read; NULL: it was read, or memory ran out */
};

/* Zero-initialise; end with kwhy_heads_done(). */
struct kwhy_heads {
	struct kwhy_head *items; /* one for each file; after kwhy_heads_choose() only those of the digests of
				    the job, in the order of ranks */
	size_t count;
	struct kwhy_arena arena;
};

/*
 * Reads the heads of the given files and of the digests in the given folders. An unreadable file gets a head,
 * too, whose is_readable is false.
 */
KWHY_MUST_USE enum kwhy_status kwhy_heads_read(struct kwhy_heads *heads, const char *const *paths,
	size_t count, unsigned threads, struct kwhy_error *error);

/*
 * Keeps the heads of the job's digests. The others become problems of `job`, which gets its world size and
 * clock here. Left out are all but one of the digests with the same content; digests whose world size or
 * clock differs from that of most digests, or whose time does not overlap with that of most; and digests of
 * the same rank and devices as one with more activities. The digest of a device that its rank did not use
 * is left out without a problem if another digest has the device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_heads_choose(
	struct kwhy_heads *heads, struct kwhy_job *job, struct kwhy_error *error);
/* Divides the energy of devices that several of these ranks use at a time: sets energy_ratio. */
KWHY_MUST_USE enum kwhy_status kwhy_heads_share(const struct kwhy_heads *heads, struct kwhy_error *error);
void kwhy_heads_done(struct kwhy_heads *heads);

#endif
