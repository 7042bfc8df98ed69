/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_EXPOSURE_H
#define KWHY_DETECT_EXPOSURE_H

#include "detect/view.h"

/*
 * The intervals of a device's window (first start to last end) in which no activity of the kinds given to
 * kwhy_exposure_init() runs, in ascending order. Other work in these intervals is exposed: activities of
 * these kinds do not hide it.
 */
struct kwhy_exposure {
	struct kwhy_bare {
		int64_t start_ns, end_ns;
		int64_t before_ns; /* total length of all earlier intervals */
	} * bare;
	size_t count;
};

/*
 * Finds the intervals without activities of `kinds`, an OR of bits 1 << enum kwhy_activity_kind. Memory: 24
 * bytes per interval. Time: O(activities).
 */
KWHY_MUST_USE enum kwhy_status kwhy_exposure_init(struct kwhy_exposure *exposure,
	const struct kwhy_detect_view *view, uint32_t device, unsigned kinds, struct kwhy_error *error);
void kwhy_exposure_done(struct kwhy_exposure *exposure);

/* Length in ns of the exposed parts of [start_ns, end_ns); takes O(log intervals). */
int64_t kwhy_exposure_ns(const struct kwhy_exposure *exposure, int64_t start_ns, int64_t end_ns);

#endif
