/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PAIRS_H
#define KWHY_MODEL_PAIRS_H

#include "base/arena.h"
#include "base/status.h"
#include "model/transfers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What moving bytes from one GPU to another was measured to cost, and what follows from it
 * (docs/formats/pairs.md). Times are seconds of one transfer in one direction; NAN is what was not measured.
 */
enum kwhy_pair_engine {
	KWHY_PAIR_WRITE,     /* a copy queued on the source */
	KWHY_PAIR_READ,	     /* a copy queued on the target */
	KWHY_PAIR_KERNEL,    /* a kernel of the source that writes to the target */
	KWHY_PAIR_STAGED,    /* through host memory, in pieces that overlap */
	KWHY_PAIR_PUT,	     /* kernels that write bytes and then a flag, to and fro: half a round trip */
	KWHY_PAIR_PING_PONG, /* copies to and fro, each begun by the end of the other: half a round trip */
	KWHY_PAIR_EXCHANGE,  /* copies both directions concurrently; bytes are those of each way */
	KWHY_PAIR_NCCL,	     /* NCCL's send and receive, by a communicator of the two */
	KWHY_PAIR_NCCL_EXCHANGE, /* the same both directions in one group; bytes are those of each way */
	KWHY_PAIR_NCCL_FULL,	 /* NCCL's send and receive, by the communicator of all GPUs */
	KWHY_PAIR_SOCKET,	 /* host memory to host memory by TCP, between processes */
	/* Of all GPUs together, by NCCL, on the host by our own; the source is the first (the root of a
	 * broadcast), the target the last. Bytes are as nccl-tests counts them: of the larger of what each
	 * gives and what each gets. */
	KWHY_PAIR_ALL_REDUCE,
	KWHY_PAIR_ALL_GATHER,
	KWHY_PAIR_REDUCE_SCATTER,
	KWHY_PAIR_BROADCAST,
	KWHY_PAIR_ALL_EXCHANGE, /* all-to-all: each gives each a part of its own */
	KWHY_PAIR_ENGINE_COUNT
};

/* What else goes on meanwhile. */
enum kwhy_pair_load {
	KWHY_PAIR_ALONE,
	KWHY_PAIR_SAME_SOURCE, /* the source sends as much to a third one */
	KWHY_PAIR_SAME_TARGET, /* a third one sends as much to the target */
	KWHY_PAIR_DISJOINT,    /* two others do the same */
	KWHY_PAIR_ALL_TO_ALL,  /* everybody sends as much to everybody */
	KWHY_PAIR_FROM_HOST,   /* the target receives as much from the host */
	KWHY_PAIR_REFERENCE,   /* nothing; the same one again and again, against drift */
	KWHY_PAIR_LOAD_COUNT
};

enum kwhy_pair_clock {
	KWHY_PAIR_BACK_TO_BACK, /* as enum kwhy_transfer_clock */
	KWHY_PAIR_ISOLATED,
	KWHY_PAIR_BY_HOST,
	KWHY_PAIR_CALL,	  /* the host's time in the calls that queue it */
	KWHY_PAIR_QUEUED, /* as nccl-tests: a row without a gate, through all of the buffers */
	KWHY_PAIR_CLOCK_COUNT
};

const char *kwhy_pair_engine_name(enum kwhy_pair_engine engine); /* "write" */
const char *kwhy_pair_engine_title(enum kwhy_pair_engine engine);
const char *kwhy_pair_load_name(enum kwhy_pair_load load);    /* "alone" */
const char *kwhy_pair_clock_name(enum kwhy_pair_clock clock); /* "back-to-back" */

enum { KWHY_PAIR_GPUS_MAX = 16, KWHY_PAIR_SAMPLES_MAX = 256 };
#define KWHY_PAIR_BYTES_MAX (UINT64_C(1) << 53) /* of a transfer: exact as a double */

struct kwhy_pair_sample {
	int64_t start_unix_ns, end_unix_ns; /* of what was run for it on the host's clock, bursts whole */
	double seconds;			    /* of one transfer */
};

