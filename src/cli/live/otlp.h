/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_OTLP_H
#define KWHY_CLI_LIVE_OTLP_H

#include "base/text.h"
#include "live/snapshot.h"
#include "owners/keeper.h"

#include <stdbool.h>

/*
 * Sends figures to an OpenTelemetry collector: OTLP over HTTP, in the JSON encoding, by libcurl, which is
 * loaded at run time. Requests do not block; whoever uses this struct calls kwhy_otlp_tick() often to
 * continue them. Energies and other sums are cumulative, so a request that fails loses no energy: the next
 * one includes it.
 */
struct kwhy_otlp;

/*
 * `url`: URL of the collector, as in "http://host:4318"; /v1/metrics is added unless the URL ends with it.
 * Further headers come from OTEL_EXPORTER_OTLP_HEADERS ("name=value,name=value"), the time between requests
 * in ms from OTEL_METRIC_EXPORT_INTERVAL (default 60000, as OpenTelemetry specifies). KWHY_E_USAGE: the URL
 * is not one of http or https, or a variable has a wrong value. KWHY_E_UNSUPPORTED: libcurl is missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_otlp_open(
	const char *url, struct kwhy_otlp **out, struct kwhy_error *error);
/* Waits at most 3 s for the request in flight, then frees everything; `otlp` may be NULL. */
void kwhy_otlp_close(struct kwhy_otlp *otlp);

/*
 * Figures that one request sends. started_unix_ns: Unix time from which sums count; now_unix_ns: Unix time of
 * the request.
 */
struct kwhy_otlp_figures {
	const struct kwhy_live_snapshot *snapshot;
	const struct kwhy_keeper_state *owners; /* NULL: no accounts are kept */
	int64_t started_unix_ns, now_unix_ns;
	const char *host, *version;
};

/* Writes the body of a request (ExportMetricsServiceRequest) as JSON, from the figures alone. */
void kwhy_otlp_write(const struct kwhy_otlp_figures *figures, struct kwhy_text *out);

/* Whether a request is due and none is in flight. */
bool kwhy_otlp_is_due(const struct kwhy_otlp *otlp, int64_t now_mono_ns);
/*
 * Starts a request with the figures, and sets the time of the next one. kwhy_otlp_tick() continues the
 * request and reports a failure.
 */
void kwhy_otlp_send(struct kwhy_otlp *otlp, const struct kwhy_otlp_figures *figures, int64_t now_mono_ns);

/*
 * Continues the request in flight, if there is one. *out_message receives a message for the user when
 * requests begin to fail and when they succeed again, else NULL. Returns the time in ms until this function
 * should be called again or the next request is due.
 */
int kwhy_otlp_tick(struct kwhy_otlp *otlp, int64_t now_mono_ns, const char **out_message);

#endif
