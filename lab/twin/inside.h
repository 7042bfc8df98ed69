/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_INSIDE_H
#define LAB_TWIN_INSIDE_H

#include "lab/gate.h"
#include "lab/one_thread.h"
#include "lab/rank.h"
#include "lab/twin/twin.h"

/* The rules of the workload, which kernels and host share. */
#define AT(type) uint64_t
#include "lab/kernels/mix.cu"

#include "lab/twin/kernels/args.cu"

/*
 * The agents, if the host computes them. closed: whether what they send depends on what they saw; seen: what
 * each saw in the last step (sum of its observations).
 */
struct lab_twin_agents {
	bool closed;
	int64_t seen[AGENTS];
	uint64_t folded; /* checksum Y so far */
};

/*
 * Writes the floats that the agents send in a step into `controls`, the row of each agent. Floats that are
 * not sent in this step stay unchanged.
 */
void lab_twin_agents_send(
	const struct lab_twin_agents *agents, uint32_t step, float controls[AGENTS][CONTROLS]);

/*
 * Writes the values that agents send in a step to `out` without gaps, agent after agent. Returns their
 * number.
 */
uint32_t lab_twin_agents_pack(const struct lab_twin_agents *agents, uint32_t step, float *out);

/*
 * Reads all observations of a step from the outbox: sums them up by agent into `seen`, and updates Y.
 * `scattered`: bytes from one observation to the next; 0: they are packed without gaps.
 */
void lab_twin_agents_look(
	struct lab_twin_agents *agents, uint32_t step, const char *outbox, uint32_t scattered);

/* Updates Y with what the agents saw in a step. */
void lab_twin_agents_fold(struct lab_twin_agents *agents);

/*
 * byte with which memory is filled before a run or a step writes it, so that a missing write gives wrong
 * results
 */
enum { POISON = 0xA5 };

#define LAB_TWIN_KERNEL(upper, lower) LAB_TWIN_##upper,
enum lab_twin_kernel { LAB_TWIN_KERNELS(LAB_TWIN_KERNEL) LAB_TWIN_KERNEL_COUNT };

/* A field: cells of one or more ranks that one GPU computes together. */
struct lab_twin_field {
	const struct lab_rank *place; /* GPU, and the stream that all of its fields use */
	uint64_t memory;	      /* address of all its memory */
	struct lab_twin_args args;
};

/*
 * Data that host and device exchange, in the host's memory: what the agents send (a row for each, or packed),
 * the word for which the host waits, and what the agents see.
 */
struct lab_twin_mail {
	float controls[AGENTS][CONTROLS];
	float packed[AGENTS * CONTROLS];
	_Atomic uint32_t flag;
	uint32_t unused[15];
	char outbox[OUTBOX_BYTES];
};

struct lab_twin {
	const struct lab_twin_variant *variant;
	struct lab_twin_shape shape;
	struct kwhy_gpu *gpu; /* GPU of the first field, and its stream */
	struct kwhy_gpu_stream *stream;
	struct lab_rank places[LAB_TWIN_RANKS_MAX];
	uint32_t place_count;
	struct lab_twin_field fields[LAB_TWIN_RANKS_MAX];
	uint32_t field_count;
	struct kwhy_collectives *group;
	struct kwhy_gpu_host mail_memory;
	struct lab_twin_mail *mail;
	struct kwhy_gpu_graph *graph;
	struct lab_twin_tally graph_tally; /* copies, bytes and kernels of one launch of the graph */
	struct kwhy_gpu_event *fetched;
	struct lab_gate gate; /* gate of the first field's stream */
	/* copies of single values that are still to be queued in this step */
	struct kwhy_gpu_copy batch[LAB_TWIN_OBSERVED_MAX];
	size_t batch_count;
	/* checksums and times of the device, read after a run */
	uint64_t checks[STEPS + 1], times[STEPS + 1];
	int64_t seen[STEPS][AGENTS];
	float history[STEPS * SLOT];
	uint32_t run_blocks; /* number of blocks, if the whole run is one launch */
	/* State of the current run: */
	const struct lab_twin_answer *answer;
	bool poisoned;
	double *step_s, busy_s; /* as in struct lab_twin_result */
	struct lab_twin_agents agents;
	struct lab_twin_tally tally;
	struct lab_tries tries; /* status of the current run, or of opening */
};

KWHY_MUST_USE enum kwhy_status lab_twin_shape_check(
	/* KWHY_E_INPUT: the shape is out of bounds */
	const struct lab_twin_shape *shape, struct kwhy_error *error);

/*
 * lab_twin_launch() launches a kernel for a field; lab_twin_wait() waits for the first field's stream. Both
 * are counted in the tally.
 */
void lab_twin_launch(struct lab_twin *twin, const struct lab_twin_field *field, enum lab_twin_kernel kernel,
	uint32_t step);
void lab_twin_wait(struct lab_twin *twin);

/*
 * lab_twin_begin() sets the initial state, and lab_twin_end() computes the checksum of the last
 * state. As in the published analysis (lab/README.md), each of them launches three kernels and
 * three collectives.
 */
void lab_twin_begin(struct lab_twin *twin);
void lab_twin_end(struct lab_twin *twin);

#endif
