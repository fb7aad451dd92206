// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

const (
	titles  = `[...document.querySelectorAll(".chart figcaption strong")].map((title) => title.innerText).join()`
	valueAt = `document.activeElement.getAttribute("aria-valuetext")`
)

// The page of a MultidimPodAutoscaler has the past of its sizes, as the hub has it, and replays it by another margin, also by keys.
func TestPastOfSizes(t *testing.T) {
	b := browse(t)
	b.unbound()
	hub := &dashboardtest.Hub{}
	m := &v1alpha1.MultidimPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.MultidimPodAutoscalerKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
	}
	m.Spec.ScaleTargetRef.Kind, m.Spec.ScaleTargetRef.Name = "Deployment", "web"
	m.Status.Summary = &v1alpha1.MultidimPodAutoscalerSummary{State: v1alpha1.MultidimActive, Sized: "2/2"}
	hub.Put(dashboardtest.Multidims, m)
	hub.PutRecord("shop", "web", recordsOf(t, recordingtest.SizedHour(time.Now().Add(-61*time.Minute)))...)
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	b.do(chromedp.Navigate(serve(t, &rest.Config{Host: server.URL}, "") + "#/autoscaler/mpa/shop/web"))
	b.await("each resource has a picture", titles+` === "Replicas,app-0: cpu,app-0: memory"`)
	b.await("it is said how much there is", `document.body.innerText.includes("61 decisions are recorded")`)
	b.await("what is not known is hatched", `[...document.querySelectorAll(".chart")].filter((one) => one.querySelector("pattern")).length === 2`)
	b.do(chromedp.Focus(`[data-keep="sizesover"]`))
	if got := value[string](b, valueAt); !strings.Contains(got, "recommended 2") || !strings.Contains(got, " m, used 2") ||
		!strings.Contains(got, "MiB, used 4") {
		t.Errorf("the slider says %q", got)
	}
	for range 60 { // back to where a cluster was silent
		if b.press(kb.ArrowLeft); strings.Contains(value[string](b, valueAt), "Held") {
			break
		}
	}
	if got := value[string](b, valueAt); !strings.Contains(got, "Held, a cluster could not be seen, so nothing became less. waste above ") {
		t.Errorf("the slider says %q", got)
	}
	b.shutsOut("the past of sizes")
	const margin = `[data-keep="set spec.constraints.container[0].marginPercent"]`
	b.do(chromedp.SetValue(margin, "100"), chromedp.Focus(margin))
	b.press(kb.Enter)
	b.await("it is decided again", `document.querySelector("#replayed") && `+titles+`.endsWith("cores requested,GiB requested")`)
	b.shutsOut("a replay of sizes")
}

// The curves of a replay of sizes are read by keys. The page keeps to its own policy.
func TestReplayOfSizesByKeys(t *testing.T) {
	b := browse(t)
	b.do(chromedp.Navigate(replayedOf(t, recordingtest.SizedHour(recordingtest.Start), replaying.Options{
		Set: []string{"spec.constraints.container[0].marginPercent=100"}})))
	b.await("the curves are there", titles+` === "cores requested,GiB requested"`)
	b.do(chromedp.Focus("input[type=range]"))
	if got := value[string](b, valueAt); !strings.Contains(got, "cores requested as it was 0.") ||
		!strings.Contains(got, "cores requested as it would be 0.") || !strings.Contains(got, "in fact 2,") {
		t.Errorf("at the end the slider says %q", got)
	}
	for range 61 {
		b.press(kb.ArrowLeft)
		if strings.Contains(value[string](b, valueAt), "load not known: Unseen") {
			return
		}
	}
	t.Errorf("the slider says nowhere that the load is not known, and at last %q", value[string](b, valueAt))
}
