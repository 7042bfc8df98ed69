/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/analysis.h"

#include "base/c_locale.h"

#include "import/import.h"
#include "ledger/energy/model_power.h"
#include "ledger/ledger_new.h"
#include "whatif/stretch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(KWHY_ANALYSE_E_INPUT == (int)KWHY_E_INPUT && KWHY_ANALYSE_E_IO == (int)KWHY_E_IO &&
		KWHY_ANALYSE_E_MEMORY == (int)KWHY_E_MEMORY &&
		KWHY_ANALYSE_E_UNSUPPORTED == (int)KWHY_E_UNSUPPORTED &&
		KWHY_ANALYSE_E_USAGE == (int)KWHY_E_USAGE,
	"statuses");
_Static_assert(sizeof(((struct kwhy_error *)NULL)->text) == KWHY_ANALYSE_MESSAGE_BYTES, "messages");

/* Number of intervals of the curve of modelled power in the HTML report; each is narrower than a pixel. */
enum { MODEL_BINS = 4000 };

const char *kwhy_analyse_version(void)
{
	return KWHY_VERSION;
}

int kwhy_analysis_say(const struct kwhy_error *error, char *message, size_t message_bytes)
{
	if (message && message_bytes > 0)
		snprintf(message, message_bytes, "%s", error->text);
	return (int)error->status;
}

int kwhy_analysis_give(void *out, const void *from, size_t from_size)
{
	size_t size;

	memcpy(&size, out, sizeof(size));
	if (size < 2 * sizeof(size))
		return KWHY_ANALYSE_E_USAGE;
	memcpy(out, from, size < from_size ? size : from_size);
	memcpy(out, &size, sizeof(size));
	return KWHY_ANALYSE_OK;
}

void kwhy_analysis_options_init(struct kwhy_analysis_options *options, size_t size)
{
	const struct kwhy_analysis_options defaults = {.min_gain_percent = NAN,
		.price_per_kwh = NAN,
		.intensity_g_per_kwh = NAN,
		.seed = kwhy_ledger_options_default().seed};

	memset(options, 0, size);
	memcpy(options, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
	memcpy(options, &size, sizeof(size));
}

/*
 * Copies the options of a caller, who may be built with another version. Newer fields that the options of an
 * older caller lack get their defaults. Options larger than this version knows are refused (KWHY_E_USAGE),
 * because they may have fields that are unknown here.
 */
static enum kwhy_status complete_options(const struct kwhy_analysis_options *given,
	struct kwhy_analysis_options *out, struct kwhy_error *error)
{
	kwhy_analysis_options_init(out, sizeof(*out));
	if (!given)
		return KWHY_OK;
	if (given->size < 2 * sizeof(size_t) || given->size > sizeof(*out))
		return kwhy_fail(error, KWHY_E_USAGE,
			"the options have %zu bytes and libkwhy-analyse %s knows %zu; set them by "
			"kwhy_analysis_options_init(), and install a library as new as the header",
			given->size, KWHY_VERSION, sizeof(*out));
	memcpy(out, given, given->size);
	return KWHY_OK;
}

int kwhy_analysis_open(const char *const *paths, size_t path_count,
	const struct kwhy_analysis_options *options, struct kwhy_analysis **out, char *message,
	size_t message_bytes)
{
	KWHY_C_LOCALE;
	struct kwhy_analysis *analysis = calloc(1, sizeof(*analysis));
	struct kwhy_analysis_options given;
	struct kwhy_error error;
	enum kwhy_status status = complete_options(options, &given, &error);

	if (!status && !analysis)
		status = kwhy_fail_memory(&error, "an analysis");
	if (!status && !path_count)
		status = kwhy_fail(&error, KWHY_E_USAGE, "an analysis needs a recording or a trace");
	if (!status)
		status = kwhy_analysis_make(analysis, paths, path_count, &given, &error);
	if (status) {
		kwhy_analysis_close(analysis);
		return kwhy_analysis_say(&error, message, message_bytes);
	}
	*out = analysis;
	return KWHY_ANALYSE_OK;
}

void kwhy_analysis_close(struct kwhy_analysis *analysis)
{
	if (!analysis)
		return;
	if (analysis->report.probing)
		kwhy_probing_done(&analysis->probing);
	kwhy_whatif_free(analysis->whatif);
	kwhy_findings_free(analysis->findings);
	if (analysis->ledger)
		kwhy_ledger_free(analysis->ledger);
	kwhy_profile_free(analysis->profile);
	if (analysis->recording)
		kwhy_recording_free(analysis->recording);
	kwhy_arena_done(&analysis->arena);
	free(analysis);
}

enum kwhy_status kwhy_analysis_graph(
	struct kwhy_analysis *analysis, struct kwhy_whatif **out, struct kwhy_error *error)
{
	enum kwhy_status status = analysis->whatif ? KWHY_OK
						   : kwhy_whatif_new(analysis->recording, analysis->ledger,
							     analysis->profile, &analysis->whatif, error);

	if (!status)
		*out = analysis->whatif;
	return status;
}

enum kwhy_status kwhy_analysis_add_stretch(
	struct kwhy_analysis *analysis, struct kwhy_plan *plan, struct kwhy_error *error)
{
	struct kwhy_whatif *whatif;
	enum kwhy_status status = kwhy_analysis_graph(analysis, &whatif, error);

	return status ? status : kwhy_whatif_add_stretch(whatif, plan, error);
}

enum kwhy_status kwhy_analysis_add_model_power(struct kwhy_analysis *analysis, struct kwhy_error *error)
{
	struct kwhy_power_curve *curves;
	enum kwhy_status status = kwhy_ledger_model_power(
		analysis->ledger, analysis->recording, MODEL_BINS, &curves, error);

	if (!status)
		analysis->report.model_power = curves;
	return status;
}

typedef enum kwhy_status render(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

static int write_text(
	const struct kwhy_analysis *analysis, render *write, char **out, char *message, size_t message_bytes)
{
	KWHY_C_LOCALE;
	struct kwhy_text text = {0};
	struct kwhy_error error;

	if (write(&analysis->report, &text, &error)) {
		kwhy_text_done(&text);
		return kwhy_analysis_say(&error, message, message_bytes);
	}
	*out = text.data;
	return KWHY_ANALYSE_OK;
}

int kwhy_analysis_json(const struct kwhy_analysis *analysis, char **out, char *message, size_t message_bytes)
{
	return write_text(analysis, kwhy_report_json, out, message, message_bytes);
}

int kwhy_analysis_brief(const struct kwhy_analysis *analysis, char **out, char *message, size_t message_bytes)
{
	return write_text(analysis, kwhy_report_brief, out, message, message_bytes);
}

void kwhy_analysis_text_free(char *text)
{
	free(text);
}
