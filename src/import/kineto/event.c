/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/event.h"

#include "import/kineto/number.h"

#include <string.h>

static const char *const field_texts[] = {
#define X(name, text) [KWHY_KINETO_FIELD_##name] = (text),
	KWHY_KINETO_FIELDS(X)
#undef X
};

/*
 * The known values of "cat". Events of kind KWHY_KINETO_OTHER are ignored: kwhy does not need them, or other
 * events show the same work.
 */
static const struct {
	const char *text;
	enum kwhy_kineto_kind kind;
} categories[] = {
	{"kernel", KWHY_KINETO_KERNEL},
	{"Kernel", KWHY_KINETO_KERNEL},
	{"mtia_ccp_events", KWHY_KINETO_KERNEL},
	{"gpu_memcpy", KWHY_KINETO_COPY},
	{"Memcpy", KWHY_KINETO_COPY},
	{"gpu_memset", KWHY_KINETO_MEMSET},
	{"Memset", KWHY_KINETO_MEMSET},
	{"gpu_op", KWHY_KINETO_GPU_OP},
	{"cuda_runtime", KWHY_KINETO_CALL},
	{"cuda_driver", KWHY_KINETO_CALL},
	{"Runtime", KWHY_KINETO_CALL},
	{"Api", KWHY_KINETO_CALL},
	{"glow_runtime", KWHY_KINETO_CALL},
	{"hpu_op", KWHY_KINETO_CALL},
	{"mtia_runtime", KWHY_KINETO_CALL},
	{"musa_driver", KWHY_KINETO_CALL},
	{"musa_runtime", KWHY_KINETO_CALL},
	{"privateuse1_driver", KWHY_KINETO_CALL},
	{"privateuse1_runtime", KWHY_KINETO_CALL},
	{"xpu_driver", KWHY_KINETO_CALL},
	{"xpu_runtime", KWHY_KINETO_CALL},
	{"user_annotation", KWHY_KINETO_RANGE},
	{"cpu_op", KWHY_KINETO_OPERATOR},
	{"Node", KWHY_KINETO_OPERATOR},
	{"Session", KWHY_KINETO_OPERATOR},
	{"Operator", KWHY_KINETO_OPERATOR_2021},
	{"python_function", KWHY_KINETO_PYTHON},
	{"kwhy_system", KWHY_KINETO_SYSTEM},
	{"kwhy_frame", KWHY_KINETO_FRAME},
	{"cpu_instant_event", KWHY_KINETO_MEMORY},
	{"overhead", KWHY_KINETO_OVERHEAD},
	{"Trace", KWHY_KINETO_OTHER},
	{"ac2g", KWHY_KINETO_OTHER},
	{"async", KWHY_KINETO_OTHER},
	{"async_cpu_to_gpu", KWHY_KINETO_OTHER},
	{"collective_comm", KWHY_KINETO_OTHER},
	{"cpu_to_cuda", KWHY_KINETO_OTHER},
	{"cuda_event", KWHY_KINETO_OTHER},
	{"cuda_profiler_range", KWHY_KINETO_OTHER},
	{"cuda_sync", KWHY_KINETO_OTHER},
	{"external_correlation", KWHY_KINETO_OTHER},
	{"forward_backward", KWHY_KINETO_OTHER},
	{"fwdbwd", KWHY_KINETO_OTHER},
	{"gpu_user_annotation", KWHY_KINETO_OTHER},
	{"hardware_counters", KWHY_KINETO_OTHER},
	{"mtia_counters", KWHY_KINETO_OTHER},
	{"mtia_insight", KWHY_KINETO_OTHER},
	{"musa_profiler_range", KWHY_KINETO_OTHER},
	{"musa_sync", KWHY_KINETO_OTHER},
	{"xpu_scope_profiler", KWHY_KINETO_OTHER},
	{"xpu_sync", KWHY_KINETO_OTHER},
};

const char *kwhy_kineto_field_text(enum kwhy_kineto_field field)
{
	return field_texts[field];
}

static size_t slot_of(const char *text, size_t length)
{
	unsigned char first = (unsigned char)text[0], last = (unsigned char)text[length - 1];

	return (length * 29 + first * 7u + last * 3u) % KWHY_KINETO_WORD_SLOTS;
}

static void put(struct kwhy_kineto_word *slots, const char *text, unsigned value)
{
	size_t length = strlen(text);
	size_t i = slot_of(text, length);

	while (slots[i].length)
		i = (i + 1) % KWHY_KINETO_WORD_SLOTS;
	slots[i] = (struct kwhy_kineto_word){.length = (uint8_t)length, .value = (uint8_t)value};
	memcpy(slots[i].text, text, length);
}

