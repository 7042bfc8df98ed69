/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/curves.h"

#include <math.h>
#include <string.h>

static const struct kwhy_transfer_curve *find(const struct kwhy_transfers *transfers, const char *strategy,
	enum kwhy_transfer_direction direction, enum kwhy_transfer_clock clock)
{
	for (size_t i = 0; i < transfers->curve_count; i++) {
		const struct kwhy_transfer_curve *curve = &transfers->curves[i];

		if (!curve->is_energy && curve->direction == direction && curve->clock == clock &&
			curve->segment_count && strcmp(curve->strategy, strategy) == 0)
			return curve;
	}
	return NULL;
}

/*
 * Whether the profile has transfer curves, and copies of this kind are between host and device, the only ones
 * that have curves.
 */
static bool is_measured(const struct kwhy_profile *profile, enum kwhy_copy_kind kind)
{
	return profile && profile->transfers && (kind == KWHY_COPY_H2D || kind == KWHY_COPY_D2H);
}

static enum kwhy_transfer_direction direction_of(enum kwhy_copy_kind kind)
{
	return kind == KWHY_COPY_H2D ? KWHY_TRANSFER_H2D : KWHY_TRANSFER_D2H;
}

const struct kwhy_transfer_curve *kwhy_whatif_queued_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind)
{
	if (!is_measured(profile, kind))
		return NULL;
	return find(profile->transfers, "pinned", direction_of(kind), KWHY_TRANSFER_BACK_TO_BACK);
}

const struct kwhy_transfer_curve *kwhy_whatif_copy_curve(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind, bool pageable)
{
	const struct kwhy_transfer_curve *curve;

	if (!is_measured(profile, kind))
		return NULL;
	if (pageable)
		return find(profile->transfers, "pageable", direction_of(kind), KWHY_TRANSFER_BY_HOST);
	curve = kwhy_whatif_queued_copy_curve(profile, kind);
	return curve ? curve : find(profile->transfers, "pinned", direction_of(kind), KWHY_TRANSFER_ISOLATED);
}

double kwhy_whatif_curve_ns(const struct kwhy_transfer_curve *curve, double bytes)
{
	const struct kwhy_transfer_segment *segment = &curve->segments[0];

	for (size_t i = 1; i < curve->segment_count; i++)
		if (curve->segments[i].from_bytes <= bytes)
			segment = &curve->segments[i];
	return fmax(segment->alpha_s + segment->beta_s_per_byte * bytes, 0) * 1e9;
}
