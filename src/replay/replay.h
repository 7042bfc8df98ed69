/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_REPLAY_H
#define KWHY_REPLAY_REPLAY_H

#include "fit/median.h"
#include "measure/device_energy.h"
#include "replay/choices.h"
#include "replay/run.h"

/*
 * `kwhy replay` makes the calls of a recording again on this GPU, with proxy kernels in place of the recorded
 * ones: first as recorded, then as changes would make them. The error of the first replay indicates that of
 * the second.
 */
struct kwhy_replay_request {
	enum kwhy_gpu_backend backend;
	const char *device; /* number or PCI address; NULL: the first device */
	const struct kwhy_whatif_request *change_requests;
	size_t change_request_count; /* 0: the replay as recorded only */
	/* least number of timed runs of each replay; 0: six, or fewer where runs take long */
	uint32_t repeat;
	double energy_s; /* time for which each replay is repeated to measure energy; 0: no energy */
	/* called as each part begins; NULL: no progress reports */
	void (*progress)(void *context, const char *what);
	void *context;
};

enum { KWHY_REPLAY_RUNS_KEPT = 1024, KWHY_REPLAY_RUNS_SHOWN = 16, KWHY_REPLAY_STEPS_MAX = 16 };

/* A pattern and the results of its runs. Energies are those of one run's span. */
struct kwhy_replay_outcome {
	int64_t pattern_span_ns; /* as recorded, or as projected */
	struct kwhy_median span_s;
	size_t runs;
	struct kwhy_replay_span spans[KWHY_REPLAY_RUNS_SHOWN]; /* of the first runs */
	struct kwhy_joules gross, net; /* net is above the GPU's idle level; NAN: unknown */
	uint64_t threads, calls, kernels, copies, fills, waits, graphs, replay_streams;
	uint64_t short_kernels;	      /* kernels shorter than the shortest one of their grid on this GPU */
	int64_t short_ns;	      /* total time by which their proxy kernels are longer */
	uint64_t capped_grids;	      /* grids of more blocks than the GPU holds concurrently */
	uint64_t loose_graphs;	      /* graph launches replayed piece by piece */
	struct kwhy_replay_left left; /* differences from the recording */
};

/* The proxy kernel used for the kernels of an account. */
struct kwhy_replay_proxy {
	const char *account;
	uint64_t count;
	int64_t time_ns;
	double recorded_w; /* NAN: unknown */
	struct kwhy_proxy_choice choice;
};

/* A step of settling, with the values that it was run with. */
struct kwhy_replay_step {
	struct kwhy_replay_span span; /* span of one run, or the mean over the runs of a window */
	double wait_late_ns, work_factor;
	double net_j; /* energy of one run above idle; NAN: the step settles time only */
};

struct kwhy_replay {
	struct kwhy_arena arena; /* holds the strings below */
	enum kwhy_gpu_backend backend;
	struct kwhy_gpu_facts gpu;
	const char *recorded_on;		 /* NULL: the recording does not say */
	double recorded_j;			 /* energy of the replayed device; NAN: unknown */
	double recorded_idle_w, replayed_idle_w; /* idle levels that net energies refer to; NAN: unknown */
	double recorded_idle_half_ci90_j; /* half of the 90 % interval of the energy that all devices of the
					     recording would draw idling */
	/*
	 * Span of the first run as recorded over that of the recording, less one; NAN: time was not settled.
	 */
	double first_off_ratio;
	double wait_late_ns; /* by which waits returned later than in the recording; later runs subtract it;
				NAN: not settled */
	/*
	 * Energy above idle of the first window over that of the recording, less one; NAN: energy was not
	 * settled.
	 */
	double first_net_off_ratio;
	double work_factor; /* factor on the recorded power above idle that is asked of proxy kernels; NAN:
			       energy was not settled */
	double changed_work_factor;   /* work_factor of the changed replay; NAN: energy was not settled, or
					 there is no changed replay */
	enum kwhy_replay_bound bound; /* limit of the proxy kernels' power that settling reached */
	struct kwhy_replay_call_times calls[KWHY_REPLAY_CALL_COUNT]; /* from the last run as recorded */
	struct kwhy_replay_step steps[KWHY_REPLAY_STEPS_MAX];
	size_t step_count;
	struct kwhy_replay_outcome as_recorded, changed;
	bool has_changed;
	struct kwhy_plan *plan;	    /* projection of the changes; no changes where none were requested */
	const char *energy_missing; /* NULL: the GPU's energy is known */
	const char *ended; /* why and after which runs the replay ended early; NULL: all runs were made */
	struct kwhy_replay_proxy *proxies; /* sorted by time, longest first */
	size_t proxy_count;
};

/*
 * Replays the recording of `whatif`, whose edits are undone. An interrupt (launch/stop.h) or a lost device
 * ends the replay with the results of the runs made so far; KWHY_E_LOST where no run as recorded was made.
 * End with kwhy_replay_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay(struct kwhy_whatif *whatif,
	const struct kwhy_replay_request *request, struct kwhy_replay **out, struct kwhy_error *error);
void kwhy_replay_free(struct kwhy_replay *replay);

/* Energy above the idle level of the recording, and of its projection with the changes; NAN: unknown. */
double kwhy_replay_recorded_net_j(const struct kwhy_replay *replay);
double kwhy_replay_projected_net_j(const struct kwhy_replay *replay);

/* Whether the uncertainty of the recording's idle levels is at most a quarter of its energy above them. */
bool kwhy_replay_net_is_known(const struct kwhy_replay *replay);

/*
 * Replayed energy above idle over the energy that it should be, less one; NAN: the recording's energy above
 * idle is not known well enough.
 */
double kwhy_replay_net_off_ratio(const struct kwhy_replay *replay, double is_j, double should_j);

/*
 * Whether the replays as recorded and as changed used the same work factor, so that their joules differ by
 * the change alone.
 */
bool kwhy_replay_joules_compare(const struct kwhy_replay *replay);

#endif
