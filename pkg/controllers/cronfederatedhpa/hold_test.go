// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// While the hub serves another schema nothing is even read.
func TestHold(t *testing.T) {
	r := New(Options{Clock: clocktesting.NewFakePassiveClock(time.Now()), Hold: func() error { return errors.New("not ours") }})
	result, err := r.Reconcile(t.Context(), reconcile.Request{})
	if err != nil || result.RequeueAfter != untilFree {
		t.Errorf("%v after %v, want another reconcile after %v", err, result.RequeueAfter, untilFree)
	}
}

// While another controller writes the status nothing is done, and said to be so.
func TestAnotherControllerWritesTheStatus(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	object := newCron(federated, setsMin("r", "0 9 * * *", 5))
	written := []metav1.ManagedFieldsEntry{{Manager: "karmada-controller-manager", Subresource: "status",
		Time: new(metav1.NewTime(clock.Now().Add(time.Minute)))}}
	hub := interceptor.NewClient(fakeHub(t, object), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, found client.Object, opts ...client.GetOption) error {
			defer func() { found.SetManagedFields(written) }()
			return c.Get(ctx, key, found, opts...)
		},
	})
	heard := events.NewFakeRecorder(1)
	r := New(Options{Hub: hub, Clock: clock, Events: heard, Hold: func() error { return nil }})
	clock.SetTime(clock.Now().Add(2 * time.Minute))
	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	if err == nil || !strings.Contains(err.Error(), "karmada-controller-manager") {
		t.Errorf("error %v, want one that names the other", err)
	}
	if said := <-heard.Events; !strings.HasPrefix(said, "Warning "+eventAnotherController) {
		t.Errorf("said %q", said)
	}
}
