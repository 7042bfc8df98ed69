/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_TRANSFERS_H
#define KWHY_MODEL_TRANSFERS_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What moving bytes between a host and its GPU was measured to cost, and what follows from it: curves, the
 * fastest method for each size, and the size from which one method beats another (docs/formats/transfers.md).
 * Times are seconds of one operation; NAN is what was not measured.
 */
enum kwhy_transfer_direction {
	KWHY_TRANSFER_H2D,
	KWHY_TRANSFER_D2H,
	KWHY_TRANSFER_BOTH, /* at once; bytes are those of each way */
	KWHY_TRANSFER_DIRECTION_COUNT
};

/* What a time is of. Peers differ here by definition, and at small sizes by several times. */
enum kwhy_transfer_clock {
	KWHY_TRANSFER_BACK_TO_BACK, /* in a full queue behind a gate: one of a row of them */
	KWHY_TRANSFER_ISOLATED,	    /* between two events of the device, alone */
	KWHY_TRANSFER_BY_HOST,	    /* on the host, from the call until it is known to be done */
	KWHY_TRANSFER_CLOCK_COUNT
};

const char *kwhy_transfer_direction_name(enum kwhy_transfer_direction direction); /* "h2d", "d2h", "both" */
const char *kwhy_transfer_clock_name(enum kwhy_transfer_clock clock); /* "back-to-back", "isolated", "host" */

/* Of samples: the interval of the median is the 95 % one, by order statistics. */
struct kwhy_transfer_summary {
	size_t count;
	double median_s, least_s, p5_s, p95_s; /* NAN: no samples */
	double low_s, high_s;		       /* NAN: fewer than six samples */
};

/* What the device was like meanwhile; NAN: no sensor. */
struct kwhy_transfer_conditions {
	double temperature_c, clock_hz, memory_clock_hz, power_w; /* hottest, slowest, slowest, mean */
	unsigned throttle_bits;					  /* of enum kwhy_throttle, at any time */
};

enum { KWHY_TRANSFER_SAMPLES_MAX = 256 };

/* When and where a sample was taken; NAN: not known. */
struct kwhy_transfer_moment {
	double at_s; /* when its visit began, since the run was begun or carried on */
	double cpu;
};

/* One way of moving one amount, measured by one clock. */
struct kwhy_transfer_point {
	const char *strategy; /* its id: "pinned" */
	enum kwhy_transfer_direction direction;
	enum kwhy_transfer_clock clock;
	uint64_t bytes;	 /* of all pieces */
	uint32_t pieces; /* 1: a single transfer */
	double *samples_s;
	struct kwhy_transfer_moment *moments; /* of each; NULL: none is known */
	size_t sample_count;
	struct kwhy_transfer_summary summary;
	struct kwhy_transfer_conditions conditions;
	double link_bytes; /* that went over the link; NAN: as many as there are */
	bool verified;	   /* the bytes that came were those that went */
	bool capped;	   /* left before the interval was narrow enough: by number of samples or by time */
};

/* Joules of many transfers in a row, divided by their number; the interval is the 95 % one. */
struct kwhy_transfer_energy {
	const char *strategy;
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	uint32_t pieces;
	uint64_t transfers;
	double seconds;
	double gross_j, gross_low_j, gross_high_j; /* of one, of the GPU; NAN: not available */
	double net_j, net_low_j, net_high_j;	   /* above a context that idles */
	double host_j, host_low_j, host_high_j;	   /* of the CPU packages, gross */
};

/* A straight piece of a curve: seconds = alpha + beta * bytes. */
struct kwhy_transfer_segment {
	double from_bytes, to_bytes;
	double alpha_s, beta_s_per_byte;
};

enum { KWHY_TRANSFER_SEGMENTS_MAX = 6 };

struct kwhy_transfer_curve {
	const char *strategy;
	enum kwhy_transfer_direction direction;
	enum kwhy_transfer_clock clock;
	bool is_energy; /* joules in place of seconds, gross, of the GPU */
	struct kwhy_transfer_segment segments[KWHY_TRANSFER_SEGMENTS_MAX];
	size_t segment_count;
	double residual_ratio;			     /* root mean square of what the fit leaves, by value */
	double held_out_ratio, held_out_worst_ratio; /* mean and worst error at sizes that it was not fitted
							to; NAN: too few */
	size_t point_count;
};

