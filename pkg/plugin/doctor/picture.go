// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// SystemNamespace is that of the programs on the hub, as deploy/ has it.
const SystemNamespace = "fleetscale-system"

// Settings are what the person says of the installation.
type Settings struct {
	// Registrations is the namespace of the Secrets that register members, and Writers that of the credentials that write.
	Registrations, Writers string
	// APIs are the groups that the adapter should serve; empty: as it seems.
	APIs []string
	// Scope are the namespaces in which the programs act; empty: all.
	Scope []string
	// HubFlags are kubectl's flags that lead to the hub, as in --context hub, without --namespace; empty: none are needed. They are shown.
	HubFlags []Flag
	// Contexts are the kubeconfig's contexts for members, by the names of these.
	Contexts map[string]string
}

// Read is a part of a picture: a value, or why it is not known. What the hub does not have is known: a value without it.
type Read[T any] struct {
	Value T
	// Unknown says what is missing to know it, as in "needs list leases in fleetscale-system"; empty: nothing.
	Unknown string
}

// Picture is what is known of a hub and its members at one moment.
type Picture struct {
	Settings

	// Now is the moment by the hub's clock.
	Now time.Time

	// Namespaces of the hub, by name.
	Namespaces Read[[]string]

	// Accounts, Deployments and Services are those of the system namespace. Programs may run elsewhere, as on Karmada: then it has
	// no Deployments, and the Services have names of others in place of endpoints.
	Accounts    Read[[]string]
	Deployments Read[[]appsv1.Deployment]
	Services    Read[[]corev1.Service]
	// Ready are the ready endpoints of Services in that namespace.
	Ready Read[map[string]int]

	// Denied are the rights that each program of the hub lacks, by its account.
	Denied Read[map[string][]string]

	APIServices Read[[]apiregistrationv1.APIService]
	// Schema is what is wrong with a kind as the hub serves it; kinds without fault have no entry.
	Schema     Read[map[string]string]
	Mutating   Read[[]admissionregistrationv1.MutatingWebhookConfiguration]
	Validating Read[[]admissionregistrationv1.ValidatingWebhookConfiguration]
	// Trial is what the hub answers to a FederatedHPA that is as it should be, and is not stored; empty: it takes it.
	Trial Read[string]

	// Leases are those of controller-managers, in all namespaces or, if Elsewhere says why, in the system namespace.
	Leases    Read[[]coordinationv1.Lease]
	Elsewhere string

	Members Read[[]membersv1alpha1.Member]
	// Coverage is that of an answer of metrics.k8s.io.
	Coverage Read[fleet.Coverage]
	// Secrets are those of the namespaces of registrations and writers, and Labelled those of all namespaces with the label of a
	// registration. Nothing of their data was read.
	Secrets, Labelled Read[[]metav1.PartialObjectMetadata]

	Federated Read[[]*v1alpha1.FederatedHPA]
	Cron      Read[[]*v1alpha1.CronFederatedHPA]
	Multidim  Read[[]*v1alpha1.MultidimPodAutoscaler]
	Local     Read[[]*autoscalingv2.HorizontalPodAutoscaler]
	// Unreadable are autoscalers of any kind that nobody should decode.
	Unreadable []Unreadable
	// LeftBehind are Events of the last hour.
	LeftBehind Read[[]corev1.Event]

	// HubID is the uid of the hub's namespace kube-system; empty: not known.
	HubID types.UID
	// Visited are the members for which the person has a context, by name.
	Visited []Visit
}

// Unreadable is an object that would do harm to who decodes it.
type Unreadable struct{ Kind, Namespace, Name, Why string }

// Visit is what a member itself says to the person.
type Visit struct {
	Cluster string
	// Managed are its HorizontalPodAutoscalers with our label.
	Managed Read[[]metav1.PartialObjectMetadata]
	// Denied are the rights that each identity of ours lacks there, by its account. An account that is not there has no entry.
	Denied Read[map[string][]string]
}
