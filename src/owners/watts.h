/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_WATTS_H
#define KWHY_OWNERS_WATTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Learns how much power each owner draws on one device, from the device's power and from the shares of time
 * in which the owners' kernels ran. Pure. The model of the power is
 *
 * idle + (1 + s) * sum of (rate * use * clock) + sum of other
 *
 * rate: watts of an owner for each GHz of the SM clock while its kernels run, so that the same work has the
 * same energy at each clock. other: its watts that its kernels do not explain, of copies for example, while
 * anything runs on the device. s: a slowly varying deviation that all owners share. A Kalman filter follows
 * idle, s, a rate that is typical of the device, and each owner's rate and other. So the powers of an owner
 * that is alone on the device are learnt at once. Those of another owner are learnt from how the device's
 * power changes when the owner comes or goes. Of owners that come together and always run in the same ratio,
 * only the sum is learnt, and the errors of each stay large.
 *
 * The driver's samples are few, so their scatter is far larger than that of the power. A filter that took
 * each look for an observation would learn from it that all owners draw the same. So an observation of the
 * filter is a mean over a stretch of up to a minute.
 */

enum {
	/*
	 * largest number of owners of a device whose powers are learnt; the other holders count with the rate
	 * that is typical of the device
	 */
	KWHY_WATTS_OWNERS = 16,
	KWHY_WATTS_STATES = 3 + 2 * KWHY_WATTS_OWNERS
};

/*
 * What is known of one owner's powers on one device: values and variances, without the correlations with the
 * powers of other owners.
 */
struct kwhy_watts_known {
	bool is_known;
	double rate_w, rate_variance; /* W/GHz */
	double other_w, other_variance;
};

struct kwhy_watts_slot {
	uint32_t owner;
	bool is_listed;
	/*
	 * Sums over looks, of which earlier ones weigh less (time constant: half a minute). used_s: of use
	 * times length; passed_s: of length.
	 */
	double used_s, passed_s;
	double learnt_s; /* total length of the looks from which the owner's powers were learnt since the
			    holders last changed */
	/*
	 * Energies above idle, of which earlier ones weigh less (time constant: one minute), J. modelled_j:
	 * the owner's energy by the model; given_j: the energy that was handed out to the owner.
	 */
	double modelled_j, given_j;
	/*
	 * The owner's shares in the looks. looks: their number; mean, variance: of the shares; successive:
	 * covariance of successive shares; last: the last share.
	 */
	double looks, mean, variance, successive, last;
};

/* The filter's states and their covariances. */
struct kwhy_watts_fit {
	double state[KWHY_WATTS_STATES], covariance[KWHY_WATTS_STATES][KWHY_WATTS_STATES];
};

/*
 * Sums over the looks of one stretch of time with the same holders, in all of which something ran. A stretch
 * is one observation of the filter.
 */
struct kwhy_watts_stretch {
	double length_s, power_ws; /* sums over the looks: of length, of power times length (J) */
	double used_s[KWHY_WATTS_OWNERS],
		rest_s; /* use times clock in GHz times time: by slot, and of all holders without a slot */
	double clock_s, samples;
};

/* State of the filter for one device. Zero-initialise it. */
struct kwhy_watts {
	bool has_begun;
	/*
	 * since the device was last idle: total length of the looks from which nothing was learnt (the first
	 * LATE_S of work, see watts.c)
	 */
	double works_s;
	struct kwhy_watts_slot slots[KWHY_WATTS_OWNERS];
	size_t count;
	struct kwhy_watts_stretch stretch;
	struct kwhy_watts_fit before,
		now; /* before: without the observation of the present stretch; now: with it */
};

struct kwhy_watts_holder {
	uint32_t owner;
	double use; /* share of time in which its kernels ran, by the driver */
};

/* What was seen of a device since the last look. A look is one search for the device's holders. */
struct kwhy_watts_look {
	/*
	 * power_w: mean power since the last look; low_w: lowest power that the device has had so far; NAN:
	 * unknown
	 */
	double power_w, low_w;
	double length_s;
	double clock_hz;  /* SM clock; NAN: unknown */
	double busy;	  /* share of time in which anything ran; NAN: unknown */
	bool has_uses;	  /* the holders' use comes from the driver */
	bool is_repeated; /* the driver has no sample of the use that it did not have at the last look */
	const struct kwhy_watts_holder *holders;
	size_t count;
};

/*
 * Adds and drops owners, so that exactly the holders of the look, at most KWHY_WATTS_OWNERS of them, have
 * slots. known: [look->count] what was known of each holder before. A change of the holders ends the stretch.
 */
void kwhy_watts_list(
	struct kwhy_watts *watts, const struct kwhy_watts_look *look, const struct kwhy_watts_known *known);

/*
 * Learns from a look, for which kwhy_watts_list() was called before. Nothing is learnt while the power is
 * unknown, while something runs and the driver states no use, or at the start of work (LATE_S).
 */
void kwhy_watts_learn(struct kwhy_watts *watts, const struct kwhy_watts_look *look);

/*
 * An owner's share of the power above idle, and the share's errors as standard deviations. The share is the
 * ratio of mean powers over about the last half minute, because the use in one look may come from a single
 * sample, which names only one owner.
 */
struct kwhy_watts_share {
	double now_w;  /* modelled power by the use of this look */
	double mean_w; /* modelled power by the mean use */
	double share;  /* mean_w divided by the sum of all holders' mean_w */
	double mean_use;
	double model_sd; /* standard deviation of `share` due to the model, the same from look to look */
	/* standard deviation of `share` due to the samples, independent from sample to sample */
	double sample_sd;
	double weight_j; /* the holder's part of the look's energy, J; set by kwhy_watts_hand_out() */
};

/*
 * Writes look->count shares. False: nothing is known, or the holders draw nothing that a meter could show.
 */
bool kwhy_watts_divide(
	struct kwhy_watts *watts, const struct kwhy_watts_look *look, struct kwhy_watts_share *out);

/*
 * Divides the energy of a look among its holders (weight_j), and adds it to what they have been given. The
 * idle energy is divided in proportion to the mean shares. The energy above idle goes to the holders that
 * were given less of the last minute's energy than the model gives them. Over many looks it is therefore
 * divided in the ratio of the modelled sums. The mean of the ratios of single looks would hardly depend on
 * the powers, because a sample names only one owner.
 */
void kwhy_watts_hand_out(struct kwhy_watts *watts, const struct kwhy_watts_look *look, double energy_j,
	struct kwhy_watts_share *shares);

/* What is known of an owner; is_known is false if it has no slot. */
struct kwhy_watts_known kwhy_watts_known_of(const struct kwhy_watts *watts, uint32_t owner);

/*
 * Whether an owner's power is known so well that asking the driver for the use at fewer looks is enough
 * (SETTLED_SD).
 */
bool kwhy_watts_is_settled(const struct kwhy_watts *watts, uint32_t owner);

#endif
