/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURE_PARTS_H
#define KWHY_BENCH_MIXTURE_PARTS_H

#include "mixture_generator.h"
#include "mixture_random.h"

/*
 * The steps of kwhy_mixture_init(), in this order. kwhy_mixture_run() is used within
 * kwhy_mixture_draw_work().
 */

/* State while a mixture is made. After the first failure (status, error) the functions do nothing. */
struct kwhy_mixture_builder {
	struct kwhy_mixture *mixture;
	struct kwhy_random random;
	struct kwhy_error *error;
	enum kwhy_status status;
	double now_ns[KWHY_MIXTURE_STREAMS_MAX]; /* end of the work that each stream has so far, ns */
	uint32_t last_kind[KWHY_MIXTURE_STREAMS_MAX];
	/* since when the stream runs only activities of the kind last_kind, ns */
	double run_start_ns[KWHY_MIXTURE_STREAMS_MAX];
	/* sm_count: number of multiprocessors; scale: factor of all powers: 1, or 0.5 on the smaller GPU */
	double sm_count, scale;
	/* time of the simulation from which on activities are recorded; at most 0 */
	double coverage_start_ns;
};

/*
 * Chooses the card at random (idle level, scale of powers, response, gain), and the profile, whose values are
 * near those of the card.
 */
void kwhy_mixture_draw_machine(struct kwhy_mixture_builder *builder, bool level_unknown);

/* Chooses at random which kinds of work the schedule has, then places pieces of them in time until
 * duration_ns. */
void kwhy_mixture_draw_work(
	struct kwhy_mixture_builder *builder, enum kwhy_mixture_schedule schedule, double duration_ns);

/*
 * Divides time into stretches (struct kwhy_mixture_stretch), from before the work to after it. In a third of
 * the seeds, work that is not recorded runs before the recording begins; otherwise the device is idle then.
 */
void kwhy_mixture_lay_stretches(struct kwhy_mixture_builder *builder);

/*
 * Writes activities as a profiler reports them and readings as the meters report them, and finishes the
 * recording.
 */
void kwhy_mixture_record(struct kwhy_mixture_builder *builder);

/* Adds an activity to a stream, `gap_ns` after the stream's previous one. */
void kwhy_mixture_run(struct kwhy_mixture_builder *builder, uint32_t stream, uint32_t kind, double length_ns,
	double gap_ns);

#endif
