/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_WORKLOAD_H
#define LAB_WORKLOAD_H

#include "base/arena.h"
#include "bench/busy_gauge.h"
#include "bench/gpu_list.h"
#include "cli/bench/options.h"
#include "cli/command.h"
#include "fit/median.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/*
 * What a workload of the laboratory is: a command with options, the rows that it measures, how a row is run
 * and checked, and its figures as data. lab/run.c measures the rows of any workload, lab/show.c writes them.
 */
struct lab_workload;

enum { LAB_ROWS_MAX = 160, LAB_PHASES_MAX = 6, LAB_RUNS_KEPT = 64 };

/* A count that is not known; a real that is not known is NAN, a text NULL. */
#define LAB_UNKNOWN UINT64_MAX

/* --- Options that all workloads have --- */

/* The first member of each workload's options. */
struct lab_options {
	const struct lab_workload *workload;
	const char *backend;
	const char *device;   /* NULL: the first GPUs, as many as the rows want */
	const char *variants; /* NULL: all */
	bool runs_only;	      /* nothing but the runs of rows: no checks and busy shares */
	struct kwhy_bench_runs runs;
	struct kwhy_bench_output output;
};

#define LAB_OPTIONS_DEFAULT(of) \
	((struct lab_options){.workload = (of), .backend = "cuda", .runs = KWHY_BENCH_RUNS_DEFAULT})

/* Rows of an option table, whose struct `type` begins with a struct lab_options `shared`. */
#define LAB_OPTION_ROWS(type, variant_help, csv_help)                                                       \
	{"backend", 0, "NAME", "cuda, hip or host; default cuda", KWHY_OPTION_TEXT,                         \
		offsetof(type, shared.backend)},                                                            \
		{"device", 0, "LIST", "GPUs by number or PCI address, as 0,1; default the first",           \
			KWHY_OPTION_TEXT, offsetof(type, shared.device)},                                   \
		{"variant", 0, "LIST", variant_help, KWHY_OPTION_TEXT, offsetof(type, shared.variants)},    \
		KWHY_OPTION_ROWS_BENCH_RUNS(type, shared.runs),                                             \
		{"runs-only", 0, NULL, "nothing but the runs: no checks and busy shares", KWHY_OPTION_FLAG, \
			offsetof(type, shared.runs_only)},                                                  \
		KWHY_OPTION_ROWS_BENCH_OUTPUT(type, shared.output, csv_help), KWHY_OPTION_ROW_HELP,         \
		KWHY_OPTION_ROW_END

/* A row of it. kind: COUNT, NUMBER or TEXT. */
#define LAB_OPTION(name, argument, kind, member, help)                                        \
	{                                                                                     \
		name, 0, argument, help, KWHY_OPTION_##kind, offsetof(struct options, member) \
	}

/* Bounds of a count of the options. */
struct lab_bounds {
	const char *option;
	size_t offset; /* of the uint64_t in the options */
	uint64_t least, most;
};

/* KWHY_E_USAGE, naming the option and its bounds. */
KWHY_MUST_USE enum kwhy_status lab_bounds_check(
	const void *options, const struct lab_bounds *bounds, size_t count, struct kwhy_error *error);

/* Which of `names` an option's word is; KWHY_E_USAGE, naming all, where it is none. */
KWHY_MUST_USE enum kwhy_status lab_word_find(const char *option, const char *word, const char *const *names,
	size_t count, size_t *out, struct kwhy_error *error);

/* --- Figures as data --- */

enum lab_kind {
	LAB_TEXT,    /* const char * */
	LAB_TITLE,   /* the same, shortened to the room that a page has */
	LAB_COUNT,   /* uint64_t */
	LAB_BYTES,   /* uint64_t */
	LAB_SECONDS, /* double */
	LAB_RATE,    /* double */
	LAB_WATTS,   /* double */
	LAB_RATIO,   /* double, a share: on the page in percent */
	LAB_ERROR,   /* double: on the page as 1.2e-05 */
	LAB_NUMBER,  /* double */
	LAB_MEDIAN,  /* struct kwhy_median of seconds */
	LAB_JOULES   /* struct kwhy_joules */
};

struct lab_column {
	const char *title; /* on the page; NULL: in JSON alone */
	const char *key;   /* in JSON; NULL: on the page alone */
	enum lab_kind kind;
	size_t offset; /* in what it is of */
	enum { LAB_OF_FACTS, LAB_OF_ROW, LAB_OF_PHASE } of;
};

