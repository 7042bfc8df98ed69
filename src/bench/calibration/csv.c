/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/csv.h"

#include "bench/calibration/facts.h"

#include <inttypes.h>

static int64_t unix_ns(const struct kwhy_calibration *calibration, int64_t mono_ns)
{
	return mono_ns - calibration->started_mono_ns + calibration->started_unix_ns;
}

static void add_power(const struct kwhy_calibration *calibration, struct kwhy_text *out)
{
	char name[KWHY_METER_NAME_BYTES];

	kwhy_text_add(out, "time_ns,device,source,value\n");
	for (int meter = 0; meter < KWHY_METER_COUNT; meter++)
		for (size_t i = 0; i < calibration->meters[meter].count; i++) {
			const struct kwhy_reading *reading = &calibration->meters[meter].items[i];

			kwhy_text_addf(out, "%" PRId64 ",0,%s,%" PRId64 "\n",
				unix_ns(calibration, reading->time_mono_ns),
				kwhy_meter_source(name, (enum kwhy_meter)meter, 0), reading->value);
		}
}

static void add_gauges(const struct kwhy_calibration *calibration, struct kwhy_text *out)
{
	kwhy_text_add(out, "time_ns,gauge,value\n");
	for (int gauge = 0; gauge < KWHY_GAUGE_COUNT; gauge++)
		for (size_t i = 0; i < calibration->gauges[gauge].count; i++) {
			const struct kwhy_reading *reading = &calibration->gauges[gauge].items[i];

			kwhy_text_addf(out, "%" PRId64 ",%s,%" PRId64 "\n",
				unix_ns(calibration, reading->time_mono_ns),
				kwhy_gauge_name((enum kwhy_gauge)gauge), reading->value);
		}
}

static void add_phases(const struct kwhy_calibration *calibration, struct kwhy_text *out)
{
	kwhy_text_add(out, "kind,name,burn,on_ns,off_ns,start_ns,end_ns,first_pulse,pulses\n");
	for (size_t i = 0; i < calibration->phase_count; i++) {
		const struct kwhy_phase *phase = &calibration->phases[i];
		bool is_load = phase->kind == KWHY_PHASE_LOAD;

		kwhy_text_addf(out, "%s,%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%zu,%zu\n",
			kwhy_phase_kind_name(phase->kind), is_load ? phase->load.name : "",
			is_load ? kwhy_burn_name(phase->load.burn) : "", phase->load.on_ns,
			phase->load.off_ns, unix_ns(calibration, phase->start_ns),
			unix_ns(calibration, phase->end_ns), phase->first_pulse, phase->pulse_count);
	}
}

static void add_pulses(const struct kwhy_calibration *calibration, struct kwhy_text *out)
{
	kwhy_text_add(out, "start_ns,end_ns\n");
	for (size_t i = 0; i < calibration->pulse_count; i++)
		kwhy_text_addf(out, "%" PRId64 ",%" PRId64 "\n",
			unix_ns(calibration, calibration->pulses[i].start_ns),
			unix_ns(calibration, calibration->pulses[i].end_ns));
}

static void add_machine(const struct kwhy_calibration *calibration, struct kwhy_text *out)
{
	struct kwhy_calibration_fact facts[KWHY_CALIBRATION_FACTS_MAX];
	/*
	 * The const is cast away because kwhy_calibration_facts() is used for reading and for writing; here
	 * the facts are only read.
	 */
	size_t count = kwhy_calibration_facts((struct kwhy_calibration *)(size_t)calibration, facts);

	kwhy_text_add(out, "key,value,spread\n");
	if (calibration->driver)
		kwhy_text_addf(out, "driver,%s,\n", calibration->driver);
	for (size_t i = 0; i < count; i++)
		switch (facts[i].kind) {
		case KWHY_FACT_TEXT:
			kwhy_text_addf(out, "%s,%s,\n", facts[i].key, (const char *)facts[i].place);
			break;
		case KWHY_FACT_COUNT:
			kwhy_text_addf(out, "%s,%" PRIu32 ",\n", facts[i].key, *(uint32_t *)facts[i].place);
			break;
		case KWHY_FACT_INTEGER:
			kwhy_text_addf(out, "%s,%" PRId64 ",\n", facts[i].key, *(int64_t *)facts[i].place);
			break;
		case KWHY_FACT_MEASURED:
			kwhy_text_addf(out, "%s,%.9g,%.9g\n", facts[i].key,
				((struct kwhy_measured *)facts[i].place)->value,
				((struct kwhy_measured *)facts[i].place)->sd);
			break;
		}
}

static const struct {
	const char *name;
	void (*add)(const struct kwhy_calibration *calibration, struct kwhy_text *out);
} tables[KWHY_CALIBRATION_TABLE_COUNT] = {
	[KWHY_CALIBRATION_POWER] = {"power.csv", add_power},
	[KWHY_CALIBRATION_GAUGES] = {"gauges.csv", add_gauges},
	[KWHY_CALIBRATION_PHASES] = {"phases.csv", add_phases},
	[KWHY_CALIBRATION_PULSES] = {"pulses.csv", add_pulses},
	[KWHY_CALIBRATION_MACHINE] = {"machine.csv", add_machine},
};

const char *kwhy_calibration_table_name(enum kwhy_calibration_table table)
{
	return tables[table].name;
}

void kwhy_calibration_csv(
	const struct kwhy_calibration *calibration, enum kwhy_calibration_table table, struct kwhy_text *out)
{
	tables[table].add(calibration, out);
}
