/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POSTERIOR_H
#define KWHY_LEDGER_ENERGY_POSTERIOR_H

#include "ledger/energy/response_features.h"

/*
 * Posterior density of the powers, given the readings. A reading is modelled as the idle level plus, for each
 * power class, its power above idle times its level as the meter shows it (response_features.h), plus
 * Student-t noise; docs/attribution.md has the model. The parameters are one vector: the logarithm of each
 * class's power above idle in watts, then the parameters of this enum.
 */
enum kwhy_posterior_parameter {
	KWHY_PARAMETER_IDLE, /* idle level in watts */
	KWHY_PARAMETER_UNIT, /* logarithm of the power above idle, in watts, of a kernel that fills the device
				(a "full grid") */
	KWHY_PARAMETER_TAU, /* the meter's time constant, as its distance from the middle of the response grid
			       in grid steps */
	KWHY_PARAMETER_DELAY, /* the meter's delay, as its distance from the middle of the response grid in
				 grid steps */
	KWHY_PARAMETER_NOISE, /* logarithm of the standard deviation, in watts, of the noise that all readings
				 have */
	KWHY_PARAMETER_ALIAS, /* logarithm of the share of the variance of the power within a reading's window
				 that appears as noise */
	KWHY_PARAMETER_STAMP, /* logarithm of the standard deviation, in seconds, of the errors of time stamps
			       */
	KWHY_PARAMETER_VARY,  /* logarithm of the relative standard deviation of a power above idle about the
				 mean of its class */
	KWHY_PARAMETER_COUNT
};

struct kwhy_normal {
	double mean, sd;
};

/*
 * The prior. If tied[c], the median of a class's power above idle is exp(UNIT) * fill: the power of a full
 * grid times the share of the device that its grids occupy. Otherwise the median is a power in watts that
 * does not depend on UNIT.
 */
struct kwhy_posterior_prior {
	size_t class_count;
	struct kwhy_normal *class_log; /* [class_count] mean: logarithm of the fill (tied) or of the watts */
	bool *tied;
	bool *seen; /* [class_count] whether the power comes from another recording or from performance
		       counters, so that the power limit does not bound it */
	struct kwhy_normal other[KWHY_PARAMETER_COUNT]; /* indexed by enum kwhy_posterior_parameter; tau and
							   delay in seconds */
	double limit_w;					/* enforced power limit of the device; 0: unknown */
};

struct kwhy_posterior_model {
	const struct kwhy_response_features *features;
	const struct kwhy_power_readings *readings;
	const struct kwhy_posterior_prior *prior;
	const double *shared_w2; /* [reading_count] variance in W^2 of the error that a reading shares with
				    similar readings (kwhy_posterior_share()); NULL: none */
	double temper;		 /* exponent of the likelihood; 1 if residuals are independent */
};

/*
 * The readings as predicted for one vector of parameters. power_w, slope_w_per_s: [count] predicted power,
 * and its derivative with respect to the reading's time.
 */
struct kwhy_posterior_prediction {
	size_t count;
	double *power_w, *slope_w_per_s;
	double *inside_w2; /* [count] variance of the power inside each reading's window */
	double *scratch;   /* [2 * count] memory for intermediate results */
};

/* Number of the parameters that concern only the noise; they are the last ones of the vector. */
#define KWHY_NOISE_PARAMETERS 4

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
 * The noise parameters as variances and shares rather than logarithms, and the idle level, as
 * kwhy_posterior_variance() needs them.
 */
struct kwhy_posterior_noise {
	double idle_w, noise_w2, alias, stamp_s2, vary2;
};

/* `noise_logs` are the last KWHY_NOISE_PARAMETERS parameters. */
struct kwhy_posterior_noise kwhy_posterior_noise_of(double idle_w, const double *noise_logs);

/* Variance in W^2 of reading i about its prediction: the squared scale of the Student-t noise. */
static inline double kwhy_posterior_variance(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, size_t i,
	const struct kwhy_posterior_noise *noise)
{
	double slope = prediction->slope_w_per_s[i], net_w = prediction->power_w[i] - noise->idle_w;

	return noise->noise_w2 + noise->alias * prediction->inside_w2[i] + noise->stamp_s2 * slope * slope +
		noise->vary2 * net_w * net_w + (model->shared_w2 ? model->shared_w2[i] : 0);
}

