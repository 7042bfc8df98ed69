/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"
#include "ledger/ledger_new.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares the powers in a recording of a loop of several operations with their true powers in place: one
 * operation is repeated between the loop's other work, and only the energy counter is read. A true power is
 * energy divided by the time from one launch to the next, including the gap after the launch; the power of an
 * account is that while the kernel runs. Therefore each row also has the ledger's power with this gap at the
 * idle level ("with gaps"). An operation may have several accounts; the half-widths of their intervals are
 * added in quadrature, because each kernel's power is learnt from readings of its own.
 */
enum { OPERATIONS_MAX = 64, NAME_BYTES = 64, PATTERN_BYTES = 192 };

struct operation {
	char name[NAME_BYTES], patterns[PATTERN_BYTES];
	double truth_w, truth_s, count;
	/* sums over the operation's accounts */
	double gross_nj, half_nj2, time_ns; /* half_nj2: sum of the squares of the half-widths */
	double launches;		    /* launches of the account that has the fewest */
};

struct inplace {
	const char *profile_path,
		*powers_path; /* profile_path NULL: no profile; powers_path NULL: no learnt powers */
	/*
	 * limits of the command line: least number of operations whose interval holds the true power;
	 * largest mean error and largest mean half-width, both weighted by energy, %. The exit status is 1
	 * if one is violated.
	 */
	double held_min, error_max_percent, half_max_percent;
	bool with_gaps, failed;
	struct operation operations[OPERATIONS_MAX];
	size_t count;
};

struct totals {
	double energy_j, error_j, gap_error_j, half_j;
	size_t rows, held, gap_held;
};

static enum kwhy_status read_names(struct inplace *inplace, const char *path, struct kwhy_error *error)
{
	FILE *file = fopen(path, "re");
	char line[NAME_BYTES + PATTERN_BYTES];

	if (!file)
		return kwhy_fail(error, KWHY_E_IO, "%s cannot be opened: %m", path);
	while (inplace->count < OPERATIONS_MAX && fgets(line, sizeof(line), file)) {
		struct operation *operation = &inplace->operations[inplace->count];

		if (sscanf(line, "%63[^,],%191[^\n]", operation->name, operation->patterns) == 2)
			inplace->count++;
	}
	fclose(file);
	return KWHY_OK;
}

static enum kwhy_status read_truth(struct inplace *inplace, const char *path, struct kwhy_error *error)
{
	json_error_t place;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &place);
	json_t *all = json_object_get(root, "ops");
	size_t found = 0;

	for (size_t i = 0; i < inplace->count; i++) {
		struct operation *operation = &inplace->operations[i];
		json_t *object = json_object_get(all, operation->name);

		operation->truth_w = json_number_value(json_object_get(object, "watts"));
		operation->truth_s = 1e-3 * json_number_value(json_object_get(object, "ms"));
		operation->count = json_number_value(json_object_get(object, "count"));
		found += operation->truth_w > 0 && operation->truth_s > 0;
	}
	json_decref(root);
	return found ? KWHY_OK
		     : kwhy_fail(error, KWHY_E_INPUT, "%s holds the power of none of the operations", path);
}

static bool matches(const struct operation *operation, const char *name)
{
	char patterns[PATTERN_BYTES], *rest = NULL;

	snprintf(patterns, sizeof(patterns), "%s", operation->patterns);
	for (char *pattern = strtok_r(patterns, "|", &rest); pattern; pattern = strtok_r(NULL, "|", &rest))
		if (strstr(name, pattern))
			return true;
	return false;
}

/*
 * Whether the account is of launches of this operation by the loop itself. Repeats that kwhy probe
 * added have accounts of their own, and are left out because the probe repeats kernels unequally.
 */
static bool is_in_loop(const struct operation *operation, const struct kwhy_account *account)
{
	return account->category != KWHY_CATEGORY_PROBING && matches(operation, account->name);
}

