// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Both versions tell the same, in JSON and in protobuf.
func TestVersionsAndEncodings(t *testing.T) {
	e := whole(t)
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			c := config(t, e.Hub())
			c.AcceptContentTypes, c.ContentType = contentType, contentType
			client := metrics.NewForConfigOrDie(c)
			pods := map[string][]string{}
			beta, err := client.MetricsV1beta1().PodMetricses(shop).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range beta.Items {
				pods["v1beta1"] = append(pods["v1beta1"], item.Labels[fleet.ClusterLabel]+"/"+item.Name)
			}
			stable, err := client.MetricsV1().PodMetricses(shop).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range stable.Items {
				pods["v1"] = append(pods["v1"], item.Labels[fleet.ClusterLabel]+"/"+item.Name)
			}
			for version, got := range pods {
				slices.Sort(got)
				fleettest.Same(t, "pods in "+version, podsOf(allMembers()...), got)
			}
			if len(pods) != 2 {
				t.Errorf("only %v had pods", pods)
			}
		})
	}
}

// A client that asks for protobuf gets it, and not JSON that it also accepts.
func TestProtobufIsServed(t *testing.T) {
	e := whole(t)
	got, err := raw(t.Context(), config(t, e.Hub()), shopPath, runtime.ContentTypeProtobuf+",application/json")
	if err != nil {
		t.Fatal(err)
	}
	if contentType := got.Header.Get("Content-Type"); contentType != runtime.ContentTypeProtobuf {
		t.Errorf("the content type is %q", contentType)
	}
}

// Each sample is the member's own: figures, time and window.
func TestSamplesAreThoseOfTheMembers(t *testing.T) {
	e := whole(t)
	eventually(t, "the samples are equal", func(ctx context.Context) error { // a member may measure between two questions
		theirs := map[string]metricsv1beta1.PodMetrics{}
		for _, member := range e.Members() {
			v, err := see(ctx, config(t, member), shopPath)
			if err != nil {
				return err
			}
			for _, item := range v.items {
				theirs[member.Name+"/"+item.Name] = bare(item)
			}
		}
		v, err := see(ctx, config(t, e.Hub()), shopPath)
		if err != nil {
			return err
		}
		ours := samples(v)
		if diff := cmp.Diff(theirs, ours); diff != "" {
			return fmt.Errorf("the members' (-), the hub's (+):\n%s", diff)
		}
		if len(ours) != 3*shopPods {
			return fmt.Errorf("%d samples, want %d", len(ours), 3*shopPods)
		}
		return nil
	})
}

func TestDiscoveryAndOpenAPI(t *testing.T) {
	e := whole(t)
	t.Run("aggregated discovery has the group", func(t *testing.T) {
		const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		got, err := raw(t.Context(), config(t, e.Hub()), "/apis", accept)
		if err != nil {
			t.Fatal(err)
		}
		var list apidiscoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(got.Body, &list); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, group := range list.Items {
			for _, version := range group.Versions {
				for _, resource := range version.Resources {
					if group.Name == "metrics.k8s.io" {
						found[version.Version+" "+resource.Resource] = resource.ResponseKind.Kind
					}
				}
			}
		}
		want := map[string]string{"v1beta1 pods": "PodMetrics", "v1beta1 nodes": "NodeMetrics", "v1 pods": "PodMetrics",
			"v1 nodes": "NodeMetrics"}
		fleettest.Same(t, "resources and kinds", want, found)
	})
	t.Run("OpenAPI describes it", func(t *testing.T) {
		for _, version := range []string{v1beta1, v1} {
			got := e.get(t, "/openapi/v3"+version)
			if got.Code != http.StatusOK || !strings.Contains(string(got.Body), "PodMetricsList") {
				t.Errorf("/openapi/v3%s: %d, %d bytes without PodMetricsList", version, got.Code, len(got.Body))
			}
		}
	})
	t.Run("kubectl explains it", func(t *testing.T) {
		eventually(t, "the hub has taken up the description", func(ctx context.Context) error {
			said, err := e.Ask(ctx, "explain", "podmetrics.containers.usage")
			if err == nil && !strings.Contains(said.Stdout, "memory") {
				err = fmt.Errorf("kubectl explain says %s%s", said.Stdout, said.Stderr)
			}
			return err
		})
	})
}

// Who may read is for the hub's RBAC to say, namespace by namespace.
func TestRights(t *testing.T) {
	e := whole(t)
	e.kubectl(t, "-n", shop, "create", "rolebinding", "viewer", "--clusterrole=view", "--user=vera")
	t.Cleanup(func() { _, _ = e.Ask(afterwards(t), "-n", shop, "delete", "rolebinding", "viewer") })
	as := func(user, path string) view {
		data, err := e.Hub().UserKubeconfig(user)
		if err != nil {
			t.Fatal(err)
		}
		c, err := clientcmd.RESTConfigFromKubeConfig(data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := see(t.Context(), c, path)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := as("nora", shopPath); v.Code != http.StatusForbidden {
		t.Errorf("a user without rights gets %d %s, want 403", v.Code, v.Message)
	}
	if v := as("vera", allPath); v.Code != http.StatusForbidden {
		t.Errorf("a user with rights in one namespace gets %d %s of all, want 403", v.Code, v.Message)
	}
	if err := hasPods(as("vera", shopPath), allMembers()...); err != nil {
		t.Errorf("a user who may view the namespace: %v", err)
	}
}
