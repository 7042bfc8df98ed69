/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/scrape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 };

/*
 * One line of metrics, with the labels that kwhy uses; "": the line does not have the label. A longer value
 * is truncated and then equals no expected one.
 */
struct sample {
	char name[WORD_BYTES], device[WORD_BYTES], source[WORD_BYTES];
	double value;
};

static void add_char(char word[WORD_BYTES], size_t *length, char character)
{
	if (*length + 1 < WORD_BYTES)
		word[(*length)++] = character;
	word[*length] = '\0';
}

/*
 * Reads a quoted label value from after its opening quote into `word`. Returns the position after the
 * closing quote; NULL: there is none in this line.
 */
static const char *read_quoted(const char *at, char word[WORD_BYTES])
{
	size_t length = 0;

	word[0] = '\0';
	for (; *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		if (!*at || *at == '\n')
			return NULL;
		add_char(word, &length, *at);
	}
	return at + 1;
}

static const char *read_word(const char *at, const char *ends, char word[WORD_BYTES])
{
	size_t length = 0;

	word[0] = '\0';
	for (; *at && *at != '\n' && !strchr(ends, *at); at++)
		add_char(word, &length, *at);
	return at;
}

/*
 * Reads labels from after the opening brace. Returns the position after the closing brace; NULL: the labels
 * are invalid.
 */
static const char *read_labels(const char *at, struct sample *out)
{
	char name[WORD_BYTES], value[WORD_BYTES];

	while (*at != '}') {
		at = read_word(at, "=}", name);
		if (at[0] != '=' || at[1] != '"')
			return NULL;
		at = read_quoted(at + 2, value);
		if (!at || (*at != ',' && *at != '}'))
			return NULL;
		if (*at == ',')
			at++;
		if (strcmp(name, "device") == 0)
			memcpy(out->device, value, sizeof(value));
		else if (strcmp(name, "source") == 0)
			memcpy(out->source, value, sizeof(value));
	}
	return at + 1;
}

static bool read_sample(const char *line, struct sample *out)
{
	const char *at = read_word(line, "{ #", out->name);
	char *end;

	out->device[0] = out->source[0] = '\0';
	if (*at == '{')
		at = read_labels(at + 1, out);
	if (!at || *at != ' ' || at[1] <= ' ')
		return false;
	out->value = strtod(at + 1, &end);
	return end > at + 1 && out->name[0] && (!*end || *end == ' ' || *end == '\n' || *end == '\r');
}

/* Finds a device by name or adds it; NULL: there are too many devices, or the name is too long. */
static struct kwhy_llm_scrape_device *device_of(struct kwhy_llm_scrape *scrape, const char *name)
{
	struct kwhy_llm_scrape_device *device;

	for (size_t i = 0; i < scrape->device_count; i++)
		if (strcmp(scrape->devices[i].name, name) == 0)
			return &scrape->devices[i];
	if (scrape->device_count == KWHY_LLM_SCRAPE_DEVICES || strlen(name) >= KWHY_LLM_SCRAPE_NAME_BYTES)
		return NULL;
	device = &scrape->devices[scrape->device_count++];
	*device = (struct kwhy_llm_scrape_device){.joules = NAN, .lag_s = NAN, .least_lag_s = NAN};
	memcpy(device->name, name, strlen(name) + 1);
	return device;
}

static bool ends_with(const char *word, const char *end)
{
	size_t length = strlen(word), end_length = strlen(end);

	return length >= end_length && strcmp(word + length - end_length, end) == 0;
}

/*
 * Whether a source is a meter of a whole device's energy or power. Names of meters have the form
 * "backend.what_unit"; those of gauges have no dot. Sources with "memory" in their name meter only a part of
 * the device, so they do not count.
 */
static bool is_energy_source(const char *source)
{
	return strchr(source, '.') && !strstr(source, "memory") &&
		(ends_with(source, "_mj") || ends_with(source, "_uj") || ends_with(source, "_mw"));
}

static void take_age(struct kwhy_llm_scrape_device *device, const struct sample *sample)
{
	const bool is_power = ends_with(sample->source, "_mw");

	device->least_lag_s = fmin(device->least_lag_s, sample->value);
	if (is_power < device->is_lag_of_power)
		return;
	device->lag_s = is_power > device->is_lag_of_power ? sample->value
							   : fmin(device->lag_s, sample->value);
	device->is_lag_of_power = is_power;
}

static bool take(struct kwhy_llm_scrape *scrape, const struct sample *sample)
{
	bool is_energy = strcmp(sample->name, "kwhy_device_energy_joules_total") == 0;
	bool is_lost = strcmp(sample->name, "kwhy_device_lost") == 0;
	bool is_age = strcmp(sample->name, "kwhy_source_age_seconds") == 0 &&
		is_energy_source(sample->source);
	struct kwhy_llm_scrape_device *device;

	if (strcmp(sample->name, "kwhy_build_info") == 0)
		scrape->is_kwhy = true;
	if (strcmp(sample->name, "process_start_time_seconds") == 0)
		scrape->started_unix_s = sample->value;
	if (!sample->device[0] || (!is_energy && !is_lost && !is_age))
		return true;
	device = device_of(scrape, sample->device);
	if (!device)
		return false;
	if (is_energy)
		device->joules = sample->value;
	else if (is_lost)
		device->lost = sample->value != 0;
	else
		take_age(device, sample);
	return true;
}

enum kwhy_status kwhy_llm_scrape_read(const char *text, struct kwhy_llm_scrape *out, struct kwhy_error *error)
{
	const char *line = text;

	*out = (struct kwhy_llm_scrape){.started_unix_s = NAN};
	while (line && *line) {
		struct sample sample;

		if (*line != '#' && read_sample(line, &sample) && !take(out, &sample))
			return kwhy_fail(error, KWHY_E_INPUT,
				"the metrics name more than %d devices, or one by more than %d letters",
				KWHY_LLM_SCRAPE_DEVICES, KWHY_LLM_SCRAPE_NAME_BYTES - 1);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return KWHY_OK;
}

const struct kwhy_llm_scrape_device *kwhy_llm_scrape_find(
	const struct kwhy_llm_scrape *scrape, const char *name)
{
	for (size_t i = 0; i < scrape->device_count; i++)
		if (strcmp(scrape->devices[i].name, name) == 0 && isfinite(scrape->devices[i].joules))
			return &scrape->devices[i];
	return NULL;
}
