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
 * The digests of a job's ranks, joined. Digests are added one after another, in the order of ranks. Each
 * collective of each rank takes 24 bytes in a temporary file in TMPDIR. Memory: about 600 bytes for each
 * rank, and the rows of at most KWHY_JOB_COLLECTIVES_MAX collectives and KWHY_JOB_ACCOUNTS_MAX accounts.
 * Times are those of the ranks' clocks after the correction of job_clocks.c, in ns after origin_unix_ns.
 */

enum {
	/*
	 * If a job has more collectives, those with a random half of the sequence numbers are dropped, again
	 * and again, until at most this many are left.
	 */
	KWHY_JOB_COLLECTIVES_MAX = 1 << 21,
	KWHY_JOB_ACCOUNTS_MAX = 1
		<< 16 /* Further accounts are summed in one row for each category, whose name is NULL. */
};

/* Why a file or a rank does not count, or counts only in part. */
enum kwhy_job_problem_kind {
	KWHY_JOB_UNREADABLE, /* the file is no digest, or is damaged */
	KWHY_JOB_TWICE, /* a digest with the content of another one, or with the rank and devices of one with
			   more activities */
	KWHY_JOB_FOREIGN, /* a digest of another job */
	KWHY_JOB_CUT, /* a digest whose trace is cut, or with fewer collectives than those of other ranks; its
			 figures count */
	KWHY_JOB_MISSING, /* there is no digest of the rank */
	KWHY_JOB_PROBLEM_KIND_COUNT
};

const char *kwhy_job_problem_name(
	enum kwhy_job_problem_kind kind); /* "unreadable", "twice", "foreign", "cut", "missing" */

struct kwhy_job_problem {
	enum kwhy_job_problem_kind kind;
	uint32_t rank;	  /* KWHY_NONE: unknown */
	const char *path; /* file of the digest; NULL: there is none */
	const char *text; /* one sentence */
};

/*
 * One device of a rank: a row of table `device` of its digest. There are also rows of devices that no rank
 * used. Unknown energies are KWHY_UNKNOWN_NJ, unknown times KWHY_UNKNOWN_NS.
 */
struct kwhy_job_rank {
	uint32_t rank; /* KWHY_NONE: unknown */
	int64_t number;
	uint32_t host; /* index in `hosts` */
	const char *path, *device, *uuid;
	int64_t span_ns, busy_ns, compute_ns, exposed_ns;
	int64_t measured_nj; /* energy over the span, from the readings of a meter or, if is_modelled, from
				assumed powers */
	int64_t run_nj, run_unmetered_nj; /* run_nj: energy of the whole run; run_unmetered_nj: the part of it
					     that no reading covers, estimated */
	bool is_modelled;
	double energy_ratio; /* share of the device's energy that counts for this rank; below 1: ranks share
				the device */
	bool is_unused;	     /* no rank used the device; of this row only energies count */
	int64_t category_ns[KWHY_CATEGORY_COUNT]; /* time of each category; the categories do not overlap */
	int64_t category_nj[KWHY_CATEGORY_COUNT]; /* gross energy of the accounts of each category */
	double collective_w;			  /* mean power during collectives, W; NAN: unknown */

	uint64_t compared; /* number of this rank's collectives that are compared, see kwhy_job_is_compared()
			    */
	int64_t waiting_ns,
		waiting_nj; /* Sums over the compared collectives of this rank's waiting in each: time, and
			       energy, from this rank's entering until the last rank enters. */
	uint64_t late;	    /* compared collectives that this rank entered last */
	int64_t caused_ns, caused_nj; /* Waiting of all ranks, summed over the compared collectives that this
					 rank entered last. */
	bool is_straggler;

	/*
	 * Correction of the rank's clock: this clock shows offset_ns + drift * (time - middle_ns) more than
	 * the job's time, where `time` is that of this clock.
	 */
	double offset_ns, drift;
	int64_t middle_ns;
	double clock_error_ns; /* standard deviation of this clock's times of leaving collectives from the
				  job's, after the correction; NAN: the clock was not corrected */

	int64_t sm_clock_hz;	/* median clock rate of the multiprocessors, Hz; KWHY_UNKNOWN_NS (INT64_MIN):
				   unknown */
	double throttled_ratio; /* share of the readings that state the reason `throttle`; NAN: unknown */
	const char *throttle;	/* most frequent reason for low clocks, other than an idle device and clocks
				   that the user set; NULL: none */
};

struct kwhy_job_host {
	const char *name; /* NULL: unknown */
	size_t ranks;
	int64_t caused_ns;
	int64_t sm_clock_hz; /* median of its ranks' sm_clock_hz */
	double throttled_ratio;
	const char *throttle;
	bool is_throttled; /* its median clock is low compared with that of all ranks, or a rank's readings
			      state a reason for low clocks (job_conclude.c) */
};

struct kwhy_job_account {
	uint32_t category;
	const char *name; /* NULL: sum of the category's accounts beyond KWHY_JOB_ACCOUNTS_MAX */
	size_t ranks;
	int64_t accounts, count, bytes, time_ns, gross_nj, idle_nj, net_nj;
};

struct kwhy_job_finding {
	const char *id, *cure;
	size_t ranks;
	int64_t count, time_ns, energy_nj, saved_ns, saved_nj;
	size_t worst; /* index in `ranks` of the rank on which the finding takes most time */
	int64_t worst_ns;
	const char *title, *place; /* those of the worst rank */
};

