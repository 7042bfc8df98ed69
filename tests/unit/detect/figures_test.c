/* SPDX-License-Identifier: Apache-2.0 */
#include "../expected_text.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "detect/detect.h"
#include "ok.h"
#include "varied.h"

#include <ctype.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares every figure of every finding in 200 small random recordings with stored files, and digests of 600
 * more. The detectors' thresholds are set to values that many lengths, sizes and counts in these recordings
 * equal exactly, to test the limits.
 */

static struct kwhy_error error;

enum { CASES = 200, DIGESTED = 800, FILES = 4, SETTINGS_MAX = 64, SETTING_BYTES = 64 };

struct settings {
	char words[SETTINGS_MAX][SETTING_BYTES];
	const char *list[SETTINGS_MAX];
	size_t count;
};

static double draw_value(const char *name, uint64_t *state)
{
	static const double counts[] = {0, 1, 2, 3, 4, 8}, times_us[] = {0, 1, 2, 3, 5, 10, 11, 20, 50, 100},
			    times_ms[] = {0, 0.01, 0.1, 1}, sizes[] = {0, 4, 64, 65, 256, 4096, 65536},
			    shares[] = {0, 0.05, 0.1, 0.25, 0.5, 0.51, 0.9, 1};
	size_t length = strlen(name);

	if (!strcmp(name + length - 3, "_us"))
		return times_us[varied_below(state, 10)];
	if (!strcmp(name + length - 3, "_ms"))
		return times_ms[varied_below(state, 4)];
	if (strstr(name, "bytes"))
		return sizes[varied_below(state, 7)];
	if (!strcmp(name, "min_count") || !strcmp(name, "min_length") || !strcmp(name, "empty_run"))
		return counts[varied_below(state, 6)];
	return shares[varied_below(state, 8)];
}

static void draw_settings(struct settings *settings, uint64_t *state)
{
	settings->count = 0;
	for (size_t d = 0; d < kwhy_detector_count; d++)
		for (size_t t = 0; t < KWHY_DETECTOR_THRESHOLDS && kwhy_detectors[d].thresholds[t].name;
			t++) {
			const char *name = kwhy_detectors[d].thresholds[t].name;

			if (varied_below(state, 4) == 0)
				continue;
			snprintf(settings->words[settings->count], SETTING_BYTES, "%s.%s=%g",
				kwhy_detectors[d].id, name, draw_value(name, state));
			settings->list[settings->count] = settings->words[settings->count];
			settings->count++;
			assert_true(settings->count < SETTINGS_MAX);
		}
}

/* Writes `name` and the numbers in the sentence `text`, without its words. */
static void write_figures(struct kwhy_text *out, const char *name, const char *text)
{
	if (!text)
		return;
	kwhy_text_addf(out, " %s", name);
	while (*text) {
		size_t length = strspn(text, "0123456789.,");

		if (isdigit((unsigned char)*text))
			kwhy_text_addf(out, " %.*s", (int)length, text);
		text += length + (length == 0);
	}
}

static void write_energy(struct kwhy_text *out, int64_t nj)
{
	if (nj == KWHY_UNKNOWN_NJ)
		kwhy_text_add(out, " -");
	else
		kwhy_text_addf(out, " %.8g", (double)nj);
}

static void write_evidence(struct kwhy_text *out, const struct kwhy_evidence *evidence)
{
	kwhy_text_addf(out, "\n   %" PRId64 "-%" PRId64, evidence->start_ns, evidence->end_ns);
	write_figures(out, "", evidence->what);
	for (int i = 0; i < 2; i++)
		if (evidence->kernels[i])
			kwhy_text_addf(out, " %.12s", evidence->kernels[i]);
}

static void write_finding(struct kwhy_text *out, const struct kwhy_finding *finding)
{
	const struct kwhy_saving *saving = &finding->saving;

	kwhy_text_addf(out, " %s", finding->id);
	if (finding->device != KWHY_NONE)
		kwhy_text_addf(out, " of %u", (unsigned)finding->device);
	kwhy_text_addf(out, ": %" PRIu64 " times %" PRId64 " ns", finding->count, finding->time_ns);
	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		if (finding->category_ns[i])
			kwhy_text_addf(out, " %s %" PRId64, kwhy_category_name(i), finding->category_ns[i]);
	write_energy(out, finding->energy_nj);
	write_energy(out, finding->low_nj);
	write_energy(out, finding->high_nj);
	kwhy_text_addf(out, " nJ\n  saves %" PRId64 " ns", saving->time_ns);
	write_energy(out, saving->energy_nj);
	write_energy(out, saving->low_nj);
	write_energy(out, saving->high_nj);
	kwhy_text_addf(out, " nJ %s%s%s least %" PRId64, kwhy_bound_name(saving->bound),
		saving->frees_device ? " frees" : "", finding->leads ? " leads" : "", finding->least_ns);
	if (!isnan(finding->least_nj))
		kwhy_text_addf(out, " %.8g", finding->least_nj);
	if (finding->change)
		kwhy_text_addf(out, " by '%s'", finding->change);
	write_figures(out, "title", finding->title);
	write_figures(out, "if", saving->assumption);
	write_figures(out, "cure", finding->cure);
	for (size_t i = 0; i < finding->evidence_count; i++)
		write_evidence(out, &finding->evidence[i]);
	kwhy_text_add(out, "\n");
}

