// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

// Protobuf refuses a message of the type, without an envelope, that holds a harmful quantity or is too heavy: with a
// [*HarmfulError] or a [*TooHeavyError]. Other errors are for what is no protobuf. Of any other message it returns
// what decoding it takes at most, in bytes.
func (t *Type) Protobuf(message []byte) (int64, error) {
	bytes, err := t.weigh(message)
	if err != nil || t == nil || t.root == nil {
		return bytes, err
	}
	return bytes, t.root.message(message)
}

// weigh is Protobuf for a message without a harmful quantity.
func (t *Type) weigh(message []byte) (int64, error) {
	if t == nil {
		return 0, nil
	}
	return t.shape.protobuf(message)
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

// eachField visits the fields of bytes of a message.
func eachField(message []byte, visit func(protowire.Number, []byte) error) error {
	return wire.EachField(message, func(f wire.Field) error {
		if f.Kind != protowire.BytesType {
			return nil
		}
		return visit(f.Number, f.Bytes)
	})
}
