// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

var (
	errNeither   = errors.New("it is neither a Kubernetes object in protobuf nor a JSON object")
	errAmbiguous = errors.New("the envelope of the protobuf holds something twice")
)

// light is so little that what is wrong with it the decoder may say.
const light = 16 << 10

// perByteOfYAML is generous: what is read as YAML is an error page, or at most so light.
const perByteOfYAML = 128

// Scheme knows where the types of a scheme have quantities.
type Scheme struct {
	scheme *runtime.Scheme
	kinds  map[schema.GroupVersionKind]reflect.Type
	types  map[reflect.Type]*Type
}

// SchemeOf learns it of the types that are in the scheme now. An object of another
// kind is refused.
func SchemeOf(scheme *runtime.Scheme) *Scheme {
	known, shapes := explorer{}, shaper{}
	s := &Scheme{scheme: scheme, kinds: scheme.AllKnownTypes(), types: map[reflect.Type]*Type{}}
	for _, t := range s.kinds {
		known.of(t)
	}
	known.prune()
	for _, t := range s.kinds {
		s.types[t] = typed(known[t], shapes.of(t))
	}
	return s
}

// Decoder decodes, with a decoder of the scheme's types, what holds no harmful
// quantity and is not too heavy. It takes protobuf and JSON only.
func (s *Scheme) Decoder(d runtime.Decoder) runtime.Decoder { return decoder{d, s} }

type decoder struct {
	runtime.Decoder

	scheme *Scheme
}

// Decode is as runtime.Decoder has it.
func (d decoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind,
	error) {
	if _, err := d.scheme.Check(data, defaults, into); err != nil {
		return nil, nil, err
	}
	return d.Decoder.Decode(data, defaults, into)
}

// Check refuses what Decoder would not decode, for who has another decoder. Of all else it returns what decoding takes
// at most, in bytes, beside the data. Defaults and into are as runtime.Decoder has them, and may be nil.
func (s *Scheme) Check(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (int64, error) {
	enveloped, isProtobuf := bytes.CutPrefix(data, []byte(wire.Magic))
	harmless := !suspicious(data, !isProtobuf)
	if !isProtobuf && !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		// YAML has more ways to write a digit, and may repeat what it has named.
		if !harmless || len(data) > light || bytes.ContainsAny(data, `\&*`) {
			return 0, errNeither
		}
		return aDecoder + perByteOfYAML*int64(len(data)), nil
	}
	bytes, err := s.check(data, enveloped, isProtobuf, harmless, defaults, into)
	var heavy *TooHeavyError
	if harmless && len(data) <= light && !errors.As(err, &heavy) {
		return max(bytes, aDecoder), nil // what is wrong with it the decoder says best
	}
	return bytes, err
}

func (s *Scheme) check(data, enveloped []byte, isProtobuf, harmless bool, defaults *schema.GroupVersionKind,
	into runtime.Object) (int64, error) {
	if isProtobuf {
		kind, raw, err := open(enveloped)
		if err != nil {
			return 0, err
		}
		bytes, err := s.each(kind, defaults, into, func(t *Type) (int64, error) {
			if harmless {
				return t.weigh(raw)
			}
			return t.Protobuf(raw)
		})
		return aDecoder + bytes + 2*int64(len(data)), err // the decoder copies what is in the envelope
	}
	kind, err := json.DefaultMetaFactory.Interpret(data)
	if err != nil {
		return 0, err
	}
	return s.each(*kind, defaults, into, func(t *Type) (int64, error) { return t.JSON(data) })
}

// each checks for all types that a decoder might make of data of that kind, and returns the most that any of them takes.
func (s *Scheme) each(kind schema.GroupVersionKind, defaults *schema.GroupVersionKind, into runtime.Object,
	check func(*Type) (int64, error)) (heaviest int64, err error) {
	var types []*Type
	kinds, found := completed(kind, defaults), false
	if into != nil {
		own, _, _ := s.scheme.ObjectKinds(into)
		if found = len(own) == 0; found { // it is not registered: then it is what is decoded into
			types = append(types, s.typeOf(into))
		}
		for _, k := range own {
			kinds = append(kinds, completed(kinds[0], &k)...)
		}
	}
	for _, k := range kinds {
		t, known := s.kinds[k]
		found = found || known
		if known && !slices.Contains(types, s.types[t]) {
			types = append(types, s.types[t])
		}
	}
	for _, t := range types {
		bytes, err := check(t)
		if err != nil {
			return 0, err
		}
		heaviest = max(heaviest, bytes)
	}
	if !found {
		return 0, runtime.NewNotRegisteredErrForKind(s.scheme.Name(), kinds[0])
	}
	return heaviest, nil
}

func (s *Scheme) typeOf(object runtime.Object) *Type {
	if known, found := s.types[reflect.TypeOf(object).Elem()]; found {
		return known
	}
	return TypeOf(object)
}

// completed are the kinds that data may be of, where it does not say all of it.
// Decoders do not agree whether a group without a version has that of the default.
func completed(kind schema.GroupVersionKind, defaults *schema.GroupVersionKind) []schema.GroupVersionKind {
	if defaults == nil || kind.Kind != "" && kind.Version != "" {
		return []schema.GroupVersionKind{kind}
	}
	name := kind.Kind
	if name == "" {
		name = defaults.Kind
	}
	whole := defaults.GroupVersion().WithKind(name)
	if kind.Version != "" {
		return []schema.GroupVersionKind{kind.GroupVersion().WithKind(name)}
	}
	return []schema.GroupVersionKind{whole, {Group: kind.Group, Version: defaults.Version, Kind: name}}
}

// open reads an envelope, which is a runtime.Unknown.
func open(envelope []byte) (kind schema.GroupVersionKind, raw []byte, err error) {
	var meta runtime.TypeMeta
	seen := map[protowire.Number]bool{}
	err = eachField(envelope, func(number protowire.Number, content []byte) error {
		if seen[number] {
			return errAmbiguous
		}
		seen[number] = true
		switch number {
		case 1:
			return meta.Unmarshal(content)
		case 2:
			raw = content
		}
		return nil
	})
	return schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind), raw, err
}

// Serializer makes guarded decoders of what serializer has for protobuf and JSON,
// and has no others.
func (s *Scheme) Serializer(serializer runtime.NegotiatedSerializer) runtime.NegotiatedSerializer {
	return negotiated{serializer, s}
}

type negotiated struct {
	runtime.NegotiatedSerializer

	scheme *Scheme
}

// SupportedMediaTypes is as runtime.NegotiatedSerializer has it.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo {
	var supported []runtime.SerializerInfo
	for _, info := range n.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType != runtime.ContentTypeJSON && info.MediaType != runtime.ContentTypeProtobuf {
			continue
		}
		if info.StreamSerializer != nil {
			stream := *info.StreamSerializer
			stream.Serializer = events{stream.Serializer, info.MediaType == runtime.ContentTypeProtobuf}
			info.StreamSerializer = &stream
		}
		supported = append(supported, info)
	}
	return supported
}

// DecoderToVersion is as runtime.NegotiatedSerializer has it.
func (n negotiated) DecoderToVersion(d runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return n.scheme.Decoder(n.NegotiatedSerializer.DecoderToVersion(d, version))
}
