/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_OTLP_H
#define KWHY_CLI_LIVE_OTLP_H

#include "base/text.h"
#include "live/snapshot.h"
#include "owners/keeper.h"

#include <stdbool.h>

/*
 * Sends the figures to a collector of OpenTelemetry: OTLP over HTTP, in the JSON encoding, by libcurl, which
 * is opened at run time. Requests do not block: its owner calls kwhy_otlp_tick() often. Sums are cumulative,
 * so that a request that fails loses nothing.
 */
struct kwhy_otlp;

/*
 * `url`: of the collector, as in "http://host:4318"; /v1/metrics is added unless the path ends so. Headers
 * come from OTEL_EXPORTER_OTLP_HEADERS ("name=value,name=value"), and
 * the time between requests in ms from OTEL_METRIC_EXPORT_INTERVAL (default 60000, as OpenTelemetry says).
 * KWHY_E_USAGE: it is no URL of http or https, or a variable is wrong. KWHY_E_UNSUPPORTED: libcurl is
 * missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_otlp_open(
	const char *url, struct kwhy_otlp **out, struct kwhy_error *error);
/* Waits for the request in flight, some seconds at most; NULL does nothing. */
void kwhy_otlp_close(struct kwhy_otlp *otlp);

/* The figures that one request sends. Times are Unix times. */
struct kwhy_otlp_figures {
	const struct kwhy_live_snapshot *snapshot;
	const struct kwhy_keeper_state *owners; /* NULL: nobody keeps accounts */
	int64_t started_unix_ns, now_unix_ns;
	const char *host, *version;
};

/* Writes the body of a request (ExportMetricsServiceRequest). Pure. */
void kwhy_otlp_write(const struct kwhy_otlp_figures *figures, struct kwhy_text *out);

/* Whether it is time to send, and no request is in flight. */
bool kwhy_otlp_is_due(const struct kwhy_otlp *otlp, int64_t now_mono_ns);
/* Begins to send the figures. A failure is kept for kwhy_otlp_tick(). */
void kwhy_otlp_send(struct kwhy_otlp *otlp, const struct kwhy_otlp_figures *figures, int64_t now_mono_ns);

/*
 * Continues the request in flight. Writes to *out_message what the user must be told: the first failure of
 * a series, or that the series is over; NULL: nothing. Returns the milliseconds after which it should be
 * called again.
 */
int kwhy_otlp_tick(struct kwhy_otlp *otlp, int64_t now_mono_ns, const char **out_message);

#endif
