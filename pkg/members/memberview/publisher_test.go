// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/configmap"
	"github.com/fleetscale/fleetscale/pkg/members/member"
)

// nobody is a fleet without members, or one that is not known yet.
type nobody struct{ unsettled error }

func (nobody) All() []*member.Member { return nil }
func (n nobody) Settled() error      { return n.unsettled }

// at are where a record is.
func at(addresses ...string) func() []string { return func() []string { return addresses } }

// What stands there is not overwritten before all is known that would be written.
func TestNothingIsPublishedTooSoon(t *testing.T) {
	known := func() (map[string]time.Time, bool) { return nil, true }
	for name, tc := range map[string]struct {
		change func(*Publisher)
		want   bool
	}{
		"all is known":          {func(*Publisher) {}, true},
		"the members are not":   {func(p *Publisher) { p.Fleet = nobody{errors.New("waiting")} }, false},
		"the tokens are not":    {func(p *Publisher) { p.Expiries = func() (map[string]time.Time, bool) { return nil, false } }, false},
		"what is stored is not": {func(p *Publisher) { p.read = false }, false},
		"the same is stored": {func(p *Publisher) {
			p.renewed = renewal{time.Now(), "now"}
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now"}}
		}, false},
		"the same is stored, and was not renewed": {func(p *Publisher) {
			p.renewed = renewal{time.Now().Add(-renewEvery), "then"}
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "then"}}
		}, true},
		"the same is stored, by a leader that serves no record": {func(p *Publisher) {
			p.renewed, p.Records = renewal{time.Now(), "now"}, at("10.1.2.3:8444")
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now"}}
		}, true},
		"the same is stored, with its record": {func(p *Publisher) {
			p.renewed, p.Records = renewal{time.Now(), "now"}, at("10.1.2.3:8444")
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now", recordKey: "10.1.2.3:8444"}}
		}, false},
		"the same is stored, with the record of a former leader": {func(p *Publisher) {
			p.renewed = renewal{time.Now(), "now"}
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now", recordKey: "10.1.2.3:8444"}}
		}, true},
		"the same is stored, with the record of one replica of two": {func(p *Publisher) {
			p.renewed, p.Records = renewal{time.Now(), "now"}, at("10.1.2.3:8444", "10.1.2.4:8444")
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now", recordKey: "10.1.2.3:8444"}}
		}, true},
		"the same is stored, with the records of both": {func(p *Publisher) {
			p.renewed, p.Records = renewal{time.Now(), "now"}, at("10.1.2.3:8444", "10.1.2.4:8444")
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now", recordKey: "10.1.2.3:8444,10.1.2.4:8444"}}
		}, false},
		"the same is stored, by another program": {func(p *Publisher) {
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now"}}
		}, true},
		"more is stored than there is": {func(p *Publisher) {
			p.renewed = renewal{time.Now(), "now"}
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: "now", "gone": "{}"}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			hub := fake.NewClientset()
			p := NewPublisher(Options{Hub: hub, Namespace: "fleetscale-system", Fleet: nobody{}, Expiries: known, Timeout: time.Second})
			p.read = true
			tc.change(p)
			writes := 0
			hub.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { writes++; return true, nil, nil })
			if err := p.publish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := writes > 0; got != tc.want {
				t.Errorf("written: %v, want %v: %v", got, tc.want, hub.Actions())
			}
		})
	}
}

func TestConfigMapIsCreatedThenPatched(t *testing.T) {
	hub := fake.NewClientset()
	ctx := t.Context()
	want := encode(map[string]View{"east": silentView(), "west": silentView()}, nil, leader("now"))
	write := func(read configmap.Stored, want map[string]string) *corev1.ConfigMap {
		t.Helper()
		if err := configmap.Write(ctx, hub, nameIn("fleetscale-system"), read, want); err != nil {
			t.Fatal(err)
		}
		stored, err := hub.CoreV1().ConfigMaps("fleetscale-system").Get(ctx, Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	first := write(configmap.Stored{}, want)
	fleettest.Same(t, "created", want, first.Data)
	delete(want, "east")
	second := write(configmap.Stored{Exists: true, Version: first.ResourceVersion, Data: first.Data}, want)
	fleettest.Same(t, "patched", want, second.Data)
}

// A hub that refuses is asked again, and no more often.
func TestPublishingIsBoundedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		p := NewPublisher(Options{
			Hub: fake.NewClientset(), HubDynamic: nil, Namespace: "fleetscale-system", Fleet: nobody{}, Timeout: time.Second,
			Expiries: func() (map[string]time.Time, bool) { calls++; return nil, false },
		})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		p.loop(ctx)
		if calls < 11 || calls > 12 {
			t.Errorf("compared %d times in a minute, want every %v", calls, period)
		}
	})
}

// While nothing changes, what is stored is renewed once a minute.
func TestRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := fake.NewClientset()
		p := NewPublisher(Options{
			Hub: hub, Namespace: "fleetscale-system", Fleet: nobody{}, Timeout: time.Second,
			Expiries: func() (map[string]time.Time, bool) { return nil, true },
		})
		p.read = true
		hub.PrependReactor("*", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
			p.mu.Lock() // as if it were read again at once
			defer p.mu.Unlock()
			p.stored = configmap.Stored{Exists: true, Data: map[string]string{renewedKey: time.Now().UTC().Format(time.RFC3339)}}
			return true, nil, nil
		})
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute+time.Second)
		defer stop()
		p.loop(ctx)
		if n := len(hub.Actions()); n < 10 || n > 11 {
			t.Errorf("written %d times in 10 minutes, want once a minute", n)
		}
	})
}
