/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_BENCH_H
#define KWHY_LAB_DECODE_BENCH_H

#include "base/arena.h"
#include "fit/median.h"
#include "lab/decode/run.h"
#include "measure/device_energy.h"

/*
 * `kwhy-lab decode`: a decoder of a language model's shape on this machine (lab/README.md), for every kind
 * of weights, batch and launching that is asked for: its logits held against the reference, then reading of
 * prompts and writing of tokens apart, each with times and with the energy of a window of its own.
 */
struct kwhy_bench_decode_request {
	enum kwhy_gpu_backend backend;
	const char *devices;	 /* numbers or PCI addresses with commas between; NULL: the first ones */
	const char *shape;	 /* "opt-125m" */
	const char *weights;	 /* "bf16,int8" */
	const char *batches;	 /* "1,8": sequences at once */
	const char *launches;	 /* "calls,graph" */
	const char *ranks;	 /* "1,2": GPUs that share a decoder */
	const char *pages;	 /* "0,64": tokens of a page of keys and values; 0: no pages */
	const char *caches;	 /* "auto,fp8": how keys and values are kept; auto: as activations are */
	const char *products;	 /* "best", "own" or "cublaslt": who multiplies where tokens are many */
	uint32_t prompt, tokens; /* that each sequence reads and writes */
	struct kwhy_decode_choice choice;
	uint32_t beams;	       /* ways on that each sequence keeps; 1: none */
	uint32_t repeat;       /* timed runs of each phase, at least */
	double energy_s;       /* each phase is run again and again for so long; 0: no energy */
	double arrivals_per_s; /* sequences that arrive at random are served, too; 0: none */
	void (*progress)(void *context, const char *what); /* as each begins; NULL: not */
	void *context;
};

enum { KWHY_BENCH_DECODE_ROWS_MOST = 128 };

enum kwhy_decode_phase { KWHY_DECODE_READING, KWHY_DECODE_WRITING, KWHY_DECODE_PHASE_COUNT };

const char *kwhy_decode_phase_name(enum kwhy_decode_phase phase); /* "reading", "writing" */

struct kwhy_bench_decode_phase {
	uint64_t tokens; /* of a run, of all sequences */
	struct kwhy_median run_s;
	const char *products; /* who made a layer's products; NULL: there are no figures */
	const char *window;   /* whose energy it is */
	size_t energy_runs;
	struct kwhy_window_joules energy; /* of all those runs */
};

/* How sequences that arrive are seated: a batch waits for its longest, or a free slot takes the next. */
enum kwhy_decode_seating { KWHY_DECODE_TOGETHER, KWHY_DECODE_CONTINUOUS, KWHY_DECODE_SEATING_COUNT };

const char *kwhy_decode_seating_name(enum kwhy_decode_seating seating); /* "together", "continuous" */

struct kwhy_bench_decode_serving {
	const char *missing; /* why there are no figures; NULL: there are, or nobody asked */
	const char *window;
	uint32_t sequences;
	double seconds;
	uint64_t tokens, steps;
	double pages_mean; /* somebody's, of all steps; NAN: there are none */
	uint32_t pages_most;
	double busy_ratio;		     /* slots that wrote for a sequence, of all in all steps */
	struct kwhy_median first_s, whole_s; /* from arrival to the first token, and to the last */
	struct kwhy_window_joules energy;
};

struct kwhy_bench_decode_row {
	const char *id; /* "bf16 b8 graph" */
	enum kwhy_decode_weights weights;
	enum kwhy_decode_launching launching;
	uint32_t batch, ranks, page; /* sequences at once; GPUs; tokens of a page, 0: none */
	bool has_short_cache;	     /* keys and values are fp8 */
	const char *missing;	     /* why there are no figures; NULL: there are */
	uint32_t kernels;	     /* of a token; of all, launched at once: 1 */
	uint64_t weight_bytes, token_bytes, cache_bytes; /* of keys and values of a token; of all slots */
	struct kwhy_decode_error error;
	double pruned_error; /* against the reference with the same weights dropped; NAN: none are */
	double beam_error;   /* of the logarithm of a likeliest way's probability, a token; NAN: no beams */
	struct kwhy_bench_decode_phase phases[KWHY_DECODE_PHASE_COUNT];
	/* Of several GPUs: the same work, but what goes to others stays and nobody waits. What phases take
	 * above it is exposed communication. */
	struct kwhy_bench_decode_phase alone[KWHY_DECODE_PHASE_COUNT];
	struct kwhy_median step_s; /* from a token to the next, by the device's clock */
	struct kwhy_bench_decode_serving serving[KWHY_DECODE_SEATING_COUNT]; /* 0 sequences: none */
};

struct kwhy_bench_decode {
	struct kwhy_arena arena;   /* of everything below */
	struct kwhy_gpu_facts gpu; /* the first */
	uint32_t gpu_count;
	enum kwhy_gpu_backend backend;
	const struct kwhy_decode_shape *shape;
	uint32_t prompt, tokens;
	struct kwhy_decode_choice choice;
	uint32_t beams;
	double arrivals_per_s;
	struct kwhy_bench_decode_row rows[KWHY_BENCH_DECODE_ROWS_MOST];
	size_t row_count;
	const char *energy_missing; /* NULL: the GPU's energy is known */
	const char *ended; /* why before all were run, in words; rows before are good. NULL: all were */
};

/*
 * Runs all. What this machine cannot run, and what is further from the reference than its digits allow, is a
 * row that says why. KWHY_E_USAGE for lists that name nothing; a lost device ends the rest and is told in
 * `ended`. End with kwhy_bench_decode_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_decode(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode **out, struct kwhy_error *error);
void kwhy_bench_decode_free(struct kwhy_bench_decode *bench);

/* What a token takes longer, and more gross joules, where GPUs wait for each other; NAN: unknown. */
double kwhy_bench_decode_exposed_s(const struct kwhy_bench_decode_row *row, enum kwhy_decode_phase phase);
struct kwhy_joules kwhy_bench_decode_exposed_joules(
	const struct kwhy_bench_decode_row *row, enum kwhy_decode_phase phase);

/* Joules of a token, of the counts of the same window; its inverse is tokens a joule. */
struct kwhy_joules kwhy_bench_decode_per_token(
	const struct kwhy_bench_decode_phase *phase, const struct kwhy_joules *joules);

/* Whether any row was to be had. */
static inline bool kwhy_bench_decode_has_run(const struct kwhy_bench_decode *bench)
{
	bool has = false;

	for (size_t i = 0; i < bench->row_count; i++)
		has |= !bench->rows[i].missing;
	return has;
}

#endif
