/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * In comparisons both intervals are widened by this share of their ends, so that errors of floating-point
 * arithmetic count as no difference.
 */
#define SLACK 1e-6
/*
 * A difference counts as a factor of 1000 (or a power of it) only if the computed interval is narrow: its
 * upper end less than this many times its lower end.
 */
#define WIDTH_MAX 3.0
#define LOOSE_FACTOR 10.0
#define MEBI 1.048576

/*
 * longest chain of claims of which each formula names the next claim; limited because the claims are checked
 * recursively
 */
enum { CHAIN_MAX = 100 };

enum progress { UNSEEN, UNDER_WAY, SEEN };

struct entry {
	enum progress progress;
	/*
	 * noted: the figure as printed; made: the value that formulas of other claims use, which is that of
	 * the claim's own formula or, if that gives none, the printed one
	 */
	struct kwhy_formula_figure noted, made;
	char bound; /* '<' or '>' if the printed value ("<5") or the formula ("<= a") is a bound; 0: neither
		       is */
	const char *formula; /* NULL: no formula */
	bool formula_is_bound, is_strict, is_confirmed;
};

struct auditor {
	const struct kwhy_claim *claims;
	size_t count;
	struct entry *entries;
	struct kwhy_audit *out;
	struct kwhy_error *error;
	double most_w; /* highest figure of a claim with the role measured_power; NAN: there is none */
	int depth;     /* number of claims whose formulas are being evaluated at the moment */
};

const char *kwhy_audit_kind_name(enum kwhy_audit_kind kind)
{
	static const char *const names[KWHY_AUDIT_KIND_COUNT] = {
		[KWHY_AUDIT_SLIP] = "unit slip",
		[KWHY_AUDIT_MEBI] = "MB or MiB",
		[KWHY_AUDIT_ARITHMETIC] = "arithmetic",
		[KWHY_AUDIT_BOUND] = "bound broken",
		[KWHY_AUDIT_LOOSE] = "loose bound",
		[KWHY_AUDIT_UNLIKE] = "unlike units",
		[KWHY_AUDIT_WINDOW] = "other window",
		[KWHY_AUDIT_OVERLAP] = "overlap",
		[KWHY_AUDIT_ENERGY] = "too much energy",
		[KWHY_AUDIT_POWER] = "too much power",
		[KWHY_AUDIT_CONTRADICTION] = "contradiction",
		[KWHY_AUDIT_DEPENDS] = "rests on wrong",
	};

	return names[kind];
}

static enum kwhy_status add_finding(struct auditor *auditor, struct kwhy_audit_finding finding)
{
	struct kwhy_audit *out = auditor->out;
	size_t capacity = out->capacity ? 2 * out->capacity : 32;

	if (out->finding_count == out->capacity) {
		struct kwhy_audit_finding *findings = realloc(out->findings, capacity * sizeof(*findings));

		if (!findings)
			return kwhy_fail_memory(auditor->error, "an audit");
		out->findings = findings;
		out->capacity = capacity;
	}
	finding.factor = isfinite(finding.should.low)
		? (finding.noted.low + finding.noted.high) / (finding.should.low + finding.should.high)
		: NAN;
	out->findings[out->finding_count++] = finding;
	return KWHY_OK;
}

static enum kwhy_status find_wrong(struct auditor *auditor, size_t at, enum kwhy_audit_kind kind,
	const struct kwhy_formula_figure *should)
{
	struct kwhy_formula_figure none = {.low = NAN, .high = NAN};

	return add_finding(auditor,
		(struct kwhy_audit_finding){
			kind, at, auditor->entries[at].noted, should ? *should : none, NAN, at});
}

/* Whether the intervals of `b` and of `a` times `factor` overlap. */
static bool agrees(const struct kwhy_formula_figure *a, const struct kwhy_formula_figure *b, double factor)
{
	double low = a->low * factor, high = a->high * factor;

	return low - SLACK * fabs(low) <= b->high + SLACK * fabs(b->high) &&
		high + SLACK * fabs(high) >= b->low - SLACK * fabs(b->low);
}