void kwhy_kineto_words_init(struct kwhy_kineto_words *words)
{
	memset(words, 0, sizeof(*words));
	for (unsigned i = 0; i < KWHY_KINETO_FIELD_COUNT; i++)
		put(words->fields, field_texts[i], i);
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		put(words->categories, categories[i].text, categories[i].kind);
}

static inline uint64_t eight_bytes(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return bytes;
}

/*
 * Whether a word of at most 24 bytes equals text[0, length). Compares eight bytes at a time: at the start, at
 * the end (from 8 bytes on) and in the middle (from 17 bytes on).
 */
static inline bool is_word(const struct kwhy_kineto_word *word, const char *text, size_t length)
{
	uint64_t differs = eight_bytes(word->text) ^ eight_bytes(text);

	if (word->length != length)
		return false;
	if (length < 8)
		return differs << (64 - 8 * length) == 0;
	differs |= eight_bytes(word->text + length - 8) ^ eight_bytes(text + length - 8);
	if (length > 16)
		differs |= eight_bytes(word->text + 8) ^ eight_bytes(text + 8);
	return differs == 0;
}

static inline unsigned find(
	const struct kwhy_kineto_word *slots, const char *text, size_t length, unsigned otherwise)
{
	if (length == 0)
		return otherwise;
	for (size_t i = slot_of(text, length); slots[i].length; i = (i + 1) % KWHY_KINETO_WORD_SLOTS)
		if (is_word(&slots[i], text, length))
			return slots[i].value;
	return otherwise;
}

static bool text_starts(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, const char *start)
{
	struct kwhy_kineto_span text = kwhy_kineto_event_text(event, field);
	size_t length = strlen(start);

	return text.length >= length && !memcmp(event->text + text.at, start, length);
}

static bool is_instant(const struct kwhy_kineto_event *event)
{
	return event->phase == 'i' || event->phase == 'I';
}

/*
 * Whether the event is only the begin ('B') or the end ('E') of a slice. Such an event is read even if its
 * category is not needed, because an end is matched with the last begin of its thread that has no end yet.
 */
static bool is_half(const struct kwhy_kineto_event *event)
{
	return event->phase == 'B' || event->phase == 'E';
}

static void decide_by_phase(struct kwhy_kineto_event *event)
{
	struct kwhy_kineto_span phase = kwhy_kineto_event_text(event, KWHY_KINETO_FIELD_PH);

	event->phase = phase.length == 1 ? event->text[phase.at] : '?';
	if (event->phase == 'M')
		event->kind = KWHY_KINETO_METADATA;
	else if (event->phase != 'X' && !is_instant(event) && !is_half(event))
		event->kind = KWHY_KINETO_OTHER;
}

static void decide_by_category(struct kwhy_kineto_event *event, const struct kwhy_kineto_words *words)
{
	struct kwhy_kineto_span category = kwhy_kineto_event_text(event, KWHY_KINETO_FIELD_CAT);

	event->kind = find(
		words->categories, event->text + category.at, category.length, KWHY_KINETO_BY_TRACK);
}

/*
 * Sets the event's kind as soon as "ph" or "cat" determines it, so that the caller can skip the rest of an
 * event that is not needed. Most events are not needed.
 */
static inline void decide(
	struct kwhy_kineto_event *event, unsigned field, const struct kwhy_kineto_words *words)
{
	if (field == KWHY_KINETO_FIELD_PH)
		decide_by_phase(event);
	else if (field == KWHY_KINETO_FIELD_CAT && event->kind == KWHY_KINETO_UNDECIDED)
		decide_by_category(event, words);
}

static inline void keep(struct kwhy_kineto_event *event, unsigned field, struct kwhy_kineto_span span)
{
	event->field[field] = span;
	event->seen |= UINT64_C(1) << field;
}

/*
 * Reads the known members of the object "args", from its '{' past its '}'. False: the text is not valid JSON.
 */
static bool read_args(
	struct kwhy_kineto_event *event, struct kwhy_kineto_walk *walk, const struct kwhy_kineto_words *words)
{
	struct kwhy_kineto_span key, value;

	walk->token++;
	if (kwhy_kineto_walk_peek(walk) == '}') {
		walk->token++;
		return true;
	}
	for (;;) {
		unsigned field;

		if (!kwhy_kineto_walk_key(walk, &key) || !kwhy_kineto_walk_value(walk, &value))
			return false;
		field = find(words->fields, walk->text + key.at, key.length, KWHY_KINETO_FIELD_COUNT);
		if (field == KWHY_KINETO_FIELD_NAME && event->kind == KWHY_KINETO_METADATA)
			field = KWHY_KINETO_FIELD_LABEL;
		if (field > KWHY_KINETO_FIELD_ARGS && field < KWHY_KINETO_FIELD_COUNT)
			keep(event, field, value);
		if (kwhy_kineto_walk_peek(walk) != ',')
			return kwhy_kineto_walk_take(walk, '}', "',' or '}' after a value");
		walk->token++;
	}
}

