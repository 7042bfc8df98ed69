/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_TESTBED_H
#define KWHY_BENCH_PAIRS_TESTBED_H

#include "bench/transfers/buffers.h"
#include "model/pairs.h"
#include "vendor/nccl.h"

/* Kernels that only this benchmark uses (kernels/pair.cu), and their C versions for the host back end. */
extern const struct kwhy_gpu_source kwhy_pair_source;

struct kwhy_pair_ranks;

/*
 * The GPUs whose pairs are measured, with their buffers, which are made once, and their connections. Only one
 * thread may use a testbed.
 */
struct kwhy_pair_testbed {
	struct kwhy_bench_buffers *gpu_buffers[KWHY_PAIR_GPUS_MAX];
	uint32_t count;
	bool is_direct[KWHY_PAIR_GPUS_MAX]
		      [KWHY_PAIR_GPUS_MAX]; /* [i][k]: whether GPU i can access GPU k's memory */
	struct kwhy_gpu_module *modules[KWHY_PAIR_GPUS_MAX]; /* kernels of puts (transfers by stores of a
								kernel); NULL: `no_put` says why */
	const struct kwhy_gpu_kernel *puts[KWHY_PAIR_GPUS_MAX];
	uint64_t flags[KWHY_PAIR_GPUS_MAX]; /* [GPU] device address of its flags, 64-bit words;
					       KWHY_PAIR_*_WORD are indices of words */
	uint64_t put_rounds;   /* number of rounds of puts so far; each flag holds the number of a round */
	struct kwhy_nccl nccl; /* the library; its pointer is NULL until it is loaded */
	/*
	 * Communicators of pairs: [one][other] is GPU `one`'s handle of the communicator with `other`; NULL:
	 * not started.
	 */
	kwhy_nccl_communicator communicators[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	/* each GPU's handle of the communicator of all GPUs; NULL: not started */
	kwhy_nccl_communicator all[KWHY_PAIR_GPUS_MAX];
	char no_put[200]; /* why puts cannot be measured; "": they can be */
	/* kernels of collectives, on the host back end only */
	struct kwhy_gpu_module *together_modules[KWHY_PAIR_GPUS_MAX];
	const struct kwhy_gpu_kernel *together[KWHY_PAIR_GPUS_MAX];
	uint64_t together_rounds; /* number of rounds of collectives so far */
	/*
	 * The processes that measure together, each with one GPU; NULL: this process drives all GPUs. In
	 * the arrays above, the elements for a GPU of another process are copies of those for this
	 * process's GPU, except for the addresses of buffers and flags: these are the other GPU's, or 0 if
	 * this GPU cannot access them.
	 */
	struct kwhy_pair_ranks *ranks;
	uint32_t own;
};

/*
 * kwhy_pair_is_own(): whether this process drives GPU number `i`. kwhy_pair_first_own(): the first GPU that
 * it drives.
 */
bool kwhy_pair_is_own(const struct kwhy_pair_testbed *testbed, uint32_t i);
uint32_t kwhy_pair_first_own(const struct kwhy_pair_testbed *testbed);

/*
 * Waits until a flag in host memory is at least `wanted`. false: the wait took seconds, so *late was set to
 * 1, or another thread had set *late.
 */
bool kwhy_pair_flag_wait(const uint64_t *flag, uint64_t wanted, uint64_t *late);
/*
 * Indices of the 64-bit words in a GPU's flags. ROUND: the number of the round that the GPU has reached in
 * a collective. PUT_LATE and LATE: become 1 when a put, or a collective, was late.
 */
enum { KWHY_PAIR_ROUND_WORD = 16, KWHY_PAIR_PUT_LATE_WORD = 8, KWHY_PAIR_LATE_WORD = 24 };

/*
 * Starts the NCCL communicator of two GPUs if it does not exist yet. KWHY_E_UNSUPPORTED: NCCL cannot be used;
 * the message says what to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);
/* Starts the NCCL communicator of all GPUs if it does not exist yet. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start_all(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
/*
 * The steps by which ranks start NCCL: load the library, make an id by which the ranks find each other, and
 * join the communicator with that id. `other` is the other rank; if it is this rank itself, the communicator
 * is that of all.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_load(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_name(
	struct kwhy_pair_testbed *testbed, struct kwhy_nccl_id *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_join(struct kwhy_pair_testbed *testbed,
	const struct kwhy_nccl_id *id, uint32_t other, struct kwhy_error *error);
/*
 * kwhy_pair_nccl_drop() ends all communicators, which are started again when they are needed.
 * kwhy_pair_nccl_stop() also closes the library.
 */
void kwhy_pair_nccl_drop(struct kwhy_pair_testbed *testbed);
void kwhy_pair_nccl_stop(struct kwhy_pair_testbed *testbed);
/* Gets the version of the loaded library, such as "2.28.3"; "": it is not loaded. */
void kwhy_pair_nccl_version(const struct kwhy_pair_testbed *testbed, char out[16]);

/* Opens a GPU as number `i` of the testbed and makes its buffers. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_open(struct kwhy_pair_testbed *testbed, uint32_t i,
	enum kwhy_gpu_backend backend, const char *device, size_t capacity, uint64_t seed,
	struct kwhy_error *error);

/*
 * Opens `count` GPUs: those named in `devices`, as for kwhy_gpu_open(), or the first `count` GPUs if it is
 * NULL. End with kwhy_pair_testbed_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_init(enum kwhy_gpu_backend backend,
	const char *const *devices, uint32_t count, size_t capacity, uint64_t seed,
	struct kwhy_pair_testbed *out, struct kwhy_error *error);
void kwhy_pair_testbed_done(struct kwhy_pair_testbed *testbed);

/* Makes the GPU of these buffers the current one. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_set_current(
	const struct kwhy_bench_buffers *buffers, struct kwhy_error *error);

/* State of the transfers of one configuration. */
struct kwhy_pair_work {
	struct kwhy_pair_testbed *testbed;
	const struct kwhy_pair_config *config;
	struct kwhy_bench_buffers *source, *target;
	struct kwhy_bench_buffers *main; /* buffers of the GPU whose first stream is timed */
	/* the copy to the target and, for engines that send bytes back, the copy to the source */
	struct kwhy_gpu_copy there, back;
	struct kwhy_gpu_host staging; /* host buffer for the engine KWHY_PAIR_STAGED */
	uint32_t part_count; /* in a rank that does not lead: number of timed transfers that were queued last
			      */
	bool is_forked; /* the streams were forked once for a whole series, so fork and join do nothing */
};

/*
 * Prepares transfers of a configuration. If `spoils`, overwrites the sinks with bytes that differ from
 * those to be received. KWHY_E_UNSUPPORTED: the engine cannot work between the two GPUs.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_work_begin(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_config *config, bool spoils, struct kwhy_pair_work *out,
	struct kwhy_error *error);

/* Whether bytes are also sent back to the source, either afterwards or at the same time. */
bool kwhy_pair_goes_back(const struct kwhy_pair_work *work);

/* Runs one untimed transfer and waits for its end. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_warm_up(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_sample(
	struct kwhy_pair_work *work, struct kwhy_pair_sample *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

/* Queues collective number `number` of a series on the communicator of all GPUs. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_together(
	struct kwhy_pair_work *work, uint32_t number, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_issue_nccl(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/*
 * Queues `count` copies of the load from other transfers. They begin when the main stream has reached this
 * point.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_load_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* Waits for everything that was queued for the configuration. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drain(struct kwhy_pair_work *work, struct kwhy_error *error);

/*
 * Fork: makes the target's first stream wait until the main stream has reached this point. Join: makes the
 * main stream wait for the target's first stream. If `is_forked` is set, both do nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_join(struct kwhy_pair_work *work, struct kwhy_error *error);
/* Makes the first streams of all other GPUs wait until the main stream has reached this point. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork_all(struct kwhy_pair_work *work, struct kwhy_error *error);

/*
 * kwhy_pair_clocks(): bits of the clocks that an engine can be timed by. kwhy_pair_most_bytes(): the
 * largest size in bytes that it is used for; 0: no limit.
 */
unsigned kwhy_pair_clocks(enum kwhy_pair_engine engine);
uint64_t kwhy_pair_most_bytes(enum kwhy_pair_engine engine);

#endif
