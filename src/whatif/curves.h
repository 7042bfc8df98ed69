/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CURVES_H
#define KWHY_WHATIF_CURVES_H

#include "model/profile.h"
#include "model/recording.h"

/*
 * The measured curve of single copies between host and device. For page-locked memory it is timed by the
 * device's clock in a full queue, or alone where that was not measured. For pageable memory it is timed by
 * the host's clock. NULL: no curve.
 */
const struct kwhy_transfer_curve *kwhy_whatif_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind, bool pageable);

/* The curve of page-locked memory in a full queue only; NULL: it was not measured. */
const struct kwhy_transfer_curve *kwhy_whatif_queued_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind);

/*
 * Nanoseconds of a copy of `bytes`; beyond the measured sizes the nearest piece of the curve is extrapolated.
 */
double kwhy_whatif_curve_ns(const struct kwhy_transfer_curve *curve, double bytes);

#endif
