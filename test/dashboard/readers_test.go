// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// people has the accounts of readers.
	people = "people"
	// teams are as many as there are readers who may each read what is of one team.
	teams = 20
	// crowd is one more namespace, which all these may read, too.
	crowd = "crowd"
	// rounds are how often all autoscalers change, each time to be seen by all readers; crowded are those in which all read the same.
	rounds, crowded = 24, 4
	// leastPause is how often the record of an autoscaler is asked for at most, and members are listed.
	leastPause = 5 * time.Second
)

// rights are those of who reads a namespace, or all of them.
const rights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-a-team}
rules:
- {apiGroups: [autoscaling.karmada.io], resources: ["*"], verbs: [get, list, watch]}
- {apiGroups: [history.fleetscale.io], resources: ["*"], verbs: [get]}
- {apiGroups: [""], resources: [events], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: sees-all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-a-team}
subjects: [{kind: ServiceAccount, name: sees-all, namespace: people}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: sees-members}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: fleetscale-members-reader}
subjects: [{kind: ServiceAccount, name: sees-all, namespace: people}]
`

const account = `
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: %s}
`

// granted lets an account read what is in a namespace.
const granted = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: of-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-a-team}
subjects: [{kind: ServiceAccount, name: %[1]s, namespace: people}]
`

// ofTeam is an autoscaler whose bounds tell whose it is.
const ofTeam = `
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: %[1]s-cart}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}, minReplicas: 1, maxReplicas: %[2]d, replicaDistribution: {},
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}
`

// team is a namespace; that of the crowd is the last one.
func team(i int) string {
	if i == teams {
		return crowd
	}
	return fmt.Sprintf("team-%02d", i)
}

// cartOf is how the page calls the autoscaler of a team.
func cartOf(i int) string { return "fhpa/" + team(i) + "/" + team(i) + "-cart" }

// most is the maxReplicas of a team in a round.
func most(team, round int) int32 { return int32(100*(team+1) + round) }

// raiseTeams makes an autoscaler of each team, and accounts who may read them.
func (e *env) raiseTeams(t *testing.T) {
	t.Helper()
	all := rights + fmt.Sprintf(account, "sees-all") + fmt.Sprintf(account, "sees-nothing")
	for i := range teams + 1 {
		may := fmt.Sprintf(granted, team(i))
		if i == teams {
			for of := range teams {
				may += fmt.Sprintf(granted, team(of))
			}
		}
		if err := errors.Join(e.Apply(t.Context(), e.members[east], team(i), workload),
			e.Apply(t.Context(), e.Hub(), team(i), may+fmt.Sprintf(ofTeam, team(i), most(i, 0)))); err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintf(account, team(i))
	}
	if err := e.Apply(t.Context(), e.Hub(), people, all); err != nil {
		t.Fatal(err)
	}
}

