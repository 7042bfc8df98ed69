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
 * A workload of kwhy-lab: a subcommand with its options, the rows that it measures (variants with their
 * parameters), functions that open, check and run a row, and the list of its figures. lab/run.c measures the
 * rows of any workload; lab/show.c writes them.
 */
struct lab_workload;

enum { LAB_ROWS_MAX = 160, LAB_PHASES_MAX = 6, LAB_RUNS_KEPT = 64 };

/* Value of an unknown count. An unknown real number is NAN, an unknown text NULL. */
#define LAB_UNKNOWN UINT64_MAX

/* --- Options that all workloads have --- */

/* Options that all workloads have. They are the first member of a workload's options. */
struct lab_options {
	const struct lab_workload *workload;
	const char *backend;
	const char *device;   /* GPUs to use; NULL: the first ones, as many as the rows need */
	const char *variants; /* variants to run; NULL: all */
	/* true: rows are only run; nothing is compared with a reference, and no busy shares are measured */
	bool runs_only;
	struct kwhy_bench_runs runs;
	struct kwhy_bench_output output;
};

#define LAB_OPTIONS_DEFAULT(of) \
	((struct lab_options){.workload = (of), .backend = "cuda", .runs = KWHY_BENCH_RUNS_DEFAULT})

/*
 * Rows of an option table for the options that all workloads have. `type`: the workload's options struct,
 * which begins with a member `shared` of type struct lab_options.
 */
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

/* Row of an option table for a member of the workload's struct options. kind: COUNT, NUMBER or TEXT. */
#define LAB_OPTION(name, argument, kind, member, help)                                        \
	{                                                                                     \
		name, 0, argument, help, KWHY_OPTION_##kind, offsetof(struct options, member) \
	}

/* Least and largest value of an option that is a count. */
struct lab_bounds {
	const char *option;
	size_t offset; /* position of its uint64_t in the options struct, bytes */
	uint64_t least, most;
};

/*
 * Checks counts against their bounds. KWHY_E_USAGE: one is out of bounds; the error names the option and the
 * bounds.
 */
KWHY_MUST_USE enum kwhy_status lab_bounds_check(
	const void *options, const struct lab_bounds *bounds, size_t count, struct kwhy_error *error);

/*
 * Finds the index of an option's word in `names`. KWHY_E_USAGE: it is none of them; the error lists all.
 */
KWHY_MUST_USE enum kwhy_status lab_word_find(const char *option, const char *word, const char *const *names,
	size_t count, size_t *out, struct kwhy_error *error);

/* --- Columns of results --- */

enum lab_kind {
	LAB_TEXT,    /* const char * */
	LAB_TITLE,   /* const char *, which is shortened to the space on the page */
	LAB_COUNT,   /* uint64_t */
	LAB_BYTES,   /* uint64_t */
	LAB_SECONDS, /* double */
	LAB_RATE,    /* double */
	LAB_WATTS,   /* double */
	LAB_RATIO,   /* double, which the page shows in percent */
	LAB_ERROR,   /* double, which the page shows as 1.2e-05 */
	LAB_NUMBER,  /* double */
	LAB_MEDIAN,  /* struct kwhy_median of seconds */
	LAB_JOULES   /* struct kwhy_joules */
};

struct lab_column {
	const char *title; /* heading on the page; NULL: the column is in JSON only */
	const char *key;   /* key in JSON; NULL: the column is on the page only */
	enum lab_kind kind;
	size_t offset; /* position in the struct that `of` names, bytes */
	enum { LAB_OF_FACTS, LAB_OF_ROW, LAB_OF_PHASE } of;
};

/*
 * Initialisers. LAB_COLUMN: a column whose value is a member of the struct `type`, which is that of `of`
 * (ROW, PHASE or FACTS). LAB_FACT: one whose value is a member of the workload's struct facts. LAB_COLUMNS:
 * the two members of a struct lab_table for an array of columns.
 */
#define LAB_COLUMN(title, key, kind, type, member, of)                      \
	{                                                                   \
		title, key, LAB_##kind, offsetof(type, member), LAB_OF_##of \
	}
#define LAB_FACT(title, key, kind, member) LAB_COLUMN(title, key, kind, struct facts, member, FACTS)
#define LAB_COLUMNS(columns) columns, sizeof(columns) / sizeof((columns)[0])

/* Columns that are shown together. The text page leaves out rows and columns in which no value is known. */
struct lab_table {
	const char *heading; /* heading on the page; NULL: the table is in JSON only */
	/* key of an object in the JSON of a row; NULL: the columns are members of the row itself */
	const char *key;
	const struct lab_column *columns;
	size_t column_count;
};

/* --- Rows --- */

/*
 * Equal runs of a row, such as those that write tokens. Each run is timed, and the energy of several is
 * measured in one window.
 */
