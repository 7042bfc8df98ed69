/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_TESTBED_H
#define KWHY_BENCH_PAIRS_TESTBED_H

#include "bench/transfers/buffers.h"
#include "model/pairs.h"
#include "vendor/nccl.h"

/* The kernels of pairs alone (kernels/pair.cu), and the same in C for the host back end. */
extern const struct kwhy_gpu_source kwhy_pair_source;

struct kwhy_pair_ranks;

/* Where pairs are measured: a room on each GPU, made once, and what joins them. One thread. */
struct kwhy_pair_testbed {
	struct kwhy_bench_buffers *gpu_buffers[KWHY_PAIR_GPUS_MAX];
	uint32_t count;
	bool is_direct[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX]; /* the first reaches the second's memory */
	struct kwhy_gpu_module *modules[KWHY_PAIR_GPUS_MAX];	/* NULL: no kernels of pairs */
	const struct kwhy_gpu_kernel *puts[KWHY_PAIR_GPUS_MAX];
	uint64_t flags[KWHY_PAIR_GPUS_MAX]; /* on each: a flag, and where a put that was late says so */
	uint64_t put_rounds;		    /* so far, by which flags count */
	struct kwhy_nccl nccl;		    /* library NULL: not open */
	/* Of two GPUs: [one][other] is the communicator of `one` with `other`; NULL: not started. */
	kwhy_nccl_communicator communicators[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	kwhy_nccl_communicator all[KWHY_PAIR_GPUS_MAX]; /* of all GPUs; NULL: not started */
	char no_put[200];				/* why there are no kernels of pairs; "": there are */
	struct kwhy_gpu_module *together_modules[KWHY_PAIR_GPUS_MAX]; /* of collectives, on the host alone */
	const struct kwhy_gpu_kernel *together[KWHY_PAIR_GPUS_MAX];
	uint64_t together_rounds; /* so far, by which flags count */
	/* Of several processes, each with one GPU: NULL, there is this one alone. The rooms of others are
	 * this GPU's own, but for their buffers and flags, which lie in the others' memory; 0: out of reach.
	 */
	struct kwhy_pair_ranks *ranks;
	uint32_t own;
};

/* Whether it is driven by this process; the first that is. */
bool kwhy_pair_is_own(const struct kwhy_pair_testbed *testbed, uint32_t i);
uint32_t kwhy_pair_first_own(const struct kwhy_pair_testbed *testbed);

/* A flag in host memory; false, and *late is 1: it took seconds, or somebody else says that it is late. */
bool kwhy_pair_flag_wait(const uint64_t *flag, uint64_t wanted, uint64_t *late);
/* Words of a GPU's flags: of collectives how far it is, and where puts and collectives say that they were
 * late. */
enum { KWHY_PAIR_ROUND_WORD = 16, KWHY_PAIR_PUT_LATE_WORD = 8, KWHY_PAIR_LATE_WORD = 24 };

/* NCCL between these two, started when first asked for; KWHY_E_UNSUPPORTED, with the cure, without it. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);
/* The same of all of them. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_start_all(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
/* The library alone; a name by which ranks find each other; our part in that, with `other` or, where that is
 * us, with all. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_load(
	struct kwhy_pair_testbed *testbed, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_name(
	struct kwhy_pair_testbed *testbed, struct kwhy_nccl_id *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_join(struct kwhy_pair_testbed *testbed,
	const struct kwhy_nccl_id *id, uint32_t other, struct kwhy_error *error);
/* Ends all communicators; what asks for one again starts it anew. */
void kwhy_pair_nccl_drop(struct kwhy_pair_testbed *testbed);
void kwhy_pair_nccl_stop(struct kwhy_pair_testbed *testbed);
/* "2.28.3"; "": not open. */
void kwhy_pair_nccl_version(const struct kwhy_pair_testbed *testbed, char out[16]);

/* One room, as number `i`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_open(struct kwhy_pair_testbed *testbed, uint32_t i,
	enum kwhy_gpu_backend backend, const char *device, size_t capacity, uint64_t seed,
	struct kwhy_error *error);

/* `devices` as kwhy_gpu_open() takes them, NULL: the first `count`. End with kwhy_pair_testbed_done(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_testbed_init(enum kwhy_gpu_backend backend,
	const char *const *devices, uint32_t count, size_t capacity, uint64_t seed,
	struct kwhy_pair_testbed *out, struct kwhy_error *error);
void kwhy_pair_testbed_done(struct kwhy_pair_testbed *testbed);

/* Makes the GPU of these buffers the one that calls are for. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_set_current(
	const struct kwhy_bench_buffers *buffers, struct kwhy_error *error);

/* A transfer of a configuration at work. */
struct kwhy_pair_work {
	struct kwhy_pair_testbed *testbed;
	const struct kwhy_pair_config *config;
	struct kwhy_bench_buffers *source, *target;
	struct kwhy_bench_buffers *main;  /* whose first stream tells the time */
	struct kwhy_gpu_copy there, back; /* back: of those that go to and fro */
	struct kwhy_gpu_host staging;	  /* of KWHY_PAIR_STAGED */
	uint32_t part_count;		  /* of a part in what another process leads: transfers timed */
	bool is_forked; /* all ends have begun: nothing that is queued waits for another end's stream */
};

/*
 * KWHY_E_UNSUPPORTED: this engine cannot work between these two. The bytes of the sinks are spoilt where
 * `spoils`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_work_begin(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_config *config, bool spoils, struct kwhy_pair_work *out,
	struct kwhy_error *error);

/* Whether bytes come back to the source, one after the other or at once. */
bool kwhy_pair_goes_back(const struct kwhy_pair_work *work);

/* One transfer that is not timed, done when it returns. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_warm_up(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_sample(
	struct kwhy_pair_work *work, struct kwhy_pair_sample *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

/* Queues `count` transfers; the parts of `work` that it needs are there. */
/* One collective, number `number` of a row, by the communicator of all. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_nccl_together(
	struct kwhy_pair_work *work, uint32_t number, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_issue_nccl(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* Queues as much beside it, once the main stream is as far as now. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_load_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* Waits for everything that these queued. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drain(struct kwhy_pair_work *work, struct kwhy_error *error);

/* The target's first stream begins when the main one is as far as now; the main one goes on when the target's
 * is as far as now. Neither where `is_forked`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_join(struct kwhy_pair_work *work, struct kwhy_error *error);
/* The first streams of all others begin when the main one is as far as now. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_fork_all(struct kwhy_pair_work *work, struct kwhy_error *error);

/* Clocks that an engine has, as bits; the largest size that it makes sense for, 0: any. */
unsigned kwhy_pair_clocks(enum kwhy_pair_engine engine);
uint64_t kwhy_pair_most_bytes(enum kwhy_pair_engine engine);

#endif
