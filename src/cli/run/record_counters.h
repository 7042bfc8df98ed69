/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_COUNTERS_H
#define KWHY_CLI_RUN_RECORD_COUNTERS_H

#include "launch/signals.h"
#include "record/counters.h"
#include "record/meters.h"

/* The sampling of performance counters during a recording (--counters). */
struct kwhy_record_counting {
	struct kwhy_record_counters *counters; /* NULL: they are not sampled, and the functions do nothing */
	char told[1000]; /* the last message about missing samples; "": there was none */
};

/*
 * Waits until the sampling of counters has started or failed, but at most for 20 s. If it failed, prints why
 * and adds a note to the recording. False: a signal asked to end meanwhile.
 */
KWHY_MUST_USE bool kwhy_record_counting_await(struct kwhy_record_counting *counting,
	struct kwhy_signals *signals, struct kwhy_record_meters *meters);

/* Ends the sampling. If samples are missing, prints why and adds a note to the recording. */
void kwhy_record_counting_end(struct kwhy_record_counting *counting, struct kwhy_record_meters *meters);

#endif
