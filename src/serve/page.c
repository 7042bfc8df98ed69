/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page.h"

#include "base/html.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" "
	"content=\"2\"><meta name=\"viewport\" content=\"width=device-width\"><title>kwhy</title>\n"
	"<style>:root{color-scheme:light dark}body{font:16px system-ui,sans-serif;margin:2em}"
	"table{border-collapse:collapse}th,td{padding:.2em .7em;text-align:right;white-space:nowrap}"
	"th{font-weight:600;border-bottom:1px solid}th:first-child,td:first-child{text-align:left}"
	"div{overflow-x:auto}</style></head>\n<body>";

/* Adds a text with the characters that are special in HTML escaped: names come from drivers and files. */
static void add_clean(struct kwhy_text *out, const char *text)
{
	kwhy_html_add(out, text, strlen(text));
}

/* Adds a table cell with a value and its unit; "n/a": the value is not finite. */
static void add_si(struct kwhy_text *out, double value, const char *unit)
{
	char words[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(out, "<td>%s</td>", isfinite(value) ? kwhy_quantity_si(words, value, unit, 3) : "n/a");
}

static double gauge_of(const struct kwhy_live_device *device, enum kwhy_gauge gauge, double scale)
{
	const struct kwhy_live_value *value = &device->gauges[gauge];

	return value->known ? (double)value->value * scale : NAN;
}

static void add_percent(struct kwhy_text *out, double percent)
{
	if (isfinite(percent))
		kwhy_text_addf(out, "<td>%.0f %%</td>", percent);
	else
		kwhy_text_add(out, "<td>n/a</td>");
}

static const char *state_of(const struct kwhy_live_device *device)
{
	if (device->lost)
		return device->mig_index < 0 ? ", lost: answers no more" : ", gone: divided anew (MIG)";
	return device->division == KWHY_DIVISION_OTHER
		? ", divided anew (MIG): restart kwhy to see its instances"
		: "";
}

static void add_device(struct kwhy_text *out, const struct kwhy_live_device *device)
{
	const struct kwhy_live_metered *metered = device->lost ? NULL : device->metered;
	double degrees = gauge_of(device, KWHY_GAUGE_TEMPERATURE, 1e-3);

	kwhy_text_addf(out, "<tr><td>GPU %" PRId32, device->index);
	if (device->mig_index >= 0)
		kwhy_text_addf(out, ":%" PRId32, device->mig_index);
	kwhy_text_add(out, " ");
	add_clean(out, device->name ? device->name : "");
	kwhy_text_add(out, state_of(device));
	kwhy_text_add(out, "</td>");
	add_si(out, metered ? metered->mean_w : NAN, "W");
	add_si(out, gauge_of(device, KWHY_GAUGE_POWER_LIMIT, 1e-3), "W");
	add_si(out, device->metered ? device->metered->energy_j : NAN, "J");
	add_percent(out, gauge_of(device, KWHY_GAUGE_BUSY, 0.1));
	add_percent(out, gauge_of(device, KWHY_GAUGE_SM_ACTIVE, 0.1));
	add_si(out, gauge_of(device, KWHY_GAUGE_MEMORY_USED, 1), "B");
	add_si(out, gauge_of(device, KWHY_GAUGE_SM_CLOCK, 1), "Hz");
	if (isfinite(degrees))
		kwhy_text_addf(out, "<td>%.0f &deg;C</td></tr>\n", degrees);
	else
		kwhy_text_add(out, "<td>n/a</td></tr>\n");
}

static void add_other(struct kwhy_text *out, const struct kwhy_live_metered *metered)
{
	kwhy_text_add(out, "<tr><td>");
	add_clean(out, metered->name);
	kwhy_text_add(out, "</td>");
	add_si(out, metered->mean_w, "W");
	kwhy_text_add(out, "<td></td>");
	add_si(out, metered->energy_j, "J");
	kwhy_text_add(out, "</tr>\n");
}

void kwhy_page_write(const struct kwhy_live_snapshot *snapshot, const char *version, struct kwhy_text *out)
{
	char since[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(out, "%s<h1>kwhy %s</h1>\n<div><table><tr><th></th><th>power</th><th>limit</th>", head,
		version);
	kwhy_text_addf(out,
		"<th>energy in %s</th><th>busy</th><th>SM active</th><th>memory</th><th>clock</th><th></th>"
		"</tr>\n",
		kwhy_quantity_si(since, snapshot->since_start_s, "s", 3));
	for (size_t i = 0; i < snapshot->device_count; i++)
		add_device(out, &snapshot->devices[i]);
	for (size_t i = 0; i < snapshot->metered_count; i++)
		if (snapshot->metered[i].kind != KWHY_METERED_DEVICE)
			add_other(out, &snapshot->metered[i]);
	kwhy_text_add(out,
		"</table></div>\n<p>busy: a kernel ran, however small. Everything, for Prometheus: <a "
		"href=\"/metrics\">metrics</a>.</p>\n</body></html>\n");
}