/* A column of a struct, of the workload's struct facts, and a table's columns. */
#define LAB_COLUMN(title, key, kind, type, member, of)                      \
	{                                                                   \
		title, key, LAB_##kind, offsetof(type, member), LAB_OF_##of \
	}
#define LAB_FACT(title, key, kind, member) LAB_COLUMN(title, key, kind, struct facts, member, FACTS)
#define LAB_COLUMNS(columns) columns, sizeof(columns) / sizeof((columns)[0])

/* Columns that stand together. On the page rows and columns of which no value is known are left out. */
struct lab_table {
	const char *heading; /* on the page; NULL: in JSON alone */
	const char *key;     /* the object in a row's JSON; NULL: the row itself */
	const struct lab_column *columns;
	size_t column_count;
};

/* --- Rows --- */

/* A series of runs of a row, with a window of energy. */
struct lab_phase {
	const char *name; /* "writing"; NULL: the only one */
	double items;	  /* of a run, see lab_workload.item */
	bool once;	  /* a single run, in the window; not warmed up and not repeated */
	/* What came of it: */
	const char *window; /* its name */
	uint64_t run_count, energy_runs;
	struct kwhy_median run_s;	  /* count 0: there are no figures */
	struct kwhy_window_joules energy; /* of all runs in the window */
	double items_per_s;
	struct kwhy_joules gross, net, host, items_per_j; /* of an item, of the runs of the window */
};

struct lab_row {
	const char *id;		    /* "v0" */
	const char *name;	    /* on the page; differs from those of all rows; NULL: becomes the id */
	const char *title;	    /* NULL: the id says it */
	const char *after, *change; /* the variant that it changes, and what it changes; NULL: the first */
	const char *missing;	    /* why there are no figures; NULL: there are */
	const char *wrong;	    /* what is not as in the reference; NULL: all is */
	uint32_t gpus;		    /* that it uses, the first ones; 0: it runs on the host */
	uint32_t steps;		    /* of a run of the first phase, whose times are kept; 0: none */
	bool device_clock;	    /* the steps' times are the device's, */
	const char *step_clock;	    /* "device", else "host" */
	const void *variant;	    /* the workload's own */
	void *facts;		    /* the workload's own, as its tables say; unknown until they are set */
	struct lab_phase phases[LAB_PHASES_MAX];
	size_t phase_count;
	/* Of the first phase: */
	double *step_times; /* [kept_runs][steps], seconds */
	size_t kept_runs;
	struct kwhy_median step_s;
	double step_p99_s;
	double busy_ratio; /* the device at work, of a run; NAN: unknown */
	double nvml_ratio; /* NVML's utilisation of the first GPU in the window; NAN: unknown */
};

/* A benchmark under way, and what came of it. */
struct lab_bench {
	const struct lab_workload *workload;
	const struct lab_options *options; /* the workload's own, with all behind the shared ones */
	enum kwhy_gpu_backend backend;
	struct kwhy_arena arena; /* of all that rows point to */
	struct lab_row *rows;	 /* [LAB_ROWS_MAX] */
	size_t row_count;
	void *context; /* the workload's own */
	struct kwhy_bench_gpus gpus;
	struct kwhy_gpu_facts gpu_facts[KWHY_DEVICE_ENERGY_GPUS_MAX];
	struct kwhy_device_energy *energy; /* NULL: not asked for */
	double energy_s;
	struct kwhy_busy_gauge gauge;
	const char *energy_missing, *nvml_missing; /* NULL: known */
	const char *ended; /* why before all were run; rows before are good. NULL: all were */
	void (*progress)(void *progress_context, const char *what); /* NULL: not wanted */
	void *progress_context;
};

/* A run, as the workload fills it in; all unknown and 0 before. */
struct lab_run {
	size_t number;	/* of the phase, from 0; SIZE_MAX: the warm one */
	double *step_s; /* [row->steps] to fill in; NULL: not wanted */
	double run_s;
	double busy_s; /* the device was at work, by its events; NAN: unknown */
	double items;  /* of this run; 0: as the phase says */
};

/*
 * The functions that fail with KWHY_E_UNSUPPORTED or KWHY_E_MEMORY for a row make it a row that says why;
 * KWHY_E_INPUT makes it one that is wrong. KWHY_E_LOST ends the benchmark with the rows before. NULL where
 * marked so: there is nothing to do.
 */
