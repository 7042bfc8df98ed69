/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_RUNNING_H
#define KWHY_CLI_MODEL_RUNNING_H

#include "cli/model/page.h"
#include "cli/values.h"
#include "fit/running.h"
#include "import/results/run.h"

/*
 * Options of `kwhy model cost` and `kwhy model carbon`: work, energy and duration of a run (in place of a
 * file), how often it is repeated, and the PUE.
 */
struct kwhy_running_options {
	struct kwhy_model_options model;
	const char *work; /* amount of work of the run: "tokens=4096" */
	double joules, seconds, runs_per_day, pue;
};

void kwhy_running_options_init(struct kwhy_running_options *options);

#define KWHY_OPTION_ROWS_RUNNING(type, member)                                                          \
	{"joules", 0, "J", "energy of the run, instead of a file", KWHY_OPTION_NUMBER,                  \
		offsetof(type, member.joules)},                                                         \
		{"seconds", 0, "S", "duration of the run, instead of a file", KWHY_OPTION_NUMBER,       \
			offsetof(type, member.seconds)},                                                \
		{"work", 0, "UNIT=N", "work of the run, like tokens=4096", KWHY_OPTION_TEXT,            \
			offsetof(type, member.work)},                                                   \
		{"runs-per-day", 0, "N", "also the cost of a year at N runs a day", KWHY_OPTION_NUMBER, \
			offsetof(type, member.runs_per_day)},                                           \
		{"pue", 0, "RATIO", "the building's power over its machines'; default 1",               \
			KWHY_OPTION_NUMBER, offsetof(type, member.pue)},                                \
		KWHY_OPTION_ROWS_MODEL(type, member.model)

enum { KWHY_RUNS_MAX = 2 };

/* One or two runs, and the answer for each. */
struct kwhy_runs {
	struct kwhy_read_run runs[KWHY_RUNS_MAX];
	struct kwhy_read_work
		/*
		 * work of each run, by which the run's amount is divided for the amount per unit; `count` is
		 * NAN if the work is unknown
		 */
		work[KWHY_RUNS_MAX];
	struct kwhy_running answers[KWHY_RUNS_MAX];
	struct kwhy_running_question questions[KWHY_RUNS_MAX];
	char unit[KWHY_COUNT_NAME_BYTES]; /* unit of the work; "": no work is known */
	size_t count;
};

/*
 * Reads the runs that the operands name. Without operands there is one run, which the options describe. Call
 * kwhy_runs_done() after a failure, too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_runs_read(struct kwhy_runs *runs,
	const struct kwhy_running_options *options, const struct kwhy_operands *operands,
	struct kwhy_error *error);
void kwhy_runs_done(struct kwhy_runs *runs);

/*
 * Computes the answers from the money or the grams of CO2e per kWh, or from the money per hour of a run.
 * per_kwh or per_hour is NAN.
 */
KWHY_MUST_USE enum kwhy_status kwhy_runs_answer(
	struct kwhy_runs *runs, double per_kwh, double per_hour, struct kwhy_error *error);

/*
 * Writes the answers. `amount` is the word for what they are in JSON, such as "cost". Amounts are money in
 * `currency`, which may be "" (unknown) in text. If `currency` is NULL, they are grams of CO2e.
 */
void kwhy_runs_write(
	const struct kwhy_runs *runs, const char *currency, const char *amount, struct kwhy_model_page *page);

/*
 * Writes notes on the energies: how much of each run's energy is estimated for unmetered time, and by which
 * PUE they were multiplied or that they lack one.
 */
void kwhy_runs_write_source(const struct kwhy_runs *runs, const struct kwhy_running_options *options,
	struct kwhy_model_page *page);

#endif