/* One size from one GPU to another by one engine. */
struct kwhy_pair_config {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_load load;
	enum kwhy_pair_clock clock;
	uint32_t source, target; /* rows of struct kwhy_pairs.gpus */
	uint64_t bytes;
	struct kwhy_pair_sample *samples; /* room for KWHY_PAIR_SAMPLES_MAX once there is one */
	size_t sample_count;
	struct kwhy_transfer_summary summary;
	double mean_s, deviation_s;		    /* NAN: too few samples */
	struct kwhy_transfer_conditions conditions; /* of the source */
	bool verified;				    /* the bytes that came were those that went */
	bool capped; /* left before the interval was narrow enough: by number of samples or by time */
};

struct kwhy_pair_gpu {
	const char *name, *pci_address; /* NULL: unknown */
	int numa_node;			/* -1: unknown */
	int architecture;		/* 90 for compute capability 9.0; 0, as those below: unknown */
	uint32_t sm_count;
	uint64_t memory_bytes;
};

/* What the bytes of a pair go over, as the driver tells. */
enum kwhy_pair_link_kind {
	KWHY_PAIR_LINK_KIND_UNKNOWN,
	KWHY_PAIR_NVSWITCH, /* NVLinks to switches */
	KWHY_PAIR_NVLINK,   /* NVLinks of the two to each other */
	KWHY_PAIR_PCIE,
	KWHY_PAIR_LINK_KIND_COUNT
};
const char *kwhy_pair_link_kind_name(enum kwhy_pair_link_kind way); /* "nvswitch" */

struct kwhy_pair_route {
	enum kwhy_pair_link_kind way;
	unsigned lanes;	     /* NVLinks between the two, or lanes of PCIe of the narrower end; 0: unknown */
	unsigned lanes_most; /* that could be up; 0: unknown */
	unsigned generation; /* of NVLink or PCIe; 0: unknown */
	double limit_bytes_per_s; /* of all lanes, one way; NAN: unknown */
	int ancestor; /* what both hang on, as NVML counts: 10 one switch to 50 another node; -1 */
};

/* How a device's clock ran against the host's monotonic one, over the run; NAN: not measured. */
struct kwhy_pair_drift {
	double ppm, half_width_ppm; /* from how sharply both ends are known */
};

/* How much that is, whichever way: below 1 ppm, 1 to 10, above. Unknown where the interval spans two. */
enum kwhy_pair_clock_grade {
	KWHY_PAIR_CLOCK_UNKNOWN,
	KWHY_PAIR_CLOCK_EXCELLENT,
	KWHY_PAIR_CLOCK_GOOD,
	KWHY_PAIR_CLOCK_INVESTIGATE,
	KWHY_PAIR_CLOCK_GRADE_COUNT
};
#define KWHY_PAIR_DRIFT_WARN_PPM 1
#define KWHY_PAIR_DRIFT_MAX_PPM 10
const char *kwhy_pair_clock_grade_name(enum kwhy_pair_clock_grade grade); /* "excellent" */
enum kwhy_pair_clock_grade kwhy_pair_drift_grade(const struct kwhy_pair_drift *drift);
/* The ends of the interval of one that was measured, whichever way; 0 at least. */
double kwhy_pair_drift_least(const struct kwhy_pair_drift *drift);
double kwhy_pair_drift_most(const struct kwhy_pair_drift *drift);

/* A process of several, with one GPU: how the clock of its host lay to that of the first one's. NAN: unknown.
 */
struct kwhy_pair_rank {
	const char *host;
	int64_t process;
	double offset_ns, offset_half_width_ns; /* of its time of day, at the start */
	struct kwhy_pair_drift drift;		/* of its monotonic clock against rank 0's */
};