/*
 * Terms of the log prior: of a class's power, of another parameter, and of the power limit. A device limits
 * its power, idle level included, to about its power limit. Therefore the density falls above 1.2 times the
 * limit; only readings that leave no other choice lead to such a power. The last term is 0 for classes whose
 * `seen` is set. power_w: idle level plus the class's power above idle.
 */
double kwhy_posterior_log_class(
	const struct kwhy_posterior_prior *prior, size_t class, double log_power, double unit);
double kwhy_posterior_log_other(const struct kwhy_posterior_model *model, size_t parameter, double value);
double kwhy_posterior_log_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
/*
 * By how much a power (idle level included) exceeds 1.2 times the limit, in units of
 * kwhy_posterior_limit_sd_w(); 0: it does not, the limit is unknown, or `seen` is set.
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
	 * Quadratic approximation of `temper` times the log likelihood around the mode: its gradient, [size],
	 * and the negative of its second derivatives, [size * size]. They are with respect to watts for the
	 * powers of the classes, since in watts this log likelihood is nearly quadratic, and to the
	 * parameters themselves for all others. Entries of noise parameters are 0.
	 */
	double *gradient, *curvature;
};

KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_init(
	struct kwhy_posterior_fit *fit, const struct kwhy_posterior_model *model, struct kwhy_error *error);
void kwhy_posterior_fit_done(struct kwhy_posterior_fit *fit);
/*
 * Climbs to the mode from a start that the caller has written to fit->mode. Writes the log density of the
 * mode to out_density, which may be NULL. KWHY_E_INPUT: no powers fit the readings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_climb(struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, double *out_density, struct kwhy_error *error);
/* Standard deviation of a parameter in the normal approximation around the mode. */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_sd(
	const struct kwhy_posterior_fit *fit, size_t parameter, double *out_spread, struct kwhy_error *error);

/*
 * Finds a start for the climb to the mode. At each point of the response grid, powers are fitted by least
 * squares with their priors; the point with the highest density is returned with its powers. A climb from a
 * single start may end in a local maximum: the posterior of a loop has several, one of which takes all
 * changes of the readings for noise.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_scan(
	const struct kwhy_posterior_model *model, double *out_parameters, struct kwhy_error *error);

/*
 * Finds the slow drift of the power and writes read_w[reading_count], the powers as read, divided by that
 * drift, to `readings`. Power drifts with temperature, in all classes alike, as a slow random walk. If the
 * drift were not removed, residuals would be correlated over seconds, and the readings would seem more
 * informative than they are. Nothing changes if there are fewer than 2 readings or a predicted power is not
 * above 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_detrend(const struct kwhy_posterior_model *model,
	const double *parameters, const double *read_w, struct kwhy_power_readings *readings,
	struct kwhy_error *error);

/*
 * Writes the variance in W^2, [reading_count], of the error that a reading shares with similar readings.
 * Readings of nearly the same mixture of power classes share the model's error about that mixture: powers in
 * a loop that is read a thousand times are known no better than its few different phases allow.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_share(const struct kwhy_posterior_model *model,
	const double *parameters, double *out_shared_w2, struct kwhy_error *error);

/*
 * Writes the exponent of the likelihood, `temper`: 1 / (1 + 2 * sum of the autocorrelations of the
 * residuals). The sum is over lags from 1 on, up to the first insignificant one.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_temper(const struct kwhy_posterior_model *model,
	const double *parameters, double *out_temper, struct kwhy_error *error);

/*
 * Writes `count` random draws of the parameters, [count * fit->size], from the product of the fit's quadratic
 * approximation of the likelihood and the exact prior. The noise parameters are those of the mode in each
 * draw. A draw does not evaluate the readings, so it can afford many steps.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_draw(const struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, uint64_t seed, size_t count, double *out_draws,
	struct kwhy_error *error);

#endif
