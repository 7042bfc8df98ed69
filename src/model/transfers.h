/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_TRANSFERS_H
#define KWHY_MODEL_TRANSFERS_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Measured times and energies of transfers between a host and its GPU, and what follows from them: curves,
 * the fastest method for each size, and the size from which one method is faster than another
 * (docs/formats/transfers.md). Times are seconds of one operation; NAN: not measured.
 */
enum kwhy_transfer_direction {
	KWHY_TRANSFER_H2D,
	KWHY_TRANSFER_D2H,
	KWHY_TRANSFER_BOTH, /* both directions concurrently; bytes are those of one direction */
	KWHY_TRANSFER_DIRECTION_COUNT
};

/* How the time of a transfer is measured. At small sizes the times by these clocks differ several-fold. */
enum kwhy_transfer_clock {
	KWHY_TRANSFER_BACK_TO_BACK, /* mean time of a transfer in a row of transfers that are all queued
				       before the first one starts */
	KWHY_TRANSFER_ISOLATED, /* time of one transfer on an otherwise idle device, between two device events
				 */
	KWHY_TRANSFER_BY_HOST,	/* time on the host's clock from the call that issues a transfer until a wait
				   for it has returned */
	KWHY_TRANSFER_CLOCK_COUNT
};

const char *kwhy_transfer_direction_name(enum kwhy_transfer_direction direction); /* "h2d", "d2h", "both" */
const char *kwhy_transfer_clock_name(enum kwhy_transfer_clock clock); /* "back-to-back", "isolated", "host" */

/* Summary of samples. low_s and high_s are the 95 % interval of the median, by order statistics. */
struct kwhy_transfer_summary {
	size_t count;
	double median_s, least_s, p5_s, p95_s; /* NAN: no samples */
	double low_s, high_s;		       /* NAN: fewer than six samples */
};

/*
 * State of the device during the samples, in degrees Celsius, Hz and watts; NAN: the device has no such
 * sensor.
 */
struct kwhy_transfer_conditions {
	/* highest temperature, lowest clocks, mean power */
	double temperature_c, clock_hz, memory_clock_hz, power_w;
	unsigned throttle_bits; /* bits of enum kwhy_throttle that were set at any time */
};

enum { KWHY_TRANSFER_SAMPLES_MAX = 256 };

/* When and on which CPU a sample was taken; NAN: unknown. */
struct kwhy_transfer_moment {
	double at_s; /* start of the batch to which the sample belongs, in seconds since the run was started
			or resumed */
	double cpu;
};

/* Samples of one method of transfer, for one direction, total size and number of pieces, by one clock. */
struct kwhy_transfer_point {
	const char *strategy; /* id of the method: "pinned" */
	enum kwhy_transfer_direction direction;
	enum kwhy_transfer_clock clock;
	uint64_t bytes;	 /* bytes of all pieces together */
	uint32_t pieces; /* number of pieces that the method moves together; 1: one contiguous transfer */
	double *samples_s;
	struct kwhy_transfer_moment *moments; /* [sample_count]; NULL: unknown */
	size_t sample_count;
	struct kwhy_transfer_summary summary;
	struct kwhy_transfer_conditions conditions;
	double link_bytes; /* bytes that went over the link; NAN: the same as `bytes` */
	bool verified;	   /* the received bytes equal the sent ones */
	bool capped; /* sampling stopped at the limit on samples or on time before the 95 % interval of the
			median was narrow enough */
};

/* Joules of one transfer, as the mean over many transfers in a row. Intervals are 95 %. */
struct kwhy_transfer_energy {
	const char *strategy;
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	uint32_t pieces;
	uint64_t transfers;
	double seconds;
	double gross_j, gross_low_j, gross_high_j; /* energy of the GPU; NAN: not available */
	double net_j, net_low_j, net_high_j;	   /* energy of the GPU above its idle power with a context */
	double host_j, host_low_j, host_high_j;	   /* gross energy of the CPU packages */
};

/* A linear segment of a curve: seconds = alpha + beta * bytes. */
struct kwhy_transfer_segment {
	double from_bytes, to_bytes;
	double alpha_s, beta_s_per_byte;
};

enum { KWHY_TRANSFER_SEGMENTS_MAX = 6 };

struct kwhy_transfer_curve {
	const char *strategy;
	enum kwhy_transfer_direction direction;
	enum kwhy_transfer_clock clock;
	bool is_energy; /* the fit is of gross joules of the GPU, not of seconds */
	struct kwhy_transfer_segment segments[KWHY_TRANSFER_SEGMENTS_MAX];
	size_t segment_count;
	double residual_ratio; /* root mean square of the relative residuals (residual divided by measured
				  value) */
	/*
	 * each size is predicted by a fit to the other sizes: mean and largest absolute value of the relative
	 * error; NAN: too few sizes
	 */
	double held_out_ratio, held_out_worst_ratio;
	size_t point_count;
};

/* The fastest method for a number of pieces of a given size, by the host's clock. */
struct kwhy_transfer_choice {
	enum kwhy_transfer_direction direction;
	uint64_t piece_bytes;
	uint32_t pieces;
	const char *strategy;
	double median_s;
	const char *second; /* the second fastest method; NULL: no other method */
	double second_s;
	bool is_sure; /* the 95 % intervals of the medians of both methods do not overlap */
};

/*
 * A range of sizes in which one method is faster than another, and the 95 % intervals of their medians do not
 * overlap.
 */
