/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/model/running.h"

#include <math.h>
#include <stddef.h>

struct cost_options {
	struct kwhy_running_options running;
	const char *price, *hourly_price;
};

static void set_defaults(void *options)
{
	kwhy_running_options_init(&((struct cost_options *)options)->running);
}

struct answer {
	const struct kwhy_runs *runs;
	const struct cost_options *options;
	const char *currency; /* "": the user stated none */
};

static void fill(const void *given, struct kwhy_model_page *page)
{
	const struct answer *answer = given;
	const char *currency = page->is_json && !*answer->currency ? "(no currency)" : answer->currency;

	if (page->is_json) {
		kwhy_json_real(&page->json, "price_per_kwh", answer->runs->questions[0].per_kwh);
		kwhy_json_real(&page->json, "price_per_hour", answer->runs->questions[0].per_hour);
	}
	kwhy_runs_write(answer->runs, currency, "cost", page);
	if (!page->is_json && !*currency)
		kwhy_text_context_linef(
			&page->context, "", "in the currency of the price, which was not named");
	if (!page->is_json && answer->options->hourly_price)
		kwhy_text_context_linef(&page->context, "",
			"priced by the hour, which contains the electricity: no joule is paid twice");
	else if (!page->is_json)
		kwhy_runs_write_source(answer->runs, &answer->options->running, page);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct cost_options *options = invocation->options;
	const char *spec = options->price ? options->price : options->hourly_price;
	struct kwhy_runs runs = {0};
	char currency[16] = "";
	double price = NAN;
	enum kwhy_status status;

	if (!options->price == !options->hourly_price)
		return kwhy_fail(error, KWHY_E_USAGE,
			spec ? "a price by the hour already contains the electricity: give --price or "
			       "--hourly-price, not both"
			     : "model cost needs --price P[EUR] of a kWh or --hourly-price P[EUR]");
	status = kwhy_value_price(spec, &price, currency, error);
	if (!status)
		status = kwhy_runs_read(&runs, &options->running, &invocation->operands, error);
	if (!status)
		status = kwhy_runs_answer(
			&runs, options->price ? price : NAN, options->price ? NAN : price, error);
	if (!status)
		status = kwhy_model_page_write(&options->running.model, "cost", fill,
			&(struct answer){&runs, options, currency}, error);
	kwhy_runs_done(&runs);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"price", 0, "P[EUR]", "price of a kWh, with its currency", KWHY_OPTION_TEXT,
		offsetof(struct cost_options, price)},
	{"hourly-price", 0, "P[EUR]", "price of an hour of all that was rented, as clouds bill",
		KWHY_OPTION_TEXT, offsetof(struct cost_options, hourly_price)},
	KWHY_OPTION_ROWS_RUNNING(struct cost_options, running),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_cost = {
	.name = "model cost",
	.operands = "[RUN.json [RUN.json]]",
	.summary = "What a run costs, by its energy or by the hour; what another saves.",
	.details = "RUN.json: of kwhy stat --json or kwhy report --json; two are compared.",
	.options = options_table,
	.options_bytes = sizeof(struct cost_options),
	.defaults = set_defaults,
	.run = run,
};
