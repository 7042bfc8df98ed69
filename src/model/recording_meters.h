/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_METERS_H
#define KWHY_MODEL_RECORDING_METERS_H

#include "model/recording.h"

/*
 * A step of kwhy_recording_finish(): finds readings that no working meter gives, leaves them out and adds a
 * note about them. The series and the activities are sorted.
 *
 * - Single readings that deviate from a counter's course, to which it then returns ("counter-misread").
 * - Times in which a counter stood still or nearly so, while its owner always draws more ("counter-still").
 *   If the counter continues, the interval to its next reading holds their energy.
 * - Powers that are too low or too high for a GPU. Of a meter that averages over a window, also dips and
 *   peaks that are faster than such an average can change ("readings-impossible").
 * - All readings of a meter that shows too little throughout ("dead-meter"); but a counter stays if the
 *   device has another meter, as the ledger compares the two.
 *
 * Times in which a power meter repeats one value exactly while work begins are only noted
 * ("readings-repeat"), as the power may have been constant.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_check_meters(
	struct kwhy_recording *recording, struct kwhy_error *error);

#endif
