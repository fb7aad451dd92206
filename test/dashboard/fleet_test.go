// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	fleetscale "github.com/fleetscale/fleetscale/pkg/plugin/dashboard"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
)

const (
	members, autoscalers = 500, 2000
	evil                 = `<script>alert("evil")</script><img src=x onerror=alert(1)>`
)

// large is a hub of many members and autoscalers, of which some are not as they should be.
func large(t *testing.T) (*dashboardtest.Hub, *rest.Config) {
	t.Helper()
	hub := &dashboardtest.Hub{}
	now := time.Now()
	name := func(i int) string { return fmt.Sprintf("member-%03d", i%members) }
	for i := range members {
		m := dashboardtest.Member(name(i), int32(i), now.Add(-time.Duration(i%15)*time.Second))
		switch i {
		case 7, 8:
			m.Status.State, m.Status.Reason, m.Status.Message = membersv1alpha1.MemberSilent, "Timeout", "no answer within 5s"
		case 9:
			m.Status.State, m.Status.Reason, m.Status.Message = membersv1alpha1.MemberJoining, "Forbidden", evil
			m.Status.LastAnswerTime = nil
		}
		hub.Put(dashboardtest.Members, m)
	}
	for i := range autoscalers {
		f := dashboardtest.FederatedHPA(fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("web-%04d", i), now, int32(40+i%50), 2,
			name(i), name(i+1), name(i+2), name(i+3))
		if i == 4 || i == 5 {
			dashboardtest.Hold(f, name(7))
			f.Status.Conditions[2].Message = evil
		}
		hub.Put(dashboardtest.FederatedHPAs, f)
	}
	hub.Put(dashboardtest.Crons, dashboardtest.Rules("team-04", "morning", "web-0004", "*/5 * * * *"))
	hub.Put(dashboardtest.Events, dashboardtest.Event("team-04", v1alpha1.FederatedHPAKind, "web-0004", "ClusterUnreachable", evil, now))
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	return hub, &rest.Config{Host: server.URL}
}

const (
	allTiles = `document.querySelectorAll(".tiles li").length === 500 && document.querySelector(".loading") === null && ` +
		`!document.body.innerText.includes("Being read")`
	// painted notes when the first tiles were on the screen, in milliseconds since the page was asked for.
	painted = `new MutationObserver((_, observer) => { if (document.querySelector(".tiles li")) { observer.disconnect();
		requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); })); } }).observe(document, {childList: true, subtree: true});`
)

// A fleet of 500 members and 2,000 autoscalers is on the screen soon, and takes little memory.
func TestLargeFleet(t *testing.T) {
	b := browse(t)
	_, config := large(t)
	at := serve(t, config, "")
	b.do(chromedp.Navigate(at))
	b.await("all is read", allTiles)
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(painted).Do(ctx)
		return err
	}))
	b.do(chromedp.Reload())
	b.await("it is painted", "window.painted")
	b.await("all is there", allTiles)
	first, heap := value[float64](b, "window.painted"), value[float64](b, "performance.memory.usedJSHeapSize")/(1<<20)
	t.Logf("first paint of %d members and %d autoscalers after %.0f ms; %.1f MiB of memory of the page", members, autoscalers, first, heap)
	if first > 10_000 || heap > 50 { // on an idle machine less than a second
		t.Errorf("first paint after %.0f ms, %.1f MiB", first, heap)
	}
	b.do(chromedp.Navigate(at + "#/autoscalers"))
	b.await("the worst come first", `document.querySelector("tbody tr .badge").innerText.includes("Held")`)
	b.await("the others are asked for", `document.querySelectorAll("tbody tr").length === 100`)
	b.do(chromedp.Click(`//button[contains(., "Show all")]`, chromedp.BySearch))
	b.await("all are shown", `document.querySelectorAll("tbody tr").length === 2001`)
}

