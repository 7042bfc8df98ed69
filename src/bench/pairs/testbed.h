/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_TESTBED_H
#define KWHY_BENCH_PAIRS_TESTBED_H

#include "bench/transfers/buffers.h"
#include "model/pairs.h"
#include "vendor/nccl.h"

/* Kernels that only pairs use (kernels/pair.cu), and their C versions for the host back end. */
extern const struct kwhy_gpu_source kwhy_pair_source;

struct kwhy_pair_ranks;

/*
 * The GPUs between which pairs are measured: buffers of each, which are made once, and their connections. For
 * one thread.
 */
struct kwhy_pair_testbed {
	struct kwhy_bench_buffers *gpu_buffers[KWHY_PAIR_GPUS_MAX];
	uint32_t count;
	bool is_direct[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX]; /* [i][k]: i accesses k's memory */
	struct kwhy_gpu_module *modules[KWHY_PAIR_GPUS_MAX];	/* NULL: see `no_put` */
	const struct kwhy_gpu_kernel *puts[KWHY_PAIR_GPUS_MAX];
	uint64_t flags[KWHY_PAIR_GPUS_MAX]; /* device address of the flags, see KWHY_PAIR_ROUND_WORD */
	uint64_t put_rounds;		    /* rounds of puts so far, which flags count */
	struct kwhy_nccl nccl;		    /* its library is NULL until it is loaded */
	/* Communicators of two GPUs: [one][other] is that of `one` with `other`; NULL: not started. */
	kwhy_nccl_communicator communicators[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	kwhy_nccl_communicator all[KWHY_PAIR_GPUS_MAX]; /* communicators of all GPUs; NULL: not started */
	char no_put[200];				/* why puts cannot be measured; "": they can */
	struct kwhy_gpu_module *together_modules[KWHY_PAIR_GPUS_MAX]; /* host back end only */
	const struct kwhy_gpu_kernel *together[KWHY_PAIR_GPUS_MAX];
	uint64_t together_rounds; /* rounds of collectives so far */
	/*
	 * Several processes with one GPU each; NULL: this process drives all GPUs. The entries of other ranks
	 * copy this GPU's own, except for addresses of buffers and flags, which are those of the other GPU's
	 * memory; 0: not accessible.
	 */
	struct kwhy_pair_ranks *ranks;
	uint32_t own;
};

/* Whether this process drives GPU number `i`; the first GPU that it drives. */
bool kwhy_pair_is_own(const struct kwhy_pair_testbed *testbed, uint32_t i);
uint32_t kwhy_pair_first_own(const struct kwhy_pair_testbed *testbed);

/*
 * Waits until a flag in host memory is at least `wanted`. false: it took seconds, and *late was set to 1, or
 * somebody else had set it.
 */
bool kwhy_pair_flag_wait(const uint64_t *flag, uint64_t wanted, uint64_t *late);
/*
 * Indices of words in a GPU's flags: the round that a collective has reached, and the words that a late put
 * and a late collective set.
 */
enum { KWHY_PAIR_ROUND_WORD = 16, KWHY_PAIR_PUT_LATE_WORD = 8, KWHY_PAIR_LATE_WORD = 24 };

/*
 * Starts the NCCL communicator of two GPUs unless it exists. KWHY_E_UNSUPPORTED, with the remedy in the
 * message: NCCL cannot be used.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);
/* Starts the NCCL communicator of all GPUs unless it exists. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start_all(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
/*
 * The steps of starting NCCL between ranks: load the library, make an id by which ranks find each other, and
 * join with it. `other` equal to the own rank joins the communicator of all.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_load(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_name(
	struct kwhy_pair_testbed *testbed, struct kwhy_nccl_id *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_join(struct kwhy_pair_testbed *testbed,
	const struct kwhy_nccl_id *id, uint32_t other, struct kwhy_error *error);
/*
 * Ends all communicators; they start anew when needed again. kwhy_pair_nccl_stop() also closes the library.
 */
void kwhy_pair_nccl_drop(struct kwhy_pair_testbed *testbed);
void kwhy_pair_nccl_stop(struct kwhy_pair_testbed *testbed);
/* Version of the loaded library, as "2.28.3"; "": not loaded. */
void kwhy_pair_nccl_version(const struct kwhy_pair_testbed *testbed, char out[16]);

/* Opens one GPU and makes its buffers, as number `i`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_open(struct kwhy_pair_testbed *testbed, uint32_t i,
	enum kwhy_gpu_backend backend, const char *device, size_t capacity, uint64_t seed,
	struct kwhy_error *error);

/*
 * Opens `count` GPUs. `devices` are names as kwhy_gpu_open() takes them; NULL: the first `count`. End with
 * kwhy_pair_testbed_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_init(enum kwhy_gpu_backend backend,
	const char *const *devices, uint32_t count, size_t capacity, uint64_t seed,
	struct kwhy_pair_testbed *out, struct kwhy_error *error);
void kwhy_pair_testbed_done(struct kwhy_pair_testbed *testbed);

/* Sets the GPU of these buffers current. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_set_current(
	const struct kwhy_bench_buffers *buffers, struct kwhy_error *error);

/* What transfers of one configuration use. */
struct kwhy_pair_work {
	struct kwhy_pair_testbed *testbed;
	const struct kwhy_pair_config *config;
	struct kwhy_bench_buffers *source, *target;
	struct kwhy_bench_buffers *main;  /* the GPU whose first stream is timed */
	struct kwhy_gpu_copy there, back; /* back: only where bytes return to the source */
	struct kwhy_gpu_host staging;	  /* host buffer of KWHY_PAIR_STAGED */
	uint32_t part_count;		  /* transfers timed, in a rank that does not lead */
	bool is_forked;			  /* the streams of all ends run: no fork or join is queued */
};

/*
 * Prepares transfers of a configuration. `spoils`: overwrites the sinks with bytes that differ from those
 * expected. KWHY_E_UNSUPPORTED: the engine cannot work between the two GPUs.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_work_begin(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_config *config, bool spoils, struct kwhy_pair_work *out,
	struct kwhy_error *error);

/* Whether bytes also go to the source, in turn or concurrently. */
bool kwhy_pair_goes_back(const struct kwhy_pair_work *work);

/* Runs one untimed transfer and waits for its end. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_warm_up(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_sample(
	struct kwhy_pair_work *work, struct kwhy_pair_sample *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

/* Queues collective number `number` of a row, by the communicator of all GPUs. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_together(
	struct kwhy_pair_work *work, uint32_t number, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_issue_nccl(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* Queues `count` transfers of the load, which begin when the main stream has reached this point. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_load_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* Waits for all queued transfers. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drain(struct kwhy_pair_work *work, struct kwhy_error *error);

/*
 * Fork: the target's first stream waits until the main one has reached this point. Join: the main stream
 * waits for the target's. Both do nothing where `is_forked`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_join(struct kwhy_pair_work *work, struct kwhy_error *error);
/* The first streams of all other GPUs wait until the main one has reached this point. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork_all(struct kwhy_pair_work *work, struct kwhy_error *error);

/* The clocks of an engine, as bits; its largest useful size in bytes, 0: no limit. */
unsigned kwhy_pair_clocks(enum kwhy_pair_engine engine);
uint64_t kwhy_pair_most_bytes(enum kwhy_pair_engine engine);

#endif