/* Returns the error for a message about a claim, and records the claim as failed_claim. */
static struct kwhy_error *wrong_in(struct auditor *auditor, size_t at)
{
	auditor->out->failed_claim = at;
	return auditor->error;
}

static enum kwhy_status read_claim(struct auditor *auditor, size_t at)
{
	const struct kwhy_claim *claim = &auditor->claims[at];
	struct entry *entry = &auditor->entries[at];
	const char *from = claim->from + strspn(claim->from, " ");

	if (!kwhy_unit_parse(claim->unit, &entry->noted.unit))
		return kwhy_fail(wrong_in(auditor, at), KWHY_E_INPUT,
			"claim '%.60s': unit '%.40s' is not known; write it as in mJ, uJ/GFLOP or MB/s",
			claim->id, claim->unit);
	if (!kwhy_audit_value_parse(claim->value, &entry->noted.low, &entry->noted.high, &entry->bound))
		return kwhy_fail(wrong_in(auditor, at), KWHY_E_INPUT,
			"claim '%.60s': '%.40s' is not a figure; write it as in 45.1, ~6.3, 25-35 or <5",
			claim->id, claim->value);
	entry->noted.low *= entry->noted.unit.factor;
	entry->noted.high *= entry->noted.unit.factor;
	if (*claim->window)
		entry->noted.windows[entry->noted.window_count++] = claim->window;
	if (strcmp(claim->role, "measured_power") == 0)
		auditor->most_w = fmax(auditor->most_w, entry->noted.high);
	if (!*from)
		return KWHY_OK;
	if (*from == '<' || *from == '>') {
		entry->formula_is_bound = true;
		entry->bound = *from++;
		entry->is_strict = *from != '=';
		from += *from == '=';
	}
	entry->formula = from;
	return KWHY_OK;
}

static enum kwhy_status see(struct auditor *auditor, size_t at);

/*
 * Context of find_figure() for one formula: whether a name in it stands for the figure as printed
 * (as_printed) or for the computed figure (entry->made).
 */
struct lookup {
	struct auditor *auditor;
	bool as_printed;
	bool is_reported; /* the look-up failed because another claim is faulty; auditor->error describes the
			     fault */
};

/* Index of the first claim called `name`, from index `from` on; `count`: there is no such claim. */
static size_t find_claim(const struct auditor *auditor, const char *name, size_t from)
{
	size_t i = from;

	while (i < auditor->count && strcmp(auditor->claims[i].id, name) != 0)
		i++;
	return i;
}

static enum kwhy_status find_figure(
	void *context, const char *name, struct kwhy_formula_figure *out, struct kwhy_error *error)
{
	struct lookup *lookup = context;
	struct auditor *auditor = lookup->auditor;
	size_t at = find_claim(auditor, name, 0);

	if (at == auditor->count)
		return kwhy_fail(error, KWHY_E_INPUT,
			"no claim is called '%.60s'; give it a row, or name one that has", name);
	if (find_claim(auditor, name, at + 1) < auditor->count)
		return kwhy_fail(error, KWHY_E_INPUT,
			"two claims are called '%.60s'; give one of them another id", name);
	if (see(auditor, at)) {
		lookup->is_reported = true;
		return auditor->error->status;
	}
	*out = lookup->as_printed ? auditor->entries[at].noted : auditor->entries[at].made;
	out->depends_on_wrong = auditor->entries[at].made.depends_on_wrong;
	return KWHY_OK;
}

static enum kwhy_status work_out(
	struct auditor *auditor, size_t at, bool as_printed, struct kwhy_formula_figure *out)
{
	struct lookup lookup = {auditor, as_printed, false};
	struct kwhy_error inner;

	if (!kwhy_formula_of(auditor->entries[at].formula, find_figure, &lookup, out, &inner))
		return KWHY_OK;
	if (lookup.is_reported)
		return auditor->error->status;
	return kwhy_fail(wrong_in(auditor, at), inner.status, "claim '%.60s': %.500s", auditor->claims[at].id,
		inner.text);
}

