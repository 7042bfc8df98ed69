/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SHARE_H
#define KWHY_OWNERS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Divides the energy that a device used in a window among those who held it. Pure, in integers: the shares
 * of a window add up to its energy exactly. The rules:
 * - Held by one owner: all of it is that owner's, also while nothing ran.
 * - Held by several: in proportion to the energies that a model gives them or, while it gives none, to the
 * time in which their kernels ran, by the driver's samples. Without samples (MIG), or if these show no use,
 * in proportion to their parts of the device.
 * - Held by several while nothing ran: in equal parts.
 * - Held by nobody: the unknown owner's if the device was busy, or if it is unknown both whether it was busy
 * and who held it; otherwise the idle owner's.
 */

/* Who held a device: processes of one owner with a context on it, or a job to which it is allocated. */
struct kwhy_share_holder {
	uint32_t owner;
	/*
	 * percent of the time in which kernels of a process ran, summed over the holder's processes, so it
	 * may be above 100
	 */
	uint32_t busy_percent;
	uint32_t part; /* the holder's part of the device, above 0, in the same unit for all holders */
};

struct kwhy_share_window {
	int64_t energy_nj, length_ns;
	const struct kwhy_share_holder *holders;
	size_t holder_count;
	uint32_t idle_owner, unknown_owner;
	bool uses_known; /* busy_percent comes from the driver */
	bool is_unseen;	 /* owners that are not in `holders` may have held the device */
	/*
	 * [holder_count] a value for each holder; NULL: unknown. weights: modelled energy, in any unit, below
	 * 0 counts as 0; mean_percent: mean of busy_percent over earlier looks, too, from which the bounds of
	 * the share follow (NULL: busy_percent)
	 */
	const double *weights, *mean_percent;
	/* share of the window in which a kernel of anybody ran on the device, in thousandths; -1: unknown */
	int64_t busy_permille;
	double low_w, high_w; /* lowest and highest power that the device has had so far, W; NAN: unknown */
};

/*
 * An owner's share of one window, or the sum of its shares. Times are summed over devices, so they may be
 * longer than the time that passed.
 */
struct kwhy_share {
	int64_t energy_nj;
	/*
	 * Hard bounds of energy_nj, which bounds.h narrows. For a device with several holders they assume
	 * that no process makes it draw less than the lowest or more than the highest power that it has
	 * shown. They are 0 and the whole energy if the uses or these powers are unknown.
	 */
	int64_t low_nj, high_nj;
	int64_t idle_nj; /* the part of energy_nj that is from windows in which no kernel of anybody ran on
			    the device */
	int64_t held_ns, busy_ns;
	int64_t unknown_ns; /* the part of held_ns for which it is unknown whether anything of the owner ran
			     */
};

/* In proportion to what the energy of a window was divided: modelled power, use, or part of the device. */
enum kwhy_share_rule {
	KWHY_SHARE_WHOLE, /* all of it goes to one owner: the only holder, the idle or the unknown owner */
	KWHY_SHARE_BY_POWER,
	KWHY_SHARE_BY_USE,
	KWHY_SHARE_BY_PART,
	KWHY_SHARE_IN_EQUAL_PARTS
};

struct kwhy_share_of {
	uint32_t owner;
	enum kwhy_share_rule rule;
	struct kwhy_share share;
};

/*
 * Writes one share for each holder, or a single one if there are no holders, and returns their number.
 * `out` has space for at least max(holder_count, 1) shares.
 */
size_t kwhy_share_divide(const struct kwhy_share_window *window, struct kwhy_share_of *out);

void kwhy_share_add(struct kwhy_share *sum, const struct kwhy_share *share);

/*
 * Energy of a domain of the host (package or memory), to be divided by CPU time. An owner's share is its
 * used_ns divided by busy_ns or, if that is larger, by the sum of all used_ns; its lower bound is used_ns
 * divided by capacity_ns, its upper bound the share itself. The rest is the idle owner's. These energies are
 * modelled, not measured.
 */
struct kwhy_share_host {
	int64_t energy_nj, length_ns;
	/*
	 * CPU time of the whole machine in the window. busy_ns: used by all processes; capacity_ns: length of
	 * the window times the number of CPUs
	 */
	int64_t busy_ns, capacity_ns;
	const uint32_t *owners;
	const int64_t *used_ns;
	size_t count;
	uint32_t idle_owner;
};

/* Writes count + 1 shares; the last one is the idle owner's. */
void kwhy_share_divide_host(const struct kwhy_share_host *host, struct kwhy_share_of *out);

#endif
