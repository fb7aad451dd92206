// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// askedHub is a hub that is asked for nothing but its namespace kube-system, and fails so many times before it tells.
type askedHub struct {
	kubernetes.Interface
	faults []error
	uid    types.UID
	asked  []time.Time
}

func (h *askedHub) CoreV1() typedcorev1.CoreV1Interface { return hubCore{hub: h} }

type hubCore struct {
	typedcorev1.CoreV1Interface
	hub *askedHub
}

func (c hubCore) Namespaces() typedcorev1.NamespaceInterface { return hubNamespaces{hub: c.hub} }

type hubNamespaces struct {
	typedcorev1.NamespaceInterface
	hub *askedHub
}

func (n hubNamespaces) Get(context.Context, string, metav1.GetOptions) (*corev1.Namespace, error) {
	h := n.hub
	h.asked = append(h.asked, time.Now())
	if before := len(h.asked) - 1; before < len(h.faults) {
		return nil, h.faults[before]
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{UID: h.uid}}, nil
}

// A hub that does not say who it is is asked again soon, then less often, up to the period; people are told once for
// each reason. When it has said so it is asked no more.
func TestIdentifyHub(t *testing.T) {
	t.Parallel()
	forbidden, refused := apierrors.NewForbidden(corev1.Resource("namespaces"), "kube-system", errors.New("no")),
		errors.New("connection refused")
	absent := apierrors.NewNotFound(corev1.Resource("namespaces"), "kube-system")
	tests := map[string]struct {
		faults []error
		waits  []time.Duration // between two questions, before they are spread
		told   int
	}{
		"at once":                {nil, nil, 0},
		"after a failure":        {[]error{refused}, []time.Duration{1}, 1},
		"after many of one kind": {[]error{refused, refused, refused, refused, refused, refused}, []time.Duration{1, 2, 4, 8, 10, 10}, 1},
		"after many kinds":       {[]error{refused, forbidden, forbidden, refused, absent, absent}, []time.Duration{1, 2, 4, 8, 10, 10}, 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				log := funcr.New(func(string, string) { told++ }, funcr.Options{})
				hub := &askedHub{faults: tc.faults, uid: "hub-uid"}
				r := New(Options{Hub: hub, ProbePeriod: 10 * time.Second})
				r.identifyHub(klog.NewContext(t.Context(), log))
				if !r.isHub("hub-uid") {
					t.Error("the hub's uid is not known")
				}
				if told != tc.told {
					t.Errorf("told %d times, want %d", told, tc.told)
				}
				var waits []time.Duration
				for i, asked := range hub.asked[1:] { // a wait is spread by a twentieth to either side
					waits = append(waits, asked.Sub(hub.asked[i]).Round(time.Second)/time.Second)
				}
				fleettest.Same(t, "waits", tc.waits, waits)
			})
		})
	}
}

// While the hub has not told its uid nothing is taken for it; that it was asked is known.
func TestAHubThatIsNotIdentified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), time.Minute)
		defer cancel()
		hub := &askedHub{} // its namespace has no uid
		r := New(Options{Hub: hub})
		r.identifyHub(ctx)
		if want := (hubIdentity{tried: true}); r.hub != want {
			t.Errorf("known of the hub: %+v, want %+v", r.hub, want)
		}
		if r.isHub("") {
			t.Error("a cluster without uid is taken for the hub")
		}
	})
}
