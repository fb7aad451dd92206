// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Magic begins a stream; its last byte is the version. In version 1 all decisions were of the kind [Replicas], and none was said.
const Magic = magic + "\x02"

const magic = "fleetscale record"

// What a stream may hold.
const (
	mostFrame   = 4 << 20 // bytes of a frame
	mostNumbers = 1 << 18 // of a record
	mostMetrics = 128     // of a record
	mostSites   = 4096    // of a record
	// Most is what a [Decoder] keeps of a stream, in bytes.
	Most = 512 << 20
)

// ErrTooLarge is of a record that does not fit a frame.
var ErrTooLarge = errors.New("the record is too large")

// ErrTorn is of a stream whose end is not whole; what was read before it is.
var ErrTorn = errors.New("the end of the record is torn off, or damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encoder makes a stream of records. What is kept for it is what was written last of each object, and each text.
type Encoder struct {
	texts   map[string]int64
	objects map[Object]*written
	names   []string
	numbers []int64
	flat    []byte
	payload []byte
	fresh   []string
	kept    int
}

// written is what was written last of an object.
type written struct {
	index      int
	numbers    []byte
	generation int64
	spec       int64
}

// NewEncoder returns one for a new stream, which begins with [Magic].
func NewEncoder() *Encoder {
	return &Encoder{texts: map[string]int64{}, objects: map[Object]*written{}}
}

// Kept is about how many bytes are kept.
func (e *Encoder) Kept() int { return e.kept }

// perText and perObject are what a map takes, besides the bytes.
const perText, perObject = 64, 256

func (e *Encoder) number(text string) int64 {
	n, known := e.texts[text]
	if !known {
		n = int64(len(e.texts)) + 1
		e.texts[text] = n
		e.fresh = append(e.fresh, text)
		e.kept += len(text) + perText
	}
	return n
}

// Append appends the frame of a record.
func (e *Encoder) Append(to []byte, r *Record) ([]byte, error) {
	if !r.fits() {
		return to, ErrTooLarge
	}
	of, known := e.objects[r.Object]
	if !known {
		of = &written{index: len(e.objects)}
	}
	e.fresh = e.fresh[:0]
	spec := of.spec
	if spec == 0 || of.generation != r.Question.Generation {
		text, err := r.spec()
		if err != nil {
			return to, fmt.Errorf("encoding the spec: %w", err)
		}
		spec = e.number(text)
	}
	l := ledger{numbers: e.numbers[:0], names: e.names, number: e.number}
	l.of(r, &spec)
	e.numbers, e.names, e.flat = l.numbers, l.names, appendNumbers(e.flat[:0], l.numbers)
	payload := binary.AppendUvarint(e.payload[:0], uint64(of.index))
	if !known {
		payload = binary.AppendUvarint(payload, uint64(r.Object.Kind))
		for _, text := range []string{r.Object.Namespace, r.Object.Name, r.Object.UID} {
			payload = appendText(payload, text)
		}
	}
	payload = binary.AppendUvarint(payload, uint64(len(e.fresh)))
	for _, text := range e.fresh {
		payload = appendText(payload, text)
	}
	payload = appendDelta(payload, of.numbers, e.flat, len(e.numbers))
	e.payload = payload
	if len(payload) > mostFrame || len(e.numbers) > mostNumbers {
		e.forgetFresh()
		return to, ErrTooLarge
	}
	if !known {
		e.objects[r.Object] = of
		e.kept += perObject
	}
	e.kept -= len(of.numbers)
	of.numbers, of.generation, of.spec = append(of.numbers[:0], e.flat...), r.Question.Generation, spec
	e.kept += len(of.numbers)
	return appendFrame(to, payload), nil
}

// forgetFresh takes back the texts that a frame would have added. Their numbers are the last ones.
func (e *Encoder) forgetFresh() {
	for _, text := range e.fresh {
		delete(e.texts, text)
		e.kept -= len(text) + perText
	}
}

// fits reports whether a decoder would take as much as is in the record.
func (r *Record) fits() bool {
	return len(r.Question.Metrics) <= mostMetrics && (r.Split == nil || len(r.Split.Snapshot.Sites) <= mostSites) &&
		(r.Sizes == nil || r.Sizes.fits())
}

// spec is the text of the spec.
func (r *Record) spec() (string, error) {
	if r.Sizes != nil {
		return encodeSizesSpec(r.Sizes.Question.Spec)
	}
	return encodeSpec(r.Spec)
}

func appendFrame(to, payload []byte) []byte {
	to = append(binary.AppendUvarint(to, uint64(len(payload))), payload...)
	return binary.LittleEndian.AppendUint32(to, crc32.Checksum(payload, castagnoli))
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Decoder reads a stream. Where streams follow each other, as segments do, it reads them all.
type Decoder struct {
	// Wanted says whose records are returned; nil: all.
	Wanted func(Object) bool
	// Skipped are the records of wanted objects that were left out, as they are of a kind that is not known, or of no clusters that there
	// can be.
	Skipped int
	in      *bufio.Reader
	version byte // 0: no stream has begun
	texts   []string
	specs   map[int64]*v1alpha1.FederatedHPASpec
	sized   map[int64]*v1alpha1.MultidimPodAutoscalerSpec
	objects []read
	numbers []int64
	kept    int
	place
}

// place is how far a decoder has read, and what tells whether that is still there.
type place struct {
	offset int64
	// last is what was read last, and first the first frame: a later one may have nothing but by how much time went on, as others have.
	first, last piece
	spare       []byte // has room for the next one
}

// piece is a frame without its size, or the magic of a stream, and where it ends.
type piece struct {
	bytes []byte
	end   int64
}

func (p *place) pass(size int, read []byte) {
	p.offset += int64(size)
	if p.first.bytes == nil && p.last.bytes != nil { // which is the magic
		p.first = piece{bytes.Clone(read), p.offset}
	}
	p.spare, p.last = p.last.bytes, piece{read, p.offset}
}

// in reports whether the piece is there.
func (p *piece) in(in io.ReaderAt) bool {
	there := make([]byte, len(p.bytes))
	n, _ := in.ReadAt(there, p.end-int64(len(there)))
	return n == len(there) && bytes.Equal(there, p.bytes)
}

// read is what was read last of an object.
type read struct {
	Object
	numbers []byte
}

// NewDecoder returns one for a stream.
func NewDecoder(in io.Reader) *Decoder { return &Decoder{in: bufio.NewReader(in)} }

// Offset is where what is read next begins: behind the last frame that was whole.
func (d *Decoder) Offset() int64 { return d.offset }

// Resume has the decoder read on from [Decoder.Offset], in what may have grown since. It reports whether that is what was read before, by
// the first and the last frame; where it is not, nothing changes.
func (d *Decoder) Resume(in io.ReaderAt) bool {
	if !d.first.in(in) || !d.last.in(in) {
		return false
	}
	d.in.Reset(io.NewSectionReader(in, d.offset, math.MaxInt64-d.offset))
	return true
}

// Next returns the next record; [io.EOF]: there is none; [ErrTorn]: what follows cannot be read.
func (d *Decoder) Next() (*Record, error) {
	for {
		payload, err := d.next()
		if err != nil {
			return nil, err
		}
		r, err := d.decode(payload)
		if r != nil || err != nil {
			return r, err
		}
	}
}

// begin begins the next stream, if there is one here.
func (d *Decoder) begin() error {
	head, _ := d.in.Peek(len(Magic))
	if len(head) == len(Magic) && string(head[:len(magic)]) == magic { // no frame begins so: it would be of 102 bytes, and of the object 108
		version := head[len(magic)]
		if version < 1 || version > Magic[len(magic)] {
			return errVersion
		}
		_, _ = d.in.Discard(len(Magic))
		*d = Decoder{Wanted: d.Wanted, Skipped: d.Skipped, in: d.in, version: version, specs: map[int64]*v1alpha1.FederatedHPASpec{},
			sized: map[int64]*v1alpha1.MultidimPodAutoscalerSpec{}, place: d.place}
		d.pass(len(Magic), append([]byte(magic), version))
	}
	if _, err := d.in.Peek(1); err == io.EOF {
		return io.EOF
	}
	if d.version == 0 {
		return errVersion
	}
	return nil
}

var errVersion = errors.New("this is no record of decisions, or one of a later version")

// next returns the next frame.
func (d *Decoder) next() ([]byte, error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	head, _ := d.in.Peek(binary.MaxVarintLen64)
	size, n := binary.Uvarint(head)
	if n <= 0 || size > mostFrame {
		return nil, ErrTorn
	}
	_, _ = d.in.Discard(n)
	if cap(d.spare) < int(size)+4 {
		d.spare = make([]byte, size+4)
	}
	frame := d.spare[:size+4]
	if _, err := io.ReadFull(d.in, frame); err != nil {
		return nil, ErrTorn
	}
	payload := frame[:size]
	if binary.LittleEndian.Uint32(frame[size:]) != crc32.Checksum(payload, castagnoli) {
		return nil, ErrTorn
	}
	d.pass(n+len(frame), frame)
	return payload, nil
}

// decode returns the record of a frame; nil: it is not wanted, or left out.
func (d *Decoder) decode(b []byte) (*Record, error) {
	index, b, err := cutUvarint(b)
	if err != nil || index > uint64(len(d.objects)) {
		return nil, errDelta
	}
	if index == uint64(len(d.objects)) {
		var of read
		if d.version > 1 {
			var kind uint64
			if kind, b, err = cutUvarint(b); err != nil {
				return nil, err
			}
			of.Kind = Kind(kind)
		}
		for _, text := range []*string{&of.Namespace, &of.Name, &of.UID} {
			if *text, b, err = cutText(b); err != nil {
				return nil, err
			}
		}
		d.objects = append(d.objects, of)
		d.kept += perObject + len(of.Namespace) + len(of.Name) + len(of.UID)
	}
	if b, err = d.learn(b); err != nil {
		return nil, err
	}
	of := &d.objects[index]
	wanted := d.Wanted == nil || d.Wanted(of.Object)
	if of.Kind >= kinds {
		if wanted {
			d.Skipped++
		}
		return nil, d.bounded()
	}
	if d.numbers, err = patch(d.numbers, of.numbers, b); err != nil {
		return nil, err
	}
	d.kept -= len(of.numbers)
	of.numbers = appendNumbers(of.numbers[:0], d.numbers)
	d.kept += len(of.numbers)
	if err := d.bounded(); err != nil || !wanted {
		return nil, err
	}
	return d.read(of)
}

func (d *Decoder) bounded() error {
	if d.kept > Most {
		return fmt.Errorf("more than %d bytes would be kept of the record", Most)
	}
	return nil
}

// learn takes in the texts of a frame.
func (d *Decoder) learn(b []byte) ([]byte, error) {
	fresh, b, err := cutUvarint(b)
	if err != nil || fresh > uint64(len(b)) {
		return nil, errDelta
	}
	for range fresh {
		var text string
		if text, b, err = cutText(b); err != nil {
			return nil, err
		}
		d.texts = append(d.texts, text)
		d.kept += len(text) + perText
	}
	return b, nil
}

// read makes a record of the numbers.
func (d *Decoder) read(of *read) (*Record, error) {
	r, spec := &Record{Object: of.Object}, int64(0)
	l := ledger{reading: true, numbers: d.numbers, text: d.text}
	l.of(r, &spec)
	if l.err != nil || l.at != len(l.numbers) || len(r.Facts) > len(r.Question.Clusters) ||
		r.Outcome < Kept || r.Outcome > Observed {
		return nil, errors.Join(errDelta, l.err)
	}
	var err error
	if r.Sizes != nil {
		return d.readSizes(r, spec, !l.unsound)
	}
	if r.Spec, err = specOf(d, d.specs, spec, decodeSpec); err != nil {
		return nil, err
	}
	r.Question.Namespace, r.Question.Spec = of.Namespace, r.Spec.HorizontalPodAutoscalerSpec
	if r.Split != nil && !r.completeSplit() {
		d.Skipped++
		return nil, nil
	}
	return r, nil
}

func (d *Decoder) text(number int64) (string, bool) {
	if number < 1 || number > int64(len(d.texts)) {
		return "", false
	}
	return d.texts[number-1], true
}

// readSizes completes a record of sizes.
func (d *Decoder) readSizes(r *Record, spec int64, sound bool) (*Record, error) {
	var err error
	if r.Sizes.Question.Spec, err = specOf(d, d.sized, spec, decodeSizesSpec); err != nil {
		return nil, err
	}
	if r.Question.Namespace = r.Object.Namespace; !sound || !r.completeSizes() {
		d.Skipped++
		return nil, nil
	}
	return r, nil
}

// specOf returns the spec of that number, which is decoded once.
func specOf[T any](d *Decoder, known map[int64]*T, number int64, decode func(string) (*T, error)) (*T, error) {
	if spec := known[number]; spec != nil {
		return spec, nil
	}
	text, _ := d.text(number)
	spec, err := decode(text)
	if err != nil {
		return nil, err
	}
	known[number] = spec
	return spec, nil
}

func cutText(b []byte) (text string, rest []byte, err error) {
	size, b, err := cutUvarint(b)
	if err != nil || size > uint64(len(b)) {
		return "", nil, errDelta
	}
	return string(b[:size]), b[size:], nil
}
