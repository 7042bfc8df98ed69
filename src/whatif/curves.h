/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CURVES_H
#define KWHY_WHATIF_CURVES_H

#include "model/profile.h"
#include "model/recording.h"

/*
 * Measured curve of the time of single copies of this direction by their bytes. For page-locked memory it is
 * by the device's clock, in a full queue or, if that was not measured, alone; for pageable memory
 * (`pageable`) by the host's clock. NULL: no curve was measured.
 */
const struct kwhy_transfer_curve *kwhy_whatif_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind, bool pageable);

/* The curve of copies from or to page-locked memory in a full queue; NULL: it was not measured. */
const struct kwhy_transfer_curve *kwhy_whatif_queued_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind);

/*
 * Time in ns of a copy of `bytes` bytes. Beyond the measured sizes the nearest segment of the curve is
 * extrapolated.
 */
double kwhy_whatif_curve_ns(const struct kwhy_transfer_curve *curve, double bytes);

#endif