/* A curve: engine, load and clock of one pair over sizes. */
struct kwhy_pair_curve {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_load load;
	enum kwhy_pair_clock clock;
	uint32_t source, target;
	struct kwhy_transfer_segment segments[KWHY_TRANSFER_SEGMENTS_MAX];
	size_t segment_count, point_count;
	double residual_ratio;
	/* Of sizes that were left out of a fit of the others; NAN: too few. */
	double held_out_median_ratio, held_out_worst_ratio;
};

/* LogGP of a pair (Alexandrov et al. 1995), in seconds, with 95 % intervals; NAN: not measured. */
struct kwhy_pair_figure {
	double value, low, high;
};
struct kwhy_pair_loggp {
	uint32_t source, target;
	struct kwhy_pair_figure o_send; /* host's time to queue one of the smallest transfers */
	struct kwhy_pair_figure o_receive;
	struct kwhy_pair_figure g;   /* between the smallest transfers in a row */
	struct kwhy_pair_figure big; /* G: a byte more, of large transfers */
	struct kwhy_pair_figure latency;
};

/*
 * The joules of one transfer at both ends, from a burst of them; of an exchange both directions together.
 * Gross, and net above the level of idle GPUs with contexts, with 95 % intervals; NAN: not known.
 */
struct kwhy_pair_energy {
	enum kwhy_pair_engine engine;
	uint32_t source, target;
	uint64_t bytes, transfers;
	double seconds; /* of one, gaps of the burst among them */
	struct kwhy_pair_figure source_gross, source_net, target_gross, target_net;
	struct kwhy_pair_figure host_gross; /* of all domains of the host that have a meter */
};

/* What most simulators take of a pair: seconds = alpha + beta * bytes, fitted from 64 KiB up. */
struct kwhy_pair_link {
	uint32_t source, target;
	struct kwhy_pair_figure alpha, beta; /* NAN: fewer than three sizes there */
};

/* Where the thread that queues a transfer and waits for it ran. */
enum kwhy_pair_pin {
	KWHY_PAIR_FREE, /* where the system put it */
	KWHY_PAIR_NEAR, /* on the source's NUMA node */
	KWHY_PAIR_FAR,	/* on another one */
	KWHY_PAIR_PIN_COUNT
};

/* What that makes to the time: medians of one transfer in seconds, with their 95 % intervals. */
struct kwhy_pair_pinning {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_clock clock;
	uint32_t source, target;
	uint64_t bytes;
	int near_node, far_node;
	struct kwhy_pair_figure times[KWHY_PAIR_PIN_COUNT];
};

/* What the gauges of a GPU showed at a time; NAN: not known. */
struct kwhy_pair_reading {
	int64_t unix_ns;
	uint32_t gpu;
	double temperature_c, power_w, clock_hz;
};

/*
 * How the times of what a GPU sends follow one of its gauges: the correlation of both, once a reading, with
 * its 95 % interval (Fisher's z over as many readings as are independent), and what one unit more does to a
 * time.
 */
enum kwhy_pair_gauge { KWHY_PAIR_TEMPERATURE, KWHY_PAIR_CLOCK, KWHY_PAIR_GAUGE_COUNT };
const char *kwhy_pair_gauge_name(enum kwhy_pair_gauge gauge); /* "temperature" */

struct kwhy_pair_relation {
	uint32_t gpu;
	enum kwhy_pair_gauge gauge;
	size_t count;		     /* of readings with times */
	double least, most;	     /* of the gauge, degrees or Hz */
	struct kwhy_pair_figure r;   /* NAN: not known, then `missing` says why */
	double slope_ratio_per_unit; /* relative change of a time a degree, or a Hz */
	const char *missing;	     /* NULL: it is known */
};

/*
 * What took no part in a fit, and how far what the fits predict of it lies from what was measured:
 * predicted over measured, less 1. Of other sizes absolute values, the median over the curves.
 */
struct kwhy_pair_held_out {
	const char *what, *model;
	unsigned flows; /* through the busiest port; 0: no such thing */
	size_t count;	/* of configurations, or curves */
	double median_ratio, worst_ratio;
};

