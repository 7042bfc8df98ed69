/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_H
#define KWHY_ANALYSE_H

/*
 * libkwhy-analyse: where the energy and the time of a recorded run went, and what changes would save.
 *
 *	const char *const paths[] = {"run.kwhy"};
 *	struct kwhy_analysis *analysis;
 *	struct kwhy_finding_info finding = {.size = sizeof(finding)};
 *	char message[KWHY_ANALYSE_MESSAGE_BYTES];
 *	if (kwhy_analysis_open(paths, 1, NULL, &analysis, message, sizeof(message)))
 *		...
 *	for (i = 0; i < kwhy_analysis_finding_count(analysis); i++) {
 *		kwhy_analysis_finding(analysis, i, &finding);
 *		puts(finding.title);
 *	}
 *	kwhy_analysis_close(analysis);
 *
 * Times are integer nanoseconds, energies integer nanojoules; KWHY_ANALYSE_UNKNOWN means "not available",
 * which is never 0. Intervals (`low`, `high`) are 90 %. The accounts of a device add up to its metered energy
 * exactly.
 *
 * Errors: a call that fails returns a code, writes a sentence with what failed, why and the cure to
 * `message`, which may be NULL, and leaves its outputs untouched. Messages name options as the command line
 * does: --steps is `step_name`.
 *
 * Ownership: an analysis owns all that its calls lend; strings live until kwhy_analysis_close(). Paths and
 * options are not used after kwhy_analysis_open(). Texts and plans belong to the caller.
 *
 * Threads: one thread at a time may use an analysis; different analyses may be used at the same time. Nothing
 * here prints, exits, or keeps data outside of an analysis.
 *
 * Structs: set `size` to the size of the struct before a call fills it; a library that is older or newer than
 * the program then fills what both know.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KWHY_API
#if defined(__GNUC__)
#define KWHY_API __attribute__((visibility("default")))
#else
#define KWHY_API
#endif
#endif

#define KWHY_ANALYSE_VERSION "0.1.0"

/* Version of the library that is loaded, which may be newer than this header. */
KWHY_API const char *kwhy_analyse_version(void);

/* Values that the calls return. */
#define KWHY_ANALYSE_OK 0
#define KWHY_ANALYSE_E_INPUT 1 /* a file is invalid */
#define KWHY_ANALYSE_E_IO 2    /* the system refused to read */
#define KWHY_ANALYSE_E_MEMORY 3
#define KWHY_ANALYSE_E_UNSUPPORTED 4 /* the recording does not show what the call needs */
#define KWHY_ANALYSE_E_USAGE 5	     /* an option, an index, a name or `size` is invalid */

#define KWHY_ANALYSE_MESSAGE_BYTES 720
#define KWHY_ANALYSE_UNKNOWN INT64_MIN

struct kwhy_analysis;
struct kwhy_plan;

/* An amount of work that a run did, such as 4096 of "tokens". */
struct kwhy_analysis_work {
	const char *unit;
	double count;
};

/*
 * Set all fields by kwhy_analysis_options_init(), then change the ones that you need. NULL and not-a-number
 * mean that an option is not given.
 */
struct kwhy_analysis_options {
	size_t size;
	const char *const *power_paths; /* power readings: CSV, or logs of other tools */
	size_t power_path_count;
	const char *const *power_devices; /* each assigns a device of the trace to a GPU of the power files:
					     "[RANK/]DEVICE=[HOST/]GPU" */
	size_t power_device_count;
	const char *power_zone;	  /* time zone of power logs that state none: "+02:00", "UTC", "local" */
	const char *profile_path; /* machine profile; NULL: the bundled profile of the first device that has
				     one */
	const char *const *learnt_paths; /* files of kernel powers that were learnt before, or recordings from
					    which to learn them (`kwhy report --powers`) */
	size_t learnt_path_count;
	const char *collectives_path; /* file of patterns for names of kernels that are collectives, in
					 addition to the built-in ones */
	const char *step_name;	      /* name of the ranges that are steps; "NAME*" matches by prefix */
	const char *assumed_power;    /* watts to assume where there is no meter: "150", or
					 "compute=76.2,h2d=56.5,..." */
	const struct kwhy_analysis_work
		*work; /* amounts of work; they replace the recording's amounts in the same units */
	size_t work_count;
	const char *const
		*thresholds; /* thresholds of findings, each as "ID.NAME=VALUE" with the finding's id */
	size_t threshold_count;
	double min_gain_percent; /* findings and changes that save less than this percentage both of the run's
				    time and of its energy are left out; 0 to 100; not given: 1 */
	double price_per_kwh;
	const char *currency; /* currency of price_per_kwh, "EUR" */
	double intensity_g_per_kwh;
	const char *place;   /* country or cloud region whose mean carbon intensity is used; give only one of
				this and intensity_g_per_kwh */
	const char *command; /* command line that report.json gives as its origin */
	uint64_t seed;	     /* seed of random draws; the same seed gives the same analysis */
	int32_t partial;     /* 1: read the intact parts of damaged files and count the skipped ones */
	/*
	 * Called before each step of an analysis with the step's name and file, such as "reading" and
	 * "run.kwhy", on the calling thread. `path` may be NULL. `progress` NULL: nothing is called.
	 */
	void (*progress)(void *context, const char *step, const char *path);
	void *progress_context;
	/*
	 * Start and end of the whole run, in Unix nanoseconds, for traces of only some of the run's ranks;
	 * readings of meters are then used from all of this time. Both 0: the run starts and ends with the
	 * traces.
	 */
	int64_t run_start_unix_ns, run_end_unix_ns;
};

