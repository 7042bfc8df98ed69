/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_JOB_H
#define KWHY_DIGEST_JOB_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A job: the joined digests of its ranks. Digests are read one after another, in the order of ranks. For
 * each collective of each rank, 24 bytes are written to a temporary file in TMPDIR. A job takes some 600
 * bytes of memory for each rank, plus the rows of at most KWHY_JOB_COLLECTIVES_MAX collectives and
 * KWHY_JOB_ACCOUNTS_MAX accounts. Times are those of the ranks' clocks after the fit of job_clocks.c, in
 * nanoseconds after origin_unix_ns.
 */

enum {
	/* if a job has more, a random half, quarter, ... of them is compared */
	KWHY_JOB_COLLECTIVES_MAX = 1 << 21,
	KWHY_JOB_ACCOUNTS_MAX = 1
		<< 16 /* further accounts are added to one row without a name for each category */
};

/* Why a file, a digest or a rank is left out of the sums, or is in them only in part. */
enum kwhy_job_problem_kind {
	KWHY_JOB_UNREADABLE, /* the file is no digest, or is damaged */
	KWHY_JOB_TWICE,	     /* the digest has the content of another one */
	KWHY_JOB_FOREIGN,    /* the digest is of another job */
	KWHY_JOB_CUT,	  /* the rank's trace is cut, or has fewer collectives than others; its figures still
			     count */
	KWHY_JOB_MISSING, /* no digest states the rank */
	KWHY_JOB_PROBLEM_KIND_COUNT
};

const char *kwhy_job_problem_name(enum kwhy_job_problem_kind kind); /* "unreadable", ... "missing" */

struct kwhy_job_problem {
	enum kwhy_job_problem_kind kind;
	uint32_t rank;	  /* KWHY_NONE: unknown */
	const char *path; /* the digest's file; NULL: the rank has none */
	const char *text; /* one sentence */
};

/*
 * A rank's device: one row of table `device` of the rank's digest. Unknown energies are KWHY_UNKNOWN_NJ,
 * unknown times KWHY_UNKNOWN_NS.
 */
struct kwhy_job_rank {
	uint32_t rank; /* KWHY_NONE: unknown */
	int64_t number;
	uint32_t host; /* index into hosts */
	const char *path, *device, *uuid;
	int64_t span_ns, busy_ns, compute_ns, exposed_ns;
	int64_t measured_nj; /* energy from readings of a meter or, if is_modelled, from assumed powers */
	int64_t run_nj,
		run_unmetered_nj; /* energy of the run; estimated part of it, which no reading covers */
	bool is_modelled;
	double energy_ratio; /* part of the device's energy that counts for this rank; below 1: ranks share it
			      */
	bool is_unused;	     /* no rank used the device: only its energy counts */
	int64_t category_ns[KWHY_CATEGORY_COUNT]; /* part of the span that each category takes */
	int64_t category_nj[KWHY_CATEGORY_COUNT]; /* gross energy of each category's accounts */
	double collective_w; /* mean power of the collectives' accounts, W; NAN: unknown */

	uint64_t compared; /* number of collectives that are compared with those of other ranks */
	int64_t waiting_ns, waiting_nj; /* sum of this rank's waiting in the compared collectives, each time
					   until the last rank entered */
	uint64_t late; /* number of compared collectives that this rank was the last to enter */
	int64_t caused_ns, caused_nj; /* sum of all ranks' waiting in the compared collectives that this rank
					 was the last to enter */
	bool is_straggler;

	/*
	 * Fit of the rank's clock: a time of this clock less the job's time of the same moment is offset_ns
	 * + drift * (time - middle_ns).
	 */
	double offset_ns, drift;
	int64_t middle_ns;
	double clock_error_ns; /* root mean square of the fit's residuals; NAN: there is no fit */

	int64_t sm_clock_hz; /* median clock rate of the multiprocessors; KWHY_UNKNOWN_NS (the same number) if
				unknown */
	double throttled_ratio; /* share of the readings that state the reason `throttle` for low clocks; NAN:
				   unknown */
	const char *throttle;	/* the reason for low clocks that most readings state; NULL: there was none */
};

struct kwhy_job_host {
	const char *name; /* NULL: unknown */
	size_t ranks;
	int64_t caused_ns;
	int64_t sm_clock_hz; /* median over the host's ranks of their sm_clock_hz */
	double throttled_ratio;
	const char *throttle;
	bool is_throttled; /* its clocks are lower than those of the other hosts */
};

struct kwhy_job_account {
	uint32_t category;
	const char *name; /* NULL: the row sums the accounts that have no rows of their own */
	size_t ranks;
	int64_t accounts, count, bytes, time_ns, gross_nj, idle_nj, net_nj;
};

struct kwhy_job_finding {
	const char *id, *cure;
	size_t ranks;
	int64_t count, time_ns, energy_nj, saved_ns, saved_nj;
	size_t worst; /* index of the rank on which the finding takes most time */
	int64_t worst_ns;
	const char *title, *place; /* title and place as the worst rank states them */
};

struct kwhy_job_communicator {
	const char *name, *ranks; /* NULL: unknown */
	uint32_t size;		  /* KWHY_NONE: unknown */
	bool is_numbered;	  /* its traces state sequence numbers; else they were counted */
	double kept_ratio; /* smallest share of its collectives that a digest has; those are compared */
	/* seen: number of its ranks' collectives; kept: number of those that all digests keep */
	uint64_t seen, kept;
	/*
	 * compared: number of collectives that are compared. waiting_*: sums of the waiting in them.
	 * waiting_square_ns2: sum of the squares of this waiting
	 */
	uint64_t compared;
	int64_t waiting_ns, waiting_nj;
	double waiting_square_ns2;
};

