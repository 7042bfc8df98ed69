/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_JSON_PARTS_H
#define KWHY_REPORT_JSON_PARTS_H

#include "report/cost_ranking.h"
#include "report/json/writer.h"
#include "report/opened.h"
#include "report/operations.h"
#include "report/report.h"
#include "report/totals.h"

/*
 * State while report.json is written (docs/formats/report.md). Each function below writes one or more members
 * of its top-level object.
 */
struct kwhy_json_report {
	const struct kwhy_report *report;
	const struct kwhy_opened *opened; /* which devices are written in full; NULL: all are */
	const struct kwhy_totals *totals;
	const struct kwhy_operations *operations; /* [device_count] operations on memory */
	const struct kwhy_cost_ranking *rankings; /* [device_count] cost rankings */
	struct kwhy_json json;
};

/* Whether the device is written in full. */
static inline bool kwhy_json_is_opened(const struct kwhy_json_report *parts, uint32_t device)
{
	return !parts->opened || parts->opened->devices[device];
}

void kwhy_json_source(struct kwhy_json_report *parts);
void kwhy_json_window(struct kwhy_json_report *parts);
void kwhy_json_devices(struct kwhy_json_report *parts);
void kwhy_json_api(struct kwhy_json_report *parts);
void kwhy_json_findings(struct kwhy_json_report *parts);
void kwhy_json_run(struct kwhy_json_report *parts);
void kwhy_json_work(struct kwhy_json_report *parts);
void kwhy_json_roofline(struct kwhy_json_report *parts);
void kwhy_json_utilisation(struct kwhy_json_report *parts);
void kwhy_json_ranges(struct kwhy_json_report *parts); /* writes ranges and steps */
void kwhy_json_ranks(struct kwhy_json_report *parts);
void kwhy_json_processes(struct kwhy_json_report *parts);
void kwhy_json_streams(struct kwhy_json_report *parts);
void kwhy_json_memory(struct kwhy_json_report *parts);
void kwhy_json_hosts(struct kwhy_json_report *parts);
void kwhy_json_overhead(struct kwhy_json_report *parts);
void kwhy_json_probing(struct kwhy_json_report *parts); /* writes nothing if kwhy probe was not used */
/*
 * writes "memory_operations", and "transfer_split": time and energy of the copies, of the waits for copies,
 * and of the other idle time after copies
 */
void kwhy_json_operations(struct kwhy_json_report *parts);
void kwhy_json_cost_rankings(struct kwhy_json_report *parts);
void kwhy_json_categories(struct kwhy_json_report *parts);
void kwhy_json_price(struct kwhy_json_report *parts); /* writes price and carbon emissions */
void kwhy_json_plan(struct kwhy_json_report *parts);
void kwhy_json_lost(struct kwhy_json_report *parts); /* writes lost records and warnings */

/*
 * Writes the utilisations of a device (busy, SM-weighted, roofline) and its numbers of streams and concurrent
 * kernels as an object on one line. With a NULL key, as an element of an array, it also has the member
 * "device".
 */
void kwhy_json_utilisation_row(
	struct kwhy_json *json, const char *key, const struct kwhy_device_time *time, uint32_t device);

#endif