static bool differ_by(
	const struct kwhy_formula_figure *noted, const struct kwhy_formula_figure *made, double factor)
{
	return agrees(noted, made, factor) || agrees(noted, made, 1 / factor);
}

/*
 * Whether the interval determines the order of magnitude of the figure: it does not contain 0, and its ends
 * differ by less than a factor of WIDTH_MAX.
 */
static bool has_size(const struct kwhy_formula_figure *figure)
{
	double low = fabs(figure->low), high = fabs(figure->high);

	return (figure->low > 0) == (figure->high > 0) && fmax(low, high) < WIDTH_MAX * fmin(low, high);
}

/*
 * Kind of finding for a printed and a computed figure whose intervals do not overlap: a factor of 1.048576
 * for bytes, a power of 1000, or any other difference.
 */
static enum kwhy_audit_kind kind_of(
	const struct kwhy_formula_figure *noted, const struct kwhy_formula_figure *made)
{
	bool of_bytes = made->unit.powers[KWHY_DIMENSION_BYTE] != 0;

	if (of_bytes && differ_by(noted, made, MEBI))
		return KWHY_AUDIT_MEBI;
	for (double factor = 1e3; factor < 1e16 && has_size(made); factor *= 1e3)
		if (differ_by(noted, made, factor) ||
			(of_bytes &&
				(differ_by(noted, made, factor * MEBI) ||
					differ_by(noted, made, factor / MEBI))))
			return KWHY_AUDIT_SLIP;
	return KWHY_AUDIT_ARITHMETIC;
}

/*
 * Whether all values in the interval of a figure violate the bound '<' or '>' of `limit`. A strict bound is
 * also violated if the middle of the figure's interval is at or beyond that of the limit's.
 */
static bool breaks_bound(char bound, bool is_strict, const struct kwhy_formula_figure *noted,
	const struct kwhy_formula_figure *limit)
{
	double difference = noted->low + noted->high - limit->low - limit->high;

	if (is_strict && (bound == '<' ? difference >= 0 : difference <= 0))
		return true;
	return bound == '<' ? noted->low > limit->high + SLACK * fabs(limit->high)
			    : noted->high < limit->low - SLACK * fabs(limit->low);
}

/* Whether a bound holds but is far from the figure, such as "<5 %" for 0.2 %. */
static bool is_loose(
	char bound, const struct kwhy_formula_figure *noted, const struct kwhy_formula_figure *made)
{
	if (bound == '<')
		return noted->low > 0 ? made->high * LOOSE_FACTOR < noted->low
				      : made->high < LOOSE_FACTOR * noted->low;
	return noted->high > 0 ? made->low > LOOSE_FACTOR * noted->high
			       : made->low * LOOSE_FACTOR > noted->high;
}

static enum kwhy_status compare_bound(
	struct auditor *auditor, size_t at, const struct kwhy_formula_figure *made)
{
	struct entry *entry = &auditor->entries[at];

	if (entry->formula_is_bound)
		return breaks_bound(entry->bound, entry->is_strict, &entry->noted, made)
			? find_wrong(auditor, at, KWHY_AUDIT_BOUND, made)
			: KWHY_OK;
	if (breaks_bound(entry->bound, false, made, &entry->noted))
		return find_wrong(auditor, at, KWHY_AUDIT_BOUND, made);
	return is_loose(entry->bound, &entry->noted, made) ? find_wrong(auditor, at, KWHY_AUDIT_LOOSE, made)
							   : KWHY_OK;
}

static enum kwhy_status compare(struct auditor *auditor, size_t at, const struct kwhy_formula_figure *printed,
	const struct kwhy_formula_figure *made)
{
	struct entry *entry = &auditor->entries[at];

	if (printed->mixes_units || !kwhy_unit_is_alike(&printed->unit, &entry->noted.unit))
		return find_wrong(auditor, at, KWHY_AUDIT_UNLIKE, NULL);
	if (printed->mixes_windows)
		return KWHY_OK; /* the formula adds or divides amounts of different windows, so its value
				   means nothing; check_formula() reports that */
	if (entry->bound)
		return compare_bound(auditor, at, made);
	entry->is_confirmed = agrees(&entry->noted, made, 1) && !made->depends_on_wrong;
	if (!agrees(&entry->noted, made, 1))
		return find_wrong(auditor, at,
			agrees(&entry->noted, printed, 1) ? KWHY_AUDIT_DEPENDS : kind_of(&entry->noted, made),
			made);
	return made->depends_on_wrong ? find_wrong(auditor, at, KWHY_AUDIT_DEPENDS, NULL) : KWHY_OK;
}

