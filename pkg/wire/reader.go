// SPDX-License-Identifier: Apache-2.0

package wire

import "google.golang.org/protobuf/encoding/protowire"

// Magic leads a Kubernetes object in protobuf. Its envelope, a runtime.Unknown, follows.
const Magic = "k8s\x00"

// Field is one field of a message.
type Field struct {
	Number protowire.Number // 1 or more
	Kind   protowire.Type
	// Bytes are its content, where it lies in the message. Nil: it is of another kind than [protowire.BytesType].
	Bytes []byte
}

// EachField visits the fields of a message in order, until one is malformed or visit returns an error, which is
// returned. It is stricter than the decoders of the API machinery, which truncate numbers: what they would take for a
// field never passes unseen. The content of groups is skipped, here and there.
func EachField(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		f := Field{Number: number, Kind: kind}
		if kind == protowire.BytesType {
			f.Bytes, n = protowire.ConsumeBytes(message)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := visit(f); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}
