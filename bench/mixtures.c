/* SPDX-License-Identifier: Apache-2.0 */
#include "mixtures.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum kwhy_status mixtures_keep_totals(struct mixtures_totals *out, const struct kwhy_recording *recording,
	const struct kwhy_profile *profile, struct kwhy_error *error)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *blind;
	struct mixtures_totals totals = {.counter_check_ratio = NAN};
	double start_s = now_s();
	enum kwhy_status status;

	options.profile = profile;
	status = kwhy_ledger_new(recording, &options, &totals.ledger, error);
	if (status)
		return status;
	totals.seconds = now_s() - start_s;
	options.ignore_counter = true;
	status = kwhy_ledger_new(recording, &options, &blind, error);
	if (status) {
		kwhy_ledger_free(totals.ledger);
		return status;
	}
	totals.counter_check_ratio = blind->devices[0].energy.counter_check_ratio;
	kwhy_ledger_free(blind);
	*out = totals;
	return KWHY_OK;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: mixtures [--schedule NAME|all] [--seeds N] [--first-seed N] [--level-unknown] "
		"[--without-profile] [--csv FILE]\n"
		"       mixtures --real FOLDER [--profile FILE]\n"
		"Judges the ledger's energies against mixtures of known truth, or against a folder with\n"
		"activities.csv, power.csv and truth.csv. Schedules:\n");
	for (int i = 0; i < KWHY_MIXTURE_SCHEDULE_COUNT; i++)
		fprintf(stderr, "  %-10s %s\n", kwhy_mixture_schedule_name(i), kwhy_mixture_schedule_text(i));
	return 2;
}

static bool parse_schedule(const char *text, int *out)
{
	if (!strcmp(text, "all")) {
		*out = -1;
		return true;
	}
	for (int i = 0; i < KWHY_MIXTURE_SCHEDULE_COUNT; i++)
		if (!strcmp(text, kwhy_mixture_schedule_name(i))) {
			*out = i;
			return true;
		}
	return false;
}

static bool parse_count(const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

static bool parse_options(int count, char **words, struct mixtures_options *options)
{
	static const struct option table[] = {
		{"schedule", required_argument, NULL, 's'},
		{"seeds", required_argument, NULL, 'n'},
		{"first-seed", required_argument, NULL, 'f'},
		{"level-unknown", no_argument, NULL, 'u'},
		{"without-profile", no_argument, NULL, 'w'},
		{"csv", required_argument, NULL, 'c'},
		{"real", required_argument, NULL, 'r'},
		{"profile", required_argument, NULL, 'p'},
		{0},
	};
	bool good = true;

	for (int option; good && (option = getopt_long(count, words, "", table, NULL)) != -1;) {
		const char *text = optarg;

		switch (option) {
		case 's':
			good = parse_schedule(text, &options->schedule);
			break;
		case 'n':
			good = parse_count(text, &options->seeds) && options->seeds > 0;
			break;
		case 'f':
			good = parse_count(text, &options->first_seed);
			break;
		case 'u':
			options->level_unknown = true;
			break;
		case 'w':
			options->without_profile = true;
			break;
		case 'c':
			options->csv_path = text;
			break;
		case 'r':
			options->real_path = text;
			break;
		case 'p':
			options->profile_path = text;
			break;
		default:
			good = false;
		}
	}
	return good && optind == count;
}

int main(int count, char **words)
{
	struct mixtures_options options = {.schedule = -1, .seeds = 20, .first_seed = 1};
	struct kwhy_error error;
	enum kwhy_status status;

	if (!parse_options(count, words, &options))
		return usage();
	status = options.real_path ? mixtures_real(&options, &error) : mixtures_synthetic(&options, &error);
	if (status)
		fprintf(stderr, "mixtures: %s\n", error.text);
	return status ? 1 : 0;
}
