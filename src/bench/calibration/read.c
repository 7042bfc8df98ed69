/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/csv.h"

#include "base/decimal.h"
#include "base/file.h"
#include "bench/calibration/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 256 << 20, CELLS_MAX = 9, PATH_BYTES = 4096 };
#define NUMBER_MAX                                                                                        \
	INT64_C(4000000000000000000) /* in ns; as a Unix time it lies in 2096, and differences of smaller \
					times fit into 64 bits */

/* State of reading one table of a calibration. */
struct table {
	char path[PATH_BYTES];
	struct kwhy_calibration *calibration;
	size_t line, cell_count;
	char *cells[CELLS_MAX];
	struct kwhy_error *error;
};

typedef enum kwhy_status take_row(struct table *table);

static enum kwhy_status wrong(const struct table *table, const char *words)
{
	return kwhy_fail(table->error, KWHY_E_INPUT, "%s, line %zu: %s; name a folder that --save wrote",
		table->path, table->line, words);
}

static bool integer(const char *text, int64_t *out)
{
	return kwhy_decimal_within((struct kwhy_span){text, strlen(text)}, -NUMBER_MAX, NUMBER_MAX, out);
}

static bool time_of(const char *text, int64_t *out)
{
	return kwhy_decimal_within((struct kwhy_span){text, strlen(text)}, 0, NUMBER_MAX, out);
}

/* Appends a reading to a series. The array of readings is allocated in calibration->arena. */
static enum kwhy_status append(struct kwhy_meter_series *series, struct kwhy_reading reading,
	struct kwhy_calibration *calibration, struct kwhy_error *error)
{
	struct kwhy_reading *items;

	/*
	 * The capacity is a power of two and doubles when it is reached, so it is reached whenever the length
	 * is 0 or a power of two.
	 */
	if ((series->count & (series->count - 1)) == 0) {
		size_t space = series->count ? 2 * series->count : 1;

		items = kwhy_arena_alloc(&calibration->arena, space, sizeof(*items));
		if (!items)
			return kwhy_fail_memory(error, "the readings of a self-test");
		if (series->count)
			memcpy(items, series->items, series->count * sizeof(*items));
		series->items = items;
	}
	items = (struct kwhy_reading *)(size_t)series->items;
	items[series->count++] = reading;
	return KWHY_OK;
}

static enum kwhy_status take_power(struct table *table)
{
	struct kwhy_reading reading;
	enum kwhy_meter meter;
	uint32_t domain;

	if (table->cell_count != 4 || !time_of(table->cells[0], &reading.time_mono_ns) ||
		!integer(table->cells[3], &reading.value) ||
		!kwhy_meter_find(table->cells[2], strlen(table->cells[2]), &meter, &domain))
		return wrong(table, "not time_ns,device,source,value");
	return append(&table->calibration->meters[meter], reading, table->calibration, table->error);
}

static enum kwhy_status take_gauge(struct table *table)
{
	struct kwhy_reading reading;

	if (table->cell_count != 3 || !time_of(table->cells[0], &reading.time_mono_ns) ||
		!integer(table->cells[2], &reading.value))
		return wrong(table, "not time_ns,gauge,value");
	for (int gauge = 0; gauge < KWHY_GAUGE_COUNT; gauge++)
		if (strcmp(table->cells[1], kwhy_gauge_name((enum kwhy_gauge)gauge)) == 0)
			return append(&table->calibration->gauges[gauge], reading, table->calibration,
				table->error);
	return wrong(table, "no gauge of that name");
}

static bool find_kind(const char *name, enum kwhy_phase_kind *out)
{
	for (int kind = KWHY_PHASE_CLEAN_IDLE; kind <= KWHY_PHASE_LOAD; kind++)
		if (strcmp(name, kwhy_phase_kind_name((enum kwhy_phase_kind)kind)) == 0) {
			*out = (enum kwhy_phase_kind)kind;
			return true;
		}
	return false;
}

static bool find_burn(const char *name, enum kwhy_burn *out)
{
	for (int burn = 0; burn < KWHY_BURN_COUNT; burn++)
		if (strcmp(name, kwhy_burn_name((enum kwhy_burn)burn)) == 0) {
			*out = (enum kwhy_burn)burn;
			return true;
		}
	return false;
}

