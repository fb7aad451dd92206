// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"bytes"
	"sync"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// records are those that the controller made, encoded at once as they are in the program.
type records struct {
	mu      sync.Mutex
	encoder *recording.Encoder
	stream  []byte
	err     error
}

func (r *records) Record(record *recording.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.encoder == nil {
		r.encoder, r.stream = recording.NewEncoder(), []byte(recording.Magic)
	}
	if r.stream, r.err = r.encoder.Append(r.stream, record); r.err != nil {
		panic(r.err)
	}
}

func (r *records) read(t *testing.T) []*recording.Record {
	t.Helper()
	return recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(r.stream)))
}

// A record tells what was decided and what came of it, and is decided again as it was: of a day with a peak, a cluster that cannot be
// seen, a hand on the scale, an edit and another leader.
func TestWhatIsRecorded(t *testing.T) {
	for name, w := range map[string]*world{"on the hub": onHub(t), "in members": inMembers(t, map[string]int32{"east": 5, "west": 5})} {
		t.Run(name, func(t *testing.T) {
			round := func() {
				_ = w.reconcileN(1)
			}
			round()
			w.usesPercent(75)
			for _, refused := range []func() error{func() error { return errHeld }, nil} {
				w.hub.failSet, w.members["east"].FailSet, w.members["west"].FailSet = refused, refused, refused
				round()
			}
			w.usesPercent(50)
			round()
			w.members["west"].Silent = federatedhpatest.Silence()
			w.usesPercent(5)
			round()
			w.members["west"].Silent = nil
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 12 })
			round()
			w.restart()
			round()
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Mode = v1alpha1.ModeObserve })
			round()
			type line struct {
				Current, Decided, After int32
				Outcome                 recording.Outcome
			}
			all := w.records.read(t)
			var got []line
			for _, r := range all {
				got = append(got, line{r.Question.Scale.Replicas, r.Decided, r.After, r.Outcome})
			}
			want := []line{
				{10, 10, 10, recording.Kept}, {10, 15, 10, recording.Refused}, {10, 15, 15, recording.Scaled}, {15, 15, 15, recording.Kept},
				{15, 15, 15, recording.Kept}, {15, 12, 12, recording.Scaled}, {12, 12, 12, recording.Kept}, {12, 12, 12, recording.Observed},
			}
			fleettest.Same(t, "", want, got)
			result, err := replay.Run(all, replay.Options{})
			if err != nil || result.Differences != 0 {
				t.Errorf("%d differences, %v", result.Differences, err)
			}
			if p := result.Points[4]; p.Unknown != replay.Unseen {
				t.Errorf("with a silent cluster: %+v", p)
			}
			if f := all[1].Facts; len(f) != 2 || f[0].Ready == nil || *f[0].Ready != 5 || f[0].Age == nil {
				t.Errorf("of the clusters is known: %+v", f)
			}
		})
	}
}
