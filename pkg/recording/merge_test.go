// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

// What an object's replicas recorded by turns is one record, whoever had it when, and whatever several of them have.
func TestMerge(t *testing.T) {
	all := fleetOf(3, 60).Run(60)
	whole := recordingtest.Stream(all...)
	none := recordingtest.Stream()
	for name, parts := range map[string][][]byte{
		"one":                        {whole},
		"none of the others has any": {none, whole, none},
		"one after the other":        {recordingtest.Stream(all[:20]...), recordingtest.Stream(all[20:]...)},
		"in another order":           {recordingtest.Stream(all[20:]...), recordingtest.Stream(all[:20]...)},
		"back to the first":          {recordingtest.Stream(append(all[:20:20], all[40:]...)...), recordingtest.Stream(all[20:40]...)},
		"all have all":               {whole, whole, whole},
		"they share a part":          {recordingtest.Stream(all[:40]...), recordingtest.Stream(all[20:]...)},
	} {
		t.Run(name, func(t *testing.T) {
			var streams []io.Reader
			for _, part := range parts {
				streams = append(streams, bytes.NewReader(part))
			}
			var merged bytes.Buffer
			if err := recording.Merge(&merged, streams...); err != nil {
				t.Fatal(err)
			}
			want := recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(whole)))
			fleettest.Same(t, "merged", want, recordingtest.Read(t, recording.NewDecoder(&merged)))
		})
	}
}

// What is merged is whole, or an error says that it is not.
func TestMergeOfParts(t *testing.T) {
	all := fleetOf(3, 20).Run(20)
	stream := recordingtest.Stream(all...)
	broken := errors.New("the connection broke")
	for name, part := range map[string]io.Reader{
		"torn":           bytes.NewReader(stream[:len(stream)-3]),
		"no record":      strings.NewReader("<html>"),
		"it broke off":   io.MultiReader(bytes.NewReader(stream), &failing{broken}),
		"from the start": &failing{broken},
	} {
		if err := recording.Merge(io.Discard, bytes.NewReader(stream), part); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := recording.Merge(&failing{broken}, bytes.NewReader(stream)); !errors.Is(err, broken) {
		t.Errorf("nobody reads it: %v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error)  { return 0, f.err }
func (f *failing) Write([]byte) (int, error) { return 0, f.err }
