/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_FACTS_H
#define KWHY_INJECT_FACTS_H

#include "base/clock.h"
#include "inject/collection.h"
#include "inject/labels.h"
#include "inject/options.h"

/*
 * Functions that write records about the process, its devices and clocks, and the recording itself, but not
 * those of activity. Only one thread at a time may call these functions.
 */

/*
 * Writes the pid, host, command and rank of the process. The rank comes from the environment variables of
 * OpenMPI, PMI, SLURM and torchrun.
 */
void kwhy_inject_fact_process(
	struct kwhy_inject_labels *labels, char *(*get)(const char *name), int64_t now_mono_ns);

/*
 * Rank, number of ranks and rank on the host, from the environment variables of OpenMPI, PMI, SLURM or
 * torchrun, which get() reads; KWHY_WIRE_UNKNOWN_U32: not set.
 */
struct kwhy_inject_ranks {
	uint32_t rank, world_size, local_rank;
};
struct kwhy_inject_ranks kwhy_inject_ranks(char *(*get)(const char *name));

/*
 * Writes the host's name to out[space], truncated; "host" if the system does not report it. All processes of
 * kwhy get the machine's name by this function, so that they use the same one.
 */
void kwhy_inject_host(char *out, size_t space);

/* Writes the current offset between Unix time and CLOCK_MONOTONIC. */
void kwhy_inject_fact_clock(struct kwhy_block_writer *writer);

/* Writes a note of kind KWHY_NOTE_COMPLETENESS for the report. */
void kwhy_inject_fact_note(struct kwhy_inject_labels *labels, const char *id, const char *text);

/*
 * By what the options restrict the collected activity. If by several means, the result is the first of these:
 * random windows, a pattern of range names, an earliest or latest time.
 */
enum kwhy_wire_choice kwhy_inject_choice(const struct kwhy_inject_options *options);

/*
 * The plan of the windows in which activity is collected, from the options. `relation` converts their Unix
 * times to CLOCK_MONOTONIC.
 */
struct kwhy_inject_plan kwhy_inject_plan_of(
	const struct kwhy_inject_options *options, const struct kwhy_clock_relation *relation);

/*
 * Writes a record which says that from start_mono_ns to end_mono_ns only part of the activity was collected,
 * and by what the options select it. Writes nothing if they select all.
 */
void kwhy_inject_fact_selection(struct kwhy_inject_labels *labels, const struct kwhy_inject_options *options,
	int64_t start_mono_ns, int64_t end_mono_ns);

void kwhy_inject_fact_coverage(struct kwhy_block_writer *writer, const struct kwhy_inject_window *window,
	enum kwhy_wire_choice choice);

void kwhy_inject_fact_cost(
	struct kwhy_block_writer *writer, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count);

/* A device as the driver describes it; "" and 0: unknown. */
struct kwhy_inject_device {
	int index;
	char name[128], uuid[48];
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm;
	uint64_t memory_bytes;
	double memory_rate_bytes_per_s;
};

enum { KWHY_INJECT_DEVICES_MAX = 64 };

/*
 * Whether the process has a primary context on any device; the CUDA runtime always uses such contexts. False
 * also if the driver does not report it.
 */
bool kwhy_inject_has_context(void);

/*
 * Reads the devices in the order in which this process numbers them; returns their number. It calls the
 * driver, which the process must have initialised. It must therefore run neither on a thread that the driver
 * has called, nor under a lock that such a thread may need.
 */
int kwhy_inject_devices_read(struct kwhy_inject_device out[KWHY_INJECT_DEVICES_MAX]);

void kwhy_inject_fact_device(struct kwhy_inject_labels *labels, const struct kwhy_inject_device *device);

#endif
