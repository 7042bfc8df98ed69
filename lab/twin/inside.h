/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_INSIDE_H
#define LAB_TWIN_INSIDE_H

#include "lab/gate.h"
#include "lab/one_thread.h"
#include "lab/rank.h"
#include "lab/twin/twin.h"

/* The rules, which the kernels and the host share. */
#define AT(type) uint64_t
#include "lab/kernels/mix.cu"

#include "lab/twin/kernels/args.cu"

/* The agents on the host: what they saw, and what they do about it. */
struct lab_twin_agents {
	bool closed;
	int64_t seen[AGENTS];
	uint64_t folded; /* Y so far */
};

/* Writes what they send in a step over `controls`; what is not sent stays. */
void lab_twin_agents_send(
	const struct lab_twin_agents *agents, uint32_t step, float controls[AGENTS][CONTROLS]);

/* The same without gaps, one agent's behind the other's; gives how many floats. */
uint32_t lab_twin_agents_pack(const struct lab_twin_agents *agents, uint32_t step, float *out);

/* Looks at all observations of a step. `scattered`: bytes from one to the next; 0: they are packed. */
void lab_twin_agents_look(
	struct lab_twin_agents *agents, uint32_t step, const char *outbox, uint32_t scattered);

/* Y, carried on over what they saw in a step. */
void lab_twin_agents_fold(struct lab_twin_agents *agents);

enum { POISON = 0xA5 }; /* what nothing wrote yet */

#define LAB_TWIN_KERNEL(upper, lower) LAB_TWIN_##upper,
enum lab_twin_kernel { LAB_TWIN_KERNELS(LAB_TWIN_KERNEL) LAB_TWIN_KERNEL_COUNT };

/* Cells of one or more ranks in one piece, on one GPU. */
struct lab_twin_field {
	const struct lab_rank *place; /* whose stream is of all its fields */
	uint64_t memory;	      /* all of it */
	struct lab_twin_args args;
};

/* What the host and the device exchange, in the host's memory. */
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
	struct kwhy_gpu *gpu; /* of the first field, and its stream */
	struct kwhy_gpu_stream *stream;
	struct lab_rank places[LAB_TWIN_RANKS_MAX];
	uint32_t place_count;
	struct lab_twin_field fields[LAB_TWIN_RANKS_MAX];
	uint32_t field_count;
	struct kwhy_collectives *group;
	struct kwhy_gpu_host mail_memory;
	struct lab_twin_mail *mail;
	struct kwhy_gpu_graph *graph;
	struct lab_twin_tally graph_tally; /* what a launch of it does */
	struct kwhy_gpu_event *fetched;
	struct lab_gate gate;				   /* of the first field */
	struct kwhy_gpu_copy batch[LAB_TWIN_OBSERVED_MAX]; /* pieces that a step copies */
	size_t batch_count;
	uint64_t checks[STEPS + 1], times[STEPS + 1]; /* of the device, after a run */
	int64_t seen[STEPS][AGENTS];
	float history[STEPS * SLOT];
	uint32_t run_blocks; /* of a whole run in one launch */
	/* Of the run under way. */
	const struct lab_twin_answer *answer;
	bool poisoned;
	double *step_s, busy_s; /* as in its result */
	struct lab_twin_agents agents;
	struct lab_twin_tally tally;
	struct lab_tries tries; /* of a run, or of opening */
};

KWHY_MUST_USE enum kwhy_status lab_twin_shape_check(
	const struct lab_twin_shape *shape, struct kwhy_error *error); /* KWHY_E_INPUT: out of bounds */

/* Counted calls. */
void lab_twin_launch(struct lab_twin *twin, const struct lab_twin_field *field, enum lab_twin_kernel kernel,
	uint32_t step);
void lab_twin_wait(struct lab_twin *twin);

/* The three kernels and three collectives at either end of a run. */
void lab_twin_begin(struct lab_twin *twin);
void lab_twin_end(struct lab_twin *twin);

#endif