struct kwhy_transfer_stretch {
	uint64_t from_bytes, to_bytes; /* measured sizes, both inclusive */
};

enum { KWHY_TRANSFER_STRETCHES_MAX = 8 };

/* Ranges of sizes in which the method `better` is faster than the method `than`, both measured by `clock`. */
struct kwhy_transfer_baseline {
	const char *question; /* "is converting to fp16 first worth it?" */
	const char *better, *than;
	enum kwhy_transfer_direction direction;
	enum kwhy_transfer_clock clock;
	uint32_t pieces; /* number of pieces of one transfer; 1: sizes are those of the transfer; above 1:
			    sizes are those of one piece */
	struct kwhy_transfer_stretch stretches[KWHY_TRANSFER_STRETCHES_MAX];
	size_t stretch_count, sizes_compared;
	double best_ratio; /* largest ratio of the time of `than` to that of `better`, which was at best_bytes
			    */
	uint64_t best_bytes;
};

/*
 * Number of transfers of a buffer after which page-locking it has paid off: cost_s / (pageable_s - pinned_s),
 * from the time of page-locking and the times of one transfer without and with it.
 */
struct kwhy_transfer_pinning {
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	double cost_s, pageable_s, pinned_s;
	double transfers; /* NAN: a transfer of page-locked memory is not faster */
};

/*
 * The gain of compression at the largest size at which it was measured. L is the rate of the link, E the rate
 * of expanding on the GPU, C the rate of compressing; E and C count uncompressed bytes per second.
 * Compression makes S bytes smaller by the factor r. If sending and expanding overlap, S bytes take max(S /
 * (r L), S / E). Compressing takes S / C more, unless the data are already compressed. A pinned copy of the
 * uncompressed bytes takes S / L. If the data are already compressed, compression saves time if r is above 1
 * and E is above L; otherwise, if S / C plus the maximum above is below S / L.
 */
struct kwhy_transfer_compression {
	uint64_t bytes; /* 0: not measured */
	double ratio;	/* r: bytes before compression divided by bytes on the link */
	double link_bytes_per_s, expand_bytes_per_s, compress_bytes_per_s; /* L, E, C; NAN: not measured */
	double serial_ratio; /* time of a pinned copy, divided by the time of copying compressed data and then
				expanding them */
	double overlapped_ratio; /* time of a pinned copy, divided by the time of expanding one part while the
				    next is copied; NAN: not measured */
};

/*
 * Sizes from which on one method of moving many pieces is faster than another. Each is chosen such that a
 * program that uses the one method from this size on and the other below loses the least time, summed over
 * all measured sizes, against always using the faster method. Twice the largest measured size: the one method
 * is faster at no measured size. 0: not measured.
 */
struct kwhy_transfer_crossover {
	uint64_t put_packed_bytes; /* smallest total size of the pieces at which copying them packed to the
				      device is faster than a kernel that reads them over the link */
	uint64_t get_packed_bytes; /* smallest total size of the pieces at which copying them packed to the
				      host is faster than a kernel that writes them over the link */
	uint64_t batch_bytes; /* smallest size of one piece at which a batch of copies is faster than a kernel
				 that accesses each piece */
};

/* A strategy that could not be measured here, or did not finish. */
struct kwhy_transfer_absence {
	const char *strategy, *reason;
};

struct kwhy_transfers {
	struct kwhy_arena arena; /* memory of everything that the members below point to */
	const char *backend, *device_name, *pci_address, *driver, *cuda, *measured_on; /* NULL: unknown */
	const char *data; /* content of the compressed transfers: the name of a file, or "random" */
	uint64_t seed;
	double time_budget_s, time_pass_s; /* time allowed and time taken, in seconds, for measuring times
					      (not energies), since the run was started or resumed */
	double context_idle_w;		   /* NAN: not measured */
	/* why the GPU's energy is unknown; NULL: it is known, or the user did not ask for it */
	const char *energy_missing;
	const char *ended_early; /* why the run ended early; NULL: it did not end early */
	bool is_lost; /* the run ended early because the device was lost or the run was interrupted */
	struct kwhy_transfer_point *points;
	size_t point_count;
	struct kwhy_transfer_energy *energies;
	size_t energy_count;
	struct kwhy_transfer_absence *absences;
	size_t absence_count;
	struct kwhy_transfer_curve *curves;
	size_t curve_count;
	struct kwhy_transfer_choice *choices;
	size_t choice_count;
	struct kwhy_transfer_crossover crossover;
	struct kwhy_transfer_compression compression;
	struct kwhy_transfer_baseline *baselines;
	size_t baseline_count;
	struct kwhy_transfer_pinning *pinnings;
	size_t pinning_count;
};

#define KWHY_TRANSFERS_SCHEMA "kwhy.transfers/1"

/*
 * Bytes per second of a point, from its median; for KWHY_TRANSFER_BOTH the bytes of both directions are
 * counted. NAN: no samples.
 */
double kwhy_transfer_rate(const struct kwhy_transfer_point *point);

/* Makes empty results; NULL: out of memory. */
struct kwhy_transfers *kwhy_transfers_new(void);

/* Appends a copy of an energy. */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_add_energy(struct kwhy_transfers *transfers,
	const struct kwhy_transfer_energy *energy, struct kwhy_error *error);

/* Appends why a strategy is missing; strings are copied. */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_add_absence(
	struct kwhy_transfers *transfers, const char *strategy, const char *reason, struct kwhy_error *error);

void kwhy_transfers_free(struct kwhy_transfers *transfers);

#endif
