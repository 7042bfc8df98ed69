/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/model/csv.h"
#include "cli/model/page.h"
#include "fit/audit.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID, WHAT, SOURCE, VALUE, UNIT, WINDOW, FROM, SAME, ROLE, WORD_COUNT };

struct audit_options {
	struct kwhy_model_options model;
};

/* The claims, and the results of comparing each with the measurement. */
struct answer {
	struct kwhy_model_csv csv;
	struct kwhy_claim *claims;
	struct kwhy_audit audit;
};

static const char *word(const struct answer *answer, size_t row, size_t column)
{
	return kwhy_model_csv_word(&answer->csv, row, column);
}

#define FIGURE_BYTES (2 * KWHY_QUANTITY_BYTES + KWHY_UNIT_BYTES)
/*
 * If an interval's upper end is more than this multiple of its lower end, both ends are shown instead of
 * one value.
 */
#define WIDE 1.05

/*
 * Writes a value, which is in base units: in percent or ppm if `unit`, that of the claim, is one of these,
 * else with its base unit and an SI prefix. Returns `out`.
 */
static const char *value_text(
	char out[FIGURE_BYTES], double value, const struct kwhy_unit *of, const char *unit)
{
	char name[KWHY_UNIT_BYTES], number[KWHY_QUANTITY_BYTES];

	if (strcmp(unit, "%") == 0)
		snprintf(out, FIGURE_BYTES, "%.4g %%", 100 * value);
	else if (strcmp(unit, "ppm") == 0)
		snprintf(out, FIGURE_BYTES, "%.4g ppm", 1e6 * value);
	else if (!*kwhy_unit_name(name, of))
		snprintf(out, FIGURE_BYTES, "%.5g", value);
	else if (strlen(name) > 12)
		snprintf(out, FIGURE_BYTES, "%.4g %s", value, name);
	else
		snprintf(out, FIGURE_BYTES, "%s", kwhy_quantity_si(number, value, name, 4));
	return out;
}

/* Writes a figure: "4.05 pJ/FLOP" or "100 % to 135 %". */
static const char *figure_text(
	char out[2 * FIGURE_BYTES], const struct kwhy_formula_figure *figure, const char *unit)
{
	char low[FIGURE_BYTES], high[FIGURE_BYTES];

	if (figure->high > WIDE * figure->low)
		snprintf(out, 2 * FIGURE_BYTES, "%s to %s", value_text(low, figure->low, &figure->unit, unit),
			value_text(high, figure->high, &figure->unit, unit));
	else
		value_text(out, (figure->low + figure->high) / 2, &figure->unit, unit);
	return out;
}

static void explain_rest(
	const struct kwhy_audit_finding *finding, const char *should, char *out, size_t space)
{
	if (!*should)
		snprintf(out, space, "what it is made of is wrong");
	else
		snprintf(out, space, "%s follows%s", should,
			finding->should.depends_on_wrong ? ", of what is wrong itself"
							 : " from the right figures");
}

/*
 * Writes the value that the claim should state, and by what factor the claim is too large or too small. The
 * ratio is left out if the two values have different signs or one is 0.
 */
static void explain_size(
	const struct kwhy_audit_finding *finding, const char *should, char *out, size_t space)
{
	double factor = fmax(finding->factor, 1 / finding->factor);

	if (factor > 0 && isfinite(factor))
		snprintf(out, space, "%s follows; %.4g times too %s", should, factor,
			finding->factor > 1 ? "large" : "small");
	else
		snprintf(out, space, "%s follows", should);
}

/* Writes a sentence that says why a claim was found right, wrong or unknown. */
static void explain(
	const struct answer *answer, const struct kwhy_audit_finding *finding, char *out, size_t space)
{
	char figure[2 * FIGURE_BYTES];
	const char *unit = word(answer, finding->claim, UNIT);
	const char *should = isfinite(finding->should.low) ? figure_text(figure, &finding->should, unit) : "";

	switch (finding->kind) {
	case KWHY_AUDIT_SLIP:
	case KWHY_AUDIT_MEBI:
	case KWHY_AUDIT_ARITHMETIC:
		explain_size(finding, should, out, space);
		break;
	case KWHY_AUDIT_BOUND:
		snprintf(out, space, "the bound is %s", should);
		break;
	case KWHY_AUDIT_LOOSE:
		snprintf(out, space, "true, but the figure is %s", should);
		break;
	case KWHY_AUDIT_UNLIKE:
		snprintf(out, space, "compares or adds what has not the same unit");
		break;
	case KWHY_AUDIT_WINDOW:
		snprintf(out, space, "amounts of different measurements are added or divided");
		break;
	case KWHY_AUDIT_OVERLAP:
		snprintf(out, space, "its parts lasted longer together than the whole");
		break;
	case KWHY_AUDIT_ENERGY:
		snprintf(out, space, "at most %s: the highest power measured, all the time", should);
		break;
	case KWHY_AUDIT_POWER:
		snprintf(out, space, "at most %s was ever measured", should);
		break;
	case KWHY_AUDIT_CONTRADICTION:
		value_text(figure, (finding->should.low + finding->should.high) / 2, &finding->should.unit,
			word(answer, finding->other, UNIT));
		snprintf(out, space, "'%s' says %s of the same thing", word(answer, finding->other, ID),
			figure);
		break;
	default:
		explain_rest(finding, should, out, space);
	}
}