static struct kwhy_findings *find(const struct varied *varied, uint64_t seed)
{
	static const double gains[] = {0, 0, 0.001, 0.01, 0.05};
	uint64_t state = seed + 1;
	struct settings settings;
	struct kwhy_findings *findings;
	struct kwhy_detect_options options = kwhy_detect_options_default();

	draw_settings(&settings, &state);
	options.min_gain_ratio = gains[varied_below(&state, 5)];
	options.evidence_limit = varied_below(&state, 3);
	options.thresholds = settings.list;
	options.threshold_count = seed % 4 ? settings.count : 0;
	OK(kwhy_detect_run(varied->recording, varied->ledger, varied->has_profile ? &varied->profile : NULL,
		&options, &findings, &error));
	return findings;
}

static void write_words(struct kwhy_text *out, const struct kwhy_finding *finding)
{
	kwhy_text_addf(out, "%s\n%s\n%s\n", finding->title, finding->saving.assumption, finding->cure);
	if (finding->place.file)
		kwhy_text_addf(out, "%s:%u\n", finding->place.file, (unsigned)finding->place.line);
	for (size_t i = 0; i < finding->evidence_count; i++)
		kwhy_text_addf(out, "%s\n", finding->evidence[i].what);
}

/* Whether `middle` lies between the bounds; also true if the bounds are unknown, or all three. */
static bool is_between(int64_t low, int64_t middle, int64_t high)
{
	if (middle == KWHY_UNKNOWN_NJ)
		return low == KWHY_UNKNOWN_NJ && high == KWHY_UNKNOWN_NJ;
	return low == KWHY_UNKNOWN_NJ || (low <= middle && middle <= high);
}

/*
 * Checks that the figures of a finding are consistent. Its times by category add up to its time, less at most
 * 1 ns for each kind of activity, as each is rounded down.
 */
static void check_finding(
	const struct kwhy_recording *recording, const struct kwhy_finding *finding, uint64_t seed)
{
	int64_t sum_ns = 0;

	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		sum_ns += finding->category_ns[i];
	if (sum_ns > finding->time_ns || sum_ns < finding->time_ns - KWHY_ACTIVITY_KIND_COUNT ||
		finding->time_ns > recording->end_ns - recording->start_ns ||
		finding->saving.time_ns > finding->time_ns || finding->saving.time_ns < 0 ||
		!is_between(finding->low_nj, finding->energy_nj, finding->high_nj) ||
		!is_between(finding->saving.low_nj, finding->saving.energy_nj, finding->saving.high_nj))
		fail_msg("case %" PRIu64 ": figures of %s contradict each other: %" PRId64
			 " ns, by category %" PRId64 ", saved %" PRId64 "; %" PRId64 " <= %" PRId64
			 " <= %" PRId64 " nJ, saved %" PRId64 " <= %" PRId64 " <= %" PRId64 " nJ",
			seed, finding->id, finding->time_ns, sum_ns, finding->saving.time_ns, finding->low_nj,
			finding->energy_nj, finding->high_nj, finding->saving.low_nj,
			finding->saving.energy_nj, finding->saving.high_nj);
	for (size_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].start_ns < recording->start_ns ||
			finding->evidence[i].end_ns > recording->end_ns ||
			finding->evidence[i].end_ns < finding->evidence[i].start_ns)
			fail_msg("case %" PRIu64 ": evidence of %s lies outside of the run", seed,
				finding->id);
}

/* Checks the figures of a case and writes them. */
static void write_case(struct kwhy_text *out, uint64_t seed, bool words)
{
	struct varied varied = varied_new(seed, false);
	struct kwhy_findings *findings = find(&varied, seed);

	kwhy_text_addf(out, "case %" PRIu64 "\n", seed);
	for (size_t i = 0; i < findings->count; i++) {
		check_finding(varied.recording, &findings->items[i], seed);
		write_finding(out, &findings->items[i]);
	}
	for (size_t i = 0; words && i < findings->count; i++)
		write_words(out, &findings->items[i]);
	kwhy_findings_free(findings);
	varied_free(&varied);
}

