/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/command.h"
#include "cli/live/owner_show.h"
#include "cli/live/since.h"
#include "cli/output.h"
#include "cli/values.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNTS_DEFAULT "/var/lib/kwhy/accounts.sqlite"
#define MS_NS INT64_C(1000000)
enum { LOOK_MS = 200, WAIT_MAX_S = 60 };

struct job_options {
	const char *accounts, *since, *user, *space, *by, *price, *region, *output;
	double intensity_g_per_kwh, pue;
	bool json, csv, wait;
};

static void set_defaults(void *options)
{
	struct job_options *job = options;

	job->accounts = ACCOUNTS_DEFAULT;
	job->by = "job";
	job->intensity_g_per_kwh = NAN;
	job->pue = 1;
}

static enum kwhy_status read_by(const char *text, enum kwhy_summary_by *out, struct kwhy_error *error)
{
	static const char *const words[] = {[KWHY_SUMMARY_BY_JOB] = "job",
		[KWHY_SUMMARY_BY_USER] = "user",
		[KWHY_SUMMARY_BY_NAMESPACE] = "namespace",
		[KWHY_SUMMARY_BY_KIND] = "kind"};

	for (int i = 0; i < 4; i++)
		if (strcmp(text, words[i]) == 0) {
			*out = (enum kwhy_summary_by)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE, "--by takes job, user, namespace or kind, not '%.60s'", text);
}

/* Reads the price and the carbon intensity of a kWh from the options into the table; NAN: not given. */
static enum kwhy_status read_rates(const struct job_options *options, struct kwhy_owner_table *table,
	char currency[16], struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*currency = '\0';
	table->price_per_kwh = NAN;
	table->currency = currency;
	table->g_per_kwh = options->intensity_g_per_kwh;
	table->pue = options->pue;
	if (!(options->pue >= 1))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--pue takes a PUE of at least 1: it is the building's power over that of its "
			"machines");
	if (options->intensity_g_per_kwh < 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--intensity cannot be negative");
	if (options->region && isfinite(options->intensity_g_per_kwh))
		return kwhy_fail(error, KWHY_E_USAGE, "give --place or --intensity, not both");
	if (options->price)
		status = kwhy_value_price(options->price, &table->price_per_kwh, currency, error);
	if (!status && options->region)
		status = kwhy_carbon_find(options->region, &table->region, error);
	if (!status && table->region)
		table->g_per_kwh = table->region->g_per_kwh;
	return status;
}

/*
 * Reads the file of accounts that kwhy serve stores. With --wait, reads it again and again until it covers
 * the time at which the command was called.
 */
static enum kwhy_status read_file(
	const struct job_options *options, struct kwhy_stored *out, struct kwhy_error *error)
{
	const int64_t now_ns = kwhy_clock_unix_ns(), begun_ns = kwhy_clock_mono_ns();
	int64_t since_ns = 0;
	enum kwhy_status status = KWHY_OK;

	if (options->since)
		status = kwhy_since_read(options->since, now_ns, &since_ns, error);
	if (!status)
		status = kwhy_stored_read(options->accounts, since_ns, out, error);
	while (!status && options->wait && out->until_unix_ns < now_ns) {
		if (kwhy_clock_mono_ns() - begun_ns > WAIT_MAX_S * 1000 * MS_NS)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: nothing was added for %d s; is kwhy serve --accounts running?",
				options->accounts, WAIT_MAX_S);
		(void)poll(NULL, 0, LOOK_MS);
		kwhy_stored_done(out);
		status = kwhy_stored_read(options->accounts, since_ns, out, error);
	}
	return status;
}

static enum kwhy_status check_sums(
	const char *path, const struct kwhy_stored *stored, struct kwhy_error *error)
{
	char metered[KWHY_WIDE_BYTES], summed[KWHY_WIDE_BYTES];

	if (stored->booked_nj == stored->summed_nj)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: the accounts add up to %s nJ, but the meters to %s nJ, so the file is damaged; use an "
		"earlier copy of it",
		path, kwhy_wide_text(summed, stored->summed_nj), kwhy_wide_text(metered, stored->booked_nj));
}

static enum kwhy_status write_table(const struct job_options *options, const struct kwhy_owner_table *table,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	struct kwhy_text text = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_owners_json(table, &text);
	else if (form == KWHY_OUTPUT_CSV)
		kwhy_owners_csv(table, &text);
	else
		kwhy_owners_text(table, !options->output && isatty(STDOUT_FILENO), &text);
	return kwhy_output_result(options->output, "jobs", form, &text, error);
}

