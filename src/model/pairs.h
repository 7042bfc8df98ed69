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
 * Measured times and energies of transfers between GPUs, and models fitted to them (docs/formats/pairs.md).
 * Times are in seconds, of one transfer; NAN: not measured.
 */
enum kwhy_pair_engine {
	KWHY_PAIR_WRITE,  /* a copy queued on a stream of the source */
	KWHY_PAIR_READ,	  /* a copy queued on a stream of the target */
	KWHY_PAIR_KERNEL, /* a kernel on the source that writes to the target's memory */
	KWHY_PAIR_STAGED, /* two copies through host memory, in pieces: one piece is copied to the target
			     while the next is copied from the source */
	KWHY_PAIR_PUT, /* by turns a kernel on one GPU writes the bytes and then a flag into the other GPU's
			  memory, where a kernel waits for the flag; the time is half a round trip */
	KWHY_PAIR_PING_PONG, /* copies back and forth, each of which starts when the other ends; the time is
				half a round trip */
	KWHY_PAIR_EXCHANGE,  /* copies in both directions concurrently; bytes are those of one direction */
	KWHY_PAIR_NCCL,	     /* NCCL's send and receive, on a communicator of the two GPUs */
	KWHY_PAIR_NCCL_EXCHANGE, /* NCCL's send and receive in both directions in one group; bytes are those
				    of one direction */
	KWHY_PAIR_NCCL_FULL,	 /* NCCL's send and receive, on the communicator of all GPUs */
	KWHY_PAIR_SOCKET,	 /* from host memory to host memory by TCP, between processes */
	/*
	 * Collectives of all GPUs, by NCCL; the host back end, which needs no GPU, has its own
	 * implementation. The source is the first GPU, which is the root of a broadcast, and the target is
	 * the last GPU. Bytes are counted as in nccl-tests: the larger of what each GPU sends and what each
	 * GPU receives.
	 */
	KWHY_PAIR_ALL_REDUCE,
	KWHY_PAIR_ALL_GATHER,
	KWHY_PAIR_REDUCE_SCATTER,
	KWHY_PAIR_BROADCAST,
	KWHY_PAIR_ALL_EXCHANGE, /* all-to-all: each GPU sends a different part to each GPU */
	KWHY_PAIR_ENGINE_COUNT
};

/*
 * Transfers that run concurrently with the measured one, to load the links. "As much" means the same number
 * of bytes.
 */
enum kwhy_pair_load {
	KWHY_PAIR_ALONE,
	KWHY_PAIR_SAME_SOURCE, /* the source sends as much to a third GPU */
	KWHY_PAIR_SAME_TARGET, /* a third GPU sends as much to the target */
	KWHY_PAIR_DISJOINT,    /* two GPUs other than source and target run the same transfer between them */
	KWHY_PAIR_ALL_TO_ALL,  /* every GPU sends as much to every other GPU */
	KWHY_PAIR_FROM_HOST,   /* the target receives as much from the host */
	KWHY_PAIR_REFERENCE,   /* no other transfer; the same configuration is repeated over the run to detect
				  drift */
	KWHY_PAIR_LOAD_COUNT
};

enum kwhy_pair_clock {
	KWHY_PAIR_BACK_TO_BACK, /* this and the next two clocks are described at enum kwhy_transfer_clock
				   (transfers.h) */
	KWHY_PAIR_ISOLATED,
	KWHY_PAIR_BY_HOST,
	KWHY_PAIR_CALL,	  /* time that the host spends in the calls by which it queues the transfer */
	KWHY_PAIR_QUEUED, /* mean time of a transfer in a row of transfers; the first transfers run while
			     later ones are still being queued, and each uses the next part of the buffers,
			     as in nccl-tests */
	KWHY_PAIR_CLOCK_COUNT
};

const char *kwhy_pair_engine_name(enum kwhy_pair_engine engine); /* "write" */
const char *kwhy_pair_engine_title(enum kwhy_pair_engine engine);
const char *kwhy_pair_load_name(enum kwhy_pair_load load);    /* "alone" */
const char *kwhy_pair_clock_name(enum kwhy_pair_clock clock); /* "back-to-back" */

enum { KWHY_PAIR_GPUS_MAX = 16, KWHY_PAIR_SAMPLES_MAX = 256 };
#define KWHY_PAIR_BYTES_MAX (UINT64_C(1) << 53) /* bytes of one transfer, exact as a double */