/* Something about a pair that deserves a look. */
struct kwhy_pair_flag {
	uint32_t source, target;
	const char *what, *likely_cause; /* NULL: nothing measured hints at one */
};

enum kwhy_pair_verdict { KWHY_PAIR_PASS, KWHY_PAIR_FAIL, KWHY_PAIR_UNKNOWN };
const char *kwhy_pair_verdict_name(enum kwhy_pair_verdict verdict);

struct kwhy_pair_criterion {
	const char *name, *why; /* with the figures it is based on */
	enum kwhy_pair_verdict verdict;
};

struct kwhy_pairs {
	struct kwhy_arena arena;				      /* of everything below */
	const char *backend, *driver, *cuda, *measured_on, *settings; /* NULL: unknown */
	const char *folder;					      /* NULL: nothing is kept */
	bool is_foreign; /* from another program's traces: what they do not tell is unknown */
	uint64_t seed;
	struct kwhy_pair_gpu gpus[KWHY_PAIR_GPUS_MAX];
	uint32_t gpu_count;
	bool is_direct[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX]; /* the first reaches the second's memory */
	struct kwhy_pair_route routes[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	const char *route_missing; /* why they are not known; NULL: they are, or were not asked */
	struct kwhy_pair_drift drifts[KWHY_PAIR_GPUS_MAX];
	struct kwhy_pair_rank ranks[KWHY_PAIR_GPUS_MAX];
	uint32_t rank_count;	    /* 0: one process drove all */
	const char *nccl;	    /* its version; NULL: not used or unknown */
	const char **nccl_settings; /* "NCCL_DEBUG=WARN", as this process was given them */
	size_t nccl_setting_count;
	double time_pass_s;	 /* without what follows; NAN: not known, as those */
	double warm_s, clocks_s; /* that warming devices and comparing clocks took */
	const char *ended_early;
	bool is_lost; /* because a device was lost, or it was interrupted */
	struct kwhy_pair_config *configs;
	size_t config_count;
	size_t planned_count;			/* of them, where not all may have been reached; 0: unknown */
	struct kwhy_transfer_absence *absences; /* engines that were not measured */
	size_t absence_count;
	const char **notes; /* what was seen of the machine before */
	size_t note_count;
	struct kwhy_pair_curve *curves;
	size_t curve_count;
	struct kwhy_pair_loggp *loggps;
	size_t loggp_count;
	struct kwhy_pair_link *links; /* one a row of loggps, in their order */
	struct kwhy_pair_energy *energies;
	size_t energy_count;
	const char *energy_missing; /* why the GPUs' figures are unknown; NULL: they are known or were not
				       asked */
	struct kwhy_pair_pinning *pinnings;
	size_t pinning_count;
	const char *pinning_missing;	    /* why there are none; NULL: there are, or they were not asked */
	struct kwhy_pair_reading *readings; /* of each GPU in the order of their time */
	size_t reading_count;
	struct kwhy_pair_relation *relations;
	size_t relation_count;
	struct kwhy_pair_held_out *held_outs;
	size_t held_out_count;
	struct kwhy_pair_flag *flags;
	size_t flag_count;
	struct kwhy_pair_criterion *criteria;
	size_t criterion_count;
};

/* A clock that was held against another one, "GPU" 0 against its host's, "host of rank" 1 against rank 0's.
 */
struct kwhy_pair_compared_clock {
	const char *what;
	uint32_t number;
	bool is_host;
	const struct kwhy_pair_drift *drift;
};
enum { KWHY_PAIR_CLOCKS_MAX = 2 * KWHY_PAIR_GPUS_MAX };
/* All whose drift was measured, into room for KWHY_PAIR_CLOCKS_MAX; how many. */
size_t kwhy_pairs_list_clocks(const struct kwhy_pairs *pairs, struct kwhy_pair_compared_clock *out);

#define KWHY_PAIRS_SCHEMA "kwhy.pairs/1"

struct kwhy_pairs *kwhy_pairs_new(void); /* NULL: no memory */
void kwhy_pairs_free(struct kwhy_pairs *pairs);

/* Copy their strings. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_add_absence(
	struct kwhy_pairs *pairs, const char *engine, const char *reason, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_add_note(
	struct kwhy_pairs *pairs, const char *note, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_pairs_add_nccl_setting(
	struct kwhy_pairs *pairs, const char *setting, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_pairs_add_reading(
	struct kwhy_pairs *pairs, const struct kwhy_pair_reading *reading, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_add_energy(
	struct kwhy_pairs *pairs, const struct kwhy_pair_energy *energy, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_pairs_add_pinning(
	struct kwhy_pairs *pairs, const struct kwhy_pair_pinning *pinning, struct kwhy_error *error);

/* What it takes there over what it takes on the source's node; the interval is what both leave open. */
struct kwhy_pair_figure kwhy_pair_pinning_ratio(const struct kwhy_pair_pinning *row, enum kwhy_pair_pin pin);

/* Joules a byte that was moved, both ends together; intervals of two meters add their ends. */
struct kwhy_pair_figure kwhy_pair_energy_per_byte(const struct kwhy_pair_energy *energy, bool net);

/* The one of these; NULL: none, or without samples. */
const struct kwhy_pair_config *kwhy_pairs_find(
	const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key);
const struct kwhy_pair_curve *kwhy_pairs_curve(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, uint32_t source, uint32_t target); /* alone */

/* "18 NVLink 4, switched", "PCIe 5 x16, host bridge", "unknown"; what its limit is based on. */
enum { KWHY_PAIR_ROUTE_BYTES = 96 };
const char *kwhy_pair_route_text(char out[KWHY_PAIR_ROUTE_BYTES], const struct kwhy_pair_route *route);
const char *kwhy_pair_limit_source(enum kwhy_pair_link_kind way); /* NULL: no limit */

/* Of this pair alone, the one with the highest rate, one way or both; NULL: none was measured. */
const struct kwhy_pair_config *kwhy_pairs_fastest(
	const struct kwhy_pairs *pairs, uint32_t source, uint32_t target, bool both_directions);
/* What it reaches of the limit of its link; NAN: one of the two is not known. */
double kwhy_pairs_of_limit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config);

