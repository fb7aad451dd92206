// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

var screenshots = flag.String("screenshots", "", "write the pictures of the documentation into this folder")

const (
	east, west = "east", "west"
	// soon is within what time a member that does not answer shows: a probe, its deadline, and a list of members.
	soon = 10 * time.Second
)

// env is a fleet of two members, whose programs run.
type env struct {
	*fixture.Fleet
	members map[string]*lab.Cluster
}

var shared = fixture.Shared[*env]{Name: "dashboard", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{members: map[string]*lab.Cluster{}}
	return e, fixture.Raise(ctx, dir, lab.Options{
		Hub:              lab.Hub{Recorded: []string{"system:serviceaccounts:" + people}},
		MetricResolution: 10 * time.Second,
		Members:          []lab.Member{{Name: east, Nodes: 1, WithoutTestAdapter: true}, {Name: west, Nodes: 1, WithoutTestAdapter: true}},
	}, []string{"metrics-adapter", "controller-manager"}, e.raise)
}

const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart}
spec: {replicas: 3, selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: {containers: [{name: cart,
  image: cart, resources: {requests: {cpu: 100m}}}]}}}
`

const autoscaler = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: cart}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}, minReplicas: 2, maxReplicas: 8, replicaDistribution: {},
  behavior: {scaleDown: {stabilizationWindowSeconds: 0}},
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: morning}
spec: {scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: cart},
  rules: [{name: peak, schedule: "30 8 * * 1-5", timeZone: Europe/Berlin, targetMinReplicas: 6, targetMaxReplicas: 40}]}
`

func (e *env) raise(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet = f
	if err := e.Install(ctx, e.Hub()); err != nil {
		return err
	}
	for _, name := range []string{east, west} {
		if e.members[name], err = e.Cluster(name); err != nil {
			return err
		}
		err = errors.Join(e.JoinToScale(ctx, e.members[name]), e.Apply(ctx, e.members[name], "shop", workload), e.uses(ctx, name, "60m"))
		if err != nil {
			return err
		}
	}
	flags := []string{"--member-probe-period=2s", "--member-timeout=3s"}
	if _, err := e.ServeMetrics(ctx, e.Hub(), "adapter", append(flags, "--scrape-period=10s")...); err != nil {
		return err
	}
	if _, err = e.StartControllers(ctx, e.Hub(), programs["controller-manager"], "controllers", append(flags, "--sync-period=2s",
		"--cpu-initialization-period=1s", "--initial-readiness-delay=1s")...); err != nil {
		return err
	}
	return e.Apply(ctx, e.Hub(), "shop", autoscaler)
}

// uses has the Pods of a member use so much cpu each.
func (e *env) uses(ctx context.Context, name, cpu string) error {
	return e.members[name].SetUsage(ctx, lab.Usage{CPU: new(resource.MustParse(cpu))})
}

// picture writes what the page shows at the top, where that was asked for.
func (b *tab) picture(name string, height int64) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	var png []byte
	b.do(emulation.SetDeviceMetricsOverride(1280, height, 1, false), chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// A member stops to answer: within seconds the page says so, and that its autoscaler is held, and why.
func TestFrozenMember(t *testing.T) {
	if testing.Short() {
		t.Skip("raising a lab for it takes minutes; it runs in make test-full PARTS=dashboard")
	}
	b := browse(t)
	e := shared.Of(t)
	config, err := e.Hub().RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	at := serve(t, config, "")
	b.do(chromedp.Navigate(at))
	b.await("both members are ready", `document.querySelectorAll(".tile.good").length === 2`)
	b.do(chromedp.Navigate(at + "#/autoscaler/fhpa/shop/cart"))
	b.await("it follows cpu", `document.querySelector(".states .badge.good") && document.querySelectorAll(".chart svg").length === 3`)
	for _, name := range []string{east, west} {
		if err := e.uses(t.Context(), name, "75m"); err != nil {
			t.Fatal(err)
		}
	}
	b.await("it has grown", `document.querySelector(".total .value").innerText === "8"`)
	b.do(chromedp.Navigate(at + "#/"))
	frozen := time.Now()
	if err := e.members[west].Freeze(); err != nil {
		t.Fatal(err)
	}
	b.await("its tile has turned", `[...document.querySelectorAll(".tile.bad")].some((tile) => tile.innerText.includes("west") && tile.innerText.includes("Silent"))`)
	t.Logf("the tile of a frozen member turned after %v", time.Since(frozen).Round(100*time.Millisecond))
	if took := time.Since(frozen); took > 3*soon { // on an idle machine within soon
		t.Errorf("it took %v", took)
	}
	// Pods that cannot be seen count as if they used all that they request: with so little use in the other member fewer would do.
	if err := e.uses(t.Context(), east, "1m"); err != nil {
		t.Fatal(err)
	}
	b.await("its autoscaler is named", `document.querySelector("#worst") && document.querySelector(".worst")?.innerText.includes("Held")`)
	b.picture("dashboard-fleet", 700)
	b.do(chromedp.Navigate(at + "#/autoscaler/fhpa/shop/cart"))
	b.await("it is said why", `document.querySelector(".states")?.innerText.includes("Held") &&
		document.querySelector(".callout")?.innerText.includes("nothing is scaled down while clusters cannot be seen: west") &&
		[...document.querySelectorAll("pre")].some((text) => text.innerText.includes("clusters cannot be seen, so nothing is scaled down"))`)
	b.await("Events and rules are there", `document.querySelector("#events ~ .scroll") && document.querySelector("#coming")`)
	b.picture("dashboard-autoscaler", 1060)
	if err := e.members[west].Thaw(); err != nil {
		t.Fatal(err)
	}
	b.await("it continues", `document.querySelector(".states")?.innerText.includes("Active") || document.querySelector(".states")?.innerText.includes("Limited")`)
	b.do(chromedp.Navigate(at + "#/autoscalers"))
	b.await("both autoscalers are listed", `document.querySelectorAll("tbody tr").length === 2`)
}