struct lab_phase {
	const char *name; /* "writing"; NULL: the row has only this phase */
	double items;	  /* number of items in a run; see lab_workload.item */
	/* true: one run is made, in the energy window, without warm-up and repetitions */
	bool once;
	/* Results: */
	const char *window; /* name of the energy window */
	uint64_t run_count, energy_runs;
	struct kwhy_median run_s;	  /* time of a run; count 0: there are no results */
	struct kwhy_window_joules energy; /* energy of all runs in the window together */
	double items_per_s;
	/*
	 * over the runs of the window. gross, net: the GPUs' energy per item; host: the host's energy per
	 * item, J; items_per_j: items per joule of the GPUs
	 */
	struct kwhy_joules gross, net, host, items_per_j;
};

struct lab_row {
	const char *id; /* short name of the variant: "v0" */
	/* name on the page, different from all other rows'; NULL: the id is used */
	const char *name;
	const char *title; /* NULL: the id needs no explanation */
	/*
	 * after: id of the variant that was changed to get this one; NULL: this is the first variant. change:
	 * what was changed
	 */
	const char *after, *change;
	const char *missing; /* why there are no results; NULL: there are results */
	const char *wrong;   /* what differs from the reference; NULL: nothing does */
	/* number of GPUs that the row uses, from the first on; 0: the row runs on the host */
	uint32_t gpus;
	/*
	 * number of steps in a run of the first phase, if the time of each step is kept; 0: no times are kept
	 */
	uint32_t steps;
	bool device_clock;	/* true: the device's clock measures the steps; false: the host's */
	const char *step_clock; /* "device" or "host", from device_clock */
	const void *variant;	/* the workload's own description of the variant */
	/*
	 * the workload's struct facts, whose members its tables name; all are unknown until the workload sets
	 * them
	 */
	void *facts;
	struct lab_phase phases[LAB_PHASES_MAX];
	size_t phase_count;
	/* Results of the first phase: */
	/* [kept_runs][steps] time of each step of the first LAB_RUNS_KEPT timed runs, s */
	double *step_times;
	size_t kept_runs;
	struct kwhy_median step_s;
	double step_p99_s;
	double busy_ratio; /* share of a run in which the device works; NAN: unknown */
	/* mean of NVML's utilisation of the first GPU in the energy window; NAN: unknown */
	double nvml_ratio;
};

/* A benchmark with its results. */
struct lab_bench {
	const struct lab_workload *workload;
	const struct lab_options *options; /* first member of the workload's options */
	enum kwhy_gpu_backend backend;
	struct kwhy_arena arena; /* memory of all that rows point to */
	struct lab_row *rows;	 /* [LAB_ROWS_MAX] rows of the benchmark */
	size_t row_count;
	void *context; /* belongs to the workload */
	struct kwhy_bench_gpus gpus;
	struct kwhy_gpu_facts gpu_facts[KWHY_DEVICE_ENERGY_GPUS_MAX];
	struct kwhy_device_energy *energy; /* NULL: no energy is measured */
	double energy_s;
	struct kwhy_busy_gauge gauge;
	/*
	 * energy_missing: why the energy is unknown; nvml_missing: why NVML's utilisation is unknown; NULL:
	 * known
	 */
	const char *energy_missing, *nvml_missing;
	/* why the benchmark ended before all rows were run; rows before stay valid. NULL: all were run */
	const char *ended;
	/*
	 * called before the idle level is measured ("idle") and before each row (its name); NULL: not wanted
	 */
	void (*progress)(void *progress_context, const char *what);
	void *progress_context;
};

/*
 * A run. The caller sets `number` and `step_s`; the workload fills in the rest, which is unknown or 0 before.
 */
struct lab_run {
	size_t number;	/* number of the run in its phase, from 0; SIZE_MAX: the warm-up run */
	double *step_s; /* [row->steps] time of each step, to be filled in; NULL: not wanted */
	double run_s;
	double busy_s; /* time that the device worked in the run, by events on the device, s; NAN: unknown */
	double items;  /* number of items in this run; 0: as in the phase */
};

/*
 * The functions and texts of a workload. A function for a row may fail with KWHY_E_UNSUPPORTED or
 * KWHY_E_MEMORY: the row has no results and shows the reason; with KWHY_E_INPUT: the row is marked as wrong;
 * with KWHY_E_LOST: the benchmark ends, and earlier rows stay. Other failures end it without results.
 */
