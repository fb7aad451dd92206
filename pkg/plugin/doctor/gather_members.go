// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// ofMembers are the readings of what the hub knows of members. Of Secrets only the metadata are asked for, so that no credential leaves
// the hub.
func (g *gatherer) ofMembers(p *Picture) []reading {
	return []reading{
		{"members", func(ctx context.Context) {
			p.Members = ask(ctx, g, "list members."+membersv1alpha1.GroupName, func(ctx context.Context) ([]membersv1alpha1.Member, error) {
				var list membersv1alpha1.MemberList
				err := g.raw(ctx, "/apis/"+membersv1alpha1.SchemeGroupVersion.String()+"/members", &list)
				return list.Items, err
			})
		}},
		{"metrics", func(ctx context.Context) { p.Coverage = g.coverage(ctx, p.Scope) }},
		{"registrations", func(ctx context.Context) {
			for _, namespace := range []string{p.Registrations, p.Writers} {
				found := g.secrets(ctx, namespace, metav1.ListOptions{})
				p.Secrets.Value = append(p.Secrets.Value, found.Value...)
				if found.Unknown != "" {
					p.Secrets.Unknown = found.Unknown
				}
				if p.Writers == p.Registrations {
					break
				}
			}
		}},
		{"registrations elsewhere", func(ctx context.Context) {
			p.Labelled = g.secrets(ctx, metav1.NamespaceAll, metav1.ListOptions{LabelSelector: registration.MemberLabel + "=true"})
		}},
	}
}

func (g *gatherer) secrets(ctx context.Context, namespace string, o metav1.ListOptions) Read[[]metav1.PartialObjectMetadata] {
	needs := "list secrets"
	if namespace != "" {
		needs += " in " + namespace
	}
	return ask(ctx, g, needs, func(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
		list, err := g.metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace).List(ctx, o)
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

// coverage is that of the metrics of nodes or, where the programs act in some namespaces only, of Pods.
func (g *gatherer) coverage(ctx context.Context, namespaces []string) Read[fleet.Coverage] {
	resource := "nodes"
	if len(namespaces) > 0 {
		resource = "namespaces/" + namespaces[0] + "/pods"
	}
	return ask(ctx, g, "list "+resource+" of metrics.k8s.io", func(ctx context.Context) (fleet.Coverage, error) {
		client, err := rest.HTTPClientFor(g.config)
		if err != nil {
			return fleet.Coverage{}, err
		}
		url := g.typed.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/" + resource).URL()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url.String(), http.NoBody)
		if err != nil {
			return fleet.Coverage{}, err
		}
		answer, err := client.Do(request)
		if err != nil {
			return fleet.Coverage{}, err
		}
		defer func() { _ = answer.Body.Close() }()
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, mostDiscarded)) // what is in it does not matter
		header := answer.Header.Get(fleet.CoverageHeader)
		switch {
		case answer.StatusCode == http.StatusForbidden:
			return fleet.Coverage{}, apierrors.NewForbidden(corev1.Resource(resource), "", errors.New("forbidden"))
		case header == "" && answer.StatusCode != http.StatusOK:
			return fleet.Coverage{}, fmt.Errorf("it is answered with %s", answer.Status)
		case header == "":
			return fleet.Coverage{}, errors.New("the metrics-adapter does not answer it")
		}
		return fleet.ParseCoverage(header)
	})
}

// mostDiscarded is how many bytes of an answer are read to keep its connection.
const mostDiscarded = 1 << 20

// mostManaged bounds how many HorizontalPodAutoscalers a member is asked for.
const mostManaged = 20 * page

// managed are the HorizontalPodAutoscalers of a member that bear our label. It is not known of one that has too many.
func (g *gatherer) managed(ctx context.Context) Read[[]metav1.PartialObjectMetadata] {
	return ask(ctx, g, "list horizontalpodautoscalers.autoscaling", func(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
		hpas := autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
		var all []metav1.PartialObjectMetadata
		for next := ""; ; {
			list, err := g.metadata.Resource(hpas).List(ctx, metav1.ListOptions{
				LabelSelector: v1alpha1.ManagedByLabel, Limit: page, Continue: next,
			})
			if err != nil {
				return nil, err
			}
			if all = append(all, list.Items...); len(all) > mostManaged {
				return nil, fmt.Errorf("it tells of more than %d", mostManaged)
			}
			if next = list.Continue; next == "" {
				return all, nil
			}
		}
	})
}
