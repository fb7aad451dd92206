// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/deploy"
	"github.com/fleetscale/fleetscale/pkg/grants"
)

// ofHub are the readings of what is installed on the hub.
func (g *gatherer) ofHub(p *Picture) []reading {
	core := g.typed.CoreV1()
	return []reading{
		{"namespaces", func(ctx context.Context) {
			all := ask(ctx, g, "list namespaces", func(ctx context.Context) ([]corev1.Namespace, error) {
				list, err := core.Namespaces().List(ctx, metav1.ListOptions{})
				return list.Items, err
			})
			p.Namespaces.Unknown = all.Unknown
			for i := range all.Value {
				p.Namespaces.Value = append(p.Namespaces.Value, all.Value[i].Name)
				if all.Value[i].Name == metav1.NamespaceSystem {
					p.HubID = all.Value[i].UID
				}
			}
		}},
		{"service accounts", func(ctx context.Context) {
			p.Accounts = ask(ctx, g, inSystem("list serviceaccounts"), func(ctx context.Context) ([]string, error) {
				list, err := core.ServiceAccounts(SystemNamespace).List(ctx, metav1.ListOptions{})
				var names []string
				for i := range list.Items {
					names = append(names, list.Items[i].Name)
				}
				return names, err
			})
		}},
		{"deployments", func(ctx context.Context) {
			p.Deployments = ask(ctx, g, inSystem("list deployments.apps"), func(ctx context.Context) ([]appsv1.Deployment, error) {
				list, err := g.typed.AppsV1().Deployments(SystemNamespace).List(ctx, metav1.ListOptions{})
				return list.Items, err
			})
		}},
		{"services", func(ctx context.Context) {
			p.Services = ask(ctx, g, inSystem("list services"), func(ctx context.Context) ([]corev1.Service, error) {
				list, err := core.Services(SystemNamespace).List(ctx, metav1.ListOptions{})
				return list.Items, err
			})
		}},
		{"endpoints", func(ctx context.Context) {
			p.Ready = ask(ctx, g, inSystem("list endpointslices.discovery.k8s.io"), func(ctx context.Context) (map[string]int, error) {
				list, err := g.typed.DiscoveryV1().EndpointSlices(SystemNamespace).List(ctx, metav1.ListOptions{})
				return readyEndpoints(list), err
			})
		}},
		{"webhooks", g.webhooks(p)},
		{"leases", func(ctx context.Context) { p.Leases, p.Elsewhere = g.leases(ctx) }},
		{"rights", func(ctx context.Context) {
			p.Denied = g.denied(ctx, ourPrograms(), SystemNamespace, func(of program) ([]grants.Right, error) {
				return grants.To(deploy.Hub, of.folder, of.account, p.Scope)
			})
		}},
	}
}

func inSystem(needs string) string { return needs + " in " + SystemNamespace }

// readyEndpoints are the ready ones of each Service.
func readyEndpoints(list *discoveryv1.EndpointSliceList) map[string]int {
	ready := map[string]int{}
	for i := range list.Items {
		for _, endpoint := range list.Items[i].Endpoints {
			if ptr.Deref(endpoint.Conditions.Ready, true) {
				ready[list.Items[i].Labels[discoveryv1.LabelServiceName]]++
			}
		}
	}
	return ready
}

func (g *gatherer) webhooks(p *Picture) func(context.Context) {
	api := g.typed.AdmissionregistrationV1()
	return func(ctx context.Context) {
		p.Mutating = ask(ctx, g, "list mutatingwebhookconfigurations.admissionregistration.k8s.io",
			func(ctx context.Context) ([]admissionregistrationv1.MutatingWebhookConfiguration, error) {
				list, err := api.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
				return list.Items, err
			})
		p.Validating = ask(ctx, g, "list validatingwebhookconfigurations.admissionregistration.k8s.io",
			func(ctx context.Context) ([]admissionregistrationv1.ValidatingWebhookConfiguration, error) {
				list, err := api.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
				return list.Items, err
			})
	}
}

// leaseName is that of the Lease by which controller-managers agree on one.
const leaseName = "controller-manager.fleetscale.io"

// leases are those of all namespaces or, with the reason for that, of the programs' own.
func (g *gatherer) leases(ctx context.Context) (found Read[[]coordinationv1.Lease], elsewhere string) {
	in := func(namespace string) func(context.Context) ([]coordinationv1.Lease, error) {
		return func(ctx context.Context) ([]coordinationv1.Lease, error) {
			list, err := g.typed.CoordinationV1().Leases(namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + leaseName})
			return list.Items, err
		}
	}
	const needs = "list leases.coordination.k8s.io"
	found = ask(ctx, g, needs, in(metav1.NamespaceAll))
	if found.Unknown == "" {
		return found, ""
	}
	return ask(ctx, g, inSystem(needs), in(SystemNamespace)), found.Unknown
}

// denied are the rights that accounts of a namespace should have, and do not. Accounts that are not there are left out.
func (g *gatherer) denied(ctx context.Context, programs []program, namespace string,
	rightsOf func(program) ([]grants.Right, error)) Read[map[string][]string] {
	result := Read[map[string][]string]{Value: map[string][]string{}}
	for _, of := range programs {
		there := ask(ctx, g, "get serviceaccounts in "+namespace, func(ctx context.Context) (bool, error) {
			_, err := g.typed.CoreV1().ServiceAccounts(namespace).Get(ctx, of.account, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return true, err
		})
		if there.Unknown != "" {
			result.Unknown = there.Unknown
			return result
		}
		if !there.Value {
			continue
		}
		rights, err := rightsOf(of)
		if err != nil {
			result.Unknown = err.Error()
			return result
		}
		lacks := g.lacks(ctx, namespace, of.account, rights)
		if result.Unknown = lacks.Unknown; lacks.Unknown != "" {
			return result
		}
		result.Value[of.account] = lacks.Value
	}
	return result
}

// lacks are those of the rights that the cluster says the account does not have.
func (g *gatherer) lacks(ctx context.Context, namespace, account string, rights []grants.Right) Read[[]string] {
	answers := make([]Read[bool], len(rights))
	var under sync.WaitGroup
	for i, r := range rights {
		under.Go(func() {
			answers[i] = ask(ctx, g, "create subjectaccessreviews.authorization.k8s.io", func(ctx context.Context) (bool, error) {
				review, err := g.typed.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
					Spec: authorizationv1.SubjectAccessReviewSpec{
						User:               strings.Join([]string{"system:serviceaccount", namespace, account}, ":"),
						Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
						ResourceAttributes: r.Attributes(),
					},
				}, metav1.CreateOptions{})
				return err == nil && review.Status.Allowed, err
			})
		})
	}
	under.Wait()
	var missing []string
	for i := range answers {
		switch {
		case answers[i].Unknown != "":
			return Read[[]string]{Unknown: answers[i].Unknown}
		case !answers[i].Value:
			missing = append(missing, rights[i].String())
		}
	}
	return Read[[]string]{Value: slices.Compact(missing)}
}