struct kwhy_job_operation {
	const char *name, *type;
	int64_t in_elements;
	bool meets;
};

struct kwhy_job_collective {
	int64_t sequence;
	uint32_t communicator, operation, part;
	uint32_t ranks;	 /* number of ranks that entered; if there is only one, the collective is not compared
			  */
	uint32_t late;	 /* index of the rank that entered last */
	bool differs;	 /* ranks have different collectives with this number, so it is not compared */
	bool is_partial; /* some digests of its ranks leave it out, so it is not compared */
	int64_t first_enter_ns, last_enter_ns, first_exit_ns, last_exit_ns;
	int64_t waiting_ns, waiting_nj;
	/* sum over the ranks of (time of exit - anchor_ns); used by the fit of clocks */
	int64_t anchor_ns, exits_ns;
};

/* A communicator that is slower than those of the same size in the same operation. */
struct kwhy_job_slow_link {
	uint32_t communicator, operation;
	uint64_t collectives;
	double median_ns,
		others_ns; /* median_ns: median transfer time of this communicator. others_ns: median of such
			      medians over all communicators of the same size in the same operation */
	double excess_ns;  /* number of collectives times (median_ns - others_ns) */
};

struct kwhy_job {
	struct kwhy_arena arena;
	struct kwhy_job_rank *ranks;
	struct kwhy_job_host *hosts;
	struct kwhy_job_account *accounts;
	struct kwhy_job_finding *findings;
	struct kwhy_job_communicator *communicators;
	struct kwhy_job_operation *operations;
	struct kwhy_job_collective *collectives;
	struct kwhy_job_slow_link *slow_links;
	struct kwhy_job_problem *problems;
	size_t rank_count, host_count, account_count, finding_count, communicator_count, operation_count,
		collective_count, slow_link_count, problem_count;
	size_t rank_capacity, host_capacity, collective_capacity;
	struct kwhy_map host_names, account_keys, finding_ids, communicator_keys, operation_keys,
		collective_keys, meter_keys;
	struct kwhy_job_cuts
		*cuts; /* how many collectives each rank has in each communicator; see job_cut.c */
	FILE *visits;  /* temporary file of structs kwhy_job_visit, sorted by rank */

	size_t files, digests; /* files: number of files that were given; digests: number of digests that are
				  part of the sums */
	uint32_t world_size;   /* KWHY_NONE: unknown */
	int64_t origin_unix_ns;
	/*
	 * seen: number of collectives of all ranks; kept: number of those that all digests of their
	 * communicator keep; compared: number of those that are compared
	 */
	uint64_t seen, kept, compared;
	/* share of the sequence numbers that are joined; below 1 if memory would exceed its bound */
	double kept_ratio;
	uint64_t alone;	     /* number of kept collectives of ranks that no other rank's digest has */
	uint64_t mismatched; /* number of kept collectives whose counted numbers do not match those of others
			      */
	uint64_t apart; /* number of joined collectives, counted once for each rank, that are not compared
			   because the ranks need not wait for each other in them, as in broadcasts */
	int64_t span_ns, busy_ns;		       /* sums over the ranks */
	int64_t longest_ns;			       /* longest span of a rank */
	int64_t measured_nj, run_nj, run_unmetered_nj; /* sums over the ranks whose energy is known */
	size_t metered_ranks, modelled_ranks;
	size_t shared_ranks; /* number of ranks that shared a metered device with others at a time */
	size_t merged_ranks; /* number of ranks whose work is in the digest of a rank with the same devices */
	size_t unused_ranks; /* number of rows of `ranks` that are devices which no rank used */
	size_t running;	     /* number of digests that were made while the recorded command still ran */
	int64_t category_ns[KWHY_CATEGORY_COUNT], category_nj[KWHY_CATEGORY_COUNT];
	int64_t hosts_nj; /* energy of the hosts by their own meters (of processors, memory, ...). Several
			     digests may have the readings of one meter; it counts once */
	size_t hostless;  /* number of digests with host meters that do not name the host; the meters of each
			     of them are added to hosts_nj */
	int64_t skew_ns, transfer_ns, waiting_ns, waiting_nj;
	/* estimate of the waiting in all collectives, from those that are compared; error: standard error */
	int64_t all_waiting_ns, all_waiting_nj;
	double all_waiting_error_ns;
	double clock_error_ns; /* median over the ranks of their clock_error_ns; NAN: no clock was fitted */
	int64_t steps;	       /* largest number of steps in a digest */
};

enum { KWHY_JOB_THREADS_MAX = 16 };

/*
 * Reads the digests in the given files and folders and joins them. `threads`: number of threads that read
 * at the same time. Unreadable, foreign and repeated digests become problems. KWHY_E_INPUT: no digest could
 * be read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_read(const char *const *paths, size_t count, unsigned threads,
	struct kwhy_job **out, struct kwhy_error *error);
void kwhy_job_free(struct kwhy_job *job);

/* Whether the path is a digest, or a folder with at least one digest among its files. */
bool kwhy_job_is_digest(const char *path);

static inline int64_t kwhy_job_skew_ns(const struct kwhy_job_collective *row)
{
	return row->last_enter_ns - row->first_enter_ns;
}

static inline int64_t kwhy_job_transfer_ns(const struct kwhy_job_collective *row)
{
	return row->last_exit_ns > row->last_enter_ns ? row->last_exit_ns - row->last_enter_ns : 0;
}

/* Whether the collective is compared between ranks. */
static inline bool kwhy_job_is_compared(const struct kwhy_job *job, const struct kwhy_job_collective *row)
{
	return row->ranks > 1 && !row->differs && !row->is_partial && job->operations[row->operation].meets;
}

#endif
