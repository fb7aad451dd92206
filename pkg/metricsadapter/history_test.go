// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/historyapi"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

const (
	historyPath = "/apis/history.fleetscale.io/v1alpha1/namespaces/"
	ofCart      = historyPath + "shop/federatedhpas/cart/decisions"
)

type asking = func(ctx context.Context, object recording.Object, since time.Time) (io.ReadCloser, error)

// newHistory serves the history that a controller-manager is asked for so, in these namespaces; none: in all.
func newHistory(t *testing.T, mayAsk authorizer.Authorizer, ask asking, namespaces ...string) *hub {
	t.Helper()
	scope, err := tenancy.NewScope(namespaces)
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{t: t}
	h.adapter = New(Options{History: historyapi.New(historyapi.Options{Ask: ask, Scope: scope}), MaxAnswerBytes: 1 << 20})
	h.serve(mayAsk)
	return h
}

// says is a record of that text, or that it cannot be had.
func says(text string, err error) asking {
	return func(context.Context, recording.Object, time.Time) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), err
	}
}

func TestHistoryIsServed(t *testing.T) {
	var asked recording.Object
	var from time.Time
	var limit time.Duration
	h := newHistory(t, authorizerfactory.NewAlwaysAllowAuthorizer(),
		func(ctx context.Context, object recording.Object, since time.Time) (io.ReadCloser, error) {
			asked, from = object, since
			if deadline, limited := ctx.Deadline(); limited {
				limit = time.Until(deadline)
			}
			return io.NopCloser(strings.NewReader("the record")), nil
		})
	answer := h.ask(ofCart + query("since", "2027-03-01T09:30:00+01:00"))
	if answer.Code != http.StatusOK || answer.Body.String() != "the record" ||
		answer.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d %v: %s", answer.Code, answer.Header(), answer.Body)
	}
	object, since := recording.Object{Namespace: "shop", Name: "cart"}, time.Date(2027, 3, 1, 8, 30, 0, 0, time.UTC)
	if asked != object || !from.Equal(since) {
		t.Errorf("asked for %v since %v", asked, from)
	}
	if limit <= 0 || limit > 50*time.Second {
		t.Errorf("the controller-manager has %v", limit)
	}
	if h.ask(ofCart); !from.IsZero() {
		t.Errorf("asked since %v", from)
	}
	object.Kind = recording.SizesKind
	if h.ask(historyPath + "shop/multidimpodautoscalers/cart/decisions"); asked != object {
		t.Errorf("asked for %v, want %v", asked, object)
	}
	for path, want := range map[string]int{
		ofCart + query("since", "yesterday"):          http.StatusBadRequest,
		historyPath + "shop/federatedhpas/cart":       http.StatusMethodNotAllowed,
		historyPath + "shop/federatedhpas":            http.StatusNotFound,
		historyPath + "shop/cronfederatedhpas/cart":   http.StatusNotFound,
		"/apis/history.fleetscale.io":                 http.StatusOK,
		"/apis/history.fleetscale.io/v1alpha1/shop/x": http.StatusNotFound,
	} {
		if answer := h.ask(path); answer.Code != want && (want == http.StatusOK || answer.Code/100 != 4) {
			t.Errorf("%s: %d, want %d: %s", path, answer.Code, want, answer.Body)
		}
	}
	var resources metav1.APIResourceList
	if err := json.Unmarshal(h.ask("/apis/history.fleetscale.io/v1alpha1").Body.Bytes(), &resources); err != nil {
		t.Fatal(err)
	}
	want := []metav1.APIResource{
		{Name: "federatedhpas", SingularName: "federatedhpa", Namespaced: true, Kind: "FederatedHPAHistory", Verbs: metav1.Verbs{}},
		{Name: "federatedhpas/decisions", Namespaced: true, Kind: "FederatedHPAHistory", Verbs: metav1.Verbs{"get"}},
		{Name: "multidimpodautoscalers", SingularName: "multidimpodautoscaler", Namespaced: true, Kind: "MultidimPodAutoscalerHistory",
			Verbs: metav1.Verbs{}},
		{Name: "multidimpodautoscalers/decisions", Namespaced: true, Kind: "MultidimPodAutoscalerHistory", Verbs: metav1.Verbs{"get"}},
	}
	fleettest.Same(t, "discovery", want, resources.APIResources)
}

