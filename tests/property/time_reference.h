/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROPERTY_TIME_REFERENCE_H
#define KWHY_TESTS_PROPERTY_TIME_REFERENCE_H

#include "model/ledger.h"
#include "property/time_plan.h"

/*
 * Returns the times that the ledger of the plan must have for the device, computed in another way: for each
 * nanosecond, what ran and what the host did. Shares no code with the ledger.
 */
struct kwhy_device_time reference_time(const struct plan *plan, uint32_t device);

/* Returns busy_ns and alone_ns of one stream; other members are not set. */
struct kwhy_stream_sum reference_stream(const struct plan *plan, uint32_t stream);

/*
 * Returns activity_count, device_ns and busy_ns of one range; busy_ns is over all devices of the range.
 * Other members are not set.
 */
struct kwhy_range_sum reference_range(const struct plan *plan, uint32_t range);

#endif