static void add_account(struct operation *operation, const struct kwhy_account *account)
{
	const double half_nj = (double)(account->high_nj - account->low_nj) / 2;

	if (account->mean_power_mw <= 0 || !is_in_loop(operation, account))
		return;
	/* metered time, ns: energy divided by mean power */
	operation->time_ns += (double)account->gross_nj / (double)account->mean_power_mw * 1e3;
	operation->gross_nj += (double)account->gross_nj;
	operation->half_nj2 += half_nj * half_nj;
	if (operation->launches == 0 || (double)account->count < operation->launches)
		operation->launches = (double)account->count;
}

/*
 * Mean time that the kernels of one execution of the operation run, s. Even the rarest kernel may
 * be launched n times per execution. n is not known; of n = 1, 2, ... this takes the one whose
 * execution time is nearest to truth_s, that of an execution in place.
 */
static double execution_s(const struct operation *operation, const struct kwhy_device_ledger *device)
{
	double time_ns = 0;

	for (size_t i = 0; i < device->account_count; i++)
		if (is_in_loop(operation, &device->accounts[i]))
			time_ns += (double)device->accounts[i].time_ns;
	const double once_s = time_ns * 1e-9 / operation->launches;

	return once_s * fmax(1, round(operation->truth_s / once_s));
}

static void print_operation(
	const struct operation *operation, const struct kwhy_device_ledger *device, struct totals *totals)
{
	double power_w = operation->gross_nj / operation->time_ns,
	       half = sqrt(operation->half_nj2) / operation->gross_nj;
	double busy_s = execution_s(operation, device), gap_s = fmax(0, operation->truth_s - busy_s);
	double gap_w = (power_w * busy_s + device->energy.context_idle_w * gap_s) / (busy_s + gap_s);
	double error = power_w / operation->truth_w - 1, gap_error = gap_w / operation->truth_w - 1;
	double energy_j = operation->count * operation->truth_w * operation->truth_s;
	bool holds = fabs(power_w - operation->truth_w) <= half * power_w,
	     gap_holds = fabs(gap_w - operation->truth_w) <= half * gap_w;

	printf("| %s | %.1f | %.1f ±%.1f %% | %+.1f %% | %s | %.1f | %+.1f %% | %s |\n", operation->name,
		operation->truth_w, power_w, 100 * half, 100 * error, holds ? "yes" : "no", gap_w,
		100 * gap_error, gap_holds ? "yes" : "no");
	totals->rows++;
	totals->held += holds;
	totals->gap_held += gap_holds;
	totals->energy_j += energy_j;
	totals->error_j += energy_j * fabs(error);
	totals->gap_error_j += energy_j * fabs(gap_error);
	totals->half_j += energy_j * half;
}

static void print_table(struct inplace *inplace, const struct kwhy_device_ledger *device)
{
	struct totals totals = {0};

	printf("| operation | truth, W | ledger, W | error | holds | with gaps, W | error | holds |\n"
	       "|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < inplace->count; i++) {
		struct operation *operation = &inplace->operations[i];

		for (size_t a = 0; a < device->account_count; a++)
			add_account(operation, &device->accounts[a]);
		if (operation->truth_w > 0 && operation->time_ns > 0)
			print_operation(operation, device, &totals);
	}
	const double held = (double)(inplace->with_gaps ? totals.gap_held : totals.held);
	const double error_j = inplace->with_gaps ? totals.gap_error_j : totals.error_j;

	inplace->failed = held < inplace->held_min ||
		!(100 * error_j / totals.energy_j <= inplace->error_max_percent) ||
		!(100 * totals.half_j / totals.energy_j <= inplace->half_max_percent);
	printf("\nby energy: mean error %.1f %%, with gaps %.1f %%; half-width %.1f %%\n"
	       "intervals hold %zu of %zu, with gaps %zu\n",
		100 * totals.error_j / totals.energy_j, 100 * totals.gap_error_j / totals.energy_j,
		100 * totals.half_j / totals.energy_j, totals.held, totals.rows, totals.gap_held);
}

static enum kwhy_status judge(struct inplace *inplace, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct kwhy_ledger *ledger;
	enum kwhy_status status = kwhy_ledger_new(recording, options, &ledger, error);

	if (status)
		return status;
	print_table(inplace, &ledger->devices[0]);
	kwhy_ledger_free(ledger);
	return KWHY_OK;
}