struct kwhy_job_communicator {
	const char *name, *ranks; /* NULL: unknown */
	uint32_t size;		  /* KWHY_NONE: unknown */
	bool is_numbered;	  /* the traces state sequence numbers; false: collectives were counted */
	double kept_ratio;	  /* smallest share of its collectives that a digest of its ranks keeps */
	/*
	 * Collectives, counted once for each rank. seen: all; kept: those that all digests of the
	 * communicator keep.
	 */
	uint64_t seen, kept;
	/*
	 * compared: its compared collectives; waiting_*: sums of the ranks' waiting in them;
	 * waiting_square_ns2: sum of the squares of each collective's waiting_ns.
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
	uint32_t ranks;	 /* number of ranks in whose digests the collective is */
	uint32_t late;	 /* index in `ranks` of the rank that entered last */
	bool differs;	 /* ranks have different operations under this number */
	bool is_partial; /* at least one digest of a rank of its communicator does not keep it
			    (kwhy_digest_keeps()) */
	int64_t first_enter_ns, last_enter_ns, first_exit_ns, last_exit_ns;
	int64_t waiting_ns, waiting_nj;
	/*
	 * exits_ns: sum over the ranks of (time of leaving - anchor_ns); anchor_ns: when the first rank of
	 * `ranks` left; both only for the correction of clocks
	 */
	int64_t anchor_ns, exits_ns;
};

/* A communicator that is slower in an operation than most of the same size. */
struct kwhy_job_slow_link {
	uint32_t communicator, operation;
	uint64_t collectives;
	double median_ns, others_ns; /* median_ns: median transfer time of the operation in this communicator;
					others_ns: median of the median_ns of all communicators of the same
					size with the same operation, this one included */
	double excess_ns;	     /* number of collectives * (median_ns - others_ns) */
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
		*cuts; /* for each communicator, how many collectives each rank has; see job_cut.c */
	FILE *visits;  /* temporary file of structs kwhy_job_visit, sorted by index in `ranks` */

	size_t files, digests; /* files: number of digest files in the given paths; digests: number of digests
				  that were added to the job */
	uint32_t world_size;   /* KWHY_NONE: unknown */
	int64_t origin_unix_ns;
	/*
	 * Collectives. seen, kept: counted once for each rank; seen: all, kept: those that all digests of
	 * their communicator keep. compared: number of collectives whose times are compared
	 * (kwhy_job_is_compared()), each counted once for all ranks.
	 */
	uint64_t seen, kept, compared;
	/*
	 * Share of the sequence numbers that are read; below 1: there were more than KWHY_JOB_COLLECTIVES_MAX
	 * collectives.
	 */
	double kept_ratio;
	uint64_t alone; /* kept collectives in which ranks have to wait for each other, but that only one rank
			   has */
	uint64_t mismatched; /* collectives, counted once for each rank, that are not compared because their
				counted numbers do not match those of other ranks */
	uint64_t apart; /* collectives, counted once for each rank, that are not compared because ranks need
			   not wait for each other in them, such as broadcasts */
	int64_t span_ns, busy_ns;		       /* sums over the rows of `ranks` */
	int64_t longest_ns;			       /* longest span of a row */
	int64_t measured_nj, run_nj, run_unmetered_nj; /* sums over the ranks whose energy is known */
	size_t metered_ranks, modelled_ranks;
	size_t shared_ranks; /* rows whose energy is divided with other ranks */
	size_t merged_ranks; /* ranks without a digest of their own whose work is in the digest of another
				rank on the same devices */
	size_t unused_ranks; /* rows whose is_unused is true */
	size_t running;	     /* number of digests that were made while the recorded command still ran */
	int64_t category_ns[KWHY_CATEGORY_COUNT], category_nj[KWHY_CATEGORY_COUNT];
	int64_t hosts_nj; /* Energy by the hosts' own meters (of processors, memory, ...). A meter that
			     several digests have counts once. */
	size_t hostless;  /* Digests with host meters that name neither host nor boot. All their meters are
			     counted in hosts_nj, although several of them may have the same meter. */
	int64_t skew_ns, transfer_ns, waiting_ns, waiting_nj;
	/*
	 * Waiting in all collectives, estimated from those that are compared; all_waiting_error_ns: standard
	 * error of all_waiting_ns.
	 */
	int64_t all_waiting_ns, all_waiting_nj;
	double all_waiting_error_ns;
	double clock_error_ns; /* median of the ranks' clock_error_ns; NAN: no clock was corrected */
	int64_t steps;	       /* largest number of steps in a digest */
};

enum { KWHY_JOB_THREADS_MAX = 16 };

/*
 * Reads the digests in files and folders and joins them; free the job by kwhy_job_free(). `threads`: threads
 * that read at the same time. Unreadable, foreign and repeated digests become problems. KWHY_E_INPUT: there
 * is no digest, or none could be read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_read(const char *const *paths, size_t count, unsigned threads,
	struct kwhy_job **out, struct kwhy_error *error);
void kwhy_job_free(struct kwhy_job *job);

/* Whether the path is a digest file, or a folder that has one (subfolders are not searched). */
bool kwhy_job_is_digest(const char *path);

static inline int64_t kwhy_job_skew_ns(const struct kwhy_job_collective *row)
{
	return row->last_enter_ns - row->first_enter_ns;
}

static inline int64_t kwhy_job_transfer_ns(const struct kwhy_job_collective *row)
{
	return row->last_exit_ns > row->last_enter_ns ? row->last_exit_ns - row->last_enter_ns : 0;
}

/*
 * Whether the ranks' times in the collective are compared: several ranks have it, all with the same
 * operation, no digest leaves it out, and no rank can leave it before all have entered.
 */
static inline bool kwhy_job_is_compared(const struct kwhy_job *job, const struct kwhy_job_collective *row)
{
	return row->ranks > 1 && !row->differs && !row->is_partial && job->operations[row->operation].meets;
}

#endif
