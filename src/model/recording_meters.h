/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_METERS_H
#define KWHY_MODEL_RECORDING_METERS_H

#include "model/recording.h"

/*
 * A step of kwhy_recording_finish(): finds readings that no working meter gives, leaves them out and adds a
 * note about them. The series and the activities are sorted.
 *
 * - Up to KWHY_COUNTER_WRONG_MAX readings in a row that are too low or too high, after which the counter
 *   continues as before ("counter-misread").
 * - Readings in times in which a counter rose by less than the GPU or package always draws ("counter-still").
 *   If the counter then continues, its first rise contains the energy of that time.
 * - Powers that are too low or too high for a GPU. Of a meter that averages over a window, also dips and
 *   peaks that are faster than such an average can change ("readings-impossible").
 * - All readings of a meter that always shows less than a GPU or package draws ("dead-meter"). A counter is
 *   kept if the device has another meter, because the ledger compares the two.
 *
 * Times in which a power meter repeats one value exactly while work begins are only noted
 * ("readings-repeat"), as the power may have been constant.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_check_meters(
	struct kwhy_recording *recording, struct kwhy_error *error);

#endif
