/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_FACTS_H
#define KWHY_INJECT_FACTS_H

#include "base/clock.h"
#include "inject/collection.h"
#include "inject/labels.h"
#include "inject/options.h"

/* What a recording says of its process, devices, clocks and itself, besides what ran. One thread at a time.
 */

/* The process: pid, host, command, rank by the variables of OpenMPI, PMI, SLURM and torchrun. */
void kwhy_inject_fact_process(
	struct kwhy_inject_labels *labels, char *(*get)(const char *name), int64_t now_mono_ns);

/* Ranks and world size by those variables; KWHY_WIRE_UNKNOWN_U32 each: not said. */
struct kwhy_inject_ranks {
	uint32_t rank, world_size, local_rank;
};
struct kwhy_inject_ranks kwhy_inject_ranks(char *(*get)(const char *name));

/* The host's name as writers of one machine say it. */
void kwhy_inject_host(char *out, size_t space);

/* Unix time against CLOCK_MONOTONIC, now. */
void kwhy_inject_fact_clock(struct kwhy_block_writer *writer);

/* A sentence for the report: enum kwhy_note_kind COMPLETENESS. */
void kwhy_inject_fact_note(struct kwhy_inject_labels *labels, const char *id, const char *text);

/* Why not all activity is collected, by the options: the narrowest reason. */
enum kwhy_wire_choice kwhy_inject_choice(const struct kwhy_inject_options *options);

/* When windows of the options' plan may lie, on this machine's clock as it is related now. */
struct kwhy_inject_plan kwhy_inject_plan_of(
	const struct kwhy_inject_options *options, const struct kwhy_clock_relation *relation);

/* What was asked to be left out, between these times; nothing where nothing was. */
void kwhy_inject_fact_selection(struct kwhy_inject_labels *labels, const struct kwhy_inject_options *options,
	int64_t start_mono_ns, int64_t end_mono_ns);

void kwhy_inject_fact_coverage(struct kwhy_block_writer *writer, const struct kwhy_inject_window *window,
	enum kwhy_wire_choice choice);

void kwhy_inject_fact_cost(
	struct kwhy_block_writer *writer, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count);

/* A device as the driver describes it; "" and 0: it does not say. */
struct kwhy_inject_device {
	int index;
	char name[128], uuid[48];
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm;
	uint64_t memory_bytes;
	double memory_rate_bytes_per_s;
};

enum { KWHY_INJECT_DEVICES_MAX = 64 };

/* Whether the process has a primary context, as all of the CUDA runtime are; false where the driver does not
 * say. */
bool kwhy_inject_has_context(void);

/*
 * The devices as this process numbers them; gives how many. Asks the driver, which the process has
 * initialised: not to be called on a thread that the driver has called, nor under a lock that such a thread
 * may want.
 */
int kwhy_inject_devices_read(struct kwhy_inject_device out[KWHY_INJECT_DEVICES_MAX]);

void kwhy_inject_fact_device(struct kwhy_inject_labels *labels, const struct kwhy_inject_device *device);

#endif
