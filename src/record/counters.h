/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_COUNTERS_H
#define KWHY_RECORD_COUNTERS_H

#include "sensor/sensor.h"

/*
 * Samples of performance counters of GPUs, while the command runs. For each NVIDIA GPU there is a process of
 * its own, which writes a file in the recording: CUPTI may crash, must not be used for two devices in a
 * process, and decoding the samples of a GPU takes most of a processor's core. Whatever happens to these
 * processes, the recording goes on. Only the thread that opened them may call these functions. NULL is
 * allowed for _start(), _window(), _close(), which then do nothing, and for _cpu_ns(), which then returns 0.
 */
struct kwhy_record_counters;

/*
 * Starts a process for each whole NVIDIA GPU of the sensors, which are borrowed. Call it before this process
 * starts a thread, since the children continue as copies of this process, without exec(). `producer` is the
 * program that records, "kwhy record 1.2". `share` is the share of the time in which counters are sampled. 1:
 * all the time. Up to KWHY_RECORD_COUNTERS_SHARE_MAX: in one window, at a random time, in every two seconds.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_counters_open(const struct kwhy_sensors *sensors,
	const char *producer, double share, struct kwhy_record_counters **out, struct kwhy_error *error);

#define KWHY_RECORD_COUNTERS_SHARE_MAX 0.6

/*
 * Makes the processes begin to sample, and write one file each, of at most limit_bytes (0: no limit), to the
 * folder.
 */
void kwhy_record_counters_start(
	struct kwhy_record_counters *counters, const char *folder, uint64_t limit_bytes);

/* Whether every process is ready: it samples, or has failed. Does not wait. */
bool kwhy_record_counters_are_ready(struct kwhy_record_counters *counters);

/* Kills the processes that are not ready; their samples count as missing. */
void kwhy_record_counters_give_up(struct kwhy_record_counters *counters);

/* From now on only samples that begin between these times on CLOCK_MONOTONIC are recorded. */
void kwhy_record_counters_window(
	struct kwhy_record_counters *counters, int64_t start_mono_ns, int64_t end_mono_ns);

/*
 * Ends the sampling and waits for the end of the processes: usually some ms; those that have not ended after
 * 5 s are killed.
 */
void kwhy_record_counters_stop(struct kwhy_record_counters *counters);

/*
 * A sentence, without a full stop, that says of which devices samples are missing, why, and what to do. NULL:
 * none are. The string is valid until the next call or the end of the counters.
 */
const char *kwhy_record_counters_failure(struct kwhy_record_counters *counters);

/*
 * Total processor time in ns that the processes used after they were ready. A process reports its time when
 * it ends; one that has not ended counts as 0.
 */
int64_t kwhy_record_counters_cpu_ns(const struct kwhy_record_counters *counters);

/* Ends the processes and frees the memory. */
void kwhy_record_counters_close(struct kwhy_record_counters *counters);

#endif