struct lab_workload {
	struct kwhy_command command; /* .run is lab_command_run() */
	const char *item;	     /* "token": what rates and joules of a phase are of */
	const struct lab_table *tables;
	size_t table_count;
	size_t facts_bytes, context_bytes,
		opened_bytes; /* of a row, the benchmark, and a row that is open: zeros at first */
	/* Checks the options and adds the rows, before a GPU is opened. */
	enum kwhy_status (*plan)(struct lab_bench *bench, struct kwhy_error *error);
	/* With GPUs open: the references. NULL. */
	enum kwhy_status (*begin)(struct lab_bench *bench, struct kwhy_error *error);
	void (*done)(
		struct lab_bench *bench); /* of what plan() and begin() made; also after a failure; NULL */
	/* A row, in this order; close() also after a failure, and where open() was not called. */
	enum kwhy_status (*open)(
		struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error);
	enum kwhy_status (*check)(struct lab_bench *bench, struct lab_row *row, void *opened,
		struct kwhy_error *error); /* NULL */
	/* Before the first run of a phase. NULL. */
	enum kwhy_status (*start)(void *opened, size_t phase, struct kwhy_error *error);
	enum kwhy_status (*run)(void *opened, size_t phase, struct lab_run *run, struct kwhy_error *error);
	/* Seconds of a run of the first phase that the device is at work, by a run of its own. NULL. */
	enum kwhy_status (*busy)(void *opened, double *out_s, struct kwhy_error *error);
	/* After all runs: the facts. NULL. */
	enum kwhy_status (*finish)(
		struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error);
	void (*close)(void *opened);
	const char *verdict; /* on the page where some row ran and none is wrong; NULL */
	/* "288 steps, 1 rank": of the page's first line. */
	void (*describe)(const struct lab_bench *bench, struct kwhy_text *out);
	void (*head)(const struct lab_bench *bench, struct kwhy_json *json); /* members of the document */
	void (*notes)(const struct lab_bench *bench,
		const struct kwhy_text_context *context);		   /* of the page; NULL */
	void (*csv)(const struct lab_bench *bench, struct kwhy_text *out); /* NULL: all steps' times */
};

extern const struct lab_workload lab_twin, lab_flow, lab_train, lab_decode;

/* --- For workloads --- */

/*
 * Adds a row with one phase of `items` a run, and everything unknown; the core then leaves out those that
 * --variant does not name. KWHY_E_USAGE where there is no space for it. `like`: id, name, title, after,
 * change, gpus, steps, device_clock and variant are taken from it.
 */
KWHY_MUST_USE enum kwhy_status lab_row_add(struct lab_bench *bench, const struct lab_row *like, double items,
	struct lab_row **out, struct kwhy_error *error);

/* What the structs of all tables of variants have. */
#define LAB_ROW_OF(of) \
	.id = (of)->id, .title = (of)->title, .after = (of)->after, .change = (of)->change, .variant = (of)

/* One more phase of a row; LAB_PHASES_MAX at most. */
struct lab_phase *lab_phase_add(struct lab_row *row, const char *name, double items);

/* How many GPUs --device names; 1 where it is not given. */
uint32_t lab_gpus_named(const struct lab_bench *bench);

static inline double lab_phase_item_s(const struct lab_phase *phase)
{
	return phase->run_s.median / phase->items;
}

/* Whether a row has figures. */
static inline bool lab_row_has_run(const struct lab_row *row)
{
	return row->phases[0].run_s.count > 0;
}

/* --- For the command, and tests --- */

/* Runs all rows. `options` begin with a struct lab_options, and live as long as the bench. End with
 * lab_bench_free(). */
KWHY_MUST_USE enum kwhy_status lab_bench_run(const struct lab_options *options,
	void (*progress)(void *context, const char *what), void *context, struct lab_bench **out,
	struct kwhy_error *error);
void lab_bench_free(struct lab_bench *bench); /* NULL is allowed */

/* Some row ran, and none is wrong. */
bool lab_bench_is_right(const struct lab_bench *bench);

void lab_show_text(const struct lab_bench *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void lab_show_json(const struct lab_bench *bench, struct kwhy_text *out);
void lab_show_csv(const struct lab_bench *bench, struct kwhy_text *out);

/* The command of any workload. */
enum kwhy_status lab_command_run(const struct kwhy_invocation *invocation, struct kwhy_error *error);

#endif
