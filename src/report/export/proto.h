/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_PROTO_H
#define KWHY_REPORT_EXPORT_PROTO_H

#include "base/text.h"

/*
 * Writes protocol-buffer fields into a text (protobuf.dev, "Encoding"). kwhy_proto_begin() opens a nested
 * message and kwhy_proto_end() closes it. The length of a nested message always takes four bytes, so that its
 * bytes need not move when the length is known at its end.
 */
void kwhy_proto_varint(struct kwhy_text *out, unsigned field, uint64_t value);
void kwhy_proto_double(struct kwhy_text *out, unsigned field, double value);
void kwhy_proto_string(struct kwhy_text *out, unsigned field, const char *value);
size_t kwhy_proto_begin(struct kwhy_text *out, unsigned field);
void kwhy_proto_end(struct kwhy_text *out, size_t begun);

#endif
