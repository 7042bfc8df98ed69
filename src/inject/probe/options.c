/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_NS INT64_C(10000000)
#define MAX_NS INT64_C(30000000)
#define BUDGET_NS INT64_C(300000000000)

static uint64_t number_of(const char *text, uint64_t otherwise)
{
	char *end;
	unsigned long long number;

	if (!text || text[0] < '0' || text[0] > '9')
		return otherwise;
	errno = 0;
	number = strtoull(text, &end, 10);
	return errno || *end ? otherwise : number;
}

static void copy_text(char *out, size_t space, const char *text)
{
	const int length = snprintf(out, space, "%s", text ? text : "");

	if (length < 0 || (size_t)length >= space)
		out[0] = '\0';
}

static enum kwhy_probe_verify verify_of(const char *text)
{
	if (text && !strcmp(text, "all"))
		return KWHY_PROBE_VERIFY_ALL;
	return text && !strcmp(text, "none") ? KWHY_PROBE_VERIFY_NONE : KWHY_PROBE_VERIFY_FIRST;
}

static struct kwhy_probe_plan plan_of(char *(*get)(const char *name))
{
	const uint64_t ratio_ppm = number_of(get("KWHY_PROBE_RATIO_PPM"), 3000000);
	const uint64_t most_ns = number_of(get("KWHY_PROBE_BURST_NS"), MAX_NS);

	return (struct kwhy_probe_plan){
		.within = 1e-6 * (double)number_of(get("KWHY_PROBE_WITHIN_PPM"), 50000),
		.ratio = ratio_ppm ? 1e-6 * (double)ratio_ppm : INFINITY,
		.budget_ns = (int64_t)number_of(get("KWHY_PROBE_BUDGET_NS"), BUDGET_NS),
		.share_ppm = (uint32_t)number_of(get("KWHY_PROBE_SHARE_PPM"), 0),
		.least_ns = (int64_t)(most_ns * MIN_NS / MAX_NS),
		.most_ns = (int64_t)most_ns,
		.seed = number_of(get("KWHY_PROBE_SEED"), 0)};
}

bool kwhy_probe_options_read(struct kwhy_probe_options *out, char *(*get)(const char *name))
{
	const char *is_on = get("KWHY_PROBE");

	if (!is_on || strcmp(is_on, "1") != 0)
		return false;
	*out = (struct kwhy_probe_options){.plan = plan_of(get),
		.memory_bytes = number_of(get("KWHY_PROBE_MEMORY"), 0),
		.verify = verify_of(get("KWHY_PROBE_VERIFY"))};
	copy_text(out->skip, sizeof(out->skip), get("KWHY_PROBE_SKIP"));
	copy_text(out->log, sizeof(out->log), get("KWHY_PROBE_LOG"));
	return true;
}

bool kwhy_probe_options_skip(const struct kwhy_probe_options *options, const char *name)
{
	char pattern[sizeof(options->skip)];

	for (const char *at = options->skip; *at;) {
		const size_t length = strcspn(at, "\n");

		memcpy(pattern, at, length);
		pattern[length] = '\0';
		if (length && fnmatch(pattern, name, 0) == 0)
			return true;
		at += length + (at[length] == '\n');
	}
	return false;
}