struct lab_workload {
	struct kwhy_command command; /* its `run` is lab_command_run() */
	const char *item;	     /* noun for what lab_phase.items counts: "token" */
	const struct lab_table *tables;
	size_t table_count;
	/*
	 * sizes: facts_bytes of a row's facts; context_bytes of bench->context; opened_bytes of the struct
	 * to which open() to close() get the pointer `opened`. The caller allocates their memory, set to
	 * 0.
	 */
	size_t facts_bytes, context_bytes, opened_bytes;
	/* Checks the options and adds the rows with lab_row_add(). No GPU is open yet. */
	enum kwhy_status (*plan)(struct lab_bench *bench, struct kwhy_error *error);
	/* Prepares what all rows need, such as references, after GPUs were opened. May be NULL. */
	enum kwhy_status (*begin)(struct lab_bench *bench, struct kwhy_error *error);
	void (*done)(
		/* frees what plan() and begin() made, also after a failure; may be NULL */
		struct lab_bench *bench);
	/*
	 * Functions for a row, called in the order in which they are declared. close() is called also after a
	 * failure, and even if open() was not called: `opened` is all 0 then.
	 */
	enum kwhy_status (*open)(
		struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error);
	enum kwhy_status (*check)(struct lab_bench *bench, struct lab_row *row, void *opened,
		struct kwhy_error *error); /* may be NULL */
	/* Called before the first run of a phase. May be NULL. */
	enum kwhy_status (*start)(void *opened, size_t phase, struct kwhy_error *error);
	enum kwhy_status (*run)(void *opened, size_t phase, struct lab_run *run, struct kwhy_error *error);
	/*
	 * Makes one more run of the first phase and measures the time that the device works in it, s. May be
	 * NULL.
	 */
	enum kwhy_status (*busy)(void *opened, double *out_s, struct kwhy_error *error);
	/* Sets the row's facts after all runs. May be NULL. */
	enum kwhy_status (*finish)(
		struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error);
	void (*close)(void *opened);
	/* sentence that the page shows if at least one row ran and none is wrong; may be NULL */
	const char *verdict;
	/* Writes a description for the first line of the page: "288 steps, 1 rank". */
	void (*describe)(const struct lab_bench *bench, struct kwhy_text *out);
	/* writes members of the JSON document */
	void (*head)(const struct lab_bench *bench, struct kwhy_json *json);
	/* writes the notes of the page; may be NULL */
	void (*notes)(const struct lab_bench *bench, const struct kwhy_text_context *context);
	/* writes the CSV; NULL: it has the times of all steps */
	void (*csv)(const struct lab_bench *bench, struct kwhy_text *out);
};

extern const struct lab_workload lab_twin, lab_flow, lab_train, lab_decode;

/* --- For workloads --- */

/*
 * Adds a row with one phase of `items` items per run and with unknown results; rows that --variant does not
 * name are removed after plan(). `like`: has the row's id, name, title, after, change, gpus, steps,
 * device_clock and variant; its other members are not used. KWHY_E_USAGE: there are LAB_ROWS_MAX rows
 * already.
 */
KWHY_MUST_USE enum kwhy_status lab_row_add(struct lab_bench *bench, const struct lab_row *like, double items,
	struct lab_row **out, struct kwhy_error *error);

/*
 * Initialisers of a struct lab_row from a variant's struct, which names these members alike in all workloads.
 */
#define LAB_ROW_OF(of) \
	.id = (of)->id, .title = (of)->title, .after = (of)->after, .change = (of)->change, .variant = (of)

/* Adds a phase to a row, which can have up to LAB_PHASES_MAX. */
struct lab_phase *lab_phase_add(struct lab_row *row, const char *name, double items);

/* Number of GPUs that --device names; 1 if it is not given. */
uint32_t lab_gpus_named(const struct lab_bench *bench);

static inline double lab_phase_item_s(const struct lab_phase *phase)
{
	return phase->run_s.median / phase->items;
}

/* Whether a row has results. */
static inline bool lab_row_has_run(const struct lab_row *row)
{
	return row->phases[0].run_s.count > 0;
}

/* --- For the command, and tests --- */

/*
 * Plans and runs all rows. `options`: the `shared` member of the workload's options; they must live as long
 * as the bench. `progress`: see struct lab_bench. End with lab_bench_free().
 */
KWHY_MUST_USE enum kwhy_status lab_bench_run(const struct lab_options *options,
	void (*progress)(void *context, const char *what), void *context, struct lab_bench **out,
	struct kwhy_error *error);
void lab_bench_free(struct lab_bench *bench); /* NULL is allowed */

/* Whether at least one row has results and none differs from its reference. */
bool lab_bench_is_right(const struct lab_bench *bench);

void lab_show_text(const struct lab_bench *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void lab_show_json(const struct lab_bench *bench, struct kwhy_text *out);
void lab_show_csv(const struct lab_bench *bench, struct kwhy_text *out);

/* Runs the command of any workload. */
enum kwhy_status lab_command_run(const struct kwhy_invocation *invocation, struct kwhy_error *error);

#endif