/* Sets the defaults; `size` is sizeof(struct kwhy_analysis_options). */
KWHY_API void kwhy_analysis_options_init(struct kwhy_analysis_options *options, size_t size);

/*
 * Reads the traces of one run, attributes its energy and time, and finds its waste. Several traces are
 * taken as those of the run's ranks. Formats are recognised by content, and are those of "kwhy report":
 * .kwhy recordings, Kineto and Chrome JSON, XLA xplane, Perfetto, Nsight Systems, rocprofv3, CSV. `options`
 * NULL: all defaults.
 */
KWHY_API int kwhy_analysis_open(const char *const *paths, size_t path_count,
	const struct kwhy_analysis_options *options, struct kwhy_analysis **out, char *message,
	size_t message_bytes);
/* Frees an analysis with all that it has lent. NULL is allowed. */
KWHY_API void kwhy_analysis_close(struct kwhy_analysis *analysis);

/* The whole run, from the first start to the last end of work on any device. */
struct kwhy_run_info {
	size_t size; /* size of this struct, set by the caller */
	int64_t time_ns;
	int64_t energy_nj, low_nj, high_nj; /* energy of all devices together, and its 90 % interval */
	int64_t unmetered_nj;		    /* part of energy_nj that no reading covers; it is estimated */
	int32_t is_modelled; /* 1: energies are computed from assumed powers, not metered, on at least one
				device */
};

KWHY_API int kwhy_analysis_run(const struct kwhy_analysis *analysis, struct kwhy_run_info *out);

struct kwhy_device_info {
	size_t size;	  /* size of this struct, set by the caller */
	const char *name; /* "NVIDIA H200"; NULL: unknown */
	const char *uuid; /* NULL: unknown */
	int32_t rank;	  /* -1: unknown */
	int32_t is_modelled;
	int64_t span_ns, busy_ns, idle_ns;  /* span_ns: from the start of the first activity on this device to
					       the end of its last; busy_ns: time of the span in which
					       something ran; idle_ns: time of the span in which nothing ran */
	int64_t energy_nj, low_nj, high_nj; /* energy of this device from the start of its first activity to
					       the end of its last, and its 90 % interval */
	int64_t metered_nj; /* sum of the gross energies of its accounts, including metered energy before and
			       after the run */
};

/* Devices are numbered from 0 in the order of the recording. */
KWHY_API size_t kwhy_analysis_device_count(const struct kwhy_analysis *analysis);
KWHY_API int kwhy_analysis_device(
	const struct kwhy_analysis *analysis, size_t device, struct kwhy_device_info *out);

/* What energy and time of a device are attributed to: a kernel, a kind of copy, a reason to be idle. */
struct kwhy_account_info {
	size_t size;	      /* size of this struct, set by the caller */
	const char *category; /* "compute", "copy", "idle-sync", ... */
	const char *name;
	const char *basis; /* what the energy rests on: "data" (readings), "learnt" (another recording),
			      "prior" (an assumption), "joint" (known only in sum with other accounts),
			      "modelled" (given powers), "none" */
	uint64_t count;
	int64_t time_ns;
	int64_t gross_nj, low_nj, high_nj;
	int64_t net_nj; /* gross_nj less what the device would have drawn in that time if idle with its
			   context */
};

