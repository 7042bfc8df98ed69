/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POSTERIOR_H
#define KWHY_LEDGER_ENERGY_POSTERIOR_H

#include "ledger/energy/response_features.h"

/*
 * Posterior of the powers given the readings. A reading is the idle level plus, for each class, its power
 * above idle times its level as seen by the meter, with Student-t noise; docs/attribution.md has the model.
 * The parameters are one vector: the logarithm of each class's power above idle in watts, then the parameters
 * of this enum.
 */
enum kwhy_posterior_parameter {
	KWHY_PARAMETER_IDLE, /* idle level in watts */
	KWHY_PARAMETER_UNIT, /* log of the watts that a full grid draws above idle */
	KWHY_PARAMETER_TAU,  /* the meter's time constant, as its distance from the middle of the grid in grid
				steps */
	KWHY_PARAMETER_DELAY, /* the meter's delay, as its distance from the middle of the grid in grid steps
			       */
	KWHY_PARAMETER_NOISE, /* log of the standard deviation, in watts, of the part of the noise that all
				 readings have */
	KWHY_PARAMETER_ALIAS, /* log of the share of the power's variance inside a reading's window that
				 appears as noise */
	KWHY_PARAMETER_STAMP, /* log of the standard deviation of the time stamps in seconds */
	KWHY_PARAMETER_VARY, /* log of the relative standard deviation of a power above idle about the mean of
				its class */
	KWHY_PARAMETER_COUNT
};

struct kwhy_normal {
	double mean, sd;
};

/* The prior. The mean of a class power is exp(UNIT) * fill if `tied` is true, otherwise a known power. */
struct kwhy_posterior_prior {
	size_t class_count;
	struct kwhy_normal
		*class_log; /* [class_count] mean: log of the fill if tied, otherwise log of watts */
	bool *tied;
	bool *seen; /* [class_count] the power was shown by readings of another recording, so the power limit
		       does not bound it */
	struct kwhy_normal other[KWHY_PARAMETER_COUNT]; /* indexed by enum kwhy_posterior_parameter; tau and
							   delay in seconds */
	double limit_w;					/* enforced power limit of the device; 0: unknown */
};

struct kwhy_posterior_model {
	const struct kwhy_response_features *features;
	const struct kwhy_power_readings *readings;
	const struct kwhy_posterior_prior *prior;
	const double *shared_w2; /* [readings] variance of the error that a reading shares with similar
				    readings; NULL: no such error */
	double temper;		 /* exponent of the likelihood; 1 if residuals are independent */
};

/* The readings as predicted by one set of parameters. */
struct kwhy_posterior_prediction {
	size_t count;
	double *power_w, *slope_w_per_s;
	double *inside_w2; /* [count] variance of the power inside each reading's window */
	double *scratch;   /* [2 * count] memory for intermediate results */
};

#define KWHY_NOISE_PARAMETERS 4 /* number of parameters, the last ones, that affect only the noise */

/* Largest distance of tau and of the delay from the middle of the grid, in grid steps. */
#define KWHY_TAU_REACH 1.7
#define KWHY_DELAY_REACH ((double)(KWHY_GRID_DELAYS / 2))

static inline size_t kwhy_posterior_size(const struct kwhy_posterior_prior *prior)
{
	return prior->class_count + KWHY_PARAMETER_COUNT;
}

KWHY_MUST_USE enum kwhy_status kwhy_posterior_prediction_init(
	struct kwhy_posterior_prediction *prediction, size_t count, struct kwhy_error *error);
void kwhy_posterior_prediction_done(struct kwhy_posterior_prediction *prediction);

/*
 * Weights of the grid's time constants and delays in the interpolation, and the derivatives of these weights
 * with respect to TAU and DELAY.
 */
struct kwhy_grid_weights {
	double tau[KWHY_GRID_TAUS], tau_slope[KWHY_GRID_TAUS];
	double delay[KWHY_GRID_DELAYS], delay_slope[KWHY_GRID_DELAYS];
};

/*
 * Weights at `other`, the parameters after the class powers: quadratic between time constants, cubic between
 * delays.
 */
struct kwhy_grid_weights kwhy_grid_weigh(const double *other);

void kwhy_posterior_predict(struct kwhy_posterior_prediction *prediction,
	const struct kwhy_posterior_model *model, const double *parameters);

/*
 * The noise parameters in the form in which kwhy_posterior_variance() needs them: variances and shares, not
 * logarithms.
 */
struct kwhy_posterior_noise {
	double idle_w, noise_w2, alias, stamp_s2, vary2;
};

/* `noise_logs` are the last KWHY_NOISE_PARAMETERS parameters. */
struct kwhy_posterior_noise kwhy_posterior_noise_of(double idle_w, const double *noise_logs);