/* Parses the cells kind,name,burn,on_ns,off_ns,start_ns,end_ns,first_pulse,pulses of a phase. */
static bool parse_phase(const struct table *table, struct kwhy_phase *out, int64_t out_pulses[2])
{
	int64_t *const numbers[] = {&out->load.on_ns, &out->load.off_ns, &out->start_ns, &out->end_ns,
		&out_pulses[0], &out_pulses[1]};
	bool good = table->cell_count == 9 && find_kind(table->cells[0], &out->kind);

	for (size_t i = 0; good && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		good = time_of(table->cells[3 + i], numbers[i]);
	return good && (out->kind != KWHY_PHASE_LOAD || find_burn(table->cells[2], &out->load.burn));
}

static enum kwhy_status take_phase(struct table *table)
{
	struct kwhy_calibration *calibration = table->calibration;
	struct kwhy_phase *phase = &calibration->phases[calibration->phase_count];
	int64_t pulses[2];

	if (calibration->phase_count == KWHY_PHASES_MAX)
		return wrong(table, "more phases than any self-test has");
	if (!parse_phase(table, phase, pulses))
		return wrong(table, "not a phase of a self-test");
	if (pulses[1] < (phase->kind == KWHY_PHASE_LOAD) ||
		(uint64_t)pulses[0] + (uint64_t)pulses[1] > calibration->pulse_count)
		return wrong(table, "pulses that are not in pulses.csv");
	phase->load.name = kwhy_arena_copy(&calibration->arena, table->cells[1]);
	phase->first_pulse = (size_t)pulses[0];
	phase->pulse_count = phase->load.pulses = (uint32_t)pulses[1];
	calibration->phase_count++;
	return phase->load.name ? KWHY_OK : kwhy_fail_memory(table->error, "a phase");
}

static enum kwhy_status take_pulse(struct table *table)
{
	struct kwhy_calibration *calibration = table->calibration;
	struct kwhy_pulse pulse;

	if (!calibration->pulses)
		calibration->pulses = kwhy_arena_alloc(&calibration->arena,
			KWHY_PHASES_MAX * KWHY_LOAD_PULSES_MAX, sizeof(*calibration->pulses));
	if (!calibration->pulses)
		return kwhy_fail_memory(table->error, "the times of the loads");
	if (calibration->pulse_count == KWHY_PHASES_MAX * KWHY_LOAD_PULSES_MAX)
		return wrong(table, "more pulses than any self-test has");
	if (table->cell_count != 2 || !time_of(table->cells[0], &pulse.start_ns) ||
		!time_of(table->cells[1], &pulse.end_ns) || pulse.end_ns < pulse.start_ns)
		return wrong(table, "not start_ns,end_ns");
	calibration->pulses[calibration->pulse_count++] = pulse;
	return KWHY_OK;
}

static enum kwhy_status set_fact(const struct table *table, const struct kwhy_calibration_fact *fact)
{
	const char *text = table->cells[1];
	struct kwhy_measured *measured = fact->place;
	int64_t number = 0;

	switch (fact->kind) {
	case KWHY_FACT_TEXT:
		snprintf(fact->place, fact->text_bytes, "%s", text);
		return KWHY_OK;
	case KWHY_FACT_COUNT:
		if (!integer(text, &number) || number < 0 || number > UINT32_MAX)
			return wrong(table, "not a count");
		*(uint32_t *)fact->place = (uint32_t)number;
		return KWHY_OK;
	case KWHY_FACT_INTEGER:
		return integer(text, fact->place) ? KWHY_OK : wrong(table, "not a whole number");
	case KWHY_FACT_MEASURED:
		measured->value = strtod(text, NULL);
		measured->sd = strtod(table->cells[2], NULL);
		return KWHY_OK;
	}
	return KWHY_OK;
}

static enum kwhy_status take_fact(struct table *table)
{
	struct kwhy_calibration_fact facts[KWHY_CALIBRATION_FACTS_MAX];
	struct kwhy_calibration *calibration = table->calibration;
	size_t count = kwhy_calibration_facts(calibration, facts);

	if (table->cell_count != 3)
		return wrong(table, "not key,value,spread");
	if (strcmp(table->cells[0], "driver") == 0) {
		calibration->driver = kwhy_arena_copy(&calibration->arena, table->cells[1]);
		return calibration->driver ? KWHY_OK : kwhy_fail_memory(table->error, "a version");
	}
	for (size_t i = 0; i < count; i++)
		if (strcmp(table->cells[0], facts[i].key) == 0)
			return set_fact(table, &facts[i]);
	return wrong(table, "no fact of that name");
}

static void split(struct table *table, char *line)
{
	table->cell_count = 0;
	while (line && table->cell_count < CELLS_MAX)
		table->cells[table->cell_count++] = strsep(&line, ",");
}

static enum kwhy_status read_table(
	struct table *table, const char *folder, enum kwhy_calibration_table which, take_row *take)
{
	struct kwhy_text text = {0};
	char *rest, *line;
	enum kwhy_status status;

	snprintf(table->path, sizeof(table->path), "%s/%s", folder, kwhy_calibration_table_name(which));
	table->line = 0;
	status = kwhy_file_read(table->path, FILE_MAX_BYTES, &text, table->error);
	rest = text.data;
	while (!status && rest && *rest) {
		line = strsep(&rest, "\n");
		if (table->line++ == 0) /* skips the header line */
			continue;
		split(table, line);
		status = take(table);
	}
	kwhy_text_done(&text);
	return status;
}

enum kwhy_status kwhy_calibration_read(
	const char *folder, struct kwhy_calibration **out, struct kwhy_error *error)
{
	static const struct {
		enum kwhy_calibration_table table;
		take_row *take;
	} tables[] = {
		{KWHY_CALIBRATION_MACHINE, take_fact},
		{KWHY_CALIBRATION_PULSES, take_pulse}, /* pulses come before phases, which refer to them */
		{KWHY_CALIBRATION_PHASES, take_phase},
		{KWHY_CALIBRATION_POWER, take_power},
		{KWHY_CALIBRATION_GAUGES, take_gauge},
	};
	struct kwhy_calibration *calibration = calloc(1, sizeof(*calibration));
	struct table table = {.calibration = calibration, .error = error};
	enum kwhy_status status = KWHY_OK;

	if (!calibration)
		return kwhy_fail_memory(error, "a self-test");
	calibration->costs = kwhy_call_costs_unknown();
	for (size_t i = 0; !status && i < sizeof(tables) / sizeof(tables[0]); i++)
		status = read_table(&table, folder, tables[i].table, tables[i].take);
	/*
	 * All times in the tables are Unix times, and the readings and phases hold these Unix times where a
	 * measured calibration has times of CLOCK_MONOTONIC. So that writing the tables (csv.c) gives the
	 * same Unix times again, the start on CLOCK_MONOTONIC is set to the Unix start. The evaluation uses
	 * only differences of times.
	 */
	calibration->started_mono_ns = calibration->started_unix_ns;
	if (status)
		kwhy_calibration_free(calibration);
	else
		*out = calibration;
	return status;
}
