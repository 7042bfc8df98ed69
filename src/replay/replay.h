/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_REPLAY_H
#define KWHY_REPLAY_REPLAY_H

#include "fit/median.h"
#include "measure/device_energy.h"
#include "replay/choices.h"
#include "replay/run.h"

/*
 * `kwhy replay`: the calls of a recording made again on this GPU, with kernels that stand for the recorded
 * ones; as they were, and as changes would make them. How far the first is off says how far the second may
 * be.
 */
struct kwhy_replay_request {
	enum kwhy_gpu_backend backend;
	const char *device; /* number or PCI address; NULL: the first */
	const struct kwhy_whatif_request *change_requests;
	size_t change_request_count; /* 0: only as it was */
	uint32_t repeat; /* timed runs of each, at least; 0: six, or fewer of those that take long */
	double energy_s; /* each is run repeatedly for this long; 0: no energy */
	void (*progress)(void *context, const char *what); /* as each part begins; NULL: not */
	void *context;
};

enum { KWHY_REPLAY_RUNS_KEPT = 1024, KWHY_REPLAY_RUNS_SHOWN = 16, KWHY_REPLAY_STEPS_MAX = 16 };

/* A pattern and what came of its runs. Energies are of one run's span. */
struct kwhy_replay_outcome {
	int64_t pattern_span_ns; /* as recorded, or as projected */
	struct kwhy_median span_s;
	size_t runs;
	struct kwhy_replay_span spans[KWHY_REPLAY_RUNS_SHOWN]; /* of the first runs */
	struct kwhy_joules gross, net; /* net: above the GPU's idle level; NAN: unknown */
	uint64_t threads, calls, kernels, copies, fills, waits, graphs, replay_streams;
	uint64_t short_kernels;	      /* shorter than any kernel of their grid here */
	int64_t short_ns;	      /* by which they are longer, together */
	uint64_t capped_grids;	      /* of more blocks than the GPU holds concurrently */
	uint64_t loose_graphs;	      /* launched piece by piece */
	struct kwhy_replay_left left; /* done otherwise than recorded */
};

/* How kernels of an account were stood for. */
struct kwhy_replay_proxy {
	const char *account;
	uint64_t count;
	int64_t time_ns;
	double recorded_w; /* NAN: unknown */
	struct kwhy_proxy_choice choice;
};

/* A step of settling, with the numbers that it was run with. */
struct kwhy_replay_step {
	struct kwhy_replay_span span; /* of one run, or the mean of a window's */
	double wait_late_ns, work_factor;
	double net_j; /* of one run, above idle; NAN: of a step for time alone */
};

struct kwhy_replay {
	struct kwhy_arena arena; /* of the words below */
	enum kwhy_gpu_backend backend;
	struct kwhy_gpu_facts gpu;
	const char *recorded_on;		 /* NULL: the recording does not say */
	double recorded_j;			 /* of the device that is replayed; NAN: unknown */
	double recorded_idle_w, replayed_idle_w; /* levels above which net energies are; NAN: unknown */
	double recorded_idle_half_ci90_j; /* half of the 90 % interval of what all its devices idling drew */
	/* The first run as recorded over its recording, less one; NAN: waits were not settled by it. */
	double first_off_ratio;
	double wait_late_ns; /* by which waits returned later than they did: taken off in all later runs; NAN:
				not found */
	/* The same of the energy above idle, of the first window; NAN: the proxy kernels' work was not
	 * settled by it. */
	double first_net_off_ratio;
	double work_factor; /* times what kernels drew above idle is asked of their proxy kernels; NAN: as
			     * above
			     */
	double changed_work_factor;   /* the same of a changed replay; NAN: as above, or there is none */
	enum kwhy_replay_bound bound; /* that settling came up against */
	struct kwhy_replay_call_times calls[KWHY_REPLAY_CALL_COUNT]; /* of the last run as recorded */
	struct kwhy_replay_step steps[KWHY_REPLAY_STEPS_MAX];
	size_t step_count;
	struct kwhy_replay_outcome as_recorded, changed;
	bool has_changed;
	struct kwhy_plan *plan;	    /* what the changes should bring; NULL: none was asked for */
	const char *energy_missing; /* NULL: the GPU's energy is known */
	const char *ended;	    /* why, and behind which runs, before all were made; NULL: all were */
	struct kwhy_replay_proxy *proxies; /* those with the most time first */
	size_t proxy_count;
};

/*
 * `whatif` of the recording; its edits are undone. An interrupt (launch/stop.h) or a lost device ends it with
 * the runs that were made; KWHY_E_LOST where none was. End with kwhy_replay_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay(struct kwhy_whatif *whatif,
	const struct kwhy_replay_request *request, struct kwhy_replay **out, struct kwhy_error *error);
void kwhy_replay_free(struct kwhy_replay *replay);

/* Energy of the recording, and of what it is projected to become, above its idle level; NAN: unknown. */
double kwhy_replay_recorded_net_j(const struct kwhy_replay *replay);
double kwhy_replay_projected_net_j(const struct kwhy_replay *replay);

/* Whether the recording's idle levels are so well known that what it drew above them is, to a quarter. */
bool kwhy_replay_net_is_known(const struct kwhy_replay *replay);

/* Replayed energy above idle over what it should be, less one; NAN: that of the recording is not known. */
double kwhy_replay_net_off_ratio(const struct kwhy_replay *replay, double is_j, double should_j);

/* Whether joules as recorded and changed are of proxy kernels that one factor was asked of, so that they
 * differ by the change alone. */
bool kwhy_replay_joules_compare(const struct kwhy_replay *replay);

#endif
