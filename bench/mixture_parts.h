/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURE_PARTS_H
#define KWHY_BENCH_MIXTURE_PARTS_H

#include "mixture_generator.h"
#include "mixture_random.h"

/* The named steps of kwhy_mixture_init(). */

/* The machine and what runs on it while a schedule is laid out. Fails once and stays so. */
struct kwhy_mixture_builder {
	struct kwhy_mixture *mixture;
	struct kwhy_random random;
	struct kwhy_error *error;
	enum kwhy_status status;
	double now_ns[KWHY_MIXTURE_STREAMS_MAX]; /* end of what each stream was given */
	uint32_t last_kind[KWHY_MIXTURE_STREAMS_MAX];
	double run_start_ns[KWHY_MIXTURE_STREAMS_MAX]; /* of the run of last_kind */
	double sm_count, scale;			       /* of powers: 1 on the large card */
	double coverage_start_ns;		       /* the profiler ran from here on; at most 0 */
};

/* Draws the card: idle level, scale of powers, response, gain; the profile that knows it roughly. */
void kwhy_mixture_draw_machine(struct kwhy_mixture_builder *builder, bool level_unknown);

/* Draws the kinds of the schedule, then lays out its work up to duration_ns. */
void kwhy_mixture_draw_work(
	struct kwhy_mixture_builder *builder, enum kwhy_mixture_schedule schedule, double duration_ns);

/* Cuts the works into stretches, with idle before and after and, in a third of the seeds, work before the
 * recording began that was not recorded. */
void kwhy_mixture_lay_stretches(struct kwhy_mixture_builder *builder);

/* Writes activities as a profiler tells them and readings as the meters do; finishes the recording. */
void kwhy_mixture_record(struct kwhy_mixture_builder *builder);

/* Adds an activity to a stream after `gap_ns`. */
void kwhy_mixture_run(struct kwhy_mixture_builder *builder, uint32_t stream, uint32_t kind, double length_ns,
	double gap_ns);

#endif
