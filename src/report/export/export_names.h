/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_EXPORT_NAMES_H
#define KWHY_REPORT_EXPORT_EXPORT_NAMES_H

#include "base/text.h"
#include "model/recording.h"

/* The number of what is of the host and of no process: its meters. */
#define KWHY_EXPORT_NAMES_HOST INT64_C(-1)

/*
 * Devices and processes distinguished in forms that know them by a number or a name alone. Those of several
 * machines may have the same: every node counts its GPUs from 0. So may those of several ranks.
 */
struct kwhy_export_names {
	const struct kwhy_recording *recording;
	bool has_machines; /* several that have a name: whatever is of one says it */
	int64_t *numbers;  /* of devices, then of processes */
	bool *is_shared;   /* another one has the same number of its own */
};

/* On failure nothing needs kwhy_export_names_done(). */
KWHY_MUST_USE enum kwhy_status kwhy_export_names_init(
	struct kwhy_export_names *names, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_export_names_done(struct kwhy_export_names *names);

/*
 * A number that no other device has: its own, where no earlier one has it, else the lowest that nothing has.
 * The same for processes; unknown ones, whose own number is -1, have one below the host's each. Where there
 * are several machines no process has a device's number either.
 */
int64_t kwhy_export_names_device(const struct kwhy_export_names *names, uint32_t device);
int64_t kwhy_export_names_process(const struct kwhy_export_names *names, uint32_t process);

/* Whether a device's, or a process's, own number does not say which one it is. */
bool kwhy_export_names_is_device_ambiguous(const struct kwhy_export_names *names, uint32_t device);
bool kwhy_export_names_is_process_ambiguous(const struct kwhy_export_names *names, uint32_t process);

/* Adds what is to stand behind its name: " of rank 1 on node-b"; where nothing else has the number, nothing.
 */
void kwhy_export_names_add_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);
void kwhy_export_names_add_process(
	const struct kwhy_export_names *names, uint32_t process, struct kwhy_text *out);
/* " on node-b" for a meter of a host; nothing for one of a device, which is below that device. */
void kwhy_export_names_add_meter(
	const struct kwhy_export_names *names, const struct kwhy_power_series *series, struct kwhy_text *out);

/* "GPU 0 NVIDIA H200 on node-b". */
void kwhy_export_names_name_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);

#endif
