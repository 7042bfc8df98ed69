/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_TESTBED_H
#define KWHY_BENCH_PAIRS_TESTBED_H

#include "bench/transfers/buffers.h"
#include "model/pairs.h"
#include "vendor/nccl.h"

/* The kernel of puts (kernels/pair.cu), and its C version for the host back end. */
extern const struct kwhy_gpu_source kwhy_pair_source;

struct kwhy_pair_ranks;

/*
 * The GPUs whose pairs are measured, by number, with their buffers and flags, the kernels and communicators
 * between them, and the state of the rounds. Only one thread may use a testbed.
 */
struct kwhy_pair_testbed {
	struct kwhy_bench_buffers *gpu_buffers[KWHY_PAIR_GPUS_MAX];
	uint32_t count;
	bool is_direct[KWHY_PAIR_GPUS_MAX]
		      [KWHY_PAIR_GPUS_MAX]; /* [i][k]: whether GPU i can access GPU k's memory */
	struct kwhy_gpu_module
		*modules[KWHY_PAIR_GPUS_MAX]; /* [GPU]: module with the kernel of puts (transfers by stores of
						 a kernel); NULL: no_put says why */
	const struct kwhy_gpu_kernel *puts[KWHY_PAIR_GPUS_MAX];
	uint64_t flags[KWHY_PAIR_GPUS_MAX]; /* [GPU]: device address of its flags, an array of 64-bit words:
					       [0] the round of puts that the other GPU has sent last, and
					       those at KWHY_PAIR_*_WORD */
	uint64_t put_rounds; /* number of rounds of puts so far; the rounds of the next puts are numbered from
				put_rounds + 1 */
	struct kwhy_nccl nccl; /* functions of the NCCL library; nccl.library is NULL until it is loaded */
	/*
	 * Communicators of pairs: [one][other] is GPU `one`'s handle of the communicator with `other`; NULL:
	 * not started.
	 */
	kwhy_nccl_communicator communicators[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	/* each GPU's handle of the communicator of all GPUs; NULL: not started */
	kwhy_nccl_communicator all[KWHY_PAIR_GPUS_MAX];
	char no_put[200]; /* why puts cannot be measured; "": they can be */
	/* [GPU]: module and kernel of collectives; on the host back end only */
	struct kwhy_gpu_module *together_modules[KWHY_PAIR_GPUS_MAX];
	const struct kwhy_gpu_kernel *together[KWHY_PAIR_GPUS_MAX];
	uint64_t together_rounds; /* number of rounds of collectives so far */
	/*
	 * The processes that measure together, each with one GPU; NULL: this process drives all GPUs.
	 * gpu_buffers[i] of another process's GPU is then a copy of gpu_buffers[own], except that its seed
	 * and the addresses of its buffers and in flags[i] are those of GPU `i`, or 0 if this process cannot
	 * access that memory.
	 */
	struct kwhy_pair_ranks *ranks;
	uint32_t own;
};

/*
 * kwhy_pair_is_own(): whether this process drives GPU number `i`. kwhy_pair_first_own(): number of the first
 * GPU that this process drives.
 */
bool kwhy_pair_is_own(const struct kwhy_pair_testbed *testbed, uint32_t i);
uint32_t kwhy_pair_first_own(const struct kwhy_pair_testbed *testbed);

/*
 * For the host back end: waits until *flag is at least `wanted`. false: it was not within 4 s, and *late was
 * set to 1, or *late was 1 already.
 */
bool kwhy_pair_flag_wait(const uint64_t *flag, uint64_t wanted, uint64_t *late);
/*
 * Indices of 64-bit words in a GPU's flags. ROUND: number of the round of collectives that the GPU has
 * reached. PUT_LATE, LATE: 1 after the GPU has given up waiting for a flag in a put, or in a collective;
 * otherwise 0.
 */
enum { KWHY_PAIR_ROUND_WORD = 16, KWHY_PAIR_PUT_LATE_WORD = 8, KWHY_PAIR_LATE_WORD = 24 };

/*
 * Starts the NCCL communicator of the GPUs `one` and `other` if it does not exist yet. With ranks, asks the
 * rank of the other GPU to join it. KWHY_E_UNSUPPORTED: NCCL cannot be used.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);
/* Starts the NCCL communicator of all GPUs if it does not exist yet. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start_all(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
/*
 * The steps by which ranks start NCCL: load the library, make an id of a new communicator in one rank
 * (kwhy_pair_nccl_name()), and join that communicator in each rank. `other` is the other rank of a
 * communicator of two; if it is this rank's own number, the communicator is that of all ranks.
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

/*
 * Opens a GPU as number `i` of the testbed, with flags and buffers; a buffer is allocated, with `capacity`
 * bytes, when it is first used.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_open(struct kwhy_pair_testbed *testbed, uint32_t i,
	enum kwhy_gpu_backend backend, const char *device, size_t capacity, uint64_t seed,
	struct kwhy_error *error);

/*
 * Opens `count` GPUs, each as kwhy_pair_testbed_open() does: those named in `devices`, as for
 * kwhy_gpu_open(), or, if `devices` is NULL, those with the lowest `count` numbers. KWHY_E_USAGE: a GPU is
 * named twice. End with kwhy_pair_testbed_done().
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
	struct kwhy_bench_buffers *main; /* buffers of the GPU whose first stream, the main stream, is timed
					    and queues the transfer */
	/*
	 * there: the copy to the target; back: the copy to the source, for engines that send bytes back
	 * (kwhy_pair_goes_back())
	 */
	struct kwhy_gpu_copy there, back;
	struct kwhy_gpu_host staging; /* host buffer for the engine KWHY_PAIR_STAGED */
	uint32_t part_count; /* in a rank that does not lead: number of timed transfers that were queued last
			      */
	bool is_forked;	     /* true while a series of transfers is queued that was forked as a whole:
				kwhy_pair_fork() and kwhy_pair_join() then do nothing */
};

/*
 * Prepares transfers of a configuration. If `spoils`, overwrites the sinks with bytes that differ from
 * those to be received. KWHY_E_UNSUPPORTED: the engine cannot work between the two GPUs.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_work_begin(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_config *config, bool spoils, struct kwhy_pair_work *out,
	struct kwhy_error *error);

/*
 * Whether a transfer also sends bytes from target to source: after those to the target, or at the same time.
 */
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
 * Queues the load of the configuration (enum kwhy_pair_load), `count` copies on each of its links. They begin
 * when the main stream has done what was queued on it before this call.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_load_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/*
 * Waits until all work that this process has queued for the configuration has ended. KWHY_E_LOST: another
 * rank has ended.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drain(struct kwhy_pair_work *work, struct kwhy_error *error);

/*
 * Fork: later work on the target's first stream waits for what was queued on the main stream before. Join:
 * later work on the main stream waits for what was queued on the target's first stream before. If `is_forked`
 * is set, both do nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_join(struct kwhy_pair_work *work, struct kwhy_error *error);
/*
 * Makes later work on the first streams of all other GPUs of this process wait for what was queued on the
 * main stream before; does nothing with ranks.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork_all(struct kwhy_pair_work *work, struct kwhy_error *error);

/*
 * kwhy_pair_clocks(): clocks by which an engine's transfers can be timed, as bits 1 << enum kwhy_pair_clock.
 * kwhy_pair_most_bytes(): largest size in bytes that is measured with an engine; 0: no limit.
 */
unsigned kwhy_pair_clocks(enum kwhy_pair_engine engine);
uint64_t kwhy_pair_most_bytes(enum kwhy_pair_engine engine);

#endif