// Who may read an object's history is who has both rights: to its decisions, and to the object.
func TestHistoryNeedsTheRightToTheObject(t *testing.T) {
	type right struct{ group, resource, subresource, namespace, name string }
	decisions := right{"history.fleetscale.io", "federatedhpas", "decisions", "shop", "cart"}
	object := right{"autoscaling.karmada.io", "federatedhpas", "", "shop", "cart"}
	sizes := right{"history.fleetscale.io", "multidimpodautoscalers", "decisions", "shop", "cart"}
	for user, tc := range map[string]struct {
		rights []right
		fails  error
		want   int
		says   string
	}{
		"both": {rights: []right{decisions, object}, want: http.StatusOK},
		"decisions only": {rights: []right{decisions}, want: http.StatusForbidden,
			says: "the right to get federatedhpas.autoscaling.karmada.io, too: no role"},
		"the object only":   {rights: []right{object}, want: http.StatusForbidden},
		"that of its sizes": {rights: []right{sizes, object}, want: http.StatusForbidden},
		"another object":    {rights: []right{decisions, {object.group, object.resource, "", "shop", "web"}}, want: http.StatusForbidden},
		"another namespace": {rights: []right{decisions, {object.group, object.resource, "", "bank", "cart"}}, want: http.StatusForbidden},
		"its status only":   {rights: []right{decisions, {object.group, object.resource, "status", "shop", "cart"}}, want: http.StatusForbidden},
		"a hub that is away": {rights: []right{decisions}, fails: errors.New("connection refused"), want: http.StatusInternalServerError,
			says: "asking the hub who may read the FederatedHPA: connection refused"},
	} {
		t.Run(user, func(t *testing.T) {
			asked := 0
			h := newHistory(t, authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				for _, r := range tc.rights {
					if a.GetUser().GetName() == user && a.GetVerb() == "get" && a.IsResourceRequest() &&
						r == (right{a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName()}) {
						return authorizer.DecisionAllow, "", nil
					}
				}
				return authorizer.DecisionNoOpinion, "no role", tc.fails
			}), func(context.Context, recording.Object, time.Time) (io.ReadCloser, error) {
				asked++
				return io.NopCloser(strings.NewReader("")), nil
			})
			answer, may := h.ask(ofCart, "Test-User: "+user), map[bool]int{true: 1}[tc.want == http.StatusOK]
			if answer.Code != tc.want || !strings.Contains(answer.Body.String(), tc.says) || asked != may {
				t.Errorf("%d, and a controller-manager is asked %d times: %s", answer.Code, asked, answer.Body)
			}
		})
	}
}

func TestHistoryOfNamespacesThatAreNotInScope(t *testing.T) {
	h := newHistory(t, authorizerfactory.NewAlwaysAllowAuthorizer(), says("the record", nil), "bank")
	if answer := h.ask(ofCart); answer.Code != http.StatusForbidden || !strings.Contains(message(t, answer), "--namespaces") {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
	if answer := h.ask(historyPath + "bank/federatedhpas/cart/decisions"); answer.Code != http.StatusOK {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}

// Why there is none is said, and half of one is not passed off as the whole.
func TestHistoryThatCannotBeHad(t *testing.T) {
	h := newHistory(t, authorizerfactory.NewAlwaysAllowAuthorizer(), says("", errors.New("no controller-manager serves it")))
	if answer := h.ask(ofCart); answer.Code != http.StatusServiceUnavailable || message(t, answer) != "no controller-manager serves it" {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
	for range 3 { // those that failed left their places
		if answer := h.ask(ofCart); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%d: %s", answer.Code, answer.Body)
		}
	}
	h = newHistory(t, authorizerfactory.NewAlwaysAllowAuthorizer(),
		func(context.Context, recording.Object, time.Time) (io.ReadCloser, error) {
			half := strings.NewReader(strings.Repeat("half a record ", 1000))
			return io.NopCloser(io.MultiReader(half, iotest.ErrReader(errors.New("it is longer than it may be")))), nil
		})
	server := httptest.NewServer(h.handler)
	defer server.Close()
	answer, err := http.Get(server.URL + ofCart)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if read, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("%d bytes are taken for the whole", len(read))
	}
}

// A namespace has one place, and there are few.
func TestHistoryIsReadByFew(t *testing.T) {
	reading, end := make(chan struct{}), make(chan struct{})
	h := newHistory(t, authorizerfactory.NewAlwaysAllowAuthorizer(),
		func(ctx context.Context, object recording.Object, _ time.Time) (io.ReadCloser, error) {
			if object.Name == "slow" {
				reading <- struct{}{}
				select {
				case <-end:
				case <-ctx.Done():
				}
			}
			return io.NopCloser(strings.NewReader("the record")), nil
		})
	of := func(namespace, name string) *httptest.ResponseRecorder {
		return h.ask(historyPath + namespace + "/federatedhpas/" + name + "/decisions")
	}
	done := make(chan int)
	slow := func(namespace string) {
		go func() { done <- of(namespace, "slow").Code }()
		<-reading
	}
	slow("shop")
	if busy := of("shop", "cart"); busy.Code != http.StatusTooManyRequests || busy.Header().Get("Retry-After") == "" {
		t.Errorf("the same namespace: %d %v", busy.Code, busy.Header())
	}
	if other := of("bank", "cart"); other.Code != http.StatusOK {
		t.Errorf("another namespace: %d: %s", other.Code, other.Body)
	}
	for _, letter := range "abcdefghijklmno" {
		slow(string(letter))
	}
	if busy := of("bank", "cart"); busy.Code != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", busy.Code)
	}
	close(end)
	for range 16 {
		if code := <-done; code != http.StatusOK {
			t.Errorf("%d", code)
		}
	}
	for _, namespace := range []string{"shop", "bank"} {
		if again := of(namespace, "cart"); again.Code != http.StatusOK {
			t.Errorf("afterwards, in %s: %d", namespace, again.Code)
		}
	}
}
