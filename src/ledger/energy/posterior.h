/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POSTERIOR_H
#define KWHY_LEDGER_ENERGY_POSTERIOR_H

#include "ledger/energy/response_features.h"

/*
 * Posterior of the powers given the readings. A reading is the idle level plus, for each class, its power
 * above idle times its level as seen by the meter, with Student-t noise; docs/attribution.md has the model.
 * The parameters are one vector: the logarithm of each class's power above idle in watts, then those below.
 */
enum kwhy_posterior_parameter {
	KWHY_PARAMETER_IDLE,  /* watts */
	KWHY_PARAMETER_UNIT,  /* log of the watts that a full grid draws above idle */
	KWHY_PARAMETER_TAU,   /* time constant less that in the middle of the grid, in grid steps */
	KWHY_PARAMETER_DELAY, /* delay less that in the middle of the grid, in grid steps */
	KWHY_PARAMETER_NOISE, /* log of the noise floor in watts */
	KWHY_PARAMETER_ALIAS, /* log of the share of the variance inside the window that is noise */
	KWHY_PARAMETER_STAMP, /* log of the standard deviation of the stamps in seconds */
	KWHY_PARAMETER_VARY,  /* log of the standard deviation of a power above idle about its class's,
				 relative */
	KWHY_PARAMETER_COUNT
};

struct kwhy_normal {
	double mean, sd;
};

/* The prior. Class powers are around exp(UNIT) * fill, or around a known power where tied is false. */
struct kwhy_posterior_prior {
	size_t class_count;
	struct kwhy_normal *class_log; /* mean: log fill where tied, else log watts */
	bool *tied;
	bool *seen; /* known from readings of another recording, which the power limit does not bound */
	struct kwhy_normal other[KWHY_PARAMETER_COUNT]; /* tau and delay in seconds */
	double limit_w;					/* enforced power limit; 0: not known */
};

struct kwhy_posterior_model {
	const struct kwhy_response_features *features;
	const struct kwhy_power_readings *readings;
	const struct kwhy_posterior_prior *prior;
	const double *shared_w2; /* [readings] variance that a reading's error shares with similar readings;
				    NULL: no such error */
	double temper;		 /* exponent of the likelihood: 1 for independent residuals */
};

/* The readings as predicted by the parameters. */
struct kwhy_posterior_prediction {
	size_t count;
	double *power_w, *slope_w_per_s;
	double *inside_w2; /* variance of the power inside the window that a reading sees */
	double *scratch;   /* [2 * count] */
};

#define KWHY_NOISE_PARAMETERS 4 /* the last parameters, which affect the noise alone */

/* Largest distance of tau and of the delay from the middle, in grid steps. */
#define KWHY_TAU_REACH 1.7
#define KWHY_DELAY_REACH ((double)(KWHY_GRID_DELAYS / 2))

static inline size_t kwhy_posterior_size(const struct kwhy_posterior_prior *prior)
{
	return prior->class_count + KWHY_PARAMETER_COUNT;
}

KWHY_MUST_USE enum kwhy_status kwhy_posterior_prediction_init(
	struct kwhy_posterior_prediction *prediction, size_t count, struct kwhy_error *error);
void kwhy_posterior_prediction_done(struct kwhy_posterior_prediction *prediction);

/* Weights of the grid's time constants and delays, and their derivatives with respect to the parameters. */
struct kwhy_grid_weights {
	double tau[KWHY_GRID_TAUS], tau_slope[KWHY_GRID_TAUS];
	double delay[KWHY_GRID_DELAYS], delay_slope[KWHY_GRID_DELAYS];
};

/* Interpolates at the parameters: quadratic between time constants, cubic between delays. */
struct kwhy_grid_weights kwhy_grid_weigh(const double *other);

void kwhy_posterior_predict(struct kwhy_posterior_prediction *prediction,
	const struct kwhy_posterior_model *model, const double *parameters);

/* The noise parameters, transformed for the variance of a reading. */
struct kwhy_posterior_noise {
	double idle_w, noise_w2, alias, stamp_s2, vary2;
};

/* `noise_logs`: the last KWHY_NOISE_PARAMETERS parameters. */
struct kwhy_posterior_noise kwhy_posterior_noise_of(double idle_w, const double *noise_logs);