// Whoever uses other means than eyes and a mouse can use every page, in the light and in the dark.
func TestNobodyIsShutOut(t *testing.T) {
	b := browse(t)
	_, config := large(t)
	at := serve(t, config, "")
	b.unbound()
	b.do(chromedp.Navigate(at))
	b.await("all is read", allTiles)
	b.shutsOut("fleet")
	for name, where := range map[string][2]string{
		"autoscalers":        {"#/autoscalers", `document.querySelectorAll("tbody tr").length === 100`},
		"an autoscaler":      {"#/autoscaler/fhpa/team-04/web-0004", `document.querySelector(".chart svg") && document.querySelector("pre")`},
		"rules":              {"#/autoscaler/cronfhpa/team-04/morning", `document.querySelector("#coming")`},
		"a member":           {"#/member/member-009", `document.querySelector(".facts")`},
		"one that is not it": {"#/autoscaler/fhpa/team-04/none", `document.body.innerText.includes("There is no such autoscaler")`},
	} {
		b.do(chromedp.Navigate(at + where[0]))
		b.await(name+" is there", where[1])
		if name != "one that is not it" {
			b.shutsOut(name)
		}
	}
	b.mu.Lock()
	b.faults = nil // that what is not there is not found is right
	b.mu.Unlock()
}

const focused = `document.activeElement.innerText || document.activeElement.getAttribute("aria-label") || document.activeElement.type || ""`

// All can be reached and used by keys.
func TestKeyboard(t *testing.T) {
	b := browse(t)
	hub, config := large(t)
	at := serve(t, config, "")
	b.do(chromedp.Navigate(at))
	b.await("all is read", allTiles)
	b.press(kb.Tab)
	if got := value[string](b, focused); got != "Skip to the content" {
		t.Errorf("the first key leads to %q", got)
	}
	b.press(kb.Tab, kb.Tab, kb.Enter)
	b.await("the page has the focus", `document.activeElement.tagName === "H1" && document.activeElement.innerText === "Autoscalers"`)
	b.press(kb.Tab)
	b.press(strings.Split("team-04/web-0004", "")...)
	b.await("it is found", `document.querySelectorAll("tbody tr").length === 1 && document.querySelector(".found").innerText === "1 autoscaler"`)
	for range 12 {
		if b.press(kb.Tab); value[string](b, focused) == "team-04/web-0004" {
			break
		}
	}
	b.press(kb.Enter)
	b.await("it is shown", `document.activeElement.tagName === "H1" && document.querySelector(".chart svg")`)
	before := dashboardtest.FederatedHPA("team-04", "web-0004", time.Now(), 90, 3, "member-004", "member-005")
	hub.Put(dashboardtest.FederatedHPAs, before)
	b.await("a change is drawn", `document.querySelector("input[type=range]") && document.querySelector(".states").innerText.includes("Active")`)
	for range 8 {
		if b.press(kb.Tab); value[string](b, focused) == "Time" {
			break
		}
	}
	now := value[string](b, `document.activeElement.getAttribute("aria-valuetext")`)
	b.press(kb.ArrowLeft)
	then := value[string](b, `document.activeElement.getAttribute("aria-valuetext")`)
	if !strings.Contains(now, "Active") || !strings.Contains(now, "desired 6") ||
		!strings.Contains(then, "Held, limited by Held, member-007 could not be seen. ") || !strings.Contains(then, "desired 8") {
		t.Errorf("the slider says %q, and then %q", now, then)
	}
}

// What others wrote is text, on the page and in a file, whatever it looks like.
func TestWhatOthersWroteIsText(t *testing.T) {
	b := browse(t)
	_, config := large(t)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := fleetscale.Run(t.Context(), fleetscale.Options{Hub: config, Once: file, Out: t.Output()}); err != nil {
		t.Fatal(err)
	}
	for what, at := range map[string]string{"the page": serve(t, config, ""), "the file": "file://" + file} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(at))
		b.await(what+" is there", allTiles)
		for _, where := range []string{"#/", "#/autoscalers", "#/autoscaler/fhpa/team-04/web-0004", "#/member/member-009"} {
			b.do(chromedp.Navigate(at + where))
			b.await(what+" shows the text at "+where, "document.body.innerText.includes("+fmt.Sprintf("%q", evil)+")")
			if n := value[int](b, `document.querySelectorAll("main script, main img").length`); n != 0 {
				t.Errorf("%s at %s: %d elements were made of text", what, where, n)
			}
		}
		b.await(what+" shows Events and rules to come", `document.querySelector("h1").innerText === "member-009"`)
	}
}