struct kwhy_pair_sample {
	/*
	 * Unix times at which the sample's transfer began and ended; if the sample is the mean of a burst of
	 * transfers, those of the burst
	 */
	int64_t start_unix_ns, end_unix_ns;
	double seconds; /* time of one transfer */
};

/* Transfers of one size from one GPU to another by one engine, with their samples. */
struct kwhy_pair_config {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_load load;
	enum kwhy_pair_clock clock;
	uint32_t source, target; /* indexes into `gpus` of struct kwhy_pairs */
	uint64_t bytes;
	struct kwhy_pair_sample *samples; /* memory for KWHY_PAIR_SAMPLES_MAX samples; NULL: no samples */
	size_t sample_count;
	struct kwhy_transfer_summary summary;
	double mean_s, deviation_s;		    /* NAN: too few samples */
	struct kwhy_transfer_conditions conditions; /* state of the source GPU during the samples */
	bool verified;				    /* the received bytes equal the sent ones */
	bool capped; /* sampling stopped at the limit on samples or on time before the 95 % interval of the
			median was narrow enough (WIDTH_RATIO in bench/pairs/sweep.c) */
};

struct kwhy_pair_gpu {
	const char *name, *pci_address; /* NULL: unknown */
	int numa_node;			/* -1: unknown */
	int architecture; /* compute capability times 10: 90 for 9.0; 0: unknown. In sm_count and
			     memory_bytes, too, 0 means unknown */
	uint32_t sm_count;
	uint64_t memory_bytes;
};

/* The link between two GPUs, as the driver reports it. */
enum kwhy_pair_link_kind {
	KWHY_PAIR_LINK_KIND_UNKNOWN,
	KWHY_PAIR_NVSWITCH, /* NVLinks to switches */
	KWHY_PAIR_NVLINK,   /* NVLinks that join the two GPUs directly */
	KWHY_PAIR_PCIE,
	KWHY_PAIR_LINK_KIND_COUNT
};
const char *kwhy_pair_link_kind_name(enum kwhy_pair_link_kind way); /* "nvswitch" */

struct kwhy_pair_route {
	enum kwhy_pair_link_kind way;
	unsigned lanes; /* number of active NVLinks from one GPU to the other, or of active PCIe lanes at the
			   end that has fewer; 0: unknown */
	unsigned lanes_most;	  /* number of lanes if all were active; 0: unknown */
	unsigned generation;	  /* generation of NVLink or PCIe; 0: unknown */
	double limit_bytes_per_s; /* rate of all lanes in one direction; NAN: unknown */
	int ancestor; /* common ancestor as an NVML topology level: 0 one board, 10 one switch, ... 50 system;
			 -1: unknown */
};

/* Drift of a device's clock against the host's monotonic clock over the run; NAN: not measured. */
struct kwhy_pair_drift {
	double ppm, half_width_ppm; /* half_width_ppm is from the uncertainty of the clock comparisons at the
				       start and the end of the run */
};

/*
 * Grade of a clock by its absolute drift: below 1 ppm, 1 to 10 ppm, above 10 ppm. The grade is unknown if
 * the interval of the drift spans two grades.
 */
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
/* Lower and upper end of the interval of a measured drift's absolute value, in ppm; at least 0. */
double kwhy_pair_drift_least(const struct kwhy_pair_drift *drift);
double kwhy_pair_drift_most(const struct kwhy_pair_drift *drift);

/*
 * One process of a run that has several processes, each with one GPU. The clocks of its host are compared
 * with those of the host of rank 0. NAN: unknown.
 */
struct kwhy_pair_rank {
	const char *host;
	int64_t process;
	double offset_ns, offset_half_width_ns; /* Unix time of its host minus that of rank 0's host, at the
						   start of the run */
	struct kwhy_pair_drift drift; /* drift of its host's monotonic clock against that of rank 0's host */
};

/* Time as a piecewise linear function of size, fitted for one pair, engine, load and clock. */
struct kwhy_pair_curve {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_load load;
	enum kwhy_pair_clock clock;
	uint32_t source, target;
	struct kwhy_transfer_segment segments[KWHY_TRANSFER_SEGMENTS_MAX];
	size_t segment_count, point_count;
	double residual_ratio;
	/*
	 * Each size is predicted by a fit to the other sizes. Median and largest absolute value of the
	 * relative error of these predictions; NAN: too few sizes.
	 */
	double held_out_median_ratio, held_out_worst_ratio;
};

/*
 * A figure with its 95 % interval, and the parameters of the LogGP model of a pair (Alexandrov et al. 1995)
 * in seconds; NAN: not measured.
 */
