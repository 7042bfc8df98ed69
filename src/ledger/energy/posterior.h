/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POSTERIOR_H
#define KWHY_LEDGER_ENERGY_POSTERIOR_H

#include "ledger/energy/response_features.h"

/*
 * Posterior density of the powers, given the readings. A reading is the idle level plus, for each power
 * class, its power above idle times its level as the meter shows it, with Student-t noise;
 * docs/attribution.md has the model. The parameters are one vector: the logarithm of each class's power
 * above idle in watts, then the parameters of this enum.
 */
enum kwhy_posterior_parameter {
	KWHY_PARAMETER_IDLE, /* idle level in watts */
	KWHY_PARAMETER_UNIT, /* logarithm of the power of a full grid above idle, in watts */
	KWHY_PARAMETER_TAU, /* the meter's time constant, as its distance from the middle of the response grid
			       in grid steps */
	KWHY_PARAMETER_DELAY, /* the meter's delay, as its distance from the middle of the response grid in
				 grid steps */
	KWHY_PARAMETER_NOISE, /* logarithm of the standard deviation, in watts, of the noise that all readings
				 have */
	KWHY_PARAMETER_ALIAS, /* logarithm of the share of the power's variance inside a reading's window that
				 appears as noise */
	KWHY_PARAMETER_STAMP, /* logarithm of the standard deviation of the time stamps, in seconds */
	KWHY_PARAMETER_VARY,  /* logarithm of the relative standard deviation of a power above idle about the
				 mean of its class */
	KWHY_PARAMETER_COUNT
};

struct kwhy_normal {
	double mean, sd;
};

/*
 * The prior. If `tied` is true, the mean of a class's power is exp(UNIT) * fill: the power of a full grid
 * times the share of the device that its grids occupy. Otherwise it is a known power.
 */
struct kwhy_posterior_prior {
	size_t class_count;
	struct kwhy_normal
		*class_log; /* [class_count] mean: logarithm of the fill if tied, otherwise of the watts */
	bool *tied;
	bool *seen; /* [class_count] whether readings of another recording have shown the power, so that the
		       power limit does not bound it */
	struct kwhy_normal other[KWHY_PARAMETER_COUNT]; /* indexed by enum kwhy_posterior_parameter; tau and
							   delay in seconds */
	double limit_w;					/* enforced power limit of the device; 0: unknown */
};

struct kwhy_posterior_model {
	const struct kwhy_response_features *features;
	const struct kwhy_power_readings *readings;
	const struct kwhy_posterior_prior *prior;
	const double *shared_w2; /* [readings] variance of the error that a reading has in common with similar
				    readings; NULL: there is no such error */
	double temper;		 /* exponent of the likelihood; 1 if residuals are independent */
};

/* The readings as predicted by one set of parameters. */
struct kwhy_posterior_prediction {
	size_t count;
	double *power_w, *slope_w_per_s;
	double *inside_w2; /* [count] variance of the power inside each reading's window */
	double *scratch;   /* [2 * count] memory for intermediate results */
};

#define KWHY_NOISE_PARAMETERS 4 /* number of parameters of the noise alone, which are the last ones */

/* Largest distance of time constant and delay from the middle of the response grid, in grid steps. */
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
 * Weights of the time constants and delays of the response grid in the interpolation, and the derivatives
 * of these weights with respect to TAU and DELAY.
 */
struct kwhy_grid_weights {
	double tau[KWHY_GRID_TAUS], tau_slope[KWHY_GRID_TAUS];
	double delay[KWHY_GRID_DELAYS], delay_slope[KWHY_GRID_DELAYS];
};

/*
 * Weights of the response grid at `other`, the parameters after the class powers: quadratic between time
 * constants, cubic between delays.
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
 * Terms of the log prior. kwhy_posterior_log_limit() is the term of the power limit: a device holds its
 * power, idle level included, to about its limit. Above 1.2 times the limit the density falls, so that only
 * decisive readings put a power there. There is no such term for a power that readings of another recording
 * have shown.
 */
double kwhy_posterior_log_class(
	const struct kwhy_posterior_prior *prior, size_t class, double log_power, double unit);
double kwhy_posterior_log_other(const struct kwhy_posterior_model *model, size_t parameter, double value);
double kwhy_posterior_log_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
/*
 * kwhy_posterior_beyond_limit(): distance of a power above 1.2 times the limit, in units of
 * kwhy_posterior_limit_sd_w().
 */
double kwhy_posterior_beyond_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
double kwhy_posterior_limit_sd_w(const struct kwhy_posterior_prior *prior);

double kwhy_posterior_log_prior(const struct kwhy_posterior_model *model, const double *parameters);
/* Log likelihood of the readings given a prediction, without the exponent `temper`. */
double kwhy_posterior_log_likelihood(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, const struct kwhy_posterior_noise *noise);
/*
 * Log prior plus `temper` times the log likelihood; -INFINITY if time constant or delay is outside the
 * response grid's reach. Updates the prediction.
 */
double kwhy_posterior_log_density(const struct kwhy_posterior_model *model,
	struct kwhy_posterior_prediction *prediction, const double *parameters);

/* The most probable parameters (mode), and the precision matrix around them as a Cholesky factor. */
struct kwhy_posterior_fit {
	size_t size;
	double *mode, *factor;
	/*
	 * Quadratic approximation of `temper` times the log likelihood around the mode. The powers of the
	 * classes are in watts, since in watts this log likelihood is nearly quadratic; the other
	 * parameters are not converted. The approximation consists of the gradient, [size], and the
	 * negative curvature, [size * size]. Entries of noise parameters are 0.
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
 * Finds a start for the climb to the mode. At each point of the response grid, powers are fitted by least
 * squares around their priors; the point that fits best is returned with its powers. A climb from a single
 * start may end in a local maximum: the posterior of a loop has several, one of which explains all changes
 * as noise.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_scan(
	const struct kwhy_posterior_model *model, double *out_parameters, struct kwhy_error *error);

/*
 * Divides `readings` by the slow drift of the power. `read_w` are the powers as read. Power drifts with
 * temperature, in all classes alike, as a slow random walk. If the drift were not removed, residuals would be
 * correlated over seconds, and the readings would seem more informative than they are.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_detrend(const struct kwhy_posterior_model *model,
	const double *parameters, const double *read_w, struct kwhy_power_readings *readings,
	struct kwhy_error *error);

/*
 * Writes the variance, [readings], of the error that a reading has in common with similar readings.
 * Readings of nearly the same mixture of power classes share the model's error about that mixture: a loop
 * that is read a thousand times is known no better than its few different phases allow.
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
 * Writes `count` random draws of `size` parameters from the product of the quadratic likelihood of the fit
 * and the exact prior. The noise parameters stay as fitted. A draw evaluates no reading again, so it may
 * take many steps.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_draw(const struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, uint64_t seed, size_t count, double *out_draws,
	struct kwhy_error *error);

#endif
