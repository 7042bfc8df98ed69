/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input file of SimGrid: a platform whose links have the latency and the rate of large transfers, with
 * factors of SMPI (SimGrid's MPI layer) for other sizes. SMPI applies a factor to sizes above its
 * boundary (FactorSet in SimGrid), so each regime of the measured curve gives one boundary, its smallest
 * size, with its factors.
 */
#include "report/simulators/simulators.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 64 };

#define FACTOR_MAX 1e6

static const struct kwhy_pair_curve *first_curve(const struct kwhy_pair_series *series)
{
	const struct kwhy_pairs *pairs = series->pairs;

	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			const struct kwhy_pair_curve *curve = kwhy_pairs_curve(
				pairs, series->engine, series->clock, i, k);

			if (curve)
				return curve;
		}
	return NULL;
}

/*
 * The segment with a latency of at least 0, as SimGrid needs. A negative fitted latency becomes 0, and the
 * time per byte is lowered so that the time at the geometric middle of the segment's sizes stays the same.
 */
static struct kwhy_transfer_segment positive(struct kwhy_transfer_segment segment)
{
	double middle = sqrt(segment.from_bytes * segment.to_bytes);

	if (segment.alpha_s < 0) {
		segment.beta_s_per_byte += segment.alpha_s / middle;
		segment.alpha_s = 0;
	}
	return segment;
}

static void write_factors(
	const struct kwhy_pair_curve *curve, bool is_latency, double unit, struct kwhy_text *out)
{
	for (size_t i = 0; i < curve->segment_count; i++) {
		struct kwhy_transfer_segment segment = positive(curve->segments[i]);
		double factor = is_latency	      ? segment.alpha_s / unit
			: segment.beta_s_per_byte > 0 ? unit / segment.beta_s_per_byte
						      : FACTOR_MAX;

		kwhy_text_addf(out, "%s%.0f:%.9g", i ? ";" : "", i ? floor(segment.from_bytes) : 0.0,
			fmin(factor, FACTOR_MAX));
	}
}

static void write_links(const struct kwhy_pair_series *series, double alpha_s, struct kwhy_text *out)
{
	for (size_t i = 0; i < series->link_count; i++)
		if (series->links[i].beta.value > 0)
			kwhy_text_addf(out,
				"    <link id=\"link%" PRIu32 "-%" PRIu32
				"\" bandwidth=\"%.6eBps\" latency=\"%.6es\" sharing_policy=\"FATPIPE\"/>\n",
				series->links[i].source, series->links[i].target,
				1 / series->links[i].beta.value, alpha_s);
	for (size_t i = 0; i < series->link_count; i++)
		if (series->links[i].beta.value > 0)
			kwhy_text_addf(out,
				"    <route src=\"gpu%" PRIu32 "\" dst=\"gpu%" PRIu32
				"\" symmetrical=\"NO\"><link_ctn id=\"link%" PRIu32 "-%" PRIu32
				"\"/></route>\n",
				series->links[i].source, series->links[i].target, series->links[i].source,
				series->links[i].target);
}

static void write_simgrid(const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	const struct kwhy_pair_curve *curve = first_curve(series);
	struct kwhy_pair_link link = kwhy_simulator_middle_link(series);
	double alpha_s = fmax(link.alpha.value, 1e-9);

	kwhy_text_add(out,
		"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
		"\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n  <config>\n"
		"    <prop id=\"network/TCP-gamma\" value=\"0\"/>\n"
		"    <prop id=\"network/crosstraffic\" value=\"0\"/>\n"
		"    <prop id=\"network/weight-S\" value=\"0\"/>\n");
	if (curve) {
		kwhy_text_add(out, "    <prop id=\"network/latency-factor\" value=\"");
		write_factors(curve, true, alpha_s, out);
		kwhy_text_add(out, "\"/>\n    <prop id=\"network/bandwidth-factor\" value=\"");
		write_factors(curve, false, link.beta.value, out);
		kwhy_text_add(out, "\"/>\n");
	}
	kwhy_text_add(out, "  </config>\n  <zone id=\"gpus\" routing=\"Full\">\n");
	for (uint32_t i = 0; i < series->pairs->gpu_count; i++)
		kwhy_text_addf(out, "    <host id=\"gpu%" PRIu32 "\" speed=\"1Gf\"/>\n", i);
	write_links(series, alpha_s, out);
	kwhy_text_add(out, "  </zone>\n</platform>\n");
}

/* The factor of the largest boundary below `bytes` in the list that follows `key`; 1 if there is none. */
static double factor_of(const char *text, const char *key, double bytes)
{
	const char *place = strstr(text, key);
	double factor = 1;

	place = place ? strstr(place, "value=\"") : NULL;
	for (place = place ? place + strlen("value=\"") : NULL; place && *place && *place != '"';) {
		char *end;
		double boundary = strtod(place, &end), value;

		if (*end != ':')
			break;
		value = strtod(end + 1, &end);
		if (bytes > boundary)
			factor = value;
		place = *end == ';' ? end + 1 : NULL;
	}
	return factor;
}

static double predict_simgrid(const char *text, const struct kwhy_pair_config *config)
{
	double bytes = (double)config->bytes;
	char key[KEY_BYTES];
	const char *link;

	snprintf(
		key, sizeof(key), "<link id=\"link%" PRIu32 "-%" PRIu32 "\"", config->source, config->target);
	link = strstr(text, key);
	return kwhy_simulator_number(link, "latency=\"") * factor_of(text, "network/latency-factor", bytes) +
		bytes /
		(kwhy_simulator_number(link, "bandwidth=\"") *
			factor_of(text, "network/bandwidth-factor", bytes));
}

const struct kwhy_simulator kwhy_simulator_simgrid = {"SimGrid", "simgrid_platform.xml",
	"latency and rate of the pair's link, each times the factor of the size", false, write_simgrid,
	predict_simgrid};
