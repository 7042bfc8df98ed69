/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/fields.h"
#include "import/rocprof/rocpd.h"

static const struct kwhy_sqlite_column node_columns[] = {{"hostname", NULL}};

/* Keeps the name of the process's host until the process is added. */
static enum kwhy_status read_node(
	struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_span name = kwhy_rocpd_text(rows, 0);

	(void)error;
	if (name.length > 0)
		rocpd->host = kwhy_tracks_text(&rocpd->rocprof.tracks, name.bytes, name.length);
	return KWHY_OK;
}

enum { PROCESS_PID, PROCESS_ENVIRONMENT, PROCESS_COLUMN_COUNT };

static const struct kwhy_sqlite_column process_columns[PROCESS_COLUMN_COUNT] = {
	[PROCESS_PID] = {"pid", NULL},
	[PROCESS_ENVIRONMENT] = {"environment", NULL},
};

static enum kwhy_status read_info(
	struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_rocprof_ranks ranks;
	enum kwhy_status status = kwhy_rocprof_process(
		&rocpd->rocprof, kwhy_rocpd_integer(rows, PROCESS_PID), rocpd->host, error);

	if (!status)
		status = kwhy_rocprof_ranks_read(kwhy_rocpd_text(rows, PROCESS_ENVIRONMENT), &ranks, error);
	if (status)
		return status;
	rocpd->has_process = true;
	kwhy_rocprof_set_ranks(&rocpd->rocprof, ranks);
	return KWHY_OK;
}

enum agent_column {
	AGENT_ID,
	AGENT_TYPE,
	AGENT_NUMBER,
	AGENT_PRODUCT,
	AGENT_MODEL,
	AGENT_NAME,
	AGENT_EXTRA,
	AGENT_COLUMN_COUNT
};

static const struct kwhy_sqlite_column agent_columns[AGENT_COLUMN_COUNT] = {
	[AGENT_ID] = {"id", NULL},
	[AGENT_TYPE] = {"type", NULL},
	[AGENT_NUMBER] = {"type_index", NULL},
	[AGENT_PRODUCT] = {"product_name", NULL},
	[AGENT_MODEL] = {"model_name", NULL},
	[AGENT_NAME] = {"name", NULL},
	[AGENT_EXTRA] = {"extdata", NULL},
};

static enum kwhy_status read_agent(
	struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_rocprof_value values[KWHY_ROCPROF_AGENT_FIELDS];
	struct kwhy_rocprof_figures figures;
	enum kwhy_status status = kwhy_rocprof_fields_read(kwhy_rocpd_text(rows, AGENT_EXTRA),
		kwhy_rocprof_agent_fields, KWHY_ROCPROF_AGENT_FIELDS, values, error);

	if (status)
		return status;
	figures = kwhy_rocprof_figures_of(values);
	figures.id = kwhy_rocpd_integer(rows, AGENT_ID);
	figures.number = kwhy_rocpd_integer(rows, AGENT_NUMBER);
	figures.is_gpu = kwhy_span_is(kwhy_rocpd_text(rows, AGENT_TYPE), "GPU");
	figures.product = kwhy_rocpd_text(rows, AGENT_PRODUCT);
	figures.model = kwhy_rocpd_text(rows, AGENT_MODEL);
	figures.name = kwhy_rocpd_text(rows, AGENT_NAME);
	return kwhy_rocprof_agent_add(&rocpd->rocprof, &figures, error);
}

enum kwhy_status kwhy_rocpd_process_read(struct kwhy_rocpd *rocpd, struct kwhy_error *error)
{
	static const struct kwhy_rocpd_reader readers[] = {
		{"rocpd_info_node", node_columns, 1, read_node, false},
		{"rocpd_info_process", process_columns, PROCESS_COLUMN_COUNT, read_info, false},
		{"rocpd_info_agent", agent_columns, AGENT_COLUMN_COUNT, read_agent, false},
	};
	enum kwhy_status status = KWHY_OK;

	rocpd->host = NULL;
	rocpd->has_process = false;
	for (size_t i = 0; !status && i < sizeof(readers) / sizeof(readers[0]); i++) {
		status = kwhy_rocpd_each(rocpd, &readers[i], error);
		if (!status && i == 1 && !rocpd->has_process)
			status = kwhy_rocprof_process(
				&rocpd->rocprof, KWHY_ROCPROF_UNKNOWN, rocpd->host, error);
	}
	return status;
}
