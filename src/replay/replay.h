/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_REPLAY_H
#define KWHY_REPLAY_REPLAY_H

#include "fit/median.h"
#include "measure/device_energy.h"
#include "replay/choices.h"
#include "replay/run.h"

/*
 * `kwhy replay` makes the calls of a recording again on this GPU, with proxy kernels in place of the recorded
 * ones: first as recorded, then with the requested changes. How far the replay as recorded is from the
 * recording shows what error to expect of the replay with changes.
 */
struct kwhy_replay_request {
	enum kwhy_gpu_backend backend;
	const char *device; /* number or PCI address of the GPU; NULL: the first GPU */
	const struct kwhy_whatif_request *change_requests;
	/* number of requested changes; 0: only the replay as recorded is made */
	size_t change_request_count;
	/* minimum number of timed runs of each replay; 0: six, or fewer if runs take long */
	uint32_t repeat;
	/*
	 * minimum length in s of the window of repeated runs in which the energy of each replay is measured;
	 * 0: no energy is measured
	 */
	double energy_s;
	/* called as each step begins, with a word for it such as "idle"; NULL: no progress reports */
	void (*progress)(void *context, const char *what);
	void *context;
};

enum { KWHY_REPLAY_RUNS_KEPT = 1024, KWHY_REPLAY_RUNS_SHOWN = 16, KWHY_REPLAY_STEPS_MAX = 16 };

/*
 * Results of the runs of a pattern. Counts and energies are those of one run, from the start of its first
 * work to the end of its last.
 */
struct kwhy_replay_outcome {
	int64_t pattern_span_ns; /* duration of the pattern, as recorded or as projected with the changes */
	struct kwhy_median span_s;
	size_t runs;
	struct kwhy_replay_span spans[KWHY_REPLAY_RUNS_SHOWN]; /* durations of the first runs */
	/* energy of one run; `net` is above the GPU's idle level; NAN: unknown */
	struct kwhy_joules gross, net;
	uint64_t threads, calls, kernels, copies, fills, waits, graphs, replay_streams;
	/*
	 * number of recorded kernels that are shorter than the shortest proxy kernel of their grid on this
	 * GPU
	 */
	uint64_t short_kernels;
	/* total time by which the proxy kernels exceed the recorded lengths of these short kernels */
	int64_t short_ns;
	/*
	 * number of grids that have more blocks than can be resident on the GPU at a time, and are replayed
	 * with fewer
	 */
	uint64_t capped_grids;
	uint64_t loose_graphs; /* number of graph launches per run that are replaced by launches of their work
				  piece by piece, because the driver rejected their graphs */
	/* counts of differences between the replay and the recorded program */
	struct kwhy_replay_left left;
};

/* The proxy kernel used for the kernels of an account. */
struct kwhy_replay_proxy {
	const char *account;
	uint64_t count;
	int64_t time_ns;
	double recorded_w; /* recorded gross power of the account; NAN: unknown */
	struct kwhy_proxy_choice choice;
};

/*
 * A run, or window of runs, of the calibration, which finds two corrections: of the time of waits and of the
 * power of kernels. wait_late_ns and work_factor are the corrections that were used in it.
 */
struct kwhy_replay_step {
	struct kwhy_replay_span span; /* duration of the run, or mean duration of the runs in a window */
	double wait_late_ns, work_factor;
	double net_j; /* energy of one run above idle; NAN: not measured, as the step is a single run that
			 calibrates only the time */
};

struct kwhy_replay {
	struct kwhy_arena arena; /* memory of the strings below */
	enum kwhy_gpu_backend backend;
	struct kwhy_gpu_facts gpu;
	/* name of the recorded GPU; NULL: the recording does not state it */
	const char *recorded_on;
	double recorded_j; /* recorded energy of the replayed device; NAN: unknown, also if other devices
			      worked */
	double recorded_idle_w, replayed_idle_w; /* idle power in the recording and on this GPU, above which
						    energies are counted as net; NAN: unknown */
	/*
	 * half of the 90 % interval of the energy that all devices of the recording would have drawn if they
	 * had been idle
	 */
	double recorded_idle_half_ci90_j;
	/*
	 * Duration of the first run of the unchanged replay, divided by the recording's duration, minus 1;
	 * NAN: time was not calibrated.
	 */
	double first_off_ratio;
	/*
	 * correction of waits in ns that calibration found: the time by which each wait would return later
	 * than in the recording, which runs subtract; NAN: time was not calibrated
	 */
	double wait_late_ns;
	/*
	 * Energy of one run above idle in the first window of the calibration, at work factor 1, divided by
	 * that of the recording, minus 1; NAN: energy was not calibrated.
	 */
	double first_net_off_ratio;
	double work_factor; /* calibrated factor by which the recorded power above idle is multiplied to get
			       the wanted power of proxy kernels; NAN: energy was not calibrated */
	double changed_work_factor;   /* work_factor of the changed replay; NAN: energy was not calibrated, or
					 there is no changed replay */
	enum kwhy_replay_bound bound; /* limit of the proxy kernels' power that was reached while the energy
					 was calibrated */
	/* durations of calls in the last run of the replay as recorded, and in the recording */
	struct kwhy_replay_call_times calls[KWHY_REPLAY_CALL_COUNT];
	struct kwhy_replay_step steps[KWHY_REPLAY_STEPS_MAX];
	size_t step_count;
	struct kwhy_replay_outcome as_recorded, changed;
	bool has_changed;
	/* projection of the requested changes; it has no changes if none were requested */
	struct kwhy_plan *plan;
	const char *energy_missing; /* NULL: the GPU's energy is known */
	/*
	 * sentence that says why the replay ended early and after how many runs of which part; NULL: all runs
	 * were made
	 */
	const char *ended;
	struct kwhy_replay_proxy
		*proxies; /* those of the at most 16 accounts with the longest time_ns, longest first */
	size_t proxy_count;
};

/*
 * Replays the recording of `whatif`, and undoes all edits of its graph. An interrupt (launch/stop.h) or a
 * lost device ends the replay with the results of the runs made so far; KWHY_E_LOST: there was no complete
 * run as recorded. End with kwhy_replay_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay(struct kwhy_whatif *whatif,
	const struct kwhy_replay_request *request, struct kwhy_replay **out, struct kwhy_error *error);
void kwhy_replay_free(struct kwhy_replay *replay);

/* Energy in J above idle: recorded, and projected for the recorded program with the changes; NAN: unknown. */
double kwhy_replay_recorded_net_j(const struct kwhy_replay *replay);
double kwhy_replay_projected_net_j(const struct kwhy_replay *replay);

/*
 * Whether the recording's energy above idle is known well enough: the half-width of the 90 % interval of its
 * idle energy is at most a quarter of its energy above idle.
 */
bool kwhy_replay_net_is_known(const struct kwhy_replay *replay);

/*
 * Replayed energy above idle (is_j), divided by the energy that it should be (should_j), minus 1; NAN: the
 * recording's energy above idle is not known well enough.
 */
double kwhy_replay_net_off_ratio(const struct kwhy_replay *replay, double is_j, double should_j);

/*
 * Whether the replays as recorded and as changed used the same work factor, so that the difference of their
 * joules is due to the change alone.
 */
bool kwhy_replay_joules_compare(const struct kwhy_replay *replay);

#endif