// change has all autoscalers of teams be those of a round.
func (e *env) change(t *testing.T, round int) {
	t.Helper()
	hub, err := e.Hub().Dynamic()
	if err != nil {
		t.Fatal(err)
	}
	for i := range teams + 1 {
		patch := fmt.Appendf(nil, `{"spec":{"maxReplicas":%d}}`, most(i, round))
		if _, err := hub.Resource(dashboardtest.FederatedHPAs).Namespace(team(i)).
			Patch(t.Context(), team(i)+"-cart", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// guest is a visitor of the page of a namespace, or of all.
type guest struct {
	*visitor
	path string
	of   []int // the teams that are to be seen there
}

// guests are one of each team, one who may see all, and one who may see nothing.
func (e *env) guests(t *testing.T) (all []*guest) {
	t.Helper()
	for i := range teams + 2 {
		name, may, g := team(i), []string{team(i)}, &guest{path: "/namespaces/" + team(i) + "/", of: []int{i}}
		switch i {
		case teams:
			name, may, g = "sees-all", nil, &guest{path: "/"}
			for of := range teams + 1 {
				g.of, may = append(g.of, of), append(may, team(of))
			}
		case teams + 1:
			name, may, g = "sees-nothing", nil, &guest{path: "/"}
		}
		token, err := e.Hub().ServiceAccountToken(t.Context(), people, name, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		g.visitor = newVisitor(name, token, may...)
		all = append(all, g)
	}
	return all
}

// round has a guest do what the page does when something changes, and ask for what is of others.
func (g *guest) round(ctx context.Context, round int) error {
	changed := func() bool {
		return !slices.ContainsFunc(g.of, func(i int) bool { return g.rows[cartOf(i)] != most(i, round) })
	}
	if err := g.sees(ctx, fmt.Sprintf("round %d", round), changed); err != nil {
		return err
	}
	if len(g.of) > 0 {
		of := g.of[round%len(g.of)]
		_, err := g.shows(ctx, of)
		if err == nil { // two moments are compared where there is a past
			_, _, err = g.get(ctx, "moment", "id", cartOf(of), "at", "9999999999999")
		}
		if err != nil {
			return err
		}
	}
	for other := round % 7; other < teams; other += 7 {
		if !slices.Contains(g.of, other) {
			if err := g.isRefused(ctx, other); err != nil {
				return err
			}
		}
	}
	return nil
}

// isRefused asks for the autoscaler of a team that the guest does not see.
func (g *guest) isRefused(ctx context.Context, other int) error {
	for _, path := range []string{"autoscaler", "moment", "replay"} {
		code, text, err := g.get(ctx, path, "id", cartOf(other), "at", "9999999999999", "set", "spec.maxReplicas=40")
		if err != nil {
			return err
		}
		if code != http.StatusNotFound {
			g.fault("%s of %s: %d %s", path, team(other), code, text)
		}
	}
	return nil
}

// shows asks for the page of a team's autoscaler, whose past is to be that team's.
func (g *guest) shows(ctx context.Context, of int) (shown, error) {
	is, err := g.asks(ctx, cartOf(of))
	for _, most := range is.Series.Max {
		if most != nil && int(*most)/100 != of+1 {
			g.fault("in the past %s has %d replicas at most", team(of), *most)
		}
	}
	return is, err
}

// comes waits until the past of an autoscaler is told as far as to a moment, and has it replayed.
func (g *guest) comes(ctx context.Context, of int, until time.Time) error {
	if err := fixture.Await(ctx, patience, func(ctx context.Context) error {
		is, err := g.shows(ctx, of)
		if err == nil && (is.Recorded == nil || is.Recorded.To < until.UnixMilli()) {
			err = fmt.Errorf("%s: the past of %s: %+v", g.name, team(of), is.Recorded)
		}
		return err
	}); err != nil {
		return err
	}
	for path, says := range map[string]string{"moment": "metric 0: cpu", "replay": strconv.Itoa(of+1) + "9"} {
		code, text, err := g.get(ctx, path, "id", cartOf(of), "at", "9999999999999", "set", fmt.Sprintf("spec.maxReplicas=%d", most(of, 99)))
		if err != nil {
			return err
		}
		if code != http.StatusOK || !strings.Contains(string(text), says) {
			g.fault("%s of %s: %d %.500s", path, team(of), code, text)
		}
	}
	return nil
}

// together has all do something at one time.
func together(t *testing.T, all []*guest, do func(*guest) error) {
	t.Helper()
	var group errgroup.Group
	for _, g := range all {
		group.Go(func() error { return do(g) })
	}
	err := group.Wait()
	for _, g := range all {
		g.mu.Lock()
		for _, fault := range g.faults[:min(len(g.faults), 3)] {
			t.Error(fault)
		}
		g.faults = nil
		g.mu.Unlock()
	}
	if err != nil || t.Failed() {
		t.Fatal(err)
	}
}

// Twenty people who may each read what is of their team, one who may read all and one who may read nothing have the page open at the same
// time, while all autoscalers change, and one leaves amid an answer and comes back, again and again. Then all have the same one open. Each
// sees what they may, in pasts and refusals, too, nobody is kept out, and the hub is asked for no more than is documented.
func TestManyReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("raising a lab for it takes minutes; it runs in make test-full PARTS=dashboard")
	}
	e := shared.Of(t)
	e.raiseTeams(t)
	all := e.guests(t)
	dir := t.TempDir()
	program, err := fixture.Build(t.Context(), "dashboard", dir, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	site := &site{t: t}
	process := site.start(t, e.Fleet, e.Hub(), lab.Program{Path: program, Args: []string{fmt.Sprintf("--max-pages=%d", len(all))}}, dir)
	begun := time.Now()
	open := func(g *guest) error { return g.open(t.Context(), site.address+g.path) }
	together(t, all, open)
	together(t, all, func(g *guest) error {
		want, whole := len(g.of), g.name == "sees-all"
		if whole {
			want += 2 // those of the lab
		}
		return g.sees(t.Context(), "all there is", func() bool {
			return g.loaded && len(g.rows) == want && slices.Contains(g.notices, "FederatedHPAs") != whole
		})
	})
	for round := 1; round <= rounds; round++ {
		e.change(t, round)
		together(t, all, func(g *guest) error {
			if g == all[0] {
				g.goneAmid(t.Context(), cartOf(0))
				if err := open(g); err != nil {
					return err
				}
			}
			return g.round(t.Context(), round)
		})
	}
	changed := time.Now()
	together(t, all, func(g *guest) error {
		for _, of := range g.of[:min(len(g.of), 4)] {
			if err := g.comes(t.Context(), of, changed); err != nil {
				return err
			}
		}
		return nil
	})
	e.measures(t, all)
	for _, g := range all {
		g.leave()
	}
	team := all[:teams]
	for _, g := range team {
		g.path, g.of, g.may = "/namespaces/"+crowd+"/", []int{teams}, append(g.may, crowd)
	}
	together(t, team, open)
	for round := rounds + 1; round <= rounds+crowded; round++ {
		e.change(t, round)
		changed := time.Now()
		together(t, team, func(g *guest) error {
			if err := g.round(t.Context(), round); err != nil {
				return err
			}
			return g.comes(t.Context(), teams, changed)
		})
	}
	for _, g := range team {
		g.leave()
	}
	t.Logf("%d readers saw %d rounds in %v", len(all), rounds+crowded, time.Since(begun).Round(time.Second))
	if err := process.Stop(); err != nil { // so that watches have ended
		t.Fatal(err)
	}
	e.judgeRequests(t, all, begun)
}

// measures tells what the hub is asked for while nothing changes, and each has an autoscaler open.
func (e *env) measures(t *testing.T, all []*guest) {
	t.Helper()
	from := time.Now()
	together(t, all, func(g *guest) error {
		for range 3 {
			g.mu.Lock()
			next := g.messages + 1
			g.mu.Unlock()
			if err := g.sees(t.Context(), "that nothing is new", func() bool { return g.messages >= next }); err != nil {
				return err
			}
			if len(g.of) > 0 {
				if _, err := g.shows(t.Context(), g.of[0]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	until, n := time.Now(), 0
	requests, err := e.Hub().Requests()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if r.Begun.After(from) && r.Begun.Before(until) {
			n++
		}
	}
	t.Logf("%d requests in %v while nothing changed", n, until.Sub(from).Round(time.Second))
}

// judgeRequests holds what the hub was asked for to what is documented: it does not grow with the number of objects, and with that of
// questions only as far as the page says.
func (e *env) judgeRequests(t *testing.T, all []*guest, begun time.Time) {
	t.Helper()
	requests, err := e.Hub().Requests()
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]map[string]int{}
	for _, r := range requests {
		who := strings.TrimPrefix(r.User, "system:serviceaccount:"+people+":")
		if asked[who] == nil {
			asked[who] = map[string]int{}
		}
		what := strings.TrimSuffix(r.Verb+" "+r.Resource+"/"+r.Subresource, "/")
		if r.Code == http.StatusForbidden {
			what += ", refused"
		}
		if r.Code >= http.StatusTooManyRequests && who != all[0].name { // who goes away amid answers, which the hub takes for faults
			t.Errorf("the hub answered %s with %d", r.URI, r.Code)
		}
		asked[who][what]++
	}
	periods := int(time.Since(begun)/leastPause) + 1
	for _, g := range all {
		most := map[string]int{
			"create selfsubjectreviews": g.visits, "list events": g.asked, "get federatedhpas/decisions": min(g.asked, g.visits*periods*4),
			"list members": g.visits * periods, "list members, refused": g.visits * periods,
		}
		for _, kind := range []string{"federatedhpas", "multidimpodautoscalers", "cronfederatedhpas"} {
			most["list "+kind], most["watch "+kind], most["list "+kind+", refused"] = g.visits, g.visits, g.visits
			if len(g.of) == 0 { // who may list nothing is refused again and again, after longer and longer pauses
				most["list "+kind+", refused"] = periods
			}
		}
		for what, n := range asked[g.name] {
			if n > most[what] {
				t.Errorf("%s: %s: %d times, want %d at most", g.name, what, n, most[what])
			}
		}
	}
	for _, who := range []string{team(0), team(1), "sees-all", "sees-nothing"} {
		t.Log(who, asked[who])
	}
}

// manifest says what memory the program may take, in MiB, and has its environment.
func manifest(t *testing.T) (most float64, environment []string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/base/dashboard/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d appsv1.Deployment
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	c := &d.Spec.Template.Spec.Containers[0]
	for _, v := range c.Env {
		environment = append(environment, v.Name+"="+v.Value)
	}
	return c.Resources.Limits.Memory().AsApproximateFloat64() / (1 << 20), environment
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peak is the most memory that a process has had, in MiB; 0 where that is not known.
func peak(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // which is there on Linux only
	if err != nil {
		return 0
	}
	kib, err := strconv.ParseFloat(highWater.FindStringSubmatch(string(text))[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib / (1 << 10)
}

// Twenty readers of 500 members and 2,000 autoscalers, who open the page at one time, as their browsers do when it was restarted, take no
// more memory than the manifest allows.
func TestMemoryOfManyReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute; it runs in make test-full PARTS=dashboard")
	}
	hub, _ := large(t)
	for i := range autoscalers {
		name := func(i int) string { return fmt.Sprintf("member-%03d", i%members) }
		f := dashboardtest.FederatedHPA(fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("web-%04d", i), time.Now(), 60, 2,
			name(i), name(i+1), name(i+2), name(i+3))
		dashboardtest.Manage(f)
		hub.Put(dashboardtest.FederatedHPAs, f)
	}
	names := make([]string, teams)
	for i := range names {
		names[i] = "reader-" + strconv.Itoa(i)
	}
	behind := httptest.NewTLSServer(guarded(hub, names...))
	t.Cleanup(behind.Close)
	most, environment := manifest(t)
	at, process := launch(t, behind, environment)
	all := make([]*guest, teams)
	for i, name := range names {
		all[i] = &guest{visitor: newVisitor(name, tokenOf+name)}
		for of := range 40 {
			all[i].may = append(all[i].may, fmt.Sprintf("team-%02d", of))
		}
	}
	together(t, all, func(g *guest) error {
		if err := g.open(t.Context(), at+"/"); err != nil {
			return err
		}
		return g.sees(t.Context(), "all there is", func() bool { return g.loaded && len(g.rows) == autoscalers+1 })
	})
	took := peak(t, process.Pid)
	t.Logf("%d readers of %d members and %d autoscalers took %.1f MiB", len(all), members, autoscalers, took)
	if took > most {
		t.Errorf("%.1f MiB are the limit", most)
	}
	for _, g := range all {
		g.leave()
	}
}

// launch runs the built program for a hub, until the test ends, and returns its address.
func launch(t *testing.T, hub *httptest.Server, environment []string) (address string, process *os.Process) {
	t.Helper()
	dir := t.TempDir()
	program, err := fixture.Build(t.Context(), "dashboard", dir, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: hub.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hub.Certificate().Raw})}
	config.Contexts["hub"], config.CurrentContext = &clientcmdapi.Context{Cluster: "hub"}, "hub"
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(clientcmd.WriteToFile(*config, at("hub")), os.WriteFile(at("tls.crt"), certificate, 0o600),
		os.WriteFile(at("tls.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	port := commandtest.FreePort(t)
	cmd := exec.CommandContext(t.Context(), program, "--kubeconfig="+at("hub"), "--bind-address=127.0.0.1", "--secure-port="+port,
		"--tls-cert-file="+at("tls.crt"), "--tls-private-key-file="+at("tls.key"))
	cmd.Env, cmd.Stderr = append(os.Environ(), environment...), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context has killed it
	address = "https://127.0.0.1:" + port
	if err := fixture.Await(t.Context(), patience, lab.HTTPReady(address+"/readyz")); err != nil {
		t.Fatal(err)
	}
	return address, cmd.Process
}
