// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

func weightless([]byte) (int64, error) { return 0, nil }

func TestDecodeEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, never := NewReading(), make(chan struct{})
		hang := func([]byte) (int, error) { <-never; return 1, nil }
		attempt := func() (time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			_, err := Decode(ctx, r, nil, weightless, hang)
			return time.Since(begin), err
		}
		var took []time.Duration
		for range mostStuck + 2 {
			d, err := attempt()
			if silence, _ := fleet.Classify(err); silence == nil || silence.Reason != fleet.ReasonBadAnswer {
				t.Errorf("error %v, want BadAnswer", err)
			}
			took = append(took, d)
		}
		want := []time.Duration{time.Second, time.Second, time.Second, time.Second, 0, 0}
		fleettest.Same(t, "how long attempts took", want, took)
		close(never)
		synctest.Wait()
		if got, err := Decode(t.Context(), r, nil, weightless, hang); got != 1 || err != nil {
			t.Errorf("after the decoders came back: %d, %v", got, err)
		}
	})
}

// An answer for which hardly any of the deadline was left is too late, and no offence.
func TestDecodeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, never := NewReading(), make(chan struct{})
		defer close(never)
		ctx, cancel := context.WithTimeout(t.Context(), fairTime/2)
		defer cancel()
		_, err := Decode(ctx, r, nil, weightless, func([]byte) (int, error) { <-never; return 1, nil })
		wantReason(t, err, fleet.ReasonTimeout, "too late to be decoded")
		if r.intake.conduct.offences != 0 {
			t.Error("it counts as an offence")
		}
	})
}

func TestDecodeBoundsDecoders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, never := NewReading(), make(chan struct{})
		begun := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 100 {
			go func() {
				_, _ = Decode(ctx, r, nil, weightless, func([]byte) (int, error) { begun++; <-never; return 0, nil })
			}()
			synctest.Wait()
		}
		if begun != mostReading {
			t.Errorf("%d decoders run at once, want %d", begun, mostReading)
		}
		<-ctx.Done()
		synctest.Wait()
		close(never)
		synctest.Wait()
		if stuck := r.stuck.Load(); stuck != 0 {
			t.Errorf("%d count as stuck after all came back", stuck)
		}
	})
}

func TestDecodeTellsWhyItWasCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("left")
		ctx, cancel := context.WithCancelCause(t.Context())
		r, never := NewReading(), make(chan struct{})
		defer close(never)
		go cancel(left)
		if _, err := Decode(ctx, r, nil, weightless, func([]byte) (int, error) { <-never; return 0, nil }); !errors.Is(err, left) {
			t.Errorf("error %v, want %v", err, left)
		}
	})
}

func TestDecoderThatPanics(t *testing.T) {
	p := NewPeer("east", Options{}.WithDefaults(), NewMetrics(prometheus.NewRegistry()), func(fleet.Reason) {}, nil)
	r := p.Reading()
	for range 3 {
		got, err := Decode(t.Context(), r, []byte("evil"), weightless, func([]byte) (int, error) { panic("at the disco") })
		wantReason(t, err, fleet.ReasonBadAnswer, "made the program panic")
		if got != 0 {
			t.Errorf("it returned %d", got)
		}
	}
	wantReason(t, r.Guard(func() error { panic("at once") }), fleet.ReasonBadAnswer, "made the program panic")
	_, _, err := timed{panicking{}, answers().guard, r, time.Minute, false}.Decode([]byte(`{"kind":"Pod","apiVersion":"v1"}`), nil, nil)
	wantReason(t, err, fleet.ReasonBadAnswer, "made the program panic")
	if n := testutil.ToFloat64(p.meter.metrics.offences.WithLabelValues("east", "Panic")); n != 5 {
		t.Errorf("%v panics were counted, want 5", n)
	}
	if held := p.options.budget.held; held != 0 || len(r.places) != 0 {
		t.Errorf("after that %d bytes and %d places are held", held, len(r.places))
	}
	if got, err := Decode(t.Context(), r, nil, weightless, func([]byte) (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("then %d, %v", got, err)
	}
}

type panicking struct{ apiruntime.Decoder }

func (panicking) Decode([]byte, *schema.GroupVersionKind, apiruntime.Object) (apiruntime.Object, *schema.GroupVersionKind, error) {
	panic("in a library")
}

// Nobody waits for it any more.
func TestDecoderThatPanicsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, later := NewReading(), make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Decode(ctx, r, nil, weightless, func([]byte) (int, error) { <-later; panic("late") })
		wantReason(t, err, fleet.ReasonBadAnswer, "within the deadline")
		close(later)
		synctest.Wait()
		if stuck := r.stuck.Load(); stuck != 0 || len(r.places) != 0 {
			t.Errorf("%d decoders are stuck, %d places held", stuck, len(r.places))
		}
	})
}

func TestPanicIsLoggedOnce(t *testing.T) {
	logged := 0
	klog.SetLogger(funcr.New(func(_, args string) {
		if strings.Contains(args, "reading_test.go") && strings.Contains(args, `"cluster"="east"`) {
			logged++
		}
	}, funcr.Options{}))
	defer klog.ClearLogger()
	r := NewPeer("east", Options{}.WithDefaults(), nil, func(fleet.Reason) {}, nil).Reading()
	for range 3 {
		_ = r.Guard(func() error { panic("again") })
	}
	if logged != 1 {
		t.Errorf("%d times with the stack, want once", logged)
	}
}

func TestOffencesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPeer("east", Options{}.WithDefaults(), NewMetrics(prometheus.NewRegistry()), func(fleet.Reason) {}, nil)
		r, never := p.Reading(), make(chan struct{})
		defer close(never)
		left, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		_, _ = Decode(left, r, nil, weightless, func([]byte) (int, error) { <-never; return 0, nil }) // who asked is at fault
		for range mostStuck {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, _ = Decode(ctx, r, nil, weightless, func([]byte) (int, error) { <-never; return 0, nil })
			cancel()
		}
		_ = r.Endless(nil)
		_ = r.Endless(errors.New("no end"))
		r.intake.judge(errors.New("an ordinary fault"))
		r.intake.judge(BadAnswer("decoding", &guard.HarmfulError{}))
		r.intake.judge(BadAnswer("decoding", &guard.TooHeavyError{}))
		got := map[string]float64{}
		for _, o := range []offence{
			offenceTooLarge, offenceEndless, offenceHarmful, offenceTooHeavy, offenceContentType, offenceStuck, offencePanic,
		} {
			got[string(o)] = testutil.ToFloat64(p.meter.metrics.offences.WithLabelValues("east", string(o)))
		}
		fleettest.Same(t, "offences", map[string]float64{"TooLarge": 0, "EndlessList": 1, "HarmfulQuantity": 1, "TooHeavy": 1, "ContentType": 0,
			"Stuck": 4, "Panic": 0}, got)
	})
}
