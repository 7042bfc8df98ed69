/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/exposition.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *kwhy_exposition_content_type(enum kwhy_exposition_form form)
{
	return form == KWHY_EXPOSITION_OPENMETRICS
		? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		: "text/plain; version=0.0.4; charset=utf-8";
}

static const char *suffix_of(enum kwhy_family_kind kind)
{
	static const char *const suffixes[] = {
		[KWHY_FAMILY_GAUGE] = "", [KWHY_FAMILY_COUNTER] = "_total", [KWHY_FAMILY_INFO] = "_info"};

	return suffixes[kind];
}

/*
 * Writes the HELP and TYPE lines of a family and, in OpenMetrics, its UNIT line. In the Prometheus format the
 * name has the suffix of the samples, such as _total, and an info is of type gauge.
 */
static void describe(struct kwhy_exposition *exposition, const struct kwhy_family *family)
{
	static const char *const kinds[] = {[KWHY_FAMILY_GAUGE] = "gauge",
		[KWHY_FAMILY_COUNTER] = "counter",
		[KWHY_FAMILY_INFO] = "info"};
	bool open = exposition->form == KWHY_EXPOSITION_OPENMETRICS;
	const char *suffix = open ? "" : suffix_of(family->kind);
	const char *kind = !open && family->kind == KWHY_FAMILY_INFO ? "gauge" : kinds[family->kind];

	kwhy_text_addf(exposition->out, "# HELP %s%s %s\n", family->name, suffix, family->help);
	kwhy_text_addf(exposition->out, "# TYPE %s%s %s\n", family->name, suffix, kind);
	if (open && *family->unit)
		kwhy_text_addf(exposition->out, "# UNIT %s %s\n", family->name, family->unit);
	exposition->described = family;
}

/*
 * Whether a label value consists of printable ASCII characters without backslash and quote, so that it can be
 * copied as it is.
 */
static bool is_plain(const char *value)
{
	for (; *value; value++)
		if (*value < ' ' || *value > '~' || *value == '\\' || *value == '"')
			return false;
	return true;
}

/*
 * Adds a label value, escaped. Bytes that are no UTF-8, which file names may contain, are replaced: a scraper
 * rejects the whole answer if it contains one.
 */
static void add_escaped(struct kwhy_text *out, const char *value)
{
	const size_t length = strlen(value);
	char *clean;

	if (is_plain(value)) {
		kwhy_text_add_bytes(out, value, length);
		return;
	}
	clean = malloc(3 * length + 1);
	if (!clean) {
		out->failed = true;
		return;
	}
	kwhy_text_sanitize(clean, value, length);
	for (const char *at = clean; *at; at++) {
		if (*at == '\\' || *at == '"')
			kwhy_text_add(out, "\\");
		kwhy_text_add_bytes(out, at, 1);
	}
	free(clean);
}

static void add_labels(struct kwhy_text *out, const struct kwhy_label *labels)
{
	const char *before = "{";

	for (; labels->name; labels++) {
		if (!labels->value)
			continue;
		kwhy_text_add(out, before);
		kwhy_text_add(out, labels->name);
		kwhy_text_add(out, "=\"");
		add_escaped(out, labels->value);
		kwhy_text_add(out, "\"");
		before = ",";
	}
	if (*before == ',')
		kwhy_text_add(out, "}");
}

void kwhy_exposition_add(struct kwhy_exposition *exposition, const struct kwhy_family *family,
	const struct kwhy_label *labels, double value)
{
	char number[40];

	if (!isfinite(value))
		return;
	if (exposition->described != family)
		describe(exposition, family);
	kwhy_text_add(exposition->out, family->name);
	kwhy_text_add(exposition->out, suffix_of(family->kind));
	add_labels(exposition->out, labels);
	snprintf(number, sizeof(number), " %.15g\n", value);
	kwhy_text_add(exposition->out, number);
}

void kwhy_exposition_end(struct kwhy_exposition *exposition)
{
	if (exposition->form == KWHY_EXPOSITION_OPENMETRICS)
		kwhy_text_add(exposition->out, "# EOF\n");
}
