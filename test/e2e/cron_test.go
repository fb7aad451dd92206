// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// crons is what the cases of TestCron share: the hub with two controllers of
// which one works, and a member that has one of its own, which can be away.
type crons struct {
	*env
	minute time.Time // at which rules run, all at once
	lone   *fixture.Controllers
	loneOf *lab.Cluster
}

// cronCase is what is there before the minute, in a namespace of its own, and
// what must have come of it.
type cronCase struct {
	objects func(*crons, *testing.T) string
	becomes func(*crons, *testing.T, string)
}

func cronCases() map[string]cronCase {
	return map[string]cronCase{
		"cron-deployment": {(*crons).deployment, (*crons).setsDeployment},
		"cron-fhpa":       {(*crons).federatedHPA, (*crons).setsFederatedHPA},
		"cron-zones":      {(*crons).twoZones, (*crons).knowsZones},
		"cron-suspended":  {(*crons).suspended, (*crons).keepsSuspended},
		"cron-no-target":  {(*crons).noTarget, (*crons).awaitsTarget},
		"cron-governed":   {(*crons).governed, (*crons).leavesGoverned},
		"cron-bounds":     {(*crons).narrowBounds, (*crons).fitsBounds},
		"cron-older":      {(*crons).olderWord, (*crons).takesOlderWord},
		"cron-fleet":      {(*crons).propagated, (*crons).setsMembers},
	}
}

// Rules of the next minute, side by side: all that is to happen does so at
// once, and is checked one after the other. What runs beside it may use the
// members, and breaks none.
func TestCron(t *testing.T) {
	t.Parallel()
	e := started(t)
	c := &crons{env: e, loneOf: e.member(t, "member2")}
	pair := c.launch(t)
	// All objects must have been seen before the minute begins.
	c.minute = time.Now().Add(20 * time.Second).Truncate(time.Minute).Add(time.Minute).UTC()
	var all strings.Builder
	for namespace, x := range cronCases() {
		all.WriteString(inNamespace(namespace, x.objects(c, t)))
	}
	c.feedTo(t, c.Hub(), all.String())
	c.feedTo(t, c.loneOf, inNamespace(cronAway, c.away(t)))
	for namespace := range cronCases() {
		c.seen(t, c.Hub(), namespace)
	}
	c.seen(t, c.loneOf, cronAway)
	if err := c.lone.Kill(); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(c.minute); left < 0 {
		t.Fatalf("the objects were made %v after their runs were to be, at %v", -left, c.minute)
	} else {
		t.Logf("the objects were seen %v before their runs", left)
	}
	for namespace, x := range cronCases() {
		t.Run(namespace, func(t *testing.T) { x.becomes(c, t, namespace) })
	}
	t.Run(cronAway, func(t *testing.T) { c.catchesUp(t, cronAway) })
	c.countsRuns(t, pair)
	c.handsOver(t, pair)
}

// launch installs and starts all that the cases need.
func (c *crons) launch(t *testing.T) (pair []*fixture.Controllers) {
	t.Helper()
	for _, cluster := range []*lab.Cluster{c.Hub(), c.loneOf} {
		if err := c.InstallKinds(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
		if err := c.InstallControllers(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { c.tidy(t) })
	quick := []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s", "-v=2"}
	start := func(cluster *lab.Cluster, name string) *fixture.Controllers {
		r, err := c.StartControllers(t.Context(), cluster, c.controllers, name, quick...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Stop() })
		return r
	}
	c.lone = start(c.loneOf, "controller-manager-lone")
	return []*fixture.Controllers{start(c.Hub(), "controller-manager-1"), start(c.Hub(), "controller-manager-2")}
}

func (c *crons) tidy(t *testing.T) {
	remove := func(cluster *lab.Cluster, what ...string) {
		args := append([]string{"--context", cluster.Name, "delete", "--ignore-not-found", "--wait=false"}, what...)
		if _, err := c.Ask(afterwards(t), args...); err != nil {
			t.Error(err)
		}
	}
	served := []*lab.Cluster{c.Hub(), c.loneOf}
	for _, cluster := range served {
		remove(cluster, "-k", c.Deploy("crds"))
		remove(cluster, "-k", c.Deploy("base/controller-manager-hub"))
	}
	remove(c.loneOf, "namespace", fixture.SystemNamespace, fixture.RegistrationNamespace, fixture.WriteNamespace)
	for _, cluster := range append(served, c.followers(t)...) {
		remove(cluster, "namespace", "-l", "for=cron")
	}
}

// at is a daily schedule at the minute of all cases, in a zone.
func (c *crons) at(t *testing.T, zone string) string {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	local := c.minute.In(location)
	return fmt.Sprintf("%d %d * * *", local.Minute(), local.Hour())
}

const cronShop = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: shop, image: shop}]}
---
`

const cronFHPA = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: shop-fhpa}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
  minReplicas: 1
  maxReplicas: 10
---
`

