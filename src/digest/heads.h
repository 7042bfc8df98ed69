/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_HEADS_H
#define KWHY_DIGEST_HEADS_H

#include "digest/job.h"

/*
 * What the files of a job say of themselves, read before any of their sums: which of them are the digests of
 * one job, each once. Zero-initialise; end with kwhy_heads_done().
 */
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
	bool is_unused;		  /* the digest is of one device that no rank used */
	int64_t start_ns, end_ns; /* Unix time if is_unix_clock */
	int64_t origin_unix_ns;
	int64_t activities;
	const char *why; /* why it could not be read; NULL: it was */
};

struct kwhy_heads {
	struct kwhy_head *items; /* after kwhy_heads_choose() the digests of the job, in the order of ranks */
	size_t count;
	struct kwhy_arena arena;
};

/* Reads the heads of files and of those in folders. An unreadable file is noted as such. */
KWHY_MUST_USE enum kwhy_status kwhy_heads_read(struct kwhy_heads *heads, const char *const *paths,
	size_t count, unsigned threads, struct kwhy_error *error);

/*
 * Keeps the digests of the job; the others become problems of `job`, which gets its world size and clock. Of
 * two digests with the same content one is kept. Foreign are digests whose world size or clock is not that of
 * most, which do not overlap most in time, or which state the rank and the device of a longer one. A device
 * that one rank did not use, but another did, is left out without a problem.
 */
KWHY_MUST_USE enum kwhy_status kwhy_heads_choose(
	struct kwhy_heads *heads, struct kwhy_job *job, struct kwhy_error *error);
/* Divides the energy of devices that several of these ranks use at a time: sets energy_ratio. */
KWHY_MUST_USE enum kwhy_status kwhy_heads_share(const struct kwhy_heads *heads, struct kwhy_error *error);
void kwhy_heads_done(struct kwhy_heads *heads);

#endif
