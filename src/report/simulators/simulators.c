/* SPDX-License-Identifier: Apache-2.0 */
#include "report/simulators/simulators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_FROM_BYTES (UINT64_C(64) << 10)

const struct kwhy_simulator *kwhy_simulator_at(size_t index)
{
	static const struct kwhy_simulator *const all[] = {&kwhy_simulator_astra_sim, &kwhy_simulator_simai,
		&kwhy_simulator_loggopsim, &kwhy_simulator_simgrid, &kwhy_simulator_chakra,
		&kwhy_simulator_npkit};

	return index < sizeof(all) / sizeof(all[0]) ? all[index] : NULL;
}

bool kwhy_simulator_takes(const struct kwhy_pair_series *series, const struct kwhy_pair_config *config)
{
	return config->sample_count > 0 && config->engine == series->engine &&
		config->load == KWHY_PAIR_ALONE && config->clock == series->clock;
}

static int by_beta(const void *a, const void *b)
{
	const struct kwhy_pair_link *left = a, *right = b;

	return (left->beta.value > right->beta.value) - (left->beta.value < right->beta.value);
}

static bool is_usable(const struct kwhy_pair_link *link)
{
	return isfinite(link->alpha.value) && link->beta.value > 0;
}

bool kwhy_simulators_can_write(const struct kwhy_pair_series *series)
{
	for (size_t i = 0; i < series->link_count; i++)
		if (is_usable(&series->links[i]))
			return true;
	return false;
}

struct kwhy_pair_link kwhy_simulator_middle_link(const struct kwhy_pair_series *series)
{
	struct kwhy_pair_link links[KWHY_PAIR_GPUS_MAX * KWHY_PAIR_GPUS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < series->link_count; i++)
		if (is_usable(&series->links[i]))
			links[count++] = series->links[i];
	if (!count)
		return (struct kwhy_pair_link){.alpha = {NAN, NAN, NAN}, .beta = {NAN, NAN, NAN}};
	qsort(links, count, sizeof(links[0]), by_beta);
	links[count / 2].alpha.value = fmax(links[count / 2].alpha.value, 0);
	return links[count / 2];
}

double kwhy_simulator_number(const char *text, const char *key)
{
	const char *place = text ? strstr(text, key) : NULL;
	char *end;
	double value;

	if (!place)
		return NAN;
	place += strlen(key);
	value = strtod(place, &end);
	return end == place ? NAN : value;
}

void kwhy_simulator_compare(const struct kwhy_simulator *simulator, const char *text,
	const struct kwhy_pair_series *series, struct kwhy_simulator_error *out)
{
	const struct kwhy_pairs *pairs = series->pairs;
	size_t large = 0;

	*out = (struct kwhy_simulator_error){0, 0, NAN, 0, 0, NAN};
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double ratio = kwhy_simulator_takes(series, config)
			? fabs(simulator->predict_s(text, config) / config->summary.median_s - 1)
			: NAN;

		if (!isfinite(ratio))
			continue;
		out->count++;
		out->mean_ratio += ratio;
		if (!(ratio <= out->worst_ratio)) {
			out->worst_ratio = ratio;
			out->worst_bytes = config->bytes;
		}
		if (config->bytes < LARGE_FROM_BYTES)
			continue;
		large++;
		out->large_mean_ratio += ratio;
		out->large_worst_ratio = fmax(out->large_worst_ratio, ratio);
	}
	out->mean_ratio = out->count ? out->mean_ratio / (double)out->count : NAN;
	out->large_mean_ratio = large ? out->large_mean_ratio / (double)large : NAN;
}
