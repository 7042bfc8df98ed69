/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_counters.h"

#include "base/clock.h"
#include "cli/output.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/*
 * Longest time to wait for the first sample, in ns. Sampling starts only when CUDA has initialised all GPUs
 * that the command may see, which includes loading the driver if no program uses it yet.
 */
#define READY_NS INT64_C(20000000000)
#define RETRY_NS INT64_C(20000000)

/*
 * Prints why samples are missing, and adds it as a note to the recording, unless the last such message was
 * the same.
 */
static void tell(struct kwhy_record_counting *counting, struct kwhy_record_meters *meters)
{
	const char *failure = kwhy_record_counters_failure(counting->counters);
	char note[sizeof(counting->told) + 2];

	if (!failure || !strcmp(failure, counting->told))
		return;
	snprintf(counting->told, sizeof(counting->told), "%s", failure);
	snprintf(note, sizeof(note), "%s.", counting->told);
	note[0] = (char)toupper((unsigned char)note[0]);
	kwhy_record_meters_add_note(meters, KWHY_NOTE_COMPLETENESS, "no-counters", note);
	kwhy_output_message(counting->told);
}

bool kwhy_record_counting_await(struct kwhy_record_counting *counting, struct kwhy_signals *signals,
	struct kwhy_record_meters *meters)
{
	const int64_t latest_ns = kwhy_clock_mono_ns() + READY_NS;

	if (!counting->counters)
		return true;
	while (!kwhy_record_counters_are_ready(counting->counters) && kwhy_clock_mono_ns() < latest_ns)
		if (kwhy_signals_wait(signals, kwhy_clock_mono_ns() + RETRY_NS))
			return false;
	kwhy_record_counters_give_up(counting->counters);
	tell(counting, meters);
	return true;
}

void kwhy_record_counting_end(struct kwhy_record_counting *counting, struct kwhy_record_meters *meters)
{
	if (!counting->counters)
		return;
	kwhy_record_counters_stop(counting->counters);
	tell(counting, meters);
}
