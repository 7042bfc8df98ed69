/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CURVES_H
#define KWHY_WHATIF_CURVES_H

#include "model/profile.h"
#include "model/recording.h"

/*
 * The measured curve of single copies between host and device: of page-locked memory by the device's clock in
 * a full queue, or alone where that was not measured; of pageable memory by the host's. NULL: there is none.
 */
const struct kwhy_transfer_curve *kwhy_whatif_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind, bool pageable);

/* Of page-locked memory in a full queue alone; NULL: it was not measured. */
const struct kwhy_transfer_curve *kwhy_whatif_queued_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind);

/* Nanoseconds of this many bytes; beyond the sizes that were measured the nearest piece goes on. */
double kwhy_whatif_curve_ns(const struct kwhy_transfer_curve *curve, double bytes);

#endif
