/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model/page.h"

#include "base/quantity.h"

#include <stdio.h>

enum { DIGITS = 4 };

enum kwhy_status kwhy_model_form_of(
	const struct kwhy_model_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out != KWHY_OUTPUT_TEXT && *out != KWHY_OUTPUT_JSON)
		return kwhy_fail(error, KWHY_E_USAGE, "a model is written as .txt or .json");
	return status;
}

enum kwhy_status kwhy_model_page_begin(struct kwhy_model_page *page, const struct kwhy_model_options *options,
	const char *name, struct kwhy_error *error)
{
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_model_form_of(options, &form, error);
	char schema[64];

	if (status)
		return status;
	*page = (struct kwhy_model_page){.name = name,
		.is_json = form == KWHY_OUTPUT_JSON,
		.style = {.columns = kwhy_output_columns()}};
	page->context = (struct kwhy_text_context){.style = &page->style, .out = &page->text};
	if (page->is_json) {
		snprintf(schema, sizeof(schema), "kwhy.model.%s/1", name);
		kwhy_json_init(&page->json, &page->text);
		kwhy_json_object(&page->json, NULL);
		kwhy_json_string(&page->json, "schema", schema);
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_model_page_end(struct kwhy_model_page *page, const struct kwhy_model_options *options,
	enum kwhy_status status, struct kwhy_error *error)
{
	if (page->is_json)
		kwhy_json_object_end(&page->json);
	if (!status)
		return kwhy_output_result(options->output, page->name,
			page->is_json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, &page->text, error);
	kwhy_text_done(&page->text);
	return status;
}

enum kwhy_status kwhy_model_page_write(const struct kwhy_model_options *options, const char *name,
	kwhy_model_page_fill *fill, const void *answer, struct kwhy_error *error)
{
	struct kwhy_model_page page;
	enum kwhy_status status = kwhy_model_page_begin(&page, options, name, error);

	if (status)
		return status;
	fill(answer, &page);
	return kwhy_model_page_end(&page, options, KWHY_OK, error);
}

void kwhy_interval_cell(struct kwhy_table *table, struct kwhy_interval interval, const char *unit)
{
	char number[KWHY_QUANTITY_BYTES], sd[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES + 1];

	kwhy_quantity_si(number, interval.value, unit, DIGITS);
	kwhy_quantity_interval(sd, interval.value, interval.low, interval.high);
	snprintf(text, sizeof(text), "%s%s%s", number, *sd ? " " : "", sd);
	kwhy_table_cell(table, text);
}

void kwhy_interval_level(struct kwhy_model_page *page, bool has_any)
{
	if (has_any)
		kwhy_text_context_linef(&page->context, "", "intervals are of 95 %%");
}

void kwhy_interval_json(struct kwhy_json *json, const char *key, struct kwhy_interval interval)
{
	kwhy_json_row(json, key);
	kwhy_json_real(json, "value", interval.value);
	kwhy_json_real(json, "low", interval.low);
	kwhy_json_real(json, "high", interval.high);
	kwhy_json_object_end(json);
}
