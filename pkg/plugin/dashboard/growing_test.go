// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

var cartAndTill = []recording.Object{{Namespace: "shop", Name: "cart"}, {Namespace: "shop", Name: "till"}}

// metered counts the bytes that are read.
type metered struct {
	io.ReaderAt

	read int
}

func (m *metered) ReadAt(b []byte, at int64) (int, error) {
	n, err := m.ReaderAt.ReadAt(b, at)
	m.read += n
	return n, err
}

// follow has a record be as it is now, and returns how many bytes of it were read.
func follow(t *testing.T, g *growing, content []byte, of []recording.Object) int {
	t.Helper()
	m := &metered{ReaderAt: bytes.NewReader(content)}
	if err := g.follow(t.Context(), m, of); err != nil {
		t.Fatal(err)
	}
	return m.read
}

// sameAsWhole compares what is known after a record was followed with what a reading of the whole has.
func sameAsWhole(t *testing.T, what string, g *growing, content []byte) {
	t.Helper()
	whole := &growing{}
	follow(t, whole, content, cartAndTill)
	for _, of := range cartAndTill {
		if diff := gocmp.Diff(whole.pasts[of].known(), g.pasts[of].known(), gocmp.AllowUnexported(recorded{})); diff != "" {
			t.Fatalf("%s: %s (-whole +followed):\n%s", what, of.Name, diff)
		}
	}
}

// A record that is followed is known as one that is read whole, wherever it ended meanwhile; and of what has grown no more is read than
// that, the first frame and the last one that was whole, which are compared, and what was torn.
func TestGrowingRecord(t *testing.T) {
	hour := func(at int) []byte { return recordingtest.Hour(noon.Add(time.Duration(at)*time.Hour), "cart", "till") }
	content := slices.Concat(hour(0), hour(1)) // two segments
	largest := 0
	for d := recording.NewDecoder(bytes.NewReader(content)); ; {
		before := d.Offset()
		if _, err := d.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, int(d.Offset()-before))
	}
	r, g, from := rand.New(rand.NewPCG(3, 4)), &growing{}, 1000
	follow(t, g, content[:from], cartAndTill)
	for from < len(content) {
		to := min(len(content), from+1+r.IntN(2000))
		if read := follow(t, g, content[:to], cartAndTill); read > to-from+3*largest {
			t.Fatalf("from %d to %d bytes: %d are read; the largest frame has %d", from, to, read, largest)
		}
		sameAsWhole(t, "", g, content[:to])
		from = to
	}
	if read := follow(t, g, content, cartAndTill); read > 2*largest {
		t.Errorf("nothing is new, and %d bytes are read", read)
	}
	if d := g.pasts[cartAndTill[0]]; d.Decisions != 482 || d.Torn {
		t.Errorf("%+v", d)
	}
}

// A record that is no longer what was read is read again, whole.
func TestRecordThatIsAnother(t *testing.T) {
	hour := recordingtest.Hour(noon, "cart", "till")
	later := recordingtest.Hour(noon.Add(24*time.Hour), "cart", "till")
	if len(later) != len(hour) {
		t.Fatalf("%d and %d bytes", len(hour), len(later))
	}
	half, torn := hour[:len(hour)/2], hour[:len(hour)-1]
	for name, tc := range map[string]struct{ before, after []byte }{
		"grown":                      {half, hour},
		"shrunk":                     {hour, half},
		"shrunk by what was torn":    {torn, hour[:len(hour)-3]},
		"emptied":                    {hour, nil},
		"empty at first":             {nil, hour},
		"replaced, of the same size": {hour, later},
		"replaced, and larger":       {half, later},
		"the last frame completed":   {torn, hour},
		"a stream completed":         {slices.Concat(half, later[:10]), slices.Concat(half, later)},
		"the magic completed":        {slices.Concat(hour, later[:10]), slices.Concat(hour, later)},
	} {
		g := &growing{}
		follow(t, g, tc.before, cartAndTill)
		follow(t, g, tc.after, cartAndTill[:1])
		sameAsWhole(t, name, g, tc.after)
	}
}

// What one asks for that nobody has asked for yet is read from the beginning. If that is not what it was, all is.
func TestGrowingRecordOfMore(t *testing.T) {
	content := recordingtest.Hour(noon, "cart", "till")
	g := &growing{}
	follow(t, g, content[:len(content)/2], cartAndTill[:1])
	follow(t, g, content, cartAndTill[1:])
	sameAsWhole(t, "one more", g, content)

	damaged := slices.Clone(content)
	damaged[len(damaged)/2]++
	other := []recording.Object{{Namespace: "shop", Name: "none"}}
	if err := g.follow(t.Context(), bytes.NewReader(damaged), other); !errors.Is(err, recording.ErrTorn) {
		t.Error(err)
	}
	follow(t, g, damaged, other)
	sameAsWhole(t, "damaged", g, damaged)

	if err := g.follow(t.Context(), bytes.NewReader([]byte("this is no record")), other); err == nil {
		t.Error("it is read")
	}
	follow(t, g, content, other)
	sameAsWhole(t, "no record meanwhile", g, content)
}

// What was read when the time was up is not read again.
func TestGrowingRecordInParts(t *testing.T) {
	content := recordingtest.Hour(noon, "cart", "till")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := &growing{}
	for range 100 {
		if err := g.follow(ctx, bytes.NewReader(content), cartAndTill); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if n := g.pasts[cartAndTill[0]].Decisions + g.pasts[cartAndTill[1]].Decisions; n != 100 {
		t.Errorf("%d decisions", n)
	}
	follow(t, g, content, cartAndTill)
	sameAsWhole(t, "", g, content)
}