static enum kwhy_status form_of(
	const struct job_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (options->json && options->csv)
		return kwhy_fail(error, KWHY_E_USAGE, "--json and --csv are two forms; choose one");
	status = kwhy_output_form_of(options->output,
		options->json	       ? KWHY_OUTPUT_JSON
			: options->csv ? KWHY_OUTPUT_CSV
				       : KWHY_OUTPUT_TEXT,
		out, error);
	if (!status && *out == KWHY_OUTPUT_HTML)
		return kwhy_fail(error, KWHY_E_USAGE, "jobs are written as .txt, .json or .csv");
	return status;
}

static enum kwhy_status show(const struct job_options *options, const char *name,
	struct kwhy_owner_table *table, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct kwhy_summary_filter filter = {name, options->user, options->space};
	struct kwhy_owner_summary *items = NULL;
	struct kwhy_stored stored = {0};
	enum kwhy_status status = read_file(options, &stored, error);

	if (!status)
		status = check_sums(options->accounts, &stored, error);
	if (!status)
		status = kwhy_summary_of(&stored, table->by, &filter, &items, &table->count, error);
	if (!status && name && !table->count)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s has no account of '%.100s'%s; kwhy job without a name lists all",
			options->accounts, name, options->since ? " since then" : "");
	table->stored = &stored;
	table->items = items;
	if (!status)
		status = write_table(options, table, form, error);
	table->stored = NULL;
	table->items = NULL;
	free(items);
	kwhy_stored_done(&stored);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct job_options *options = invocation->options;
	struct kwhy_owner_table table = {0};
	char currency[16];
	enum kwhy_output_form form;
	enum kwhy_status status = form_of(options, &form, error);

	if (!status && invocation->operands.count > 1)
		status = kwhy_fail(error, KWHY_E_USAGE, "one job at a time, or none for all");
	if (!status)
		status = read_by(options->by, &table.by, error);
	if (!status)
		status = read_rates(options, &table, currency, error);
	if (!status)
		status = show(options, invocation->operands.count ? invocation->operands.items[0] : NULL,
			&table, form, error);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"accounts", 0, "FILE", "of kwhy serve; default " ACCOUNTS_DEFAULT, KWHY_OPTION_TEXT,
		offsetof(struct job_options, accounts)},
	{"since", 0, "WHEN", "from the hour of 2h or 7d ago, or of 2026-11-29T14:30 (UTC)", KWHY_OPTION_TEXT,
		offsetof(struct job_options, since)},
	{"by", 0, "WHAT", "sums by job, user, namespace or kind; default job", KWHY_OPTION_TEXT,
		offsetof(struct job_options, by)},
	{"user", 0, "NAME", "what this user used", KWHY_OPTION_TEXT, offsetof(struct job_options, user)},
	{"namespace", 0, "NAME", "what pods of this namespace used", KWHY_OPTION_TEXT,
		offsetof(struct job_options, space)},
	{"wait", 0, NULL, "until the accounts cover the time of this call", KWHY_OPTION_FLAG,
		offsetof(struct job_options, wait)},
	{"price", 0, "P[EUR]", "price of a kWh, with its currency", KWHY_OPTION_TEXT,
		offsetof(struct job_options, price)},
	{"place", 0, "PLACE", "CO2e of this country or cloud region: THA, gcp:us-west1", KWHY_OPTION_TEXT,
		offsetof(struct job_options, region)},
	{"intensity", 0, "G", "your own grams CO2e a kWh", KWHY_OPTION_NUMBER,
		offsetof(struct job_options, intensity_g_per_kwh)},
	{"pue", 0, "RATIO", "the building's power over its machines'; default 1", KWHY_OPTION_NUMBER,
		offsetof(struct job_options, pue)},
	{"output", 'o', "FILE", "write there; .txt, .json or .csv says the form", KWHY_OPTION_TEXT,
		offsetof(struct job_options, output)},
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(struct job_options, json)},
	{"csv", 0, NULL, "write CSV", KWHY_OPTION_FLAG, offsetof(struct job_options, csv)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_job = {
	.name = "job",
	.operands = "[ID]",
	.summary = "Energy, GPU hours, idle share, CO2e and cost of jobs, pods and users.",
	.details = "kwhy serve --accounts FILE keeps the accounts. ID: of a Slurm job, or a pod's name.",
	.options = options_table,
	.options_bytes = sizeof(struct job_options),
	.defaults = set_defaults,
	.run = run,
};
