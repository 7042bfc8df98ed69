/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TWIN_INSIDE_H
#define KWHY_LAB_TWIN_INSIDE_H

#include "gpu/collectives.h"
#include "lab/twin/agents.h"
#include "lab/twin/device.h"
#include "lab/twin/run.h"

/* The inside of a variant that is open, for the files of this folder. */

enum kwhy_twin_kernel {
	KWHY_TWIN_BEGIN_FIELD,
	KWHY_TWIN_BEGIN_REST,
	KWHY_TWIN_GAIN,
	KWHY_TWIN_FORCE,
	KWHY_TWIN_SPREAD,
	KWHY_TWIN_DIFFUSE,
	KWHY_TWIN_PUSH,
	KWHY_TWIN_STORE,
	KWHY_TWIN_LIMIT,
	KWHY_TWIN_SUM,
	KWHY_TWIN_LOOK,
	KWHY_TWIN_CHECK,
	KWHY_TWIN_SCATTER,
	KWHY_TWIN_RECEIVE,
	KWHY_TWIN_ADVANCE,
	KWHY_TWIN_CONCLUDE,
	KWHY_TWIN_TALLY,
	KWHY_TWIN_COMBINE,
	KWHY_TWIN_RUN,
	KWHY_TWIN_KERNEL_COUNT
};

/* Cells of one or more ranks in one piece, on one GPU. */
struct kwhy_twin_field {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream; /* lent; fields of one GPU share it */
	uint64_t memory;		/* all of it */
	struct kwhy_twin_args args;
	uint64_t rows;				/* two rows of the neighbours */
	const struct kwhy_gpu_kernel **kernels; /* lent by its place */
};

/* A GPU that is used. */
struct kwhy_twin_place {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_stream *stream;
	const struct kwhy_gpu_kernel *kernels[KWHY_TWIN_KERNEL_COUNT];
};

/* What the host and the device exchange, in the host's memory. */
struct kwhy_twin_mail {
	float controls[KWHY_TWIN_AGENTS][KWHY_TWIN_CONTROLS];
	float packed[KWHY_TWIN_AGENTS * KWHY_TWIN_CONTROLS];
	_Atomic uint32_t flag;
	uint32_t unused[15];
	char outbox[16 * KWHY_TWIN_OBSERVED_MOST];
};

struct kwhy_twin {
	const struct kwhy_twin_variant *variant;
	struct kwhy_twin_shape shape;
	struct kwhy_twin_place places[KWHY_TWIN_RANKS_MOST];
	uint32_t place_count;
	struct kwhy_twin_field fields[KWHY_TWIN_RANKS_MOST];
	uint32_t field_count;
	struct kwhy_collectives *group;
	struct kwhy_gpu_host mail_memory;
	struct kwhy_twin_mail *mail;
	struct kwhy_gpu_graph *graph;
	struct kwhy_twin_tally graph_tally; /* what a launch of it does */
	struct kwhy_gpu_event *fetched, *start, *end;
	struct kwhy_gpu_copy *batch; /* [KWHY_TWIN_OBSERVED_MOST] */
	struct kwhy_twin_agents agents;
	uint64_t *checks, *seen, *times; /* of the device, after a run */
	float *history;
	struct kwhy_twin_tally tally;
	uint32_t run_blocks;	    /* of a whole run in one launch */
	struct kwhy_gpu_gate *gate; /* NULL: nothing is held back */
	uint32_t queued;	    /* behind it */
	double busy_s;		    /* of what was held back, since the run's start */
};

/*
 * With a gate: what is queued from hold to release runs whole and is timed; where the queue would be too
 * long, in parts, for which whatever queues asks for room. Without one they do nothing. Release takes how the
 * queueing went, and opens the gate in any case.
 */
KWHY_MUST_USE enum kwhy_status kwhy_twin_hold(struct kwhy_twin *twin, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_twin_release(
	struct kwhy_twin *twin, enum kwhy_status queued, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_twin_make_room(struct kwhy_twin *twin, struct kwhy_error *error);

/* Counted calls. Copies are told apart by who has the addresses. */
KWHY_MUST_USE enum kwhy_status kwhy_twin_launch(struct kwhy_twin *twin, const struct kwhy_twin_field *field,
	enum kwhy_twin_kernel kernel, uint32_t step, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_twin_wait(struct kwhy_twin *twin, struct kwhy_error *error);

/* The parts of a step that the table of variants names. */
enum kwhy_status kwhy_twin_send_pieces(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_send_batch(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_send_packed(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_send_table(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_compute_ten(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_compute_fused(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_compute_apart(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_fetch_pieces(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_fetch_batch(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status kwhy_twin_fetch_packed(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);

/* The three kernels and three collectives at either end of a run. */
KWHY_MUST_USE enum kwhy_status kwhy_twin_begin(struct kwhy_twin *twin, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_twin_end(struct kwhy_twin *twin, struct kwhy_error *error);

#endif