/*
 * Reads one "key": value pair of an event. If the object "args" comes before the event's kind is known, it is
 * skipped, and *args becomes its first token for finish() to read. False: the text is not valid JSON.
 */
static bool read_member(struct kwhy_kineto_event *event, struct kwhy_kineto_walk *walk,
	const struct kwhy_kineto_words *words, const uint32_t **args)
{
	struct kwhy_kineto_span key, value;
	unsigned field;

	if (!kwhy_kineto_walk_key(walk, &key))
		return false;
	field = find(words->fields, walk->text + key.at, key.length, KWHY_KINETO_FIELD_COUNT);
	if (field == KWHY_KINETO_FIELD_ARGS && kwhy_kineto_walk_peek(walk) == '{') {
		*args = event->kind == KWHY_KINETO_UNDECIDED ? walk->token : NULL;
		return *args || event->kind == KWHY_KINETO_PYTHON ? kwhy_kineto_walk_skip(walk)
								  : read_args(event, walk, words);
	}
	if (field >= KWHY_KINETO_FIELD_ARGS)
		return kwhy_kineto_walk_skip(walk);
	if (!kwhy_kineto_walk_value(walk, &value))
		return false;
	keep(event, field, value);
	decide(event, field, words);
	return true;
}

/*
 * Determines the event's kind after all its fields have been read. Instant events are ignored, except those
 * named "[memory]". The name decides, because in traces of 2021 instant events have no category.
 */
static void settle(struct kwhy_kineto_event *event)
{
	bool instant = is_instant(event);
	bool memory = instant && text_starts(event, KWHY_KINETO_FIELD_NAME, "[memory]");

	if (event->kind == KWHY_KINETO_METADATA)
		return;
	if (event->kind == KWHY_KINETO_UNDECIDED)
		event->kind = memory ? KWHY_KINETO_MEMORY : KWHY_KINETO_BY_TRACK;
	if (!event->phase || instant != (event->kind == KWHY_KINETO_MEMORY) || (instant && !memory))
		event->kind = KWHY_KINETO_OTHER;
	if (event->kind == KWHY_KINETO_OPERATOR_2021 &&
		text_starts(event, KWHY_KINETO_FIELD_NAME, "ProfilerStep"))
		event->kind = KWHY_KINETO_RANGE;
}

static bool finish(struct kwhy_kineto_event *event, const struct kwhy_kineto_walk *walk, const uint32_t *args,
	const struct kwhy_kineto_words *words)
{
	struct kwhy_kineto_walk again = {.text = walk->text, .token = args};

	settle(event);
	return !args || (event->kind == KWHY_KINETO_OTHER && !is_half(event)) ||
		read_args(event, &again, words);
}

bool kwhy_kineto_event_read(
	struct kwhy_kineto_event *event, struct kwhy_kineto_walk *walk, const struct kwhy_kineto_words *words)
{
	const uint32_t *args = NULL;

	event->at = *walk->token;
	event->kind = KWHY_KINETO_UNDECIDED;
	event->phase = '\0';
	event->streamless = false;
	event->seen = 0;
	event->text = walk->text;
	if (!kwhy_kineto_walk_take(walk, '{', "an event, '{'"))
		return false;
	if (kwhy_kineto_walk_peek(walk) == '}') {
		walk->token++;
		event->kind = KWHY_KINETO_OTHER;
		return true;
	}
	for (;;) {
		if (!read_member(event, walk, words, &args))
			return false;
		if (event->kind == KWHY_KINETO_OTHER && event->phase && !is_half(event))
			return kwhy_kineto_walk_skip_members(walk);
		if (kwhy_kineto_walk_peek(walk) != ',')
			break;
		walk->token++;
	}
	if (!kwhy_kineto_walk_take(walk, '}', "',' or '}' after a value"))
		return false;
	return finish(event, walk, args, words);
}

struct kwhy_kineto_span kwhy_kineto_event_text(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field)
{
	struct kwhy_kineto_span span = event->field[field];

	if (!kwhy_kineto_event_has(event, field))
		return (struct kwhy_kineto_span){0};
	if (span.length >= 2 && event->text[span.at] == '"') {
		span.at++;
		span.length -= 2;
	}
	return span;
}

bool kwhy_kineto_event_integer(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, int64_t *out)
{
	struct kwhy_kineto_span span = event->field[field];

	return kwhy_kineto_event_has(event, field) &&
		kwhy_kineto_number_integer(event->text + span.at, span.length, out);
}
