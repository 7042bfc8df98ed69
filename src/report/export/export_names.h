/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_EXPORT_NAMES_H
#define KWHY_REPORT_EXPORT_EXPORT_NAMES_H

#include "base/text.h"
#include "model/recording.h"

/* The process number of objects that belong to the host alone: its meters. */
#define KWHY_EXPORT_NAMES_HOST INT64_C(-1)

/*
 * Distinguishes devices and processes in formats that identify them by a number or a name alone. Those of
 * several machines or ranks may share a number: every node counts its GPUs from 0.
 */
struct kwhy_export_names {
	const struct kwhy_recording *recording;
	bool has_machines; /* several machines have names, so names of objects state the machine */
	int64_t *numbers;  /* numbers of devices, then of processes */
	bool *is_shared;   /* another object has the same own number */
};

/* On failure kwhy_export_names_done() is not needed. */
KWHY_MUST_USE enum kwhy_status kwhy_export_names_init(
	struct kwhy_export_names *names, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_export_names_done(struct kwhy_export_names *names);

/*
 * A number that is unique among devices, or among processes: the object's own where no earlier one has it,
 * else the lowest free one. Unknown processes, whose own number is -1, get numbers below the host's. With
 * several machines no process has a device's number either.
 */
int64_t kwhy_export_names_device(const struct kwhy_export_names *names, uint32_t device);
int64_t kwhy_export_names_process(const struct kwhy_export_names *names, uint32_t process);

/* Whether the own number of a device, or of a process, is shared with another one. */
bool kwhy_export_names_is_device_ambiguous(const struct kwhy_export_names *names, uint32_t device);
bool kwhy_export_names_is_process_ambiguous(const struct kwhy_export_names *names, uint32_t process);

/*
 * Append what distinguishes the object, to follow its name: " of rank 1 on node-b". Append nothing where its
 * number is unique.
 */
void kwhy_export_names_add_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);
void kwhy_export_names_add_process(
	const struct kwhy_export_names *names, uint32_t process, struct kwhy_text *out);
/*
 * Appends " on node-b" for a meter of a host, and nothing for a device's meter, which is listed under its
 * device.
 */
void kwhy_export_names_add_meter(
	const struct kwhy_export_names *names, const struct kwhy_power_series *series, struct kwhy_text *out);

/* Appends "GPU 0 NVIDIA H200 on node-b". */
void kwhy_export_names_name_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out);

#endif
