/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_METERS_H
#define KWHY_RECORD_METERS_H

#include "model/recording.h"
#include "recording/wire.h"
#include "sensor/sensor.h"

/*
 * The launcher's own file in a recording: what the meters and gauges of the machine show while the command
 * runs, and what is known of the command itself. One thread at a time; the sampler runs beside it. Times are
 * CLOCK_MONOTONIC.
 */
struct kwhy_record_meters;

struct kwhy_record_meters_request {
	const char *path;     /* of the file, which must not be there */
	const char *command;  /* as a shell would take it */
	const char *producer; /* "kwhy record 1.2" */
	uint64_t limit_bytes; /* no more than that; 0: any */
};

/* Begins the file with clock, process, devices and sources. The sensors are borrowed. */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_open(const struct kwhy_record_meters_request *request,
	const struct kwhy_sensors *sensors, struct kwhy_record_meters **out, struct kwhy_error *error);

/* Readings outside this window are not written from now on. INT64_MIN, INT64_MAX: no bound. */
void kwhy_record_meters_window(struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns);

/* Writes what has come since, so that it survives us; within the history of the channels, once a second. */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_drain(
	struct kwhy_record_meters *meters, struct kwhy_error *error);

void kwhy_record_meters_add_work(
	struct kwhy_record_meters *meters, int64_t time_mono_ns, const char *unit, double count);
void kwhy_record_meters_add_note(
	struct kwhy_record_meters *meters, enum kwhy_note_kind kind, const char *id, const char *text);
/* What recording itself took; the last one of a kind holds. */
void kwhy_record_meters_add_cost(
	struct kwhy_record_meters *meters, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count);
/* Of a command that starts now, drained at once; then of how it ended, `exit` as a shell tells it. */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_begin_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, struct kwhy_error *error);
void kwhy_record_meters_add_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns, int exit);

/*
 * Drains, says what was lost, ends the file and frees; after a failure too. Fails where the file is no longer
 * at its path. NULL is allowed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_close(
	struct kwhy_record_meters *meters, struct kwhy_error *error);

#endif
