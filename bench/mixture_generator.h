/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURE_GENERATOR_H
#define KWHY_BENCH_MIXTURE_GENERATOR_H

#include "base/status.h"
#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Synthetic recordings of mixed work whose true energies are known: a simulated device runs kernels and
 * copies of known power according to a schedule, simulated meters with the faults of real ones read its
 * power, and the recording has what a profiler and these meters would have reported. The same schedule and
 * seed give the same mixture. Nothing here uses the ledger.
 *
 * The true power: while nothing runs the device draws its idle level, and each activity adds its own power.
 * All powers drift together by 0.5 to 1.5 % over the mixture. Leakage adds 0.5 to 2 % of the mean power above
 * idle of the last second, whatever runs. The power of each activity varies by 0.5 % (standard deviation),
 * and is up to 3 % lower just after another kind of work ran. Powers, their variation and the meters' faults
 * are those of an H200 (docs/accuracy.md); a quarter of the seeds have a smaller GPU.
 */
enum kwhy_mixture_schedule {
	/* bursts of one kind of work, 0.2-70 ms each, in random order, and idle times between bursts */
	KWHY_MIXTURE_BURST,
	KWHY_MIXTURE_FINE, /* kernels of 0.1-0.3 ms in random order; in about half of the seeds with short
			      idle times */
	KWHY_MIXTURE_LOOP, /* about five kinds of work and idle time in a fixed order, repeated every 4-100 ms
			    */
	KWHY_MIXTURE_DECODE,	/* steps of many kernels of a few microseconds, mostly idle */
	KWHY_MIXTURE_TRAIN,	/* steps of 2-3 ms: copy, forward, backward, update, read back */
	KWHY_MIXTURE_LONG_TAIL, /* 40-60 kernel names, of which a few dominate, in changing phases */
	KWHY_MIXTURE_STREAMS,	/* bursts of kernels in one stream, concurrent copies in another */
	KWHY_MIXTURE_SCHEDULE_COUNT
};

const char *kwhy_mixture_schedule_name(enum kwhy_mixture_schedule schedule);
const char *kwhy_mixture_schedule_text(enum kwhy_mixture_schedule schedule);

#define KWHY_MIXTURE_KINDS_MAX 64
#define KWHY_MIXTURE_STREAMS_MAX 2

/* A kind of work: all kernels of one name, or all copies of one name. */
struct kwhy_mixture_kind {
	char name[24];
	uint8_t activity_kind, copy_kind;
	uint32_t blocks; /* mean number of blocks; for kernels only */
	double net_w;	 /* power above idle, W */
	double unit_ns;	 /* usual duration; not used by schedules that set durations themselves */
	double cooling_ratio;
	double weight; /* relative probability of being chosen */
};

/* One activity with its true times and power. row: its index among the recording's activities. */
struct kwhy_mixture_work {
	double start_ns, end_ns;
	double net_w;
	uint32_t kind, stream;
	size_t row;
};

/*
 * An interval in which no activity starts or ends. Powers are the true ones, W, with drift and leakage;
 * net_w: of each stream's activity.
 */
struct kwhy_mixture_stretch {
	double start_ns, end_ns;
	double idle_w;
	double net_w[KWHY_MIXTURE_STREAMS_MAX];
	size_t work[KWHY_MIXTURE_STREAMS_MAX]; /* [streams] index in `works` of the work that runs; SIZE_MAX:
						  none */
};

struct kwhy_mixture {
	struct kwhy_recording *recording; /* finished; owned */
	struct kwhy_profile
		profile; /* what a calibration of this machine would state; NAN where it is unknown */
	struct kwhy_mixture_kind kinds[KWHY_MIXTURE_KINDS_MAX];
	uint32_t kind_count, stream_count;
	int64_t origin_ns;   /* time in the recording of the simulation's time 0, ns */
	double idle_w, gain; /* idle_w: true idle level of the cold device; gain: metered power, divided by
				the true power */
	double leak_ratio; /* leakage of warm silicon: rise of the idle level in W, per watt of the mean power
			      above idle (an exponential mean with a time constant of 1 s) */
	/*
	 * the meter: time_constant_s of its low-pass filter; delay_s from a power to its reading;
	 * look_period_s between two samples of the power, which are the input of the filter
	 */
	double time_constant_s, delay_s, look_period_s;
	struct kwhy_mixture_work *works;
	size_t work_count, work_capacity;
	struct kwhy_mixture_stretch
		*stretches; /* consecutive stretches without gaps; the first one is the metered time before
			       the work, the last one the time after it */
	size_t stretch_count, stretch_capacity;
};

struct kwhy_mixture_options {
	enum kwhy_mixture_schedule schedule;
	uint64_t seed;
	double duration_s;  /* length of the work; 0: 10 to 30 s, drawn from the seed */
	bool level_unknown; /* whether the profile lacks the idle level */
};

/* On failure *out is all zero and nothing needs to be freed. */
KWHY_MUST_USE enum kwhy_status kwhy_mixture_init(
	struct kwhy_mixture *out, const struct kwhy_mixture_options *options, struct kwhy_error *error);
void kwhy_mixture_done(struct kwhy_mixture *mixture);

/*
 * True energy in the interval [start_ns, end_ns) of recording time, nJ, in three parts: row_nj of each
 * activity, including its part of the idle level (if several activities run, equal parts); idle_nj while
 * nothing ran between the first and the last activity; outside_nj before and after them. `alone`: each
 * activity is taken to draw what its kind draws alone on a warm device, which is all that a user can measure.
 */
struct kwhy_mixture_truth {
	bool alone;
	double *row_nj; /* owned by the caller */
	double idle_nj, outside_nj;
};
void kwhy_mixture_truth_sum(const struct kwhy_mixture *mixture, int64_t start_ns, int64_t end_ns,
	struct kwhy_mixture_truth *truth);

#endif