/* The fastest method for a number of pieces of a given size, by the host's clock. */
struct kwhy_transfer_choice {
	enum kwhy_transfer_direction direction;
	uint64_t piece_bytes;
	uint32_t pieces;
	const char *strategy;
	double median_s;
	const char *second; /* the next best; NULL: none */
	double second_s;
	bool is_sure; /* their intervals do not meet */
};

/* A stretch of sizes in which one way surely beats another. */
struct kwhy_transfer_stretch {
	uint64_t from_bytes, to_bytes; /* sizes that were measured, both inside */
};

enum { KWHY_TRANSFER_STRETCHES_MAX = 8 };

/* Where `better` beats `than`, by a clock that both have. */
struct kwhy_transfer_baseline {
	const char *question; /* "is converting to fp16 first worth it?" */
	const char *better, *than;
	enum kwhy_transfer_direction direction;
	enum kwhy_transfer_clock clock;
	uint32_t pieces; /* 1: single transfers; else the sizes are of each piece */
	struct kwhy_transfer_stretch stretches[KWHY_TRANSFER_STRETCHES_MAX];
	size_t stretch_count, sizes_compared;
	double best_ratio; /* time of `than` over that of `better` where it is greatest */
	uint64_t best_bytes;
};

/* After how many transfers page-locking has paid for itself: cost / (pageable - pinned). */
struct kwhy_transfer_pinning {
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	double cost_s, pageable_s, pinned_s;
	double transfers; /* NAN: never */
};

/*
 * What compressing is worth at the largest size that was measured with it. Overlapped, S bytes of ratio r
 * take max(S / (r link), S / expand), and S / compress too where they are not compressed beforehand: it pays
 * where r is above 1 and each of the others is faster than the link. Bytes a second are of what comes out.
 */
struct kwhy_transfer_compression {
	uint64_t bytes; /* 0: not measured */
	double ratio;	/* bytes before over bytes on the link */
	double link_bytes_per_s, expand_bytes_per_s, compress_bytes_per_s; /* NAN: not measured */
	double serial_ratio; /* time of a pinned copy over that of copying and expanding, one after the other
			      */
	double overlapped_ratio; /* and over that of expanding one stretch while the next is copied; NAN: not
				    measured */
};

/*
 * Where one way of moving many pieces becomes faster than another: the limits at which the measured times
 * together lose least against the fastest. Twice the largest size: nowhere. 0: not measured.
 */
struct kwhy_transfer_crossover {
	uint64_t put_packed_bytes; /* all pieces: from here on a copy beats reads over the link, to the device
				    */
	uint64_t get_packed_bytes; /* the same to the host */
	uint64_t batch_bytes; /* one piece: from here on a batch of copies beats a kernel that reaches each */
};

/* A strategy that could not be measured here, or did not finish. */
struct kwhy_transfer_absence {
	const char *strategy, *reason;
};

struct kwhy_transfers {
	struct kwhy_arena arena; /* of everything below */
	const char *backend, *device_name, *pci_address, *driver, *cuda, *measured_on; /* NULL: unknown */
	const char *data; /* of compressed transfers: the file's name, or "random" */
	uint64_t seed;
	double time_budget_s, time_pass_s; /* of times: allowed and taken, since it was begun or carried on */
	double context_idle_w;		   /* NAN: not measured */
	const char *
		energy_missing; /* why the GPU's energy is unknown; NULL: it is known, or was not asked for */
	const char *ended_early; /* why, in words; NULL: it did not */
	bool is_lost;		 /* because the device was lost, or it was interrupted */
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

/* Bytes a second of a point, all that moved: both directions count twice. NAN: no samples. */
double kwhy_transfer_rate(const struct kwhy_transfer_point *point);

/* Without anything in it; NULL: no memory. */
struct kwhy_transfers *kwhy_transfers_new(void);

/* Appends a copy. */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_add_energy(struct kwhy_transfers *transfers,
	const struct kwhy_transfer_energy *energy, struct kwhy_error *error);

/* Appends why a strategy is missing; strings are copied. */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_add_absence(
	struct kwhy_transfers *transfers, const char *strategy, const char *reason, struct kwhy_error *error);

void kwhy_transfers_free(struct kwhy_transfers *transfers);

#endif
