// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// ofAPIs are the readings of what the hub serves.
func (g *gatherer) ofAPIs(p *Picture) []reading {
	return []reading{
		{"APIServices", func(ctx context.Context) {
			const needs = "list apiservices.apiregistration.k8s.io"
			p.APIServices = ask(ctx, g, needs, func(ctx context.Context) ([]apiregistrationv1.APIService, error) {
				var list apiregistrationv1.APIServiceList
				err := g.raw(ctx, "/apis/apiregistration.k8s.io/v1/apiservices", &list)
				return list.Items, err
			})
		}},
		{"kinds", func(ctx context.Context) { p.Schema = ask(ctx, g, "read the schema of "+v1alpha1.GroupName, g.schema) }},
		{"an answer of the webhook", func(ctx context.Context) { p.Trial = g.trial(ctx, cmp.Or(append(p.Scope, "default")...)) }},
	}
}

// raw reads what is at a path.
func (g *gatherer) raw(ctx context.Context, path string, into any) error {
	answer := g.typed.Discovery().RESTClient().Get().AbsPath(path).Do(ctx)
	if err := answer.Error(); err != nil { // which reads what the hub says of it
		return err
	}
	text, err := answer.Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// schema is what is wrong with our kinds, by kind.
func (g *gatherer) schema(ctx context.Context) (map[string]string, error) {
	client, err := discovery.NewDiscoveryClientForConfig(g.config)
	if err != nil {
		return nil, err
	}
	faults, err := served.Faults(ctx, client.OpenAPIV3WithContext(ctx))
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for kind, fault := range faults {
		texts[kind] = fault.Error()
	}
	var known metav1.APIResourceList
	if err := g.raw(ctx, "/apis/"+v1alpha1.SchemeGroupVersion.String(), &known); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	for i := range known.APIResources {
		if known.APIResources[i].Kind == v1alpha1.MultidimPodAutoscalerHistoryKind {
			return texts, nil
		}
	}
	texts[v1alpha1.MultidimPodAutoscalerHistoryKind] = fmt.Sprintf("the hub does not serve %s of %s",
		v1alpha1.MultidimPodAutoscalerHistoryKind, v1alpha1.SchemeGroupVersion)
	return texts, nil
}

// triedFederatedHPA is as it should be, and is never stored.
const triedFederatedHPA = `{"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA",
  "metadata": {"name": "fleetscale-doctor"},
  "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "fleetscale-doctor"},
    "minReplicas": 1, "maxReplicas": 2, "metrics": [
      {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}}`

// policy is how an API server names what refuses in place of a webhook.
const policy = "ValidatingAdmissionPolicy"

// trial has the hub judge a FederatedHPA. What it answers is empty where it takes it, or does not know the kind.
func (g *gatherer) trial(ctx context.Context, namespace string) Read[string] {
	return ask(ctx, g, "create federatedhpas."+v1alpha1.GroupName+" in "+namespace, func(ctx context.Context) (string, error) {
		err := g.typed.Discovery().RESTClient().Post().AbsPath("/apis/"+v1alpha1.SchemeGroupVersion.String()+"/namespaces/"+namespace+
			"/federatedhpas").Param("dryRun", metav1.DryRunAll).SetHeader("Content-Type", "application/json").
			Body([]byte(triedFederatedHPA)).Do(ctx).Error()
		switch {
		case err == nil, apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
			return "", nil
		case strings.Contains(err.Error(), "webhook"), strings.Contains(err.Error(), policy), apierrors.IsInvalid(err):
			return plugin.Said(err), nil
		}
		return "", err
	})
}
