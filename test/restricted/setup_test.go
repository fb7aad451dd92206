// SPDX-License-Identifier: Apache-2.0

// Package restricted_test runs the built programs with --namespaces and with exactly the rights that deploy/ grants then, in
// namespaces: against a hub and a member that are real API servers, and note what they refuse.
package restricted_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// memberName is that of the only member.
	memberName = "east"
	// shop and pay are the namespaces that the programs act in; other is there too.
	shop, pay, other = "shop", "pay", "other"
	// profile is the overlay for them, of the repository.
	profile = "test/deploy/testdata/namespaces"

	restrict = "--namespaces=" + shop + "," + pay
)

// env is a fleet with the restricted profile, whose programs run.
type env struct {
	*fixture.Fleet
	member *lab.Cluster
}

// shared is one env for all tests.
var shared = fixture.Shared[*env]{Name: "restricted", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{}
	return e, fixture.Raise(ctx, dir, lab.Options{
		MetricResolution: 10 * time.Second,
		Hub:              lab.Hub{Recorded: []string{"system:serviceaccounts:" + fixture.SystemNamespace}},
		Members: []lab.Member{{
			Name: memberName, Nodes: 1, Recorded: []string{"system:serviceaccounts:" + fixture.MemberNamespace},
		}},
	}, []string{"metrics-adapter", "webhook", "controller-manager"}, e.raise)
}

// raise has the fleet be as docs/install.md has people make it.
func (e *env) raise(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet = f
	if e.member, err = e.Cluster(memberName); err != nil {
		return err
	}
	for _, cluster := range []*lab.Cluster{e.Hub(), e.member} {
		for _, namespace := range []string{shop, pay, other} {
			if err := e.CreateNamespace(ctx, cluster, namespace); err != nil {
				return err
			}
		}
	}
	if err := e.warmUp(ctx); err != nil {
		return err
	}
	if err := errors.Join(e.InstallKinds(ctx, e.Hub()), e.grant(ctx), e.join(ctx)); err != nil {
		return err
	}
	return e.launch(ctx, programs)
}

// warmUp has Pods run that are busy, in each namespace: it takes a while until they are measured.
func (e *env) warmUp(ctx context.Context) error {
	for _, namespace := range []string{shop, pay, other} {
		if _, err := e.Feed(ctx, deployments, "--context", memberName, "-n", namespace, "apply", "-f", "-"); err != nil {
			return err
		}
	}
	return e.member.SetUsage(ctx, lab.Usage{CPU: new(resource.MustParse("200m"))})
}

// deployments request half of what their Pods use.
const deployments = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web,
  image: web, resources: {requests: {cpu: 100m}}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec: {replicas: 2, selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: api,
  image: api, resources: {requests: {cpu: 100m}}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: sized}
spec: {replicas: 2, selector: {matchLabels: {app: sized}}, template: {metadata: {labels: {app: sized}}, spec: {containers: [{name: sized,
  image: sized, resources: {requests: {cpu: 100m}}}]}}}
`

// services lead from the hub to ports of this machine: endpoints may not be loopback addresses, so those of deploy/ cannot.
const services = `
apiVersion: v1
kind: Service
metadata: {name: metrics-adapter, namespace: fleetscale-system}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: fleetscale-system}
spec: {type: ExternalName, externalName: localhost}
`

// grant applies to the hub all of the profile but what runs there, what leads to that, and the webhook configurations.
func (e *env) grant(ctx context.Context) error {
	manifests, err := e.profile(ctx, func(kind string) bool {
		switch kind {
		case "Namespace", "ServiceAccount", "Secret", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding":
			return true
		}
		return false
	})
	if err != nil {
		return err
	}
	_, err = e.Feed(ctx, manifests+"\n---\n"+services, "apply", "-f", "-")
	return err
}

// profile is what the overlay has of some kinds.
func (e *env) profile(ctx context.Context, of func(kind string) bool) (string, error) {
	said, err := e.Ask(ctx, "kustomize", filepath.Join(e.Repository, profile))
	if err != nil {
		return "", err
	}
	var all []string
	for document := range strings.SplitSeq(said.Stdout, "\n---\n") {
		var object struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return "", fmt.Errorf("reading %s: %w", profile, err)
		}
		if of(object.Kind) {
			all = append(all, document)
		}
	}
	return strings.Join(all, "\n---\n"), nil
}

// join grants both identities their rights in the namespaces of the member, and registers it.
func (e *env) join(ctx context.Context) error {
	applied := [][]string{{"apply", "-k", e.Deploy("member-namespaced/write")}}
	for _, namespace := range []string{shop, pay} {
		applied = append(applied, []string{"-n", namespace, "apply", "-k", e.Deploy("member-namespaced/write/rights")})
	}
	for _, args := range applied {
		if _, err := e.Ask(ctx, append([]string{"--context", memberName}, args...)...); err != nil {
			return err
		}
	}
	return e.RegisterToScale(ctx, memberName, e.member, e.member.TokenKubeconfig)
}

// launch starts the programs, and leads the hub to them.
func (e *env) launch(ctx context.Context, programs map[string]string) error {
	if _, err := e.ServeMetrics(ctx, e.Hub(), "adapter", restrict); err != nil {
		return err
	}
	webhook, program, err := e.NewWebhook(ctx, e.Hub(), programs["webhook"], "webhook", restrict)
	if err != nil {
		return err
	}
	configurations, err := e.profile(ctx, func(kind string) bool { return strings.HasSuffix(kind, "WebhookConfiguration") })
	if err != nil {
		return err
	}
	there := strings.ReplaceAll(configurations, "port: 443", fmt.Sprintf("port: %d", webhook.Port))
	if _, err := e.Feed(ctx, there, "apply", "-f", "-"); err != nil {
		return err
	}
	if webhook.Process, err = e.Run(ctx, program); err != nil {
		return err
	}
	_, err = e.StartControllers(ctx, e.Hub(), programs["controller-manager"], "controllers", restrict,
		"--sync-period=2s", "--vertical-period=2s", "--history-save-period=5s", "--member-probe-period=2s",
		"--cpu-initialization-period=1s", "--initial-readiness-delay=1s", "-v=2")
	return err
}
