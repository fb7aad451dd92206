// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// site is a fleet of people who wrote an overlay of their own, as docs/operate.md says, and go from one version to another. What a Service
// does is done by a front, and what a Deployment does, by replace.
type site struct {
	*env
	t        *testing.T
	page     *page
	fronts   map[string]*fixture.Front
	replicas map[string]*lab.Process
	metrics  string // address of those of the controller-manager that runs
	objects  map[string]dynamic.Interface
	rounds   int
}

func (e *env) newSite(t *testing.T) *site {
	t.Helper()
	s := &site{
		env: e, t: t, page: e.newPage(t), fronts: map[string]*fixture.Front{}, replicas: map[string]*lab.Process{},
		objects: map[string]dynamic.Interface{},
	}
	for _, service := range []string{"metrics-adapter", "webhook"} {
		front, err := fixture.NewFront(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.fronts[service] = front
		t.Cleanup(func() { _ = front.Close() })
	}
	for _, cluster := range []string{"hub", east, west} {
		client, err := e.named(t, cluster).Dynamic()
		if err != nil {
			t.Fatal(err)
		}
		s.objects[cluster] = client
	}
	t.Cleanup(s.stop)
	return s
}

// overlay is the folder of the people's own, upon that of a checkout. The hub is led to ports of this machine, since Endpoints may not be
// loopback addresses.
func (s *site) overlay(checkout string) string {
	s.t.Helper()
	dir := filepath.Join(s.page.home, "overlay-"+filepath.Base(checkout))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	base := filepath.Join(checkout, "deploy", "overlays", "standalone")
	upon, err := filepath.Rel(resolved(s.t, dir), resolved(s.t, base))
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.NewReplacer("BASE", upon, "ADAPTER", port(s.fronts["metrics-adapter"]), "WEBHOOK", port(s.fronts["webhook"])).Replace(mine)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return dir
}

const mine = `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [BASE]
patches:
- target: {kind: Service}
  patch: |
    - {op: replace, path: /spec, value: {type: ExternalName, externalName: localhost}}
- target: {kind: APIService}
  patch: |
    - {op: replace, path: /spec/service/port, value: ADAPTER}
- target: {group: admissionregistration.k8s.io}
  patch: |
    - {op: replace, path: /webhooks/0/clientConfig/service/port, value: WEBHOOK}
    - {op: replace, path: /webhooks/1/clientConfig/service/port, value: WEBHOOK}
    - {op: replace, path: /webhooks/2/clientConfig/service/port, value: WEBHOOK}
`

// resolved is a folder without symbolic links, from which kustomize finds its way.
func resolved(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func port(f *fixture.Front) string { return fmt.Sprint(f.Port()) }

// types has the commands of a block run in a checkout: those of a member in each, and those of the overlay with the people's own. Where a
// command waits for replicas, they are replaced.
func (s *site) types(checkout, block string) {
	s.t.Helper()
	s.page.dir = checkout
	var lines []string
	for line := range strings.SplitSeq(block, "\n") {
		line, _, _ = strings.Cut(line, "  #") // a comment
		line = strings.ReplaceAll(line, "deploy/overlays/standalone", s.overlay(checkout))
		line = strings.ReplaceAll(line, "deploy/overlays/beside-metrics-server", s.overlay(checkout))
		lines = append(lines, line)
		if strings.Contains(line, "--context "+east) {
			lines = append(lines, strings.ReplaceAll(line, "--context "+east, "--context "+west))
		}
	}
	var script []string
	flush := func() {
		s.does(strings.Join(script, "\n"))
		script = nil
	}
	for _, line := range lines {
		if strings.Contains(line, "rollout status") {
			flush()
			s.replace(checkout)
			continue
		}
		script = append(script, line)
	}
	flush()
}

// does runs what is typed; where it reports a conflict, as docs/upgrade.md says.
func (s *site) does(script string) {
	s.t.Helper()
	out, err := s.page.run(s.t.Context(), script)
	if err != nil && strings.Contains(err.Error(), "--force-conflicts") {
		s.t.Logf("$ %s\n%v", script, err)
		script = strings.ReplaceAll(script, "apply --server-side", "apply --server-side --force-conflicts")
		out, err = s.page.run(s.t.Context(), script)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("$ %s\n%s", script, out)
}

// replace does what Deployments do once they name another image: a new replica runs and is ready before requests are led there, and only
// then the former one is told to end.
func (s *site) replace(checkout string) {
	s.t.Helper()
	s.rounds++
	programs, err := s.programs()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range programs {
		if p.name == "controller-manager" {
			p.args = append(p.args, "--vertical-period=2s", "--history-save-period=5s")
			s.metrics = p.metrics
		}
		began, err := s.runOne(s.t.Context(), filepath.Join(checkout, "bin"), fmt.Sprintf("%s-%d", p.name, s.rounds), p)
		if err != nil {
			s.t.Fatal(err)
		}
		if front := s.fronts[p.name]; front != nil {
			front.LeadTo(p.port)
		}
		if former := s.replicas[p.name]; former != nil {
			if err := former.Stop(); err != nil {
				s.t.Error(err)
			}
		}
		s.replicas[p.name] = began
	}
	const ours = "app.kubernetes.io/part-of=fleetscale"
	if _, err := s.Ask(s.t.Context(), "wait", "--for=condition=Available", "--timeout=120s", "apiservice", "-l", ours); err != nil {
		s.t.Fatal(err)
	}
}

// stop ends all that runs, as it does when Deployments are deleted.
func (s *site) stop() {
	for _, p := range s.replicas {
		if err := p.Stop(); err != nil {
			s.t.Error(err)
		}
	}
	clear(s.replicas)
}
