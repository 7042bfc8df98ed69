/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_JOB_H
#define KWHY_CLI_RECORDINGS_JOB_H

#include "analyse/analysis.h"
#include "cli/options.h"

#include <stdbool.h>

/* Options about traces and their analysis, which several commands share. */
struct kwhy_job_options {
	struct kwhy_strings power; /* files of power readings; compare has two lists of its own instead */
	struct kwhy_strings power_devices; /* "[RANK/]DEVICE=[HOST/]GPU" */
	const char *power_zone;		   /* time zone of logs that state none; NULL: not given */
	const char *profile;		   /* NULL: the bundled profile of the device */
	const char *collectives, *steps;   /* NULL: not given */
	const char *assume_power;	   /* NULL: not given */
	const char *price;		   /* "0.30EUR"; NULL: not given */
	const char *place;		   /* place as in `kwhy model carbon --list`; NULL: not given */
	double intensity_g_per_kwh;	   /* NAN: not given */
	struct kwhy_strings powers;	   /* files of learnt powers, and recordings */
	struct kwhy_strings thresholds;
	struct kwhy_strings work; /* "tokens=4096" */
	double min_gain_percent;  /* NAN: the detectors' default */
	uint64_t seed;
	bool has_partial, quiet, verbose;
};

void kwhy_job_options_init(struct kwhy_job_options *options);

/*
 * Opens the analysis of traces and power files, with progress on the terminal. `command` is what its report
 * names as its command; NULL: none. kwhy_analysis_close() ends it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_open(struct kwhy_analysis **out,
	const struct kwhy_job_options *options, char *const *traces, size_t trace_count,
	const struct kwhy_strings *power, const char *command, struct kwhy_error *error);

/* The status of a call of kwhy/analyse.h that was given the error's text as message. */
enum kwhy_status kwhy_job_status(int code, struct kwhy_error *error);

/* Rows of an option table for the members of a struct kwhy_job_options `member` of `type`. */
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
		{"intensity", 0, "G", "grams of CO2e a kWh", KWHY_OPTION_NUMBER,                             \
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
		{"min-gain", 0, "%", "leave out findings that save less; default 1", KWHY_OPTION_NUMBER,     \
			offsetof(type, member.min_gain_percent)},                                            \
		{"seed", 0, "N", "seed of the random draws (same seed, same report)", KWHY_OPTION_COUNT,     \
			offsetof(type, member.seed)},                                                        \
		{"quiet", 'q', NULL, "no progress and no remarks", KWHY_OPTION_FLAG,                         \
			offsetof(type, member.quiet)},                                                       \
	{                                                                                                    \
		"verbose", 'v', NULL, "every row instead of the top ones", KWHY_OPTION_FLAG,                 \
			offsetof(type, member.verbose)                                                       \
	}

#endif
