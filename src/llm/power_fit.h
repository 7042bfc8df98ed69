/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_POWER_FIT_H
#define KWHY_LLM_POWER_FIT_H

#include "llm/work.h"

/*
 * Joules of each kind of work of a server, fitted to its own energy: joules of an interval = idle power *
 * seconds + sum over the kinds of work of (coefficient * amount), by least squares with coefficients of at
 * least 0. The standard deviation of an interval's energy is taken to be proportional to its power and to the
 * square root of its length. Intervals of the coefficients are 90 % intervals from the residuals, which may
 * be correlated over some rows (Newey and West 1987, with residuals divided by 1 - leverage). They include
 * the noise of the readings and errors of the model, but no constant error of the meter's gain. As the same
 * work costs a server somewhat more in one load than in another, which the residuals of a few loads do not
 * show, the intervals also allow for a relative standard deviation KWHY_LLM_LOAD_RATIO of each load's energy
 * above idle from the model, independent of the other loads.
 */
struct kwhy_llm_power_row {
	size_t load; /* index of the row's load, in the order of the calls of kwhy_llm_power_rows_add() */
	double seconds, joules;
	double work[KWHY_LLM_WORK_COUNT];
};

/* Rows of all loads of a run: one for each interval between readings inside a load's steady window. */
struct kwhy_llm_power_rows {
	struct kwhy_llm_power_row *items;
	size_t count, capacity;
	size_t loads;
};

/*
 * Relative standard deviation of a load's energy above idle from what the fitted model gives. Source:
 * docs/results/llm.md. It was chosen such that the fitted 90 % intervals contain six figures, joules per
 * prompt token or per output token of servers on an H200, that loads of prefill or of decoding alone had also
 * given. Of seven such figures measured later, the intervals contain five.
 */
#define KWHY_LLM_LOAD_RATIO 0.03

/* Adds the rows of a load (struct kwhy_llm_power_rows). */
KWHY_MUST_USE enum kwhy_status kwhy_llm_power_rows_add(struct kwhy_llm_power_rows *rows,
	const struct kwhy_llm_metered *metered, const struct kwhy_llm_shares *shares,
	struct kwhy_error *error);
void kwhy_llm_power_rows_done(struct kwhy_llm_power_rows *rows);

/* A figure with its 90 % interval. */
struct kwhy_llm_coefficient {
	double value, low, high; /* NAN: unknown */
	/*
	 * Whether the loads determine the value well: half of the width of its interval is at most a quarter
	 * of the value, or makes at most a twentieth of the run's energy above idle.
	 */
	bool is_known;
};

enum { KWHY_LLM_POWER_ROWS_MIN = 12 };

struct kwhy_llm_power_fit {
	struct kwhy_llm_coefficient idle_w;
	struct kwhy_llm_coefficient work_j[KWHY_LLM_WORK_COUNT]; /* J per unit of each kind of work */
	/*
	 * prefill_j: J per prompt token with its share of batches, at the run's mean length of prompts.
	 * decode_j: J per output token with its share of steps and its context, at the run's mean concurrency
	 * and context. Loads that differ little from one another determine prefill_j and decode_j, but not
	 * the single coefficients of which each of them is the sum.
	 */
	struct kwhy_llm_coefficient prefill_j, decode_j;
	/*
	 * Coefficients of the fit, J per unit, which are never NAN. If columns are linearly dependent, one
	 * coefficient includes others, which are 0.
	 */
	double model_idle_w, model_work_j[KWHY_LLM_WORK_COUNT];
	/* sums over all rows: amount of each kind of work; then energy in J and length in s */
	double amount[KWHY_LLM_WORK_COUNT];
	double joules, seconds;
	/*
	 * Covariances of the coefficients of work by two estimates: `alike` assumes equal variances of all
	 * residuals, `robust` does not.
	 */
	double alike[KWHY_LLM_WORK_COUNT][KWHY_LLM_WORK_COUNT],
		robust[KWHY_LLM_WORK_COUNT][KWHY_LLM_WORK_COUNT];
	/*
	 * covariances by the differences of loads from the model, which kwhy_llm_power_fit_half() adds to the
	 * mean of the covariances `alike` and `robust`
	 */
	double by_load[KWHY_LLM_WORK_COUNT][KWHY_LLM_WORK_COUNT];
	/*
	 * inflation: factor on `alike` for the correlation of residuals; student: quantile of Student's t for
	 * a 90 % interval
	 */
	double inflation, student;
	bool is_free[KWHY_LLM_WORK_COUNT]; /* false: the coefficient is constrained to 0 */
	double residual_ratio;		   /* standard deviation over the rows of residual / power */
	size_t rows;
};

/* Fits the rows. KWHY_E_INPUT: there are fewer than KWHY_LLM_POWER_ROWS_MIN rows, or no row has work. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_power_fit_of(
	const struct kwhy_llm_power_rows *rows, struct kwhy_llm_power_fit *out, struct kwhy_error *error);

/*
 * Half width of the 90 % interval of the joules of an amount of work, from the errors of the coefficients.
 * NAN: the coefficients of all its kinds are constrained to 0.
 */
double kwhy_llm_power_fit_half(const struct kwhy_llm_power_fit *fit, const double work[KWHY_LLM_WORK_COUNT]);

/* Name of a kind of work, such as "prompt token". */
const char *kwhy_llm_work_name(enum kwhy_llm_work kind);

#endif
