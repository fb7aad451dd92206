// SPDX-License-Identifier: Apache-2.0

package guard

import "google.golang.org/protobuf/encoding/protowire"

// Protobuf refuses a message of the type, without an envelope, that holds a
// harmful quantity: with a [*HarmfulError]. Other errors are for what is no protobuf.
func (t *Type) Protobuf(message []byte) error {
	if t == nil {
		return nil
	}
	return t.root.message(message)
}

// Quantity refuses a message that is itself a quantity.
func Quantity(message []byte) error { return (&node{quantity: true}).message(message) }

func (n *node) message(message []byte) error {
	return eachField(message, func(number protowire.Number, content []byte) error {
		if n.quantity {
			if number == 1 { // a quantity is a message of one text
				return check(content)
			}
			return nil
		}
		for i := range n.fields {
			if f := &n.fields[i]; f.number == int(number) {
				return at(f.name, f.node.value(content))
			}
		}
		return nil
	})
}

// value reads one of the values of a field. Those of a list and the entries of a
// map come one by one.
func (n *node) value(content []byte) error {
	switch {
	case n.list:
		return at("[]", n.elem.value(content))
	case n.entries:
		return n.entry(content)
	default:
		return n.message(content)
	}
}

// entry reads a key, which comes first if there is one, and a value.
func (n *node) entry(content []byte) error {
	key := ""
	return eachField(content, func(number protowire.Number, value []byte) error {
		switch number {
		case 1:
			key = string(value)
		case 2:
			return at(key, n.elem.value(value))
		}
		return nil
	})
}

// eachField yields the fields of bytes of a message. It is stricter than the
// decoders of the API machinery, which truncate numbers: what they would take for a
// field never passes unseen. Groups are skipped, here and there.
func eachField(message []byte, visit func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return protowire.ParseError(n)
		}
		if kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(message)
			if err := visit(number, content); err != nil {
				return err
			}
		}
		message = message[n:]
	}
	return nil
}