// cronOf is a CronFederatedHPA of the Deployment or FederatedHPA with rules, which are YAML.
func cronOf(target string, rules ...string) string {
	return fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: cron}\nspec:\n  "+
		"scaleTargetRef: %s\n  rules:\n  - %s\n",
		target, strings.Join(rules, "\n  - "))
}

const (
	ofDeployment   = "{apiVersion: apps/v1, kind: Deployment, name: shop}"
	ofFederatedHPA = "{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: shop-fhpa}"
)

const cronAway = "cron-away"

// inNamespace puts objects into a namespace, which it adds.
func inNamespace(namespace, objects string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + ", labels: {for: cron}}\n---\n" +
		strings.ReplaceAll(objects, "metadata: {name: ", "metadata: {namespace: "+namespace+", name: ") + "\n---\n"
}

// feedTo has a cluster make objects.
func (c *crons) feedTo(t *testing.T, cluster *lab.Cluster, objects string) {
	t.Helper()
	if _, err := c.Feed(t.Context(), objects, "--context", cluster.Name, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// seen waits until the controller has reconciled the object of a namespace.
func (c *crons) seen(t *testing.T, cluster *lab.Cluster, namespace string) v1alpha1.CronFederatedHPAStatus {
	t.Helper()
	return c.comesTo(t, cluster, namespace, "the controller has seen the object", func(s v1alpha1.CronFederatedHPAStatus) error {
		if s.ObservedGeneration == nil {
			return errors.New("it has no status")
		}
		return nil
	})
}

func (c *crons) comesTo(t *testing.T, cluster *lab.Cluster, namespace, what string,
	right func(v1alpha1.CronFederatedHPAStatus) error) v1alpha1.CronFederatedHPAStatus {
	t.Helper()
	object := v1alpha1.CronFederatedHPA{}
	eventually(t, namespace+": "+what, func(ctx context.Context) error {
		said, err := c.Ask(ctx, "--context", cluster.Name, "-n", namespace, "get", "cronfhpa", "cron", "-o", "json")
		if err != nil {
			return err
		}
		object = v1alpha1.CronFederatedHPA{}
		if err := json.Unmarshal([]byte(said.Stdout), &object); err != nil {
			return err
		}
		if err := right(object.Status); err != nil {
			return fmt.Errorf("%w: %s", err, said.Stdout)
		}
		return nil
	})
	return object.Status
}

// ran waits until a rule has run at the minute of all cases.
func (c *crons) ran(t *testing.T, cluster *lab.Cluster, namespace string, rule int) v1alpha1.SuccessfulExecution {
	t.Helper()
	status := c.comesTo(t, cluster, namespace, "the rule has run", func(s v1alpha1.CronFederatedHPAStatus) error {
		if len(s.ExecutionHistories) <= rule || len(s.ExecutionHistories[rule].SuccessfulExecutions) == 0 {
			return errors.New("it has not run")
		}
		return nil
	})
	run, next := status.ExecutionHistories[rule].SuccessfulExecutions[0], status.ExecutionHistories[rule].NextExecutionTime
	if !run.ScheduleTime.Time.Equal(c.minute) || next == nil || next.Sub(c.minute) < 23*time.Hour {
		t.Errorf("it ran for %v and runs next at %v, want %v and a day later", run.ScheduleTime, next, c.minute)
	}
	return run
}

// has checks fields of an object.
func (c *crons) has(t *testing.T, cluster *lab.Cluster, namespace, object, path, want string) {
	t.Helper()
	said, err := c.Ask(t.Context(), "--context", cluster.Name, "-n", namespace, "get", object, "-o", "jsonpath="+path)
	if err != nil || said.Stdout != want {
		t.Errorf("%s of %s is %q, want %q (%v)", path, object, said.Stdout, want, err)
	}
}

func delay(run v1alpha1.SuccessfulExecution) time.Duration {
	return run.ExecutionTime.Sub(run.ScheduleTime.Time)
}

func (c *crons) deployment(t *testing.T) string {
	return cronShop + cronOf(ofDeployment, `{name: up, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 4}`,
		`{name: yearly, schedule: "@yearly", targetReplicas: 1}`)
}

// The Deployment gets its replicas, they come up, and kubectl tells of it.
func (c *crons) setsDeployment(t *testing.T, ns string) {
	run := c.ran(t, c.Hub(), ns, 0)
	if late := delay(run); late > 5*time.Second || run.AppliedReplicas == nil || *run.AppliedReplicas != 4 {
		t.Errorf("it ran %v late, and set %v", late, run.AppliedReplicas)
	}
	c.has(t, c.Hub(), ns, "deployment/shop", "{.spec.replicas}", "4")
	c.has(t, c.Hub(), ns, "deployment/shop", `{.metadata.managedFields[?(@.manager=="fleetscale-cron")].subresource}`, "scale")
	eventually(t, "four Pods are ready", func(ctx context.Context) error {
		said, err := c.Ask(ctx, "-n", ns, "get", "deployment", "shop", "-o", "jsonpath={.status.readyReplicas}")
		if err == nil && said.Stdout != "4" {
			err = fmt.Errorf("%q are", said.Stdout)
		}
		return err
	})
	said := c.kubectl(t, "-n", ns, "get", "cronfhpa")
	if !regexp.MustCompile(`(?m)^cron +Deployment +shop +\S+Z (up|yearly) +up Succeeded +0/2 +\S+$`).MatchString(said.Stdout) {
		t.Errorf("kubectl get shows\n%s", said.Stdout)
	}
	eventually(t, "an Event tells", func(ctx context.Context) error {
		said, err := c.Ask(ctx, "-n", ns, "events", "--for=cronfederatedhpa/cron")
		if err == nil && !strings.Contains(said.Stdout, `rule "up": replicas 4 of Deployment "shop"`) {
			err = errors.New(said.Stdout)
		}
		return err
	})
}

func (c *crons) federatedHPA(t *testing.T) string {
	return cronFHPA + cronOf(ofFederatedHPA, `{name: morning, schedule: "`+c.at(t, "UTC")+`", targetMinReplicas: 5}`)
}

// A rule raises the minimum; nothing else of the FederatedHPA changes.
func (c *crons) setsFederatedHPA(t *testing.T, ns string) {
	c.ran(t, c.Hub(), ns, 0)
	c.has(t, c.Hub(), ns, "fhpa/shop-fhpa", "{.spec.minReplicas} {.spec.maxReplicas} {.metadata.generation}", "5 10 2")
}

func (c *crons) twoZones(t *testing.T) string {
	return cronFHPA + cronOf(ofFederatedHPA,
		`{name: shanghai, schedule: "`+c.at(t, "Asia/Shanghai")+`", timeZone: Asia/Shanghai, targetMinReplicas: 3}`,
		`{name: los-angeles, schedule: "`+c.at(t, "America/Los_Angeles")+`", timeZone: America/Los_Angeles, targetMaxReplicas: 30}`)
}

func (c *crons) knowsZones(t *testing.T, ns string) {
	c.ran(t, c.Hub(), ns, 0)
	c.ran(t, c.Hub(), ns, 1)
	c.has(t, c.Hub(), ns, "fhpa/shop-fhpa", "{.spec.minReplicas} {.spec.maxReplicas}", "3 30")
	c.has(t, c.Hub(), ns, "cronfhpa/cron", "{.status.executionHistories[*].timeZone}", "Asia/Shanghai America/Los_Angeles")
}

func (c *crons) suspended(t *testing.T) string {
	return cronShop + cronOf(ofDeployment,
		`{name: asleep, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 9, suspend: true}`,
		`{name: awake, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 2}`)
}

func (c *crons) keepsSuspended(t *testing.T, ns string) {
	c.ran(t, c.Hub(), ns, 1)
	c.has(t, c.Hub(), ns, "deployment/shop", "{.spec.replicas}", "2")
	c.has(t, c.Hub(), ns, "cronfhpa/cron",
		"{.status.executionHistories[0].nextExecutionTime}{.status.executionHistories[0].failedExecutions}{.status.summary.suspended}", "1/2")
}

func (c *crons) noTarget(t *testing.T) string {
	return cronOf(ofDeployment, `{name: up, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 3}`)
}

// The object is there before its target: the run is tried until it comes.
func (c *crons) awaitsTarget(t *testing.T, ns string) {
	c.has(t, c.Hub(), ns, "cronfhpa/cron",
		`{.status.conditions[?(@.type=="TargetFound")].status}/{.status.conditions[?(@.type=="TargetFound")].reason}`, "False/NotFound")
	eventually(t, "an Event tells that the run is delayed", func(ctx context.Context) error {
		said, err := c.Ask(ctx, "-n", ns, "events", "--for=cronfederatedhpa/cron")
		if err == nil && !strings.Contains(said.Stdout, "RunDelayed") {
			err = errors.New(said.Stdout)
		}
		return err
	})
	c.feedTo(t, c.Hub(), inNamespace(ns, cronShop))
	c.ran(t, c.Hub(), ns, 0)
	c.has(t, c.Hub(), ns, "deployment/shop", "{.spec.replicas}", "3")
	c.has(t, c.Hub(), ns, "cronfhpa/cron",
		`{.status.conditions[?(@.type=="TargetFound")].status}{.status.executionHistories[0].failedExecutions}`, "True")
}

func (c *crons) governed(t *testing.T) string {
	return cronShop + cronFHPA + cronOf(ofDeployment, `{name: up, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 3}`)
}

// Nobody sets the replicas of a workload that an autoscaler governs.
func (c *crons) leavesGoverned(t *testing.T, ns string) {
	c.failed(t, ns, `Deployment "shop" is scaled by FederatedHPA "shop-fhpa": name that FederatedHPA in scaleTargetRef, and set its bounds`)
	c.has(t, c.Hub(), ns, "deployment/shop", "{.spec.replicas}", "1")
	c.has(t, c.Hub(), ns, "cronfhpa/cron", `{.status.conditions[?(@.type=="Conflicting")].status}`, "True")
}

func (c *crons) narrowBounds(t *testing.T) string {
	return cronFHPA + cronOf(ofFederatedHPA, `{name: up, schedule: "`+c.at(t, "UTC")+`", targetMinReplicas: 1000}`)
}

func (c *crons) fitsBounds(t *testing.T, ns string) {
	c.failed(t, ns, "minReplicas 1000 would exceed maxReplicas 10")
	c.has(t, c.Hub(), ns, "fhpa/shop-fhpa", "{.spec.minReplicas}", "1")
}

// failed waits until the first rule has failed with this message.
func (c *crons) failed(t *testing.T, ns, message string) {
	t.Helper()
	c.comesTo(t, c.Hub(), ns, "the run has failed", func(s v1alpha1.CronFederatedHPAStatus) error {
		if failed := s.ExecutionHistories[0].FailedExecutions; len(failed) != 1 || failed[0].Message != message ||
			!failed[0].ScheduleTime.Equal(&metav1.Time{Time: c.minute}) {
			return fmt.Errorf("failures are %+v, want %q", failed, message)
		}
		return nil
	})
}

func (c *crons) olderWord(t *testing.T) string {
	return cronShop + cronOf(ofDeployment, `{ruleName: Scale-Up, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 2}`)
}

// Where admission is off, ruleName is understood all the same.
func (c *crons) takesOlderWord(t *testing.T, ns string) {
	c.ran(t, c.Hub(), ns, 0)
	c.has(t, c.Hub(), ns, "cronfhpa/cron", "{.status.executionHistories[0].ruleName}", "Scale-Up")
}

// followers are the members whose replicas come from the hub.
func (c *crons) followers(t *testing.T) []*lab.Cluster {
	t.Helper()
	return []*lab.Cluster{c.member(t, "member1"), c.member(t, "member3")}
}

// propagated is a Deployment of the hub that two members follow.
func (c *crons) propagated(t *testing.T) string {
	const ns = "cron-fleet"
	for _, member := range c.followers(t) {
		c.feedTo(t, member, inNamespace(ns, ""))
	}
	propagator, err := fixture.NewPropagator(c.Hub(), ns, "shop", c.followers(t)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- propagator.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return cronShop + cronOf(ofDeployment, `{name: up, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 5}`)
}

// A rule sets the hub's template, and the Pods come up in the members.
func (c *crons) setsMembers(t *testing.T, ns string) {
	c.ran(t, c.Hub(), ns, 0)
	for i, member := range c.followers(t) {
		want := []string{"3 3", "2 2"}[i]
		eventually(t, member.Name+" follows", func(ctx context.Context) error {
			said, err := c.Ask(ctx, "--context", member.Name, "-n", ns, "get", "deployment", "shop", "-o",
				"jsonpath={.spec.replicas} {.status.readyReplicas}")
			if err == nil && said.Stdout != want {
				err = fmt.Errorf("replicas and ready replicas are %q, want %q", said.Stdout, want)
			}
			return err
		})
	}
}

func (c *crons) away(t *testing.T) string {
	late := "{name: late, schedule: \"" + c.at(t, "UTC") + "\", targetReplicas: 9, maxDelaySeconds: 10}"
	return cronShop + cronOf(ofDeployment, `{name: up, schedule: "`+c.at(t, "UTC")+`", targetReplicas: 3}`, late)
}

// While nobody is there nothing happens; who comes back does what is due.
func (c *crons) catchesUp(t *testing.T, ns string) {
	eventually(t, "the minute is long past", func(context.Context) error {
		if past := time.Since(c.minute); past < 11*time.Second {
			return fmt.Errorf("%v", past)
		}
		return nil
	})
	c.has(t, c.loneOf, ns, "deployment/shop", "{.spec.replicas}", "1")
	if err := c.lone.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if run := c.ran(t, c.loneOf, ns, 0); delay(run) < 10*time.Second {
		t.Errorf("it ran %v late, though nobody was there", delay(run))
	}
	c.has(t, c.loneOf, ns, "deployment/shop", "{.spec.replicas}", "3")
	said, err := c.Ask(t.Context(), "--context", c.loneOf.Name, "-n", ns, "get", "cronfhpa", "cron", "-o",
		"jsonpath={.status.executionHistories[1].failedExecutions[0].message}")
	if err != nil || !regexp.MustCompile(`^missed: started \d+ s late, maxDelaySeconds=10$`).MatchString(said.Stdout) {
		t.Errorf("the rule that must not be late: %q, %v", said.Stdout, err)
	}
}

// countsRuns finds the leader's runs in its metrics, and none in the other's.
func (c *crons) countsRuns(t *testing.T, pair []*fixture.Controllers) {
	var counts []float64
	for _, r := range pair {
		text := scrapeText(t, r.Metrics())
		n, found, err := fixture.Sum(text, "fleetscale_cron_run_lag_seconds_count", `result="succeeded"`)
		if err != nil || !found {
			t.Fatalf("no runs in the metrics of %s (%v)", r.Name, err)
		}
		counts = append(counts, n)
	}
	// Two zones and six rules of one each; which replica leads is open.
	if max(counts[0], counts[1]) != 8 || min(counts[0], counts[1]) != 0 {
		t.Errorf("the two replicas count %v runs, want 8 and none", counts)
	}
}

func scrapeText(t *testing.T, url string) string {
	t.Helper()
	text, err := fixture.Scrape(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// handsOver ends the leader without a word; the other takes its place.
func (c *crons) handsOver(t *testing.T, pair []*fixture.Controllers) {
	leader := pair[0]
	if !leader.Leads(t.Context()) {
		leader = pair[1]
	}
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	const ns = "cron-handover"
	c.feedTo(t, c.Hub(), inNamespace(ns, cronShop+cronOf(ofDeployment, `{name: up, schedule: "@yearly", targetReplicas: 3}`)))
	c.seen(t, c.Hub(), ns)
}