/* Whether any pair is joined by it. */
bool kwhy_pairs_have_link_kind(const struct kwhy_pairs *pairs, enum kwhy_pair_link_kind way);

/* Whether two pairs are joined by the same kind of link, so that one stands for the other. */
bool kwhy_pairs_are_alike(const struct kwhy_pairs *pairs, uint32_t a_source, uint32_t a_target,
	uint32_t b_source, uint32_t b_target);

/* Whether it is the first pair of its kind of link, either way: what is measured of it holds for them all. */
bool kwhy_pairs_stands_for_others(const struct kwhy_pairs *pairs, uint32_t source, uint32_t target);

/* Whether bytes go both directions concurrently. */
bool kwhy_pair_is_exchange(enum kwhy_pair_engine engine);

/* Whether NCCL does it; collectives on the host are our own. */
bool kwhy_pair_is_by_nccl(enum kwhy_pair_engine engine);

/* Whether all GPUs take part. */
bool kwhy_pair_is_collective(enum kwhy_pair_engine engine);
/* What each link of a ring of N carries of a collective's bytes: times kwhy_pair_rate() it is the "bus
 * bandwidth" of nccl-tests. 1 for anything else. */
double kwhy_pair_bus_share(enum kwhy_pair_engine engine, uint32_t gpu_count);

/* Bytes a second, both directions of an exchange. NAN: no samples. */
double kwhy_pair_rate(const struct kwhy_pair_config *config);

/* "p2p_cfg0007_s0d1_sz4096_r3" */
enum { KWHY_PAIR_NAME_BYTES = 96 };
const char *kwhy_pair_name(
	char out[KWHY_PAIR_NAME_BYTES], size_t id, const struct kwhy_pair_config *config, size_t repetition);

#endif
