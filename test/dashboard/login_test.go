// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	fleetscale "github.com/fleetscale/fleetscale/pkg/plugin/dashboard"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

const (
	tokenOf   = "a-token-of-" // and a name
	annsToken = tokenOf + "ann"
)

// guarded is a hub that knows one token of each of these.
func guarded(hub http.Handler, names ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+tokenOf)
		switch {
		case !is || !slices.Contains(names, name):
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status: metav1.StatusFailure, Reason: metav1.StatusReasonUnauthorized, Code: http.StatusUnauthorized})
		case strings.HasSuffix(r.URL.Path, "/selfsubjectreviews"):
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(authenticationv1.SelfSubjectReview{
				TypeMeta: metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectReview"},
				Status:   authenticationv1.SelfSubjectReviewStatus{UserInfo: authenticationv1.UserInfo{Username: name}}})
		default:
			hub.ServeHTTP(w, r)
		}
	}
}

// share serves the page for many readers, of a hub that knows ann, and returns its address.
func share(t *testing.T, hub http.Handler) string {
	t.Helper()
	behind := httptest.NewTLSServer(guarded(hub, "ann"))
	t.Cleanup(behind.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: behind.Certificate().Raw})
	ctx, end := context.WithCancel(t.Context())
	shared, err := fleetscale.NewShared(ctx, &rest.Config{Host: behind.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}, 20)
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewTLSServer(shared)
	ended := make(chan struct{})
	go func() { defer close(ended); shared.Run() }()
	t.Cleanup(func() {
		end()
		served.Close()
		<-ended
	})
	return served.URL
}

const (
	form     = `document.title.startsWith("Log in") && document.activeElement.id === "token"`
	loggedIn = `document.querySelector("#reader") && document.querySelector("#reader").innerText.includes("ann")`
)

// Who has no token is asked for one by a form that keys and screen readers can use; a wrong one is refused with the reason, and a right one
// shows the fleet and its past, until its reader logs out.
func TestLogin(t *testing.T) {
	hub := &dashboardtest.Hub{}
	hub.Put(dashboardtest.Members, dashboardtest.Member("east", 12, time.Now()))
	hub.Put(dashboardtest.FederatedHPAs, dashboardtest.FederatedHPA("shop", "cart", time.Now(), 60, 12, "east"))
	hub.PutRecord("shop", "cart", recordsOf(t, recordingtest.Hour(time.Now().Add(-61*time.Minute), "cart"))...)
	at := share(t, hub)
	b := browse(t)
	b.unbound() // for what searches the page: without it the policy was kept, too
	b.do(security.SetIgnoreCertificateErrors(true), chromedp.Navigate(at))
	b.await("the form is there, and has the focus", form)
	if got := value[string](b, `[...document.querySelectorAll("label")].map((one) => one.innerText + ":" + one.control.id).join()`); got !=
		"Token:token,Namespace:namespace" {
		t.Errorf("the fields are %s", got)
	}
	b.shutsOut("the form")

	b.press(strings.Split("a-token-of-eve", "")...)
	b.press(kb.Enter)
	const alert = `document.querySelector("[role=alert]")`
	b.await("it is refused", alert+` && `+alert+`.innerText === "The hub does not accept this token: it may have expired." && `+form)
	got := value[string](b, `document.getElementById(document.activeElement.getAttribute("aria-describedby")).innerText`)
	if !strings.Contains(got, "does not accept") {
		t.Errorf("the field is described by %q", got)
	}
	if got := value[string](b, `document.querySelector("#token").value + document.body.innerText`); strings.Contains(got, "eve") {
		t.Errorf("the token is repeated: %s", got)
	}
	b.shutsOut("the form after a refusal")

	b.press(strings.Split(annsToken, "")...)
	b.press(kb.Tab)
	if got := value[string](b, `document.activeElement.id`); got != "namespace" {
		t.Errorf("the next key leads to %q", got)
	}
	b.press(kb.Tab)
	if got := value[string](b, focused); got != "Log in" {
		t.Errorf("the next key leads to %q", got)
	}
	b.press(kb.Enter)
	b.await("the fleet is there", loggedIn+` && document.querySelectorAll(".tiles li").length === 1`)
	if got := value[string](b, `document.cookie + location.href`); got != at+"/" {
		t.Errorf("scripts can read %s", got)
	}
	b.do(chromedp.Navigate(at + "/#/autoscaler/fhpa/shop/cart"))
	b.await("the past is there", `document.body.innerText.includes("241 decisions are recorded")`)
	b.shutsOut("an autoscaler")

	b.do(chromedp.Focus("#reader button"))
	b.press(kb.Enter)
	b.await("the form is there again", form)
	b.do(chromedp.Navigate(at + "/#/autoscaler/fhpa/shop/cart"))
	b.await("the page is gone", form)
	b.allow("401") // which is how a page without a token is answered
}

func recordsOf(t *testing.T, stream []byte) (all []*recording.Record) {
	t.Helper()
	for d := recording.NewDecoder(strings.NewReader(string(stream))); ; {
		r, err := d.Next()
		if err != nil {
			return all
		}
		all = append(all, r)
	}
}
