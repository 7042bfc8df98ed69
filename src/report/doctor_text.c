/* SPDX-License-Identifier: Apache-2.0 */
#include "report/doctor.h"
#include "report/text_context.h"

#include <stdio.h>

enum { LEAD_BYTES = 32 };

static const char indent[] = "          ";

/*
 * The beginning of a check's first line: " GPU 0 " or " host ", as wide as the indent of the check's other
 * lines.
 */
static const char *lead_of(char out[LEAD_BYTES], const struct kwhy_doctor_check *check)
{
	char who[LEAD_BYTES / 2] = "host";

	if (check->gpu >= 0)
		snprintf(who, sizeof(who), "GPU %d", check->gpu);
	snprintf(out, LEAD_BYTES, "  %-8s", who);
	return out;
}

static void write_cost(const struct kwhy_text_context *context, const struct kwhy_doctor_check *check)
{
	if (check->effect)
		kwhy_text_context_linef(context, indent, "%s (%s)", check->effect, check->source);
	if (check->cure)
		kwhy_text_context_linef(context, indent, "Cure: %s", check->cure);
}

static void write_check(const struct kwhy_text_context *context, const struct kwhy_doctor_check *check)
{
	char lead[LEAD_BYTES];

	kwhy_text_context_linef(context, lead_of(lead, check), "%s: %s", check->title, check->fact);
	if (check->verdict == KWHY_DOCTOR_ADVICE)
		write_cost(context, check);
}

/*
 * Writes the section "This installation": the checks that concern kwhy's own files and libraries, whatever
 * their verdicts, to show whether the installation is complete.
 */
static void write_installation(
	const struct kwhy_text_context *context, const struct kwhy_doctor_report *report)
{
	kwhy_text_context_heading(context, "This installation", NULL);
	for (size_t i = 0; i < report->check_count; i++)
		if (report->checks[i].installation)
			write_check(context, &report->checks[i]);
}

static size_t count_shown(const struct kwhy_doctor_report *report, enum kwhy_doctor_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < report->check_count; i++)
		count += report->checks[i].verdict == verdict && !report->checks[i].installation;
	return count;
}

static void write_section(const struct kwhy_text_context *context, const struct kwhy_doctor_report *report,
	enum kwhy_doctor_verdict verdict)
{
	static const char *const titles[] = {[KWHY_DOCTOR_GOOD] = "Good",
		[KWHY_DOCTOR_ADVICE] = "To change",
		[KWHY_DOCTOR_UNKNOWN] = "Not known"};
	size_t minor = 0;

	if (count_shown(report, verdict) == 0)
		return;
	kwhy_text_context_heading(context, titles[verdict], NULL);
	for (size_t i = 0; i < report->check_count; i++) {
		const struct kwhy_doctor_check *check = &report->checks[i];

		if (check->verdict != verdict || check->installation)
			continue;
		if (check->minor && !context->style->verbose)
			minor++;
		else
			write_check(context, check);
	}
	if (minor > 0)
		kwhy_text_context_linef(context, "  host    ",
			"environment: %zu variables that can cost time are not set (see -v)", minor);
}

static void write_head(const struct kwhy_text_context *context, const struct kwhy_doctor_report *report)
{
	size_t advice = kwhy_doctor_count(report, KWHY_DOCTOR_ADVICE);

	if (advice == 0)
		kwhy_text_add(context->out, "nothing");
	else
		kwhy_text_addf(context->out, "%zu %s", advice, advice == 1 ? "thing" : "things");
	kwhy_text_addf(context->out, " to change, %zu good, %zu not known\n",
		kwhy_doctor_count(report, KWHY_DOCTOR_GOOD), kwhy_doctor_count(report, KWHY_DOCTOR_UNKNOWN));
	for (size_t i = 0; i < report->gpu_count; i++)
		kwhy_text_context_linef(context, "", "GPU %d: %s, %s", report->gpus[i].index,
			report->gpus[i].name ? report->gpus[i].name : "without a name",
			report->gpus[i].pci_address ? report->gpus[i].pci_address : "PCI address not known");
}

enum kwhy_status kwhy_doctor_text(const struct kwhy_doctor_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text_context context = {.style = style, .out = out};

	write_head(&context, report);
	write_section(&context, report, KWHY_DOCTOR_ADVICE);
	write_installation(&context, report);
	write_section(&context, report, KWHY_DOCTOR_GOOD);
	write_section(&context, report, KWHY_DOCTOR_UNKNOWN);
	return kwhy_text_check(out, error);
}