/* Variance of the noise of reading i about its prediction. */
static inline double kwhy_posterior_variance(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, size_t i,
	const struct kwhy_posterior_noise *noise)
{
	double slope = prediction->slope_w_per_s[i], net_w = prediction->power_w[i] - noise->idle_w;

	return noise->noise_w2 + noise->alias * prediction->inside_w2[i] + noise->stamp_s2 * slope * slope +
		noise->vary2 * net_w * net_w + (model->shared_w2 ? model->shared_w2[i] : 0);
}

/*
 * Terms of the log prior. kwhy_posterior_log_limit() is the term of the power limit: a device holds the power
 * of a class, idle level included, to about its limit. Above 1.2 times the limit the density falls, so that
 * only decisive readings put a power there. A power that readings of another recording have shown has no such
 * term.
 */
double kwhy_posterior_log_class(
	const struct kwhy_posterior_prior *prior, size_t class, double log_power, double unit);
double kwhy_posterior_log_other(const struct kwhy_posterior_model *model, size_t parameter, double value);
double kwhy_posterior_log_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
/* Distance of a power above 1.2 times the limit, in units of kwhy_posterior_limit_sd_w(). */
double kwhy_posterior_beyond_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
double kwhy_posterior_limit_sd_w(const struct kwhy_posterior_prior *prior);

double kwhy_posterior_log_prior(const struct kwhy_posterior_model *model, const double *parameters);
/* Log likelihood of the readings given a prediction, without the exponent `temper`. */
double kwhy_posterior_log_likelihood(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, const struct kwhy_posterior_noise *noise);
/*
 * Log prior plus `temper` times the log likelihood; -INFINITY if tau or delay is outside the grid's reach.
 * Updates the prediction.
 */
double kwhy_posterior_log_density(const struct kwhy_posterior_model *model,
	struct kwhy_posterior_prediction *prediction, const double *parameters);

/* The most probable parameters (mode), and the precision matrix around them as a Cholesky factor. */
struct kwhy_posterior_fit {
	size_t size;
	double *mode, *factor;
	/*
	 * Quadratic approximation of `temper` times the log likelihood around the mode, with the powers of
	 * the classes in watts and the other parameters as they are: gradient, [size], and negative
	 * curvature, [size * size]. Entries of noise parameters are 0. In watts this log likelihood is nearly
	 * quadratic.
	 */
	double *gradient, *curvature;
};

KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_init(
	struct kwhy_posterior_fit *fit, const struct kwhy_posterior_model *model, struct kwhy_error *error);
void kwhy_posterior_fit_done(struct kwhy_posterior_fit *fit);
/*
 * Climbs to the mode from a start that the caller has written to fit->mode. Writes the log density of the
 * mode to out_density, which may be NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_climb(struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, double *out_density, struct kwhy_error *error);
/* Standard deviation of a parameter in the normal approximation around the mode. */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_sd(
	const struct kwhy_posterior_fit *fit, size_t parameter, double *out_spread, struct kwhy_error *error);

/*
 * Finds a start for the climb. At each point of the grid, powers are fitted by least squares around their
 * priors; the point that fits best, with its powers, is returned. A climb from one start may end in a local
 * maximum: the posterior of a loop has several, one of which explains all changes as noise.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_scan(
	const struct kwhy_posterior_model *model, double *out_parameters, struct kwhy_error *error);

/*
 * Divides the slow drift of power out of `readings`. `read_w` are the powers as read. Power drifts with
 * temperature, in all classes alike, as a slow random walk. With the drift, residuals would be correlated
 * over seconds, and the readings would seem less informative than they are.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_detrend(const struct kwhy_posterior_model *model,
	const double *parameters, const double *read_w, struct kwhy_power_readings *readings,
	struct kwhy_error *error);

/*
 * Writes the variance, [readings], that a reading gets for the error which it shares with similar readings.
 * Readings that see nearly the same mixture of classes share the model's error about that mixture: a loop
 * that is read a thousand times is known no better than from its few different phases.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_share(const struct kwhy_posterior_model *model,
	const double *parameters, double *out_shared_w2, struct kwhy_error *error);

/*
 * Writes the exponent of the likelihood: 1 / (1 + 2 * sum of the significant autocorrelations of the
 * residuals at the mode).
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_temper(const struct kwhy_posterior_model *model,
	const double *parameters, double *out_temper, struct kwhy_error *error);

/*
 * Writes `count` draws of `size` parameters from the product of the quadratic likelihood of the fit and the
 * exact prior. The noise parameters stay as fitted. No reading is evaluated again, so a draw may take many
 * steps.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_draw(const struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, uint64_t seed, size_t count, double *out_draws,
	struct kwhy_error *error);

#endif