struct kwhy_pair_figure {
	double value, low, high;
};
struct kwhy_pair_loggp {
	uint32_t source, target;
	struct kwhy_pair_figure o_send; /* time in which the host queues a transfer of the smallest size */
	struct kwhy_pair_figure o_receive;
	struct kwhy_pair_figure g;   /* gap: time per transfer in a row of transfers of the smallest size */
	struct kwhy_pair_figure big; /* the model's G: seconds per further byte of a large transfer */
	struct kwhy_pair_figure latency;
};

/*
 * Joules of one transfer, measured at both ends over a burst of transfers; for an exchange, joules of both
 * directions together. Net is the energy above the level of idle GPUs with contexts. Intervals are 95 %; NAN:
 * unknown.
 */
struct kwhy_pair_energy {
	enum kwhy_pair_engine engine;
	uint32_t source, target;
	uint64_t bytes, transfers;
	double seconds; /* length of the burst divided by the number of transfers */
	struct kwhy_pair_figure source_gross, source_net, target_gross, target_net;
	struct kwhy_pair_figure host_gross; /* energy of all metered RAPL domains of the host per transfer */
};

/*
 * The model of a pair that most simulators use: seconds = alpha + beta * bytes, fitted to sizes from 64 KiB.
 */
struct kwhy_pair_link {
	uint32_t source, target;
	struct kwhy_pair_figure alpha, beta; /* alpha in seconds, beta in seconds per byte; NAN: fewer than
						three sizes are 64 KiB or larger */
};

/* Which CPUs the host thread that queues a transfer and waits for it was bound to. */
enum kwhy_pair_pin {
	KWHY_PAIR_FREE, /* any CPU that the system chose */
	KWHY_PAIR_NEAR, /* those of the source's NUMA node */
	KWHY_PAIR_FAR,	/* those of another NUMA node */
	KWHY_PAIR_PIN_COUNT
};

/*
 * Times of a transfer for each choice of CPUs for the host thread (enum kwhy_pair_pin): medians in seconds,
 * with 95 % intervals.
 */
struct kwhy_pair_pinning {
	enum kwhy_pair_engine engine;
	enum kwhy_pair_clock clock;
	uint32_t source, target;
	uint64_t bytes;
	int near_node, far_node;
	struct kwhy_pair_figure times[KWHY_PAIR_PIN_COUNT];
};

/* One reading of a GPU's gauges; NAN: unknown. */
struct kwhy_pair_reading {
	int64_t unix_ns;
	uint32_t gpu;
	double temperature_c, power_w, clock_hz;
};

/*
 * Gauges of a GPU whose correlation with the times of the transfers that the GPU sends is computed. The
 * coefficient r is that of the gauge and the median deviation of the transfers sent after a reading, over all
 * readings, with its 95 % interval (Fisher's z with the number of independent readings).
 */
enum kwhy_pair_gauge { KWHY_PAIR_TEMPERATURE, KWHY_PAIR_CLOCK, KWHY_PAIR_GAUGE_COUNT };
const char *kwhy_pair_gauge_name(enum kwhy_pair_gauge gauge); /* "temperature" */

struct kwhy_pair_relation {
	uint32_t gpu;
	enum kwhy_pair_gauge gauge;
	size_t count;		     /* number of readings with transfer times */
	double least, most;	     /* lowest and highest reading of the gauge, in degrees Celsius or Hz */
	struct kwhy_pair_figure r;   /* NAN: unknown, and `missing` says why */
	double slope_ratio_per_unit; /* relative change of the time of a transfer per degree Celsius, or per
					Hz */
	const char *missing;	     /* NULL: `r` is known */
};

/*
 * Measurements that were left out of a fit, to test it. An error is the predicted time divided by the
 * measured time, minus 1. For sizes held out of curves, the error of a curve is the median absolute error
 * over its sizes, and median_ratio and worst_ratio are the median and the largest of these over the curves.
 */
struct kwhy_pair_held_out {
	const char *what, *model;
	unsigned flows; /* number of concurrent transfers that share the busiest port of a GPU in these
			   measurements; 0: this does not apply */
	size_t count;	/* number of configurations, or of curves, with such measurements */
	double median_ratio, worst_ratio;
};

/* A pair of GPUs whose results or link are worse than expected. */
struct kwhy_pair_flag {
	uint32_t source, target;
	const char *what, *likely_cause; /* likely_cause NULL: no measurement hints at a cause */
};

enum kwhy_pair_verdict { KWHY_PAIR_PASS, KWHY_PAIR_FAIL, KWHY_PAIR_UNKNOWN };
const char *kwhy_pair_verdict_name(enum kwhy_pair_verdict verdict);

