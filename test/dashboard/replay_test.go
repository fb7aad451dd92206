// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

// replayed is a page of a record of an hour, of an autoscaler whose name is what nobody should run.
func replayed(t *testing.T, name string, o replaying.Options) string {
	t.Helper()
	return replayedOf(t, recordingtest.Hour(recordingtest.Start, name), o)
}

// replayedOf is a page of a record.
func replayedOf(t *testing.T, record []byte, o replaying.Options) string {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	out := &bytes.Buffer{}
	in := bytes.NewReader(record)
	o.Words, o.Format, o.CutOff = []string{"-"}, "html", 95
	caller := plugin.NewCaller(genericiooptions.IOStreams{In: in, Out: out, ErrOut: io.Discard})
	if err := replaying.Replay(t.Context(), caller, o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "replay.html")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// A replay is a page that everybody can use, and on which what was recorded is text.
func TestReplayAsAPage(t *testing.T) {
	b := browse(t)
	b.unbound()
	for what, tc := range map[string]struct {
		options replaying.Options
		there   string
	}{
		"a replay": {replaying.Options{Set: []string{"spec.maxReplicas=40"}}, titles + ` === "Replicas,Use,east" &&
			document.querySelectorAll(".chart svg").length === 3 && document.querySelectorAll(".chart")[2].innerText.includes("an estimate")`},
		"targets": {replaying.Options{Sweep: replaying.SweepOptions{Wished: true, Within: 1, Headroom: 20}},
			`document.querySelector("img.still")`},
	} {
		b.do(chromedp.Navigate(replayed(t, evil, tc.options)))
		b.await(what+" is there", tc.there)
		if got := value[string](b, `document.querySelector("h1").innerText`); got != "FederatedHPA shop/"+evil {
			t.Errorf("%s is headed %q", what, got)
		}
		if n := value[int](b, `document.querySelectorAll("main script, main img:not(.still)").length`); n != 0 {
			t.Errorf("%s: %d elements were made of text", what, n)
		}
		b.shutsOut(what)
	}
}

// The curves are read by keys, also where the load is not known. The page keeps to its own policy.
func TestReplayByKeys(t *testing.T) {
	b := browse(t)
	b.do(chromedp.Navigate(replayed(t, "cart", replaying.Options{Set: []string{"spec.maxReplicas=40"}})))
	b.await("the curves are there", `document.querySelector("input[type=range]")`)
	for range 8 {
		if b.press(kb.Tab); value[string](b, focused) == "Time" {
			break
		}
	}
	const told = `document.activeElement.getAttribute("aria-valuetext")`
	if got := value[string](b, told); !strings.Contains(got, "max as it was 12, max as it would be 40") ||
		!strings.Contains(got, "replicas as it was 12, replicas as it would be 15") {
		t.Errorf("at the end the slider says %q", got)
	}
	for range 120 { // back to where the load rose
		b.press(kb.ArrowLeft)
		if strings.Contains(value[string](b, told), "load not known: CutOff") {
			return
		}
	}
	t.Errorf("the slider says nowhere that the load is not known, and at last %q", value[string](b, told))
}

// With a record the page of an autoscaler has its past: two moments of it beside each other, and what another spec would have done.
func TestPastOfAnAutoscaler(t *testing.T) {
	b := browse(t)
	hub := &dashboardtest.Hub{}
	hub.Put(dashboardtest.Members, dashboardtest.Member("east", 12, time.Now()))
	hub.Put(dashboardtest.FederatedHPAs, dashboardtest.FederatedHPA("shop", "cart", time.Now(), 60, 12, "east"))
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	record := filepath.Join(t.TempDir(), "cart.fsr")
	if err := os.WriteFile(record, recordingtest.Hour(time.Now().Add(-61*time.Minute), "cart"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := serve(t, &rest.Config{Host: server.URL}, record)
	b.do(chromedp.Navigate(at + "#/autoscaler/fhpa/shop/cart"))
	b.await("the past is there", `document.body.innerText.includes("241 decisions are recorded")`)
	b.await("two moments are explained",
		`[...document.querySelectorAll(".pair pre")].every((text) => text.innerText.includes("replicas, from"))`)

	to := func(name string) {
		t.Helper()
		for range 40 {
			if value[string](b, focused) == name {
				return
			}
			b.press(kb.Tab)
		}
		t.Fatalf("no key leads to %q", name)
	}
	to("Time")
	b.press(kb.ArrowLeft)
	to("B is the moment of the timeline")
	b.press(kb.Enter)
	b.await("the moment is the other",
		`document.querySelector("#compare").parentElement.querySelector("[role=status]").innerText.startsWith("B is ")`)
	b.await("it is explained", `document.querySelectorAll(".pair pre")[1].innerText.includes("minReplicas and maxReplicas hold it")`)

	b.do(chromedp.SetValue(`[data-keep="set spec.maxReplicas"]`, "40"), chromedp.Focus(`[data-keep="set spec.maxReplicas"]`))
	b.press(kb.Enter)
	b.await("it is decided again", `document.querySelector("#replayed") && document.body.innerText.includes("spec.maxReplicas=40")`)
	hub.Put(dashboardtest.FederatedHPAs, dashboardtest.FederatedHPA("shop", "cart", time.Now(), 61, 11, "east"))
	b.await("a change is drawn", `document.querySelector(".totals").innerText.includes("11")`)
	if n := value[int](b, `document.querySelectorAll("#replayed").length`); n != 1 {
		t.Errorf("after a change there are %d replays", n)
	}
	if got := value[string](b, `document.activeElement.dataset.keep`); got != "set spec.maxReplicas" {
		t.Errorf("after a change the focus is at %q", got)
	}
	b.do(chromedp.SetValue(`[data-keep="set spec.maxReplicas"]`, evil), chromedp.Click(`[data-keep="replay it"]`))
	b.await("a fault is said", `document.querySelector("#replay").parentElement.querySelector(".callout.bad")`)
	b.mu.Lock()
	b.faults = nil // that what is no number is refused is right
	b.mu.Unlock()
	b.unbound()
	b.do(chromedp.Reload())
	b.await("it is there again", `document.querySelectorAll(".pair pre").length === 2`)
	b.shutsOut("a past")
}

// The past of distributed mode has a picture of each cluster between its bounds, says what is not known, and is replayed by other weights,
// also by keys.
func TestPastOfASplit(t *testing.T) {
	b := browse(t)
	b.unbound()
	hub := &dashboardtest.Hub{}
	hub.Put(dashboardtest.FederatedHPAs, dashboardtest.FederatedHPA("shop", "cart", time.Now(), 60, 12, "m0", "m1"))
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	record := filepath.Join(t.TempDir(), "cart.fsr")
	if err := os.WriteFile(record, recordingtest.SplitHour(time.Now().Add(-61*time.Minute), 2), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(serve(t, &rest.Config{Host: server.URL}, record) + "#/autoscaler/fhpa/shop/cart"))
	b.await("each cluster has a picture", titles+` === "Replicas,Replicas by cluster,m0,m1,cpu"`)
	b.await("what is not known is hatched", `[...document.querySelectorAll(".chart")].filter((one) => one.querySelector("pattern")).length === 4 &&
		document.body.innerText.includes("not known: what is drawn is what was known last")`)
	b.await("two moments are explained", `[...document.querySelectorAll(".pair pre")].every((text) => text.innerText !== "Reading …") &&
		document.querySelectorAll(".pair pre")[0].innerText.includes("replicas, split by StaticWeighted")`)
	b.do(chromedp.Focus(`input[type=range]`))
	b.press(kb.ArrowLeft) // from now to the end of the record
	got := value[string](b, `document.activeElement.getAttribute("aria-valuetext")`)
	if !strings.Contains(got, "Held, limited by Settled, m1 could not be seen") || !strings.Contains(got, "max 10, min 1, replicas 2") {
		t.Errorf("the slider says %q", got)
	}
	b.shutsOut("the past of a split")
	const weight = `[data-keep="set spec.federatedHPAAssignment.clusterAutoscalingPreference[0].staticWeight"]`
	b.do(chromedp.SetValue(weight, "3"), chromedp.Focus(weight))
	b.press(kb.Enter)
	b.await("each cluster has curves", `document.querySelector("#replayed") && `+titles+`.endsWith("Replicas,Use,m0,m1")`)
	b.await("both sides are told", `[...document.querySelectorAll(".chart .legend")].some((one) => one.innerText.includes("max as it would be"))`)
	b.shutsOut("a replay of a split")
}
