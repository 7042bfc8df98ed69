/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_METERED_H
#define KWHY_LEDGER_METERED_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * Recorded and metered time outside of the activities of a device. Metered is the time from the first to the
 * last reading of the device's best meter. before_ns: the part before the first activity; after_ns: the part
 * after the last one. If the recording states no coverage, the time from the first to the last activity or
 * API call counts as recorded. Without activities, all of it is before_ns.
 */
struct kwhy_metered_outside {
	bool metered; /* the device has a meter with at least two readings */
	int64_t before_ns, after_ns;
	int64_t clean_ns; /* part of before_ns + after_ns in which the device had no context */
};

KWHY_MUST_USE enum kwhy_status kwhy_metered_outside(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, struct kwhy_metered_outside *out,
	struct kwhy_error *error);

#endif
