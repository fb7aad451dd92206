// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// placementDecision is a slice of the decision "web", with that index, and so many clusters beside it.
const placementDecision = `
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: PlacementDecision
metadata:
  name: %s
  namespace: shop
  labels: {multicluster.x-k8s.io/decision-key: web, multicluster.x-k8s.io/decision-index: "%d"}
schedulerName: acme
decisions:
`

const decidedCluster = "- {clusterProfileRef: {namespace: inventory, name: %s}, reason: Scheduled}\n"

// What a scheduler chose is read as the controller-manager reads it, with the rights that deploy/ grants: all slices of a decision, and
// the clusters as which its ClusterProfiles are listed, also if another registration of one is in use.
func TestPlacementDecisions(t *testing.T) {
	e := shared.Of(t)
	e.inventory(t)
	e.feed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	e.ask(t, "apply", "-f", "testdata/placementdecision.yaml", "-f", e.Deploy("components/placement-decisions/rbac.yaml"))
	e.ask(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/placementdecisions.multicluster.x-k8s.io")
	token := e.account(t, "decisions")
	e.register(t, memberName, token)
	t.Cleanup(func() {
		ctx := afterwards(t)
		_, _ = e.Ask(ctx, append([]string{"delete", "--ignore-not-found"}, profileObject...)...)
		_, _ = e.Ask(ctx, "-n", fixture.RegistrationNamespace, "delete", "--ignore-not-found", "secret", memberName)
		_, _ = e.Ask(ctx, "-n", "shop", "delete", "placementdecisions", "--all")
	})
	encoded := base64.StdEncoding.EncodeToString([]byte(token))
	e.feed(t, clusterProfile+fmt.Sprintf(profileSecret, "east", "token", encoded))
	e.ask(t, append([]string{"patch", "--subresource=status", "--type=merge", "-p",
		profileStatus(t, "secretreader", map[string]any{"clusterName": "east"}, e.member.URL, e.ca(t))}, profileObject...)...)
	p := e.start(t, fixture.ControllersAccount, registration.Write, "--sources=secret,clusterprofile", "--clusterprofile-namespaces=inventory")
	p.registered(t, "clusterprofile.inventory.east=Duplicate", "secret.east=Ready")

	decisions := &placement.Decisions{Hub: e.cached(t, p.hub), ClusterOf: func(namespace, name string) (string, bool) {
		object := namespace + "/" + name
		cluster := p.ClusterOf(registration.ClusterProfileSource, object)
		return cmp.Or(cluster, "unknown "+object), cluster != ""
	}}
	decided := func() string {
		clusters, err := decisions.Clusters(t.Context(), "shop", "web")
		if err != nil {
			return err.Error()
		}
		return strings.Join(slices.Sorted(maps.Keys(clusters)), " ")
	}
	memberstest.Eventually(t, `there is no PlacementDecision "web" in the namespace, and none has the label `+
		`multicluster.x-k8s.io/decision-key=web`, decided)
	e.feed(t, fmt.Sprintf(placementDecision, "web-1", 1)+fmt.Sprintf(decidedCluster, "north"))
	memberstest.Eventually(t, `the decision "web" is not whole: PlacementDecision "web-1" has `+
		`multicluster.x-k8s.io/decision-index=1, and there are 1`, decided)
	e.feed(t, fmt.Sprintf(placementDecision, "web-0", 0)+fmt.Sprintf(decidedCluster, "east"))
	memberstest.Eventually(t, "east unknown inventory/north", decided)

	many := fmt.Sprintf(placementDecision, "web-2", 2) + strings.Repeat(fmt.Sprintf(decidedCluster, "south"), 101)
	if _, err := e.Feed(t.Context(), many, "apply", "-f", "-"); err == nil {
		t.Error("the API takes more clusters in one PlacementDecision than we were told")
	}
}

// cached reads the hub as the controller-manager does.
func (e *env) cached(t *testing.T, config *rest.Config) cache.Cache {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := placement.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := cache.New(config, cache.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	memberstest.Run(memberstest.Logged(t), t, c.Start)
	return c
}