static void write_text(const struct answer *answer, struct kwhy_model_page *page)
{
	const struct kwhy_audit *audit = &answer->audit;
	char why[512];

	for (size_t i = 0; i < audit->finding_count; i++) {
		const struct kwhy_audit_finding *finding = &audit->findings[i];
		size_t row = finding->claim;

		explain(answer, finding, why, sizeof(why));
		kwhy_text_context_linef(&page->context, "", "%s%s%s: %s %s, %s: %s",
			word(answer, row, SOURCE), *word(answer, row, SOURCE) ? " " : "",
			*word(answer, row, WHAT) ? word(answer, row, WHAT) : word(answer, row, ID),
			word(answer, row, VALUE), word(answer, row, UNIT),
			kwhy_audit_kind_name(finding->kind), why);
	}
	if (audit->finding_count)
		kwhy_text_add(&page->text, "\n");
	kwhy_text_context_linef(&page->context, "",
		"%zu claim%s, %zu of them compared with something: %zu finding%s", answer->csv.row_count,
		answer->csv.row_count == 1 ? "" : "s", audit->checked_count, audit->finding_count,
		audit->finding_count == 1 ? "" : "s");
}

static void write_json(const struct answer *answer, struct kwhy_json *json)
{
	const struct kwhy_audit *audit = &answer->audit;
	char why[512];

	kwhy_json_count(json, "claims", answer->csv.row_count);
	kwhy_json_count(json, "checked", audit->checked_count);
	kwhy_json_array(json, "findings");
	for (size_t i = 0; i < audit->finding_count; i++) {
		const struct kwhy_audit_finding *finding = &audit->findings[i];
		size_t row = finding->claim;

		explain(answer, finding, why, sizeof(why));
		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "claim", word(answer, row, ID));
		kwhy_json_string(json, "what", word(answer, row, WHAT));
		kwhy_json_string(json, "source", word(answer, row, SOURCE));
		kwhy_json_string(json, "value", word(answer, row, VALUE));
		kwhy_json_string(json, "unit", word(answer, row, UNIT));
		kwhy_json_string(json, "kind", kwhy_audit_kind_name(finding->kind));
		kwhy_json_string(json, "why", why);
		kwhy_json_real(json, "factor", finding->factor);
		kwhy_json_real(json, "should_low", finding->should.low);
		kwhy_json_real(json, "should_high", finding->should.high);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static enum kwhy_status read_claims(struct answer *answer, const char *path, struct kwhy_error *error)
{
	static const struct kwhy_csv_column columns[WORD_COUNT] = {
		[ID] = {"claim", true},
		[WHAT] = {"what", false},
		[SOURCE] = {"source", false},
		[VALUE] = {"value", true},
		[UNIT] = {"unit", true},
		[WINDOW] = {"window", false},
		[FROM] = {"from", false},
		[SAME] = {"same", false},
		[ROLE] = {"role", false},
	};
	enum kwhy_status status = kwhy_model_csv_read(path, columns, 0, WORD_COUNT, &answer->csv, error);

	if (status)
		return status;
	answer->claims = calloc(answer->csv.row_count, sizeof(*answer->claims));
	if (!answer->claims)
		return kwhy_fail_memory(error, "claims");
	for (size_t i = 0; i < answer->csv.row_count; i++)
		answer->claims[i] = (struct kwhy_claim){.id = word(answer, i, ID),
			.source = word(answer, i, SOURCE),
			.value = word(answer, i, VALUE),
			.unit = word(answer, i, UNIT),
			.window = word(answer, i, WINDOW),
			.from = word(answer, i, FROM),
			.same = word(answer, i, SAME),
			.role = word(answer, i, ROLE)};
	status = kwhy_audit_of(answer->claims, answer->csv.row_count, &answer->audit, error);
	return status == KWHY_E_INPUT
		? kwhy_model_csv_row_of(&answer->csv, path, answer->audit.failed_claim, status, error)
		: status;
}

static void fill(const void *answer, struct kwhy_model_page *page)
{
	if (page->is_json)
		write_json(answer, &page->json);
	else
		write_text(answer, page);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct audit_options *options = invocation->options;
	struct answer answer = {0};
	enum kwhy_status status;

	if (invocation->operands.count != 1)
		return kwhy_fail(error, KWHY_E_USAGE, "model audit takes one CSV of claims");
	status = read_claims(&answer, invocation->operands.items[0], error);
	if (!status)
		status = kwhy_model_page_write(&options->model, "audit", fill, &answer, error);
	kwhy_audit_done(&answer.audit);
	kwhy_model_csv_done(&answer.csv);
	free(answer.claims);
	return status;
}

static const struct kwhy_option options_table[] = {
	KWHY_OPTION_ROWS_MODEL(struct audit_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_audit = {
	.name = "model audit",
	.operands = "CLAIMS.csv",
	.summary = "Look for unit slips and impossible sums in somebody's figures.",
	.details = "CLAIMS.csv: columns claim, value, unit and what, source, window, from, same, role "
		   "(docs/formats/claims.md).",
	.options = options_table,
	.options_bytes = sizeof(struct audit_options),
	.run = run,
};
