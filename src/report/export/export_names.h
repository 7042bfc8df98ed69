/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_EXPORT_NAMES_H
#define KWHY_REPORT_EXPORT_EXPORT_NAMES_H

#include "base/text.h"
#include "model/recording.h"

/* Process number under which objects are written that belong to the host alone: its meters. */
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
	int64_t *numbers;   /* unique numbers of devices, then of processes */
	bool *is_shared;    /* whether another device or process has the same own number */
};

/* If it fails, kwhy_export_names_done() need not be called. */
KWHY_MUST_USE enum kwhy_status kwhy_export_names_init(
	struct kwhy_export_names *names, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_export_names_done(struct kwhy_export_names *names);

/*
 * A number that is unique among devices, or among processes: the object's own number if no earlier object
 * has it, else the lowest free number. Unknown processes, whose own number is -1, get numbers below the
 * host's. If there are several machines, numbers of processes also differ from those of devices.
 */
int64_t kwhy_export_names_device(const struct kwhy_export_names *names, uint32_t device);
int64_t kwhy_export_names_process(const struct kwhy_export_names *names, uint32_t process);

/* Whether another device or process may have the same own number; with several machines always true. */
bool kwhy_export_names_is_device_ambiguous(const struct kwhy_export_names *names, uint32_t device);
bool kwhy_export_names_is_process_ambiguous(const struct kwhy_export_names *names, uint32_t process);

/*
 * Append text that makes a name unique, to follow the name: " of rank 1 on node-b". Nothing is appended if
 * the number is unique.
 */
void kwhy_export_names_add_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);
void kwhy_export_names_add_process(
	const struct kwhy_export_names *names, uint32_t process, struct kwhy_text *out);
/*
 * Appends " on node-b" to the name of a host's meter. For a device's meter it appends nothing, since such a
 * meter is listed under its device.
 */
void kwhy_export_names_add_meter(
	const struct kwhy_export_names *names, const struct kwhy_power_series *series, struct kwhy_text *out);

/* Appends the full name of a device: "GPU 0 NVIDIA H200 on node-b". */
void kwhy_export_names_name_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);

#endif