/* Accounts are ordered by gross energy, or by time where no energy is known, the largest first. */
KWHY_API size_t kwhy_analysis_account_count(const struct kwhy_analysis *analysis, size_t device);
KWHY_API int kwhy_analysis_account(
	const struct kwhy_analysis *analysis, size_t device, size_t account, struct kwhy_account_info *out);

/* Tables of the recording. Their columns are lent, not copied. */
#define KWHY_ANALYSE_ACTIVITIES 0 /* work of the devices, sorted by device, then start */
#define KWHY_ANALYSE_CALLS 1	  /* API calls of the host, sorted by thread, then start */

/* Types of a column's values. */
#define KWHY_ANALYSE_I64 0
#define KWHY_ANALYSE_U64 1
#define KWHY_ANALYSE_U32 2
#define KWHY_ANALYSE_U16 3
#define KWHY_ANALYSE_U8 4

struct kwhy_column_info {
	size_t size;	      /* size of this struct, set by the caller */
	const char *name;     /* "start_ns" */
	int32_t type;	      /* KWHY_ANALYSE_I64, ... */
	size_t count;	      /* number of values */
	const void *values;   /* [count]; NULL: there are none */
	const uint8_t *known; /* bit map: value i is known if bit i % 8 of byte i / 8 is 1; NULL: all values
				 are known */
	uint64_t unknown_count;
	size_t word_count; /* number of texts to which the values are indices (kwhy_analysis_word()); 0: the
			      values are plain numbers */
};

/*
 * Columns of a table are numbered from 0; for a number past the last column the call returns
 * KWHY_ANALYSE_E_USAGE. Times are those of the recording's own clock. The analysis owns the memory.
 */
KWHY_API int kwhy_analysis_column(
	struct kwhy_analysis *analysis, int table, size_t column, struct kwhy_column_info *out);
/*
 * Returns the text with the index `word` in a column, such as a kernel's name; NULL: the column has no such
 * text.
 */
KWHY_API const char *kwhy_analysis_word(
	const struct kwhy_analysis *analysis, int table, size_t column, size_t word);

/* Values of `bound`: how a saving is to be understood. */
#define KWHY_ANALYSE_EXPECTED 0 /* the saving to expect, as far as the recording shows it */
#define KWHY_ANALYSE_UPPER 1	/* upper bound: no more than this is saved */
#define KWHY_ANALYSE_LOWER 2	/* lower bound: no less than this is saved */

/* One kind of waste on one device. */
struct kwhy_finding_info {
	size_t size;	   /* size of this struct, set by the caller */
	const char *id;	   /* "small-copies" */
	const char *title; /* the waste in one line, with its numbers */
	const char *cure;
	const char
		*change; /* name of the change for kwhy_analysis_project(); NULL: no change cures the waste */
	const char *assumption; /* what the saving assumes */
	int32_t device;		/* -1: the waste is on the host or across devices */
	int32_t bound;		/* what the saving means: KWHY_ANALYSE_EXPECTED, _UPPER or _LOWER */
	int32_t frees_device; /* 1: saved_ns is time in which the device becomes free for other work; the run
				 does not become shorter */
	uint64_t count;	      /* number of occurrences */
	int64_t time_ns;      /* time that the waste takes in the recorded run */
	int64_t energy_nj, low_nj, high_nj; /* energy that the waste takes in the recorded run */
	int64_t saved_ns; /* time that the cure would save; saved_nj to saved_high_nj: energy that it would
			     save, and the 90 % interval */
	int64_t saved_nj, saved_low_nj, saved_high_nj;
	size_t evidence_count;
	const char *credited_to; /* If one change cures several findings, its saving is counted only at one of
				    them, whose id this is; the saving of this finding is then 0. NULL: the
				    saving is counted here. */
	/*
	 * source position from which the program causes most of the waste: "backward (train.py:18)"; NULL:
	 * unknown
	 */
	const char *place;
	const char *file; /* path of the source file, as recorded; NULL: unknown */
	int32_t line;	  /* 0: unknown */
};

/*
 * Findings are numbered from 0: first those of devices for which other devices wait, then all others, both by
 * saved energy (by saved time if the energy of any finding is unknown), the largest first. Savings of several
 * findings do not add up, as cures may overlap.
 */
KWHY_API size_t kwhy_analysis_finding_count(const struct kwhy_analysis *analysis);
KWHY_API int kwhy_analysis_finding(
	const struct kwhy_analysis *analysis, size_t finding, struct kwhy_finding_info *out);