static double duration_of(const struct auditor *auditor, const char *window)
{
	for (size_t i = 0; i < auditor->count; i++)
		if (strcmp(auditor->claims[i].role, "duration") == 0 &&
			strcmp(auditor->claims[i].window, window) == 0)
			return auditor->entries[i].noted.high;
	return NAN;
}

/*
 * Whether a claim is a sum of figures whose windows are together longer than the claim's own window, so that
 * some time was counted twice.
 */
static bool overlaps(const struct auditor *auditor, size_t at, const struct kwhy_formula_figure *printed)
{
	double whole_s = duration_of(auditor, auditor->claims[at].window), parts_s = 0;

	for (size_t i = 0; i < printed->window_count; i++) {
		double part_s = duration_of(auditor, printed->windows[i]);

		parts_s += isfinite(part_s) ? part_s : 0;
	}
	return printed->is_sum && printed->window_count > 1 && parts_s > whole_s * (1 + SLACK);
}

/*
 * Checks a claim with the role "energy" or "power": the energy must be at most the highest measured power
 * times the duration of its window, and the power at most the highest measured power.
 */
static enum kwhy_status check_role(struct auditor *auditor, size_t at)
{
	const struct kwhy_claim *claim = &auditor->claims[at];
	const struct entry *entry = &auditor->entries[at];
	struct kwhy_formula_figure most = entry->noted;

	if (strcmp(claim->role, "energy") == 0) {
		most.low = most.high = auditor->most_w * duration_of(auditor, claim->window);
		if (entry->noted.low > most.high * (1 + SLACK))
			return find_wrong(auditor, at, KWHY_AUDIT_ENERGY, &most);
	}
	if (strcmp(claim->role, "power") == 0) {
		most.low = most.high = auditor->most_w;
		if (entry->noted.low > most.high * (1 + SLACK))
			return find_wrong(auditor, at, KWHY_AUDIT_POWER, &most);
	}
	return KWHY_OK;
}

static enum kwhy_status check_formula(struct auditor *auditor, size_t at)
{
	struct entry *entry = &auditor->entries[at];
	struct kwhy_formula_figure printed = {0}, made = {0};
	enum kwhy_status status = work_out(auditor, at, true, &printed);

	if (!status)
		status = work_out(auditor, at, false, &made);
	if (!status)
		status = compare(auditor, at, &printed, &made);
	if (!status && printed.mixes_windows)
		status = find_wrong(auditor, at, KWHY_AUDIT_WINDOW, NULL);
	if (!status && overlaps(auditor, at, &printed))
		status = find_wrong(auditor, at, KWHY_AUDIT_OVERLAP, NULL);
	if (!status && !entry->bound && !printed.mixes_windows &&
		kwhy_unit_is_alike(&made.unit, &entry->noted.unit)) {
		entry->made.low = made.low;
		entry->made.high = made.high;
	}
	/*
	 * If a figure differs from its formula, claims that use it are checked with the computed value, and
	 * are therefore not wrong themselves. If the formula mixes units or windows, or uses a wrong figure,
	 * its value is wrong, too, and the claims that use it depend on a wrong figure.
	 */
	entry->made.depends_on_wrong = made.depends_on_wrong || printed.mixes_windows || printed.mixes_units;
	return status;
}

/*
 * Checks a claim, after those that its formula names (by find_figure()). Does nothing if it has been checked.
 */
static enum kwhy_status see(struct auditor *auditor, size_t at)
{
	struct entry *entry = &auditor->entries[at];
	size_t before = auditor->out->finding_count;
	enum kwhy_status status;