/* Variance of reading i that the class powers do not explain. */
static inline double kwhy_posterior_variance(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, size_t i,
	const struct kwhy_posterior_noise *noise)
{
	double slope = prediction->slope_w_per_s[i], net_w = prediction->power_w[i] - noise->idle_w;

	return noise->noise_w2 + noise->alias * prediction->inside_w2[i] + noise->stamp_s2 * slope * slope +
		noise->vary2 * net_w * net_w + (model->shared_w2 ? model->shared_w2[i] : 0);
}

/*
 * Terms of the log prior. kwhy_posterior_log_limit() is that of the power limit: a device holds the power of
 * a class, idle level included, to about its limit. Above 1.2 times the limit the density falls, so that only
 * readings that demand it put a power there. It does not bound a power that such readings have shown already.
 */
double kwhy_posterior_log_class(
	const struct kwhy_posterior_prior *prior, size_t class, double log_power, double unit);
double kwhy_posterior_log_other(const struct kwhy_posterior_model *model, size_t parameter, double value);
double kwhy_posterior_log_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
/* Distance of a power beyond 1.2 times the limit, in units of kwhy_posterior_limit_sd_w(). */
double kwhy_posterior_beyond_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w);
double kwhy_posterior_limit_sd_w(const struct kwhy_posterior_prior *prior);

double kwhy_posterior_log_prior(const struct kwhy_posterior_model *model, const double *parameters);
/* Log likelihood of the readings given a prediction, untempered. */
double kwhy_posterior_log_likelihood(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, const struct kwhy_posterior_noise *noise);
/* Log prior plus tempered log likelihood; -INFINITY outside the grid's reach. Updates the prediction. */
double kwhy_posterior_log_density(const struct kwhy_posterior_model *model,
	struct kwhy_posterior_prediction *prediction, const double *parameters);

/* The most probable parameters (mode) and the precision around them, as a Cholesky factor. */
struct kwhy_posterior_fit {
	size_t size;
	double *mode, *factor;
	/*
	 * The tempered log likelihood around the mode, which is nearly quadratic in watts: its gradient,
	 * [size], and its negative curvature, [size * size], with respect to the powers of the classes in
	 * watts and to the other parameters as they are; 0 for the noise parameters.
	 */
	double *gradient, *curvature;
};

KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_init(
	struct kwhy_posterior_fit *fit, const struct kwhy_posterior_model *model, struct kwhy_error *error);
void kwhy_posterior_fit_done(struct kwhy_posterior_fit *fit);
/*
 * Climbs to the mode from fit->mode, which the caller has set to a start. out_density is that of the mode and
 * may be NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_climb(struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, double *out_density, struct kwhy_error *error);
/* Standard deviation of a parameter in the normal approximation of the fit. */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_fit_sd(
	const struct kwhy_posterior_fit *fit, size_t parameter, double *out_spread, struct kwhy_error *error);

/*
 * Finds a start for the climb: at each point of the grid, the powers that fit best by least squares around
 * their priors; the best point is returned. A loop has local maxima, one of which explains everything as
 * noise.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_scan(
	const struct kwhy_posterior_model *model, double *out_parameters, struct kwhy_error *error);

/*
 * Power drifts with temperature, in all classes alike, as a slow random walk. Divides this drift out of
 * `readings`, whose powers as read are `read_w`. Otherwise the residuals are correlated over seconds, and the
 * readings seem less informative than they are.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_detrend(const struct kwhy_posterior_model *model,
	const double *parameters, const double *read_w, struct kwhy_power_readings *readings,
	struct kwhy_error *error);

/*
 * Readings that see nearly the same mixture of classes share the model's error about that mixture: a loop
 * read a thousand times is known no better than its few different phases. Writes the variance by which each
 * reading's part of such a shared error exceeds its own noise, [readings].
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_share(const struct kwhy_posterior_model *model,
	const double *parameters, double *out_shared_w2, struct kwhy_error *error);

/*
 * Exponent of the likelihood: 1 / (1 + 2 * sum of the significant autocorrelations of the residuals at the
 * mode).
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_temper(const struct kwhy_posterior_model *model,
	const double *parameters, double *out_temper, struct kwhy_error *error);

/*
 * Draws, [count * size], from the quadratic likelihood of the fit times the exact prior. The noise stays as
 * fitted. No reading is evaluated again, so a draw may take many steps.
 */
KWHY_MUST_USE enum kwhy_status kwhy_posterior_draw(const struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, uint64_t seed, size_t count, double *out_draws,
	struct kwhy_error *error);

#endif