static enum kwhy_status read_recording(
	struct kwhy_recording **out, const char *path, struct kwhy_error *error)
{
	const struct kwhy_import_options import = {0};
	enum kwhy_status status = kwhy_recording_new(out, error);

	if (status)
		return status;
	status = kwhy_import_trace(*out, path, &import, error);
	return status ? status : kwhy_recording_finish(*out, error);
}

/*
 * Computes the powers of kernels from the recording that --powers names, for use in the ledger of another
 * recording.
 */
static enum kwhy_status learn(const struct kwhy_ledger_options *options, const char *path,
	struct kwhy_learnt_powers **out, struct kwhy_error *error)
{
	struct kwhy_recording *recording = NULL;
	struct kwhy_ledger *ledger = NULL;
	enum kwhy_status status = read_recording(&recording, path, error);

	if (!status)
		status = kwhy_ledger_new(recording, options, &ledger, error);
	if (!status)
		status = kwhy_learnt_powers_collect(recording, ledger, path, out, error);
	kwhy_ledger_free(ledger);
	kwhy_recording_free(recording);
	return status;
}

static enum kwhy_status run(struct inplace *inplace, const char *path, struct kwhy_error *error)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = NULL;
	struct kwhy_profile *profile = NULL;
	struct kwhy_learnt_powers *learnt = NULL;
	enum kwhy_status status = read_recording(&recording, path, error);

	if (!status && inplace->profile_path)
		status = kwhy_import_profile(inplace->profile_path, &profile, error);
	options.profile = profile;
	if (!status && inplace->powers_path)
		status = learn(&options, inplace->powers_path, &learnt, error);
	options.learnt = (const struct kwhy_learnt_powers *const *)&learnt;
	options.learnt_count = learnt != NULL;
	if (!status)
		status = judge(inplace, recording, &options, error);
	kwhy_learnt_powers_free(learnt);
	kwhy_profile_free(profile);
	kwhy_recording_free(recording);
	return status;
}

static bool parse_number(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end;
}

static bool parse_options(int count, char **words, struct inplace *inplace)
{
	static const struct option table[] = {
		{"profile", required_argument, NULL, 'p'},
		{"powers", required_argument, NULL, 'w'},
		{"held", required_argument, NULL, 'n'},
		{"error", required_argument, NULL, 'e'},
		{"half", required_argument, NULL, 'h'},
		{"gaps", no_argument, NULL, 'g'},
		{0},
	};
	bool good = true;

	for (int option; good && (option = getopt_long(count, words, "", table, NULL)) != -1;) {
		if (option == 'p')
			inplace->profile_path = optarg;
		else if (option == 'w')
			inplace->powers_path = optarg;
		else if (option == 'g')
			inplace->with_gaps = true;
		else if (option == 'n')
			good = parse_number(optarg, &inplace->held_min);
		else if (option == 'e')
			good = parse_number(optarg, &inplace->error_max_percent);
		else
			good = option == 'h' && parse_number(optarg, &inplace->half_max_percent);
	}
	return good && count - optind == 3;
}

int main(int count, char **words)
{
	struct inplace inplace = {.error_max_percent = INFINITY, .half_max_percent = INFINITY};
	struct kwhy_error error;
	enum kwhy_status status;

	if (!parse_options(count, words, &inplace)) {
		fprintf(stderr,
			"usage: inplace [--profile FILE] [--powers RECORDING] [--held N] [--error %%] "
			"[--half %%] [--gaps] "
			"NAMES TRUTH RECORDING\n"
			"Compares the powers of a recording with TRUTH, powers in place as JSON. NAMES has a "
			"line\n"
			"for each operation: its name, a comma, and parts of the names of its accounts with "
			"|\n"
			"between them. Exit status 1: fewer than N intervals hold the truth, or the mean "
			"error or\n"
			"the mean half-width by energy is above what was given; with --gaps the errors with "
			"gaps.\n");
		return 2;
	}
	status = read_names(&inplace, words[optind], &error);
	if (!status)
		status = read_truth(&inplace, words[optind + 1], &error);
	if (!status)
		status = run(&inplace, words[optind + 2], &error);
	if (status)
		fprintf(stderr, "inplace: %s\n", error.text);
	return status || inplace.failed ? 1 : 0;
}
