/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_EXPORT_NAMES_H
#define KWHY_REPORT_EXPORT_EXPORT_NAMES_H

#include "base/text.h"
#include "model/recording.h"

/*
 * Process number under which things are written that belong to no device or process: meters of the host, and
 * ranges without a thread.
 */
#define KWHY_EXPORT_NAMES_HOST INT64_C(-1)

/*
 * Makes devices and processes distinct in formats that identify them by a number or a name alone. Devices
 * or processes of several machines or ranks may have the same number, since every node counts its GPUs from
 * 0.
 */
struct kwhy_export_names {
	const struct kwhy_recording *recording;
	bool has_operators; /* the host ran operators, Python functions, system calls or frames */
	bool has_machines;  /* several machines have names, so the names of devices and processes also state
			       the machine */
	/* [device_count + process_count] unique numbers of devices, then of processes */
	int64_t *numbers;
	/*
	 * [device_count + process_count] whether another device (or, for a process, another process) has the
	 * same own number; with several machines, devices and processes are compared with each other, too
	 */
	bool *is_shared;
};

/* If it fails, kwhy_export_names_done() need not be called. */
KWHY_MUST_USE enum kwhy_status kwhy_export_names_init(
	struct kwhy_export_names *names, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_export_names_done(struct kwhy_export_names *names);

/*
 * A number that is unique among devices, or among processes: the object's own number unless an object before
 * it in the recording has the same one, else the lowest free number. Processes whose pid is unknown (-1) get
 * numbers below KWHY_EXPORT_NAMES_HOST. If there are several machines, numbers of processes also differ from
 * those of devices.
 */
int64_t kwhy_export_names_device(const struct kwhy_export_names *names, uint32_t device);
int64_t kwhy_export_names_process(const struct kwhy_export_names *names, uint32_t process);

/*
 * Whether the own number of a device, or the pid of a process, does not identify it in the export: another
 * one has the same, the pid is unknown, or there are several machines.
 */
bool kwhy_export_names_is_device_ambiguous(const struct kwhy_export_names *names, uint32_t device);
bool kwhy_export_names_is_process_ambiguous(const struct kwhy_export_names *names, uint32_t process);

/*
 * Append text that follows a name to make it unique: " of rank 1 on node-b". The rank is appended if the own
 * number is not unique and the rank is known, the machine if there are several.
 */
void kwhy_export_names_add_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);
void kwhy_export_names_add_process(
	const struct kwhy_export_names *names, uint32_t process, struct kwhy_text *out);
/*
 * Appends " on node-b" to the name of a host's meter if there are several machines. For a device's meter it
 * appends nothing, since such a meter is listed under its device.
 */
void kwhy_export_names_add_meter(
	const struct kwhy_export_names *names, const struct kwhy_power_series *series, struct kwhy_text *out);

/* Appends the full name of a device: "GPU 0 NVIDIA H200 on node-b". */
void kwhy_export_names_name_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);

#endif
