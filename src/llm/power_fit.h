/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_POWER_FIT_H
#define KWHY_LLM_POWER_FIT_H

#include "llm/work.h"

/*
 * Joules of each kind of work of a server, fitted to its own energy:
 *
 * joules of an interval = idle power * seconds + sum over the kinds of work of (coefficient * amount)
 *
 * by least squares with coefficients that are at least 0. The standard deviation of an interval's energy is
 * assumed to be proportional to its power and to the square root of its length. Intervals of the
 * coefficients are 90 % intervals. They follow from the residuals, which may be correlated over some
 * intervals (Newey and West 1987, with residuals divided by 1 - leverage). They include the noise of the
 * readings and errors of the model, but no constant error of the meter's gain. A server's work costs somewhat
 * more in one load than in another, which a few loads do not show. So the intervals also allow for this: the
 * energy above idle of each load is assumed to differ from the model with a relative standard deviation of
 * KWHY_LLM_LOAD_RATIO, independently of the other loads.
 */
struct kwhy_llm_power_row {
	size_t load; /* index of the row's load: the number of calls of kwhy_llm_power_rows_add before */
	double seconds, joules;
	double work[KWHY_LLM_WORK_COUNT];
};

/* Rows of all loads of a run, of their steady windows. */
struct kwhy_llm_power_rows {
	struct kwhy_llm_power_row *items;
	size_t count, capacity;
	size_t loads;
};

/*
 * Relative standard deviation of a load's energy above idle from that of the model. Source:
 * docs/results/llm.md. It was chosen with six figures of servers on an H200 whose prefill and decoding were
 * measured alone; of seven figures measured later, five are in the intervals that follow from it.
 */
#define KWHY_LLM_LOAD_RATIO 0.03

/* Adds a row for each interval between readings in the steady window of a load. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_power_rows_add(struct kwhy_llm_power_rows *rows,
	const struct kwhy_llm_metered *metered, const struct kwhy_llm_shares *shares,
	struct kwhy_error *error);
void kwhy_llm_power_rows_done(struct kwhy_llm_power_rows *rows);

/* A figure with its 90 % interval. */
struct kwhy_llm_coefficient {
	double value, low, high; /* NAN: unknown */
	/*
	 * Whether the loads determine the value: half of its interval is at most a quarter of the value, or
	 * makes at most a twentieth of the run's energy above idle.
	 */
	bool is_known;
};

enum { KWHY_LLM_POWER_ROWS_MIN = 12 };

struct kwhy_llm_power_fit {
	struct kwhy_llm_coefficient idle_w;
	struct kwhy_llm_coefficient work_j[KWHY_LLM_WORK_COUNT]; /* J per unit of each kind of work */
	/*
	 * J per prompt token with its share of batches, at the run's mean length of prompts, and J per output
	 * token with its share of steps and its context, at the run's mean concurrency and context. Similar
	 * loads determine these two figures, although they do not determine the parts of each.
	 */
	struct kwhy_llm_coefficient prefill_j, decode_j;
	/*
	 * Coefficients of the fit. If columns depend on each other, one coefficient includes the other
	 * coefficients, which are 0.
	 */
	double model_idle_w, model_work_j[KWHY_LLM_WORK_COUNT];
	double amount[KWHY_LLM_WORK_COUNT]; /* work, joules and seconds of all rows */
	double joules, seconds;
	/*
	 * Covariances of the coefficients of work by two estimates: `alike` assumes equal variances of all
	 * residuals, `robust` does not.
	 */
	double alike[KWHY_LLM_WORK_COUNT][KWHY_LLM_WORK_COUNT],
		robust[KWHY_LLM_WORK_COUNT][KWHY_LLM_WORK_COUNT];
	double by_load[KWHY_LLM_WORK_COUNT][KWHY_LLM_WORK_COUNT]; /* to be added: covariances by the loads'
								     differences from the model */
	double inflation, student; /* inflation: factor on `alike` if residuals are correlated; student:
				      quantile of Student's t for a 90 % interval */
	bool is_free[KWHY_LLM_WORK_COUNT]; /* false: the coefficient is constrained to 0 */
	double residual_ratio;		   /* standard deviation over the intervals of (residual / power) */
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