static void the_figures_of_findings_are_as_before(void **state)
{
	(void)state;
	for (unsigned file = 0; file < FILES; file++) {
		struct kwhy_text out = {0};
		char name[64];

		for (uint64_t seed = file; seed < CASES; seed += FILES)
			write_case(&out, seed, false);
		snprintf(name, sizeof(name), "detect/figures-%u.expected", file);
		assert_expected_text(name, out.data);
		kwhy_text_done(&out);
	}
}

/*
 * Runs the detectors with another min_count for the detector of the finding `like`. Returns the finding of
 * that detector on the same device, or NULL. *out owns it.
 */
static const struct kwhy_finding *find_with(const struct varied *varied, const struct kwhy_finding *like,
	uint64_t min_count, struct kwhy_findings **out)
{
	char setting[SETTING_BYTES];
	const char *list[] = {setting};
	struct kwhy_detect_options options = {.evidence_limit = 1, .thresholds = list, .threshold_count = 1};

	snprintf(setting, sizeof(setting), "%s.min_count=%" PRIu64, like->id, min_count);
	OK(kwhy_detect_run(varied->recording, varied->ledger, NULL, &options, out, &error));
	for (size_t i = 0; i < (*out)->count; i++)
		if (!strcmp((*out)->items[i].id, like->id) && (*out)->items[i].device == like->device)
			return &(*out)->items[i];
	return NULL;
}

static void check_count(const struct varied *varied, const struct kwhy_finding *finding, uint64_t seed)
{
	struct kwhy_findings *findings;

	for (uint64_t more = 0; more < 2; more++) {
		if (!find_with(varied, finding, finding->count + more, &findings) != (more == 1))
			fail_msg("case %" PRIu64 ": %s of %" PRIu64 " is %s with min_count %" PRIu64, seed,
				finding->id, finding->count, more ? "there" : "gone", finding->count + more);
		kwhy_findings_free(findings);
	}
}

static bool has_min_count(const char *id)
{
	for (size_t d = 0; d < kwhy_detector_count; d++)
		for (size_t t = 0; t < KWHY_DETECTOR_THRESHOLDS && kwhy_detectors[d].thresholds[t].name; t++)
			if (!strcmp(kwhy_detectors[d].id, id) &&
				!strcmp(kwhy_detectors[d].thresholds[t].name, "min_count"))
				return true;
	return false;
}

/*
 * A finding with min_count set to its own count must stay, with one more it must go. growing-caches is
 * treated apart: its threshold counts growths, one less than the copies that the finding counts.
 */
static void a_count_at_the_threshold_is_found_and_one_less_is_not(void **state)
{
	struct kwhy_detect_options options = {.evidence_limit = 1};

	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed += 2) {
		struct varied varied = varied_new(seed, false);
		struct kwhy_findings *findings;

		OK(kwhy_detect_run(varied.recording, varied.ledger, NULL, &options, &findings, &error));
		for (size_t i = 0; i < findings->count; i++)
			if (has_min_count(findings->items[i].id) &&
				strcmp(findings->items[i].id, "growing-caches") != 0)
				check_count(&varied, &findings->items[i], seed);
		kwhy_findings_free(findings);
		varied_free(&varied);
	}
}

/*
 * Compares digests of all figures and words of the findings in further recordings. KWHY_SHOW_CASE=N shows the
 * text of case N.
 */
static void the_digests_of_findings_are_as_before(void **state)
{
	const char *shown = getenv("KWHY_SHOW_CASE");
	struct kwhy_text out = {0};

	(void)state;
	for (uint64_t seed = CASES; seed < DIGESTED; seed++) {
		struct kwhy_text text = {0};

		write_case(&text, seed, true);
		kwhy_text_addf(&out, "case %" PRIu64 " %" PRIu32 "\n", seed, digest_of_text(text.data));
		if (shown && strtoull(shown, NULL, 10) == seed)
			printf("%s", text.data);
		kwhy_text_done(&text);
	}
	assert_expected_text("detect/figures-digests.expected", out.data);
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_at_the_threshold_is_found_and_one_less_is_not),
		cmocka_unit_test(the_figures_of_findings_are_as_before),
		cmocka_unit_test(the_digests_of_findings_are_as_before)};

	/*
	 * keeps large arrays on the heap, where memory is reused: each mmap() would have to fault in new
	 * pages
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	return kwhy_test_main(tests, NULL, NULL);
}
