/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROPERTY_TIME_REFERENCE_H
#define KWHY_TESTS_PROPERTY_TIME_REFERENCE_H

#include "model/ledger.h"
#include "property/time_plan.h"

/*
 * What the ledger's time must be, found by asking of every single nanosecond of a plan what ran and what
 * the host did. Nothing of it is shared with the ledger.
 */
struct kwhy_device_time reference_time(const struct plan *plan, uint32_t device);

/* busy_ns and alone_ns of one stream. */
struct kwhy_stream_sum reference_stream(const struct plan *plan, uint32_t stream);

/* activity_count, device_ns and busy_ns of one range, and its share of blocks over all its devices. */
struct kwhy_range_sum reference_range(const struct plan *plan, uint32_t range);

#endif
