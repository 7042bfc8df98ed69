/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_JOB_H
#define KWHY_CLI_RECORDINGS_JOB_H

#include "analyse/analysis.h"
#include "cli/options.h"

#include <stdbool.h>

/*
 * Options about traces and their analysis, which kwhy report, digest, compare, export, whatif and replay
 * share.
 */
struct kwhy_job_options {
	/* files of power readings; `kwhy compare` has two lists of its own instead */
	struct kwhy_strings power;
	/* which GPU of the power files a device of the trace is: "[RANK/]DEVICE=[HOST/]GPU" */
	struct kwhy_strings power_devices;
	const char *power_zone; /* time zone of power logs that state none; NULL: not given */
	/* path of the machine profile; NULL: the installed profile for the device's name, if there is one */
	const char *profile;
	/*
	 * collectives: file with names of collective kernels; steps: name of the ranges that are steps; NULL:
	 * not given
	 */
	const char *collectives, *steps;
	const char *assume_power; /* powers to assume where there is no meter, as the user gave them; NULL:
				     not given */
	const char *price;	  /* price of a kWh, "0.30EUR"; NULL: not given */
	/* country or cloud region, as listed by `kwhy model carbon --list`; NULL: not given */
	const char *place;
	double intensity_g_per_kwh; /* carbon intensity, g of CO2 equivalent per kWh; NAN: not given */
	/*
	 * files with the powers of kernels that were learnt from other recordings (powers.json), or
	 * recordings from which such powers are to be learnt
	 */
	struct kwhy_strings powers;
	struct kwhy_strings thresholds;
	struct kwhy_strings work; /* amounts of work that the run did, each such as "tokens=4096" */
	double min_gain_percent; /* smallest saving of a finding, in percent of the run's time or energy; NAN:
				    the default of the detectors */
	uint64_t seed;
	/* start and end of the whole run, Unix times in ns; both 0: the traces state them */
	int64_t run_start_unix_ns, run_end_unix_ns;
	bool has_partial, quiet, verbose;
};

void kwhy_job_options_init(struct kwhy_job_options *options);

/*
 * Opens the analysis of traces and files of power readings, and shows its progress on a terminal. `command`
 * is the command line that the report names; NULL: none. kwhy_analysis_close() ends the analysis.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_open(struct kwhy_analysis **out,
	const struct kwhy_job_options *options, char *const *traces, size_t trace_count,
	const struct kwhy_strings *power, const char *command, struct kwhy_error *error);

/*
 * Converts the result code of a function of kwhy/analyse.h to a status. The function must have written its
 * message to error->text.
 */
enum kwhy_status kwhy_job_status(int code, struct kwhy_error *error);

/*
 * Rows of an option table that set the member `member`, a struct kwhy_job_options, of the options struct
 * `type`.
 */
#define KWHY_OPTION_ROWS_JOB(type, member)                                                                   \
	{"power-device", 0, "D=GPU",                                                                         \
		"the trace's device D is that GPU of the power files; may be given again", KWHY_OPTION_LIST, \
		offsetof(type, member.power_devices)},                                                       \
		{"power-zone", 0, "ZONE", "zone of power logs that name none: +02:00, UTC or local",         \
			KWHY_OPTION_TEXT, offsetof(type, member.power_zone)},                                \
		{"machine-profile", 0, "FILE", "machine profile (default: the bundled one of that GPU)",     \
			KWHY_OPTION_TEXT, offsetof(type, member.profile)},                                   \
		{"powers", 0, "FILE", "powers of kernels that another recording taught; may be given again", \
			KWHY_OPTION_LIST, offsetof(type, member.powers)},                                    \
		{"partial", 0, NULL, "read the intact parts; skip and count the damaged ones",               \
			KWHY_OPTION_FLAG, offsetof(type, member.has_partial)},                               \
		{"assume-power", 0, "SPEC", "150, or compute=76.2,h2d=56.5,...: watts, modelled",            \
			KWHY_OPTION_TEXT, offsetof(type, member.assume_power)},                              \
		{"price", 0, "P[EUR]", "price of a kWh, with its currency", KWHY_OPTION_TEXT,                \
			offsetof(type, member.price)},                                                       \
		{"intensity", 0, "G", "grams of CO2e per kWh", KWHY_OPTION_NUMBER,                           \
			offsetof(type, member.intensity_g_per_kwh)},                                         \
		{"place", 0, "PLACE", "the same by country or cloud region (model carbon --list)",           \
			KWHY_OPTION_TEXT, offsetof(type, member.place)},                                     \
		{"collective-names", 0, "FILE", "further names of collective kernels", KWHY_OPTION_TEXT,     \
			offsetof(type, member.collectives)},                                                 \
		{"steps", 0, "NAME", "ranges of this name are steps (NAME* by prefix)", KWHY_OPTION_TEXT,    \
			offsetof(type, member.steps)},                                                       \
		{"work", 0, "UNIT=N", "work done, like tokens=4096 or flop_bf16=2e13; may be given again",   \
			KWHY_OPTION_LIST, offsetof(type, member.work)},                                      \
		{"threshold", 0, "ID.NAME=V", "threshold of a finding; may be given again",                  \
			KWHY_OPTION_LIST, offsetof(type, member.thresholds)},                                \
		{"min-gain", 0, "%", "leave out what saves less of time and of energy; default 1",           \
			KWHY_OPTION_NUMBER, offsetof(type, member.min_gain_percent)},                        \
		{"seed", 0, "N", "seed of the random draws (same seed, same report)", KWHY_OPTION_COUNT,     \
			offsetof(type, member.seed)},                                                        \
		{"quiet", 'q', NULL, "no progress and no remarks", KWHY_OPTION_FLAG,                         \
			offsetof(type, member.quiet)},                                                       \
	{                                                                                                    \
		"verbose", 'v', NULL, "everything: all sections, all rows", KWHY_OPTION_FLAG,                \
			offsetof(type, member.verbose)                                                       \
	}

#endif
