// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// hostile is what takes hours to decode, as a tenant may have stored it.
const hostile = `{"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA", "metadata": {"namespace": "shop", "name": "bad"},
  "spec": {"metrics": [{"type": "External", "external": {"target": {"value": "1e-2147483648"}}}]}}`

// hub has the kinds of fleetscale, and two FederatedHPAs: shop/cart and shop/bad.
func hub(t *testing.T) (address string) {
	t.Helper()
	group := v1alpha1.SchemeGroupVersion.String()
	cart := &v1alpha1.FederatedHPA{TypeMeta: metav1.TypeMeta{APIVersion: group, Kind: "FederatedHPA"}}
	cart.Namespace, cart.Name = "shop", "cart"
	cart.Status.Explanation = &v1alpha1.DecisionExplanation{
		Basis: "MaxReplicas", LimitedBy: "MaxReplicas", CurrentReplicas: 9, DesiredReplicas: 8,
	}
	answers := map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: v1alpha1.GroupName,
			Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: group, Version: "v1alpha1"}}}}},
		"/apis/" + group: metav1.APIResourceList{GroupVersion: group, APIResources: []metav1.APIResource{
			{Name: "federatedhpas", SingularName: "federatedhpa", Namespaced: true, Kind: "FederatedHPA", Verbs: []string{"get", "list"}}}},
		"/apis/" + group + "/namespaces/shop/federatedhpas/cart": cart,
		"/apis/" + group + "/namespaces/shop/federatedhpas/bad":  json.RawMessage(hostile),
		"/apis/" + group + "/namespaces/shop/federatedhpas": map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList",
			"items": []any{json.RawMessage(hostile), cart}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, known := answers[r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
				Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func runInShop(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	return run(t, append(args, "--server", hub(t), "-n", "shop")...)
}

func TestExplain(t *testing.T) {
	out, err := runInShop(t, "explain", "fhpa/cart")
	if err != nil || !strings.Contains(out, "FederatedHPA shop/cart: 8 replicas, from 9: there were more than maxReplicas") ||
		!strings.Contains(out, "min(9, 8) = 8") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = runInShop(t, "explain", "federatedhpa", "cart", "-o", "json")
	e := &v1alpha1.DecisionExplanation{}
	if err != nil || json.Unmarshal([]byte(out), e) != nil || e.DesiredReplicas != 8 {
		t.Errorf("%v\n%s", err, out)
	}
	for args, want := range map[string]string{
		"explain fhpa/none":                         "there is no federatedhpa none in namespace shop; choose another with -n",
		"explain fhpa/bad":                          "reading federatedhpa shop/bad: decoding it: ",
		"what-if fhpa/bad --set spec.maxReplicas=9": "reading federatedhpa shop/bad: decoding it: ",
		"explain mpa/cart":                          "the hub does not know multidimpodautoscalers: install",
		"explain hpa/cart":                          `objects of the type "hpa" cannot be explained`,
		"explain fhpa/cart -o wide":                 `--output: there is no format "wide"`,
		"what-if fhpa/cart":                         "say what would be another: --set FIELD=VALUE",
		"what-if fhpa/cart --set spec.minReplicas=": "FederatedHPA shop/cart has been changed since its last decision",
	} {
		if out, err := runInShop(t, strings.Fields(args)...); err == nil || !strings.HasPrefix(err.Error(), want) || out != "" {
			t.Errorf("%s: got %v\n%s\nwant %s", args, err, out, want)
		}
	}
}

// Completion reads names, and decodes nothing else.
func TestExplainCompletes(t *testing.T) {
	t.Setenv("KUBECONFIG", "/dev/null")
	out, err := run(t, "__complete", "explain", "--server", hub(t), "-n", "shop", "fhpa/")
	if err != nil || !strings.HasPrefix(out, "fhpa/bad\nfhpa/cart\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
