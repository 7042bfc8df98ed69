/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_INSIDE_H
#define LAB_TWIN_INSIDE_H

#include "gpu/collectives.h"
#include "lab/gate.h"
#include "lab/twin/agents.h"
#include "lab/twin/rules.h"
#include "lab/twin/run.h"

/* The inside of a variant that is open, for the files of this folder. */

#define LAB_TWIN_KERNEL(upper, lower) LAB_TWIN_##upper,
enum lab_twin_kernel { LAB_TWIN_KERNELS(LAB_TWIN_KERNEL) LAB_TWIN_KERNEL_COUNT };

/* Cells of one or more ranks in one piece, on one GPU. */
struct lab_twin_field {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream; /* lent; fields of one GPU share it */
	uint64_t memory;		/* all of it */
	struct lab_twin_args args;
	uint64_t rows;				/* two rows of the neighbours */
	const struct kwhy_gpu_kernel **kernels; /* lent by its place */
};

/* A GPU that is used. */
struct lab_twin_place {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_stream *stream;
	const struct kwhy_gpu_kernel *kernels[LAB_TWIN_KERNEL_COUNT];
};

/* What the host and the device exchange, in the host's memory. */
struct lab_twin_mail {
	float controls[LAB_TWIN_AGENTS][LAB_TWIN_CONTROLS];
	float packed[LAB_TWIN_AGENTS * LAB_TWIN_CONTROLS];
	_Atomic uint32_t flag;
	uint32_t unused[15];
	char outbox[16 * LAB_TWIN_OBSERVED_MOST];
};

struct lab_twin {
	const struct lab_twin_variant *variant;
	struct lab_twin_shape shape;
	struct lab_twin_place places[LAB_TWIN_RANKS_MOST];
	uint32_t place_count;
	struct lab_twin_field fields[LAB_TWIN_RANKS_MOST];
	uint32_t field_count;
	struct kwhy_collectives *group;
	struct kwhy_gpu_host mail_memory;
	struct lab_twin_mail *mail;
	struct kwhy_gpu_graph *graph;
	struct lab_twin_tally graph_tally; /* what a launch of it does */
	struct kwhy_gpu_event *fetched;
	struct lab_gate gate;	     /* of the first field */
	struct kwhy_gpu_copy *batch; /* [LAB_TWIN_OBSERVED_MOST] */
	struct lab_twin_agents agents;
	uint64_t *checks, *seen, *times; /* of the device, after a run */
	float *history;
	struct lab_twin_tally tally;
	uint32_t run_blocks; /* of a whole run in one launch */
};

/* Counted calls. Copies are told apart by who has the addresses. */
KWHY_MUST_USE enum kwhy_status lab_twin_launch(struct lab_twin *twin, const struct lab_twin_field *field,
	enum lab_twin_kernel kernel, uint32_t step, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_twin_wait(struct lab_twin *twin, struct kwhy_error *error);

/* The parts of a step that the table of variants names. */
enum kwhy_status lab_twin_send_pieces(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_send_packed(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_send_table(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_compute_ten(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_compute_fused(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_compute_apart(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_fetch_pieces(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
enum kwhy_status lab_twin_fetch_packed(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);

/* The three kernels and three collectives at either end of a run. */
KWHY_MUST_USE enum kwhy_status lab_twin_begin(struct lab_twin *twin, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_twin_end(struct lab_twin *twin, struct kwhy_error *error);

#endif