/* One occurrence of a finding's waste. Times are those of the recording's own clock. */
struct kwhy_evidence_info {
	size_t size; /* size of this struct, set by the caller */
	int64_t start_ns, end_ns;
	const char *what; /* "cudaMemcpyAsync h2d 8 B, then cudaStreamSynchronize 7.0 us" */
};

KWHY_API int kwhy_analysis_evidence(const struct kwhy_analysis *analysis, size_t finding, size_t evidence,
	struct kwhy_evidence_info *out);

/* Writes report.json of schema "kwhy.report/1" to *out. Free the text by kwhy_analysis_text_free(). */
KWHY_API int kwhy_analysis_json(
	const struct kwhy_analysis *analysis, char **out, char *message, size_t message_bytes);
KWHY_API void kwhy_analysis_text_free(char *text);
/*
 * Writes a summary of at most 4,096 bytes to *out: JSON of schema "kwhy.brief/1". Free the text by
 * kwhy_analysis_text_free().
 */
KWHY_API int kwhy_analysis_brief(
	const struct kwhy_analysis *analysis, char **out, char *message, size_t message_bytes);

/* A change to the program. Its id is an option of `kwhy whatif` without dashes, such as "pinned". */
struct kwhy_analysis_change {
	const char *id;
	uint32_t number; /* argument of the option; 0: the option's default */
};

/*
 * Projects time and energy of the run with the changes, which are applied in the order given. A change that
 * cannot be made is no error: it becomes a refusal of the plan, with the reason. Free the plan by
 * kwhy_analysis_plan_free(); it may outlive the analysis.
 */
KWHY_API int kwhy_analysis_project(struct kwhy_analysis *analysis, const struct kwhy_analysis_change *changes,
	size_t change_count, struct kwhy_plan **out, char *message, size_t message_bytes);
/*
 * Plans changes: adds the change that saves the most energy (time, if energies are unknown), then the change
 * that saves the most in addition, and so on, until no change saves at least min_gain_percent of the energy
 * or of the time. `numerics` 1: also considers changes that alter the program's numerical results.
 */
KWHY_API int kwhy_analysis_plan(struct kwhy_analysis *analysis, int numerics, struct kwhy_plan **out,
	char *message, size_t message_bytes);
KWHY_API void kwhy_analysis_plan_free(struct kwhy_plan *plan);

struct kwhy_plan_info {
	size_t size;		      /* size of this struct, set by the caller */
	int64_t before_ns, before_nj; /* time and energy of the run as recorded */
	/* projected time of the run with all changes: expected, lower and upper end */
	int64_t after_ns, low_ns, high_ns;
	/* projected energy of the run with all changes: expected, lower and upper end */
	int64_t after_nj, low_nj, high_nj;
	double busy_before_ratio,
		busy_after_ratio; /* share of the run's time in which a device ran anything, as mean over the
				     devices, before and after the changes; not-a-number: unknown */
	int32_t bound;		  /* what the savings mean: KWHY_ANALYSE_EXPECTED, _UPPER or _LOWER */
	size_t change_count, refused_count;
};

KWHY_API int kwhy_plan_info(const struct kwhy_plan *plan, struct kwhy_plan_info *out);

/* A change of a plan. Strings live as long as the plan. */
struct kwhy_plan_change_info {
	size_t size; /* size of this struct, set by the caller */
	const char *id, *title;
	const char *effort; /* effort of making the change: "lines", "days", "design" */
	const char *risk;   /* risk to the program's results: "none", "order", "numerics" */
	const char *assumption;
	uint64_t places;
	int64_t saved_ns, saved_nj; /* saving of this change in addition to those before it in the plan */
	uint32_t number;
	int32_t bound;
};

KWHY_API int kwhy_plan_change(const struct kwhy_plan *plan, size_t change, struct kwhy_plan_change_info *out);

/*
 * A change that was left out of a plan, because it cannot be made or saves too little. Its savings are
 * KWHY_ANALYSE_UNKNOWN if it cannot be made.
 */
struct kwhy_plan_refusal_info {
	size_t size; /* size of this struct, set by the caller */
	const char *id, *title, *reason;
	int64_t saved_ns, saved_nj;
};

KWHY_API int kwhy_plan_refusal(
	const struct kwhy_plan *plan, size_t refusal, struct kwhy_plan_refusal_info *out);

/*
 * Writes a plan of this analysis to *out as JSON of schema "kwhy.whatif/1". Free the text by
 * kwhy_analysis_text_free().
 */
KWHY_API int kwhy_analysis_plan_json(const struct kwhy_analysis *analysis, const struct kwhy_plan *plan,
	char **out, char *message, size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