	if (entry->progress == SEEN)
		return KWHY_OK;
	if (entry->progress == UNDER_WAY)
		return kwhy_fail(wrong_in(auditor, at), KWHY_E_INPUT,
			"claim '%.60s' is made of itself; give one of those between a figure without it",
			auditor->claims[at].id);
	if (auditor->depth == CHAIN_MAX)
		return kwhy_fail(wrong_in(auditor, at), KWHY_E_INPUT,
			"claim '%.60s' ends a chain of more than %d claims made of each other; move "
			"what they are made of before them",
			auditor->claims[at].id, (int)CHAIN_MAX);
	entry->progress = UNDER_WAY;
	entry->made = entry->noted;
	auditor->depth++;
	status = entry->formula ? check_formula(auditor, at) : KWHY_OK;
	auditor->depth--;
	if (!status)
		before = auditor->out->finding_count;
	if (!status)
		status = check_role(auditor, at);
	entry->made.depends_on_wrong |= auditor->out->finding_count > before;
	entry->progress = SEEN;
	return status;
}

/*
 * Index of another claim with the same word `same` whose figure does not overlap that of claim `at`; one that
 * its own formula confirms is preferred. `count`: there is no such claim.
 */
static size_t find_other(const struct auditor *auditor, size_t at)
{
	size_t found = auditor->count;

	for (size_t i = 0; i < auditor->count; i++) {
		bool is_same = i != at && *auditor->claims[at].same &&
			strcmp(auditor->claims[i].same, auditor->claims[at].same) == 0;

		if (!is_same || agrees(&auditor->entries[i].made, &auditor->entries[at].made, 1))
			continue;
		if (found == auditor->count ||
			(auditor->entries[i].is_confirmed && !auditor->entries[found].is_confirmed))
			found = i;
	}
	return found;
}

/*
 * The value of a claim that contradicts another, for the finding: as printed if its formula confirms it, else
 * entry->made.
 */
static const struct kwhy_formula_figure *reported(const struct entry *entry)
{
	return entry->is_confirmed ? &entry->noted : &entry->made;
}

static enum kwhy_status check_contradictions(struct auditor *auditor)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < auditor->count; i++) {
		size_t other = find_other(auditor, i);

		if (other != auditor->count && !auditor->entries[i].is_confirmed)
			status = add_finding(auditor,
				(struct kwhy_audit_finding){KWHY_AUDIT_CONTRADICTION, i,
					auditor->entries[i].noted, *reported(&auditor->entries[other]), NAN,
					other});
	}
	return status;
}

static int compare_findings(const void *a, const void *b)
{
	const struct kwhy_audit_finding *x = a, *y = b;

	if (x->claim != y->claim)
		return x->claim < y->claim ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static enum kwhy_status audit(struct auditor *auditor)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < auditor->count; i++)
		status = read_claim(auditor, i);
	for (size_t i = 0; !status && i < auditor->count; i++)
		status = see(auditor, i);
	if (!status)
		status = check_contradictions(auditor);
	for (size_t i = 0; i < auditor->count; i++)
		auditor->out->checked_count += auditor->entries[i].formula || *auditor->claims[i].same ||
			*auditor->claims[i].role;
	if (auditor->out->finding_count)
		qsort(auditor->out->findings, auditor->out->finding_count, sizeof(*auditor->out->findings),
			compare_findings);
	return status;
}

enum kwhy_status kwhy_audit_of(
	const struct kwhy_claim *claims, size_t count, struct kwhy_audit *out, struct kwhy_error *error)
{
	struct auditor auditor = {
		claims, count, calloc(count + 1, sizeof(*auditor.entries)), out, error, NAN, 0};
	enum kwhy_status status;

	*out = (struct kwhy_audit){0};
	if (!auditor.entries)
		return kwhy_fail_memory(error, "an audit");
	status = audit(&auditor);
	free(auditor.entries);
	return status;
}

void kwhy_audit_done(struct kwhy_audit *out)
{
	free(out->findings);
	*out = (struct kwhy_audit){0};
}