struct kwhy_pair_criterion {
	const char *name, *why; /* `why` has the figures that the verdict is based on */
	enum kwhy_pair_verdict verdict;
};

struct kwhy_pairs {
	struct kwhy_arena arena;				      /* memory of everything below */
	const char *backend, *driver, *cuda, *measured_on, *settings; /* NULL: unknown */
	const char *folder; /* folder of the run's files; NULL: no files are kept */
	bool is_foreign; /* imported from traces of another program; fields that the traces do not contain are
			    unknown */
	uint64_t seed;
	struct kwhy_pair_gpu gpus[KWHY_PAIR_GPUS_MAX];
	uint32_t gpu_count;
	/* [source][target]: whether the source can access the target's memory */
	bool is_direct[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	struct kwhy_pair_route routes[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	const char *route_missing; /* why the routes are unknown; NULL: they are known, or were not queried */
	struct kwhy_pair_drift drifts[KWHY_PAIR_GPUS_MAX];
	struct kwhy_pair_rank ranks[KWHY_PAIR_GPUS_MAX];
	uint32_t rank_count;	    /* number of ranks; 0: one process drove all GPUs */
	const char *nccl;	    /* version of NCCL; NULL: NCCL was not used, or its version is unknown */
	const char **nccl_settings; /* "NCCL_DEBUG=WARN", ... from this process's environment */
	size_t nccl_setting_count;
	double time_pass_s; /* length of the sweep without warm_s and clocks_s; NAN: all three are unknown */
	double warm_s, clocks_s; /* time for warming up the devices, and for reading the clocks of all devices
				    and ranks against each other, from which drifts follow */
	const char *ended_early;
	bool is_lost; /* the sweep ended early because a device was lost or the sweep was interrupted */
	struct kwhy_pair_config *configs;
	size_t config_count;
	size_t planned_count; /* number of planned configurations, some of which are missing after an early
				 end; 0: unknown */
	struct kwhy_transfer_absence *absences; /* engines that were not measured, with the reasons */
	size_t absence_count;
	const char **notes; /* remarks on the machine's state before the measurement, one sentence each */
	size_t note_count;
	struct kwhy_pair_curve *curves;
	size_t curve_count;
	struct kwhy_pair_loggp *loggps;
	size_t loggp_count;
	struct kwhy_pair_link *links; /* one for each item of loggps, in the same order */
	struct kwhy_pair_energy *energies;
	size_t energy_count;
	const char *energy_missing; /* why the GPUs' energies are unknown; NULL: they are known, or the user
				       did not ask for them */
	struct kwhy_pair_pinning *pinnings;
	size_t pinning_count;
	const char *pinning_missing; /* why there are no times by NUMA placement; NULL: there are some, or the
					user did not ask for them */
	struct kwhy_pair_reading *readings; /* ordered by time for each GPU */
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

/*
 * A clock whose drift was measured: the clock of GPU `number` against that of its host (`what` is "GPU"), or
 * the clock of the host of rank `number` against that of rank 0's host (`what` is "host of rank", and is_host
 * is true).
 */
struct kwhy_pair_compared_clock {
	const char *what;
	uint32_t number;
	bool is_host;
	const struct kwhy_pair_drift *drift;
};
enum { KWHY_PAIR_CLOCKS_MAX = 2 * KWHY_PAIR_GPUS_MAX };
/* Lists all clocks whose drift was measured in out[KWHY_PAIR_CLOCKS_MAX]; returns their number. */
size_t kwhy_pairs_list_clocks(const struct kwhy_pairs *pairs, struct kwhy_pair_compared_clock *out);

#define KWHY_PAIRS_SCHEMA "kwhy.pairs/1"

struct kwhy_pairs *kwhy_pairs_new(void); /* NULL: out of memory */
void kwhy_pairs_free(struct kwhy_pairs *pairs);

/* The _add functions append a copy of their argument, including its strings. */
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

/*
 * Time of a transfer with the host thread on the CPUs of `pin`, divided by the time with the thread on the
 * CPUs of the source's NUMA node (KWHY_PAIR_NEAR). The interval is that of the quotients of any two times in
 * their intervals.
 */
struct kwhy_pair_figure kwhy_pair_pinning_ratio(const struct kwhy_pair_pinning *row, enum kwhy_pair_pin pin);

/*
 * Joules per byte moved, of both GPUs together. The half-widths of the intervals of the two GPUs' energies
 * are added.
 */
struct kwhy_pair_figure kwhy_pair_energy_per_byte(const struct kwhy_pair_energy *energy, bool net);

/*
 * The transfers of one engine that were timed by one clock under load KWHY_PAIR_ALONE, between all pairs of
 * GPUs. `links` has the model fitted to each pair.
 */
struct kwhy_pair_series {
	const struct kwhy_pairs *pairs;
	enum kwhy_pair_engine engine;
	enum kwhy_pair_clock clock;
	struct kwhy_pair_link links[KWHY_PAIR_GPUS_MAX * KWHY_PAIR_GPUS_MAX];
	size_t link_count;
	double gap_s; /* time of a transfer of the smallest size between the GPUs of links[0]; NAN: not
			 measured */
};

/*
 * The configuration with the key's engine, load, clock, pair and bytes; NULL: it does not exist or has no
 * samples.
 */
const struct kwhy_pair_config *kwhy_pairs_find(
	const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key);
const struct kwhy_pair_curve *kwhy_pairs_curve(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	/* the curve with load KWHY_PAIR_ALONE; NULL: no such curve */
	enum kwhy_pair_clock clock, uint32_t source, uint32_t target);

/* Text of a route: "18 NVLink 4, switched", "PCIe 5 x16, host bridge", "unknown". */
enum { KWHY_PAIR_ROUTE_BYTES = 96 };
const char *kwhy_pair_route_text(char out[KWHY_PAIR_ROUTE_BYTES], const struct kwhy_pair_route *route);
/* words that say what limit_bytes_per_s of a link of this kind is computed from; NULL: no limit is known */
const char *kwhy_pair_limit_source(enum kwhy_pair_link_kind way);

/*
 * The configuration with the highest kwhy_pair_rate() from this source to this target under load
 * KWHY_PAIR_ALONE, among exchanges if `both_directions`, otherwise among transfers in one direction.
 * Collectives and times by the clock KWHY_PAIR_CALL do not count. NULL: nothing was measured.
 */
const struct kwhy_pair_config *kwhy_pairs_fastest(
	const struct kwhy_pairs *pairs, uint32_t source, uint32_t target, bool both_directions);
/*
 * Rate of a configuration divided by the limit of its link, which for an exchange is the limit of both
 * directions together. NAN: the rate or the limit is unknown, or `config` is NULL.
 */
double kwhy_pairs_of_limit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config);

/* Whether any two GPUs are joined by a link of this kind. */
bool kwhy_pairs_have_link_kind(const struct kwhy_pairs *pairs, enum kwhy_pair_link_kind way);

/*
 * Whether the links of two pairs have the same kind, lanes, generation and direct access and, except for
 * NVLink, the same common ancestor. Results of one pair are then taken to hold for the other.
 */
bool kwhy_pairs_are_alike(const struct kwhy_pairs *pairs, uint32_t a_source, uint32_t a_target,
	uint32_t b_source, uint32_t b_target);

/*
 * Whether this pair of GPUs, in either order, is the first of all pairs whose links are like its own
 * (kwhy_pairs_are_alike()), so that its results hold for all of these.
 */
bool kwhy_pairs_stands_for_others(const struct kwhy_pairs *pairs, uint32_t source, uint32_t target);

/* Whether an engine moves bytes in both directions concurrently. */
bool kwhy_pair_is_exchange(enum kwhy_pair_engine engine);

/*
 * Whether an engine moves bytes by NCCL. True for all collectives, although those of the host back end are
 * kwhy's own.
 */
bool kwhy_pair_is_by_nccl(enum kwhy_pair_engine engine);

/* Whether an engine uses all GPUs. */
bool kwhy_pair_is_collective(enum kwhy_pair_engine engine);
/*
 * Bytes that each link of a ring of all GPUs carries in a collective, divided by the collective's bytes; 1
 * for other engines. This ratio times kwhy_pair_rate() is the "bus bandwidth" (busbw) of nccl-tests.
 */
double kwhy_pair_bus_share(enum kwhy_pair_engine engine, uint32_t gpu_count);

/*
 * Rate of a configuration in bytes per second; for an exchange, that of both directions together. NAN: no
 * samples.
 */
double kwhy_pair_rate(const struct kwhy_pair_config *config);

/* Name of one repetition of a configuration: "p2p_cfg0007_s0d1_sz4096_r3". */
enum { KWHY_PAIR_NAME_BYTES = 96 };
const char *kwhy_pair_name(
	char out[KWHY_PAIR_NAME_BYTES], size_t id, const struct kwhy_pair_config *config, size_t repetition);

#endif
