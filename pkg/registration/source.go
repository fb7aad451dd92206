// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Sources are the kinds of registrations that the options name, in the order of
// their precedence: of two registrations that want one cluster or one name, that
// of the earlier source gets it.
func Sources(o Options) []Source {
	named := o.Sources
	if len(named) == 0 {
		named = DefaultSources()
	}
	return slices.DeleteFunc(all(o), func(s Source) bool { return !slices.Contains(named, s.Name()) })
}

// all are those that there are.
func all(o Options) []Source {
	return []Source{
		secrets{o, SecretSource, MemberLabel}, secrets{o, "multicluster-runtime", multiclusterRuntimeLabel}, karmada{o},
		clusterProfiles{o}, clusterAPI{o}, rancher{o}, argoCD{o},
	}
}

// SourceNames are the names of all sources, in the order of their precedence.
func SourceNames() []string {
	var names []string
	for _, s := range all(Options{}) {
		names = append(names, s.Name())
	}
	return names
}

// DefaultSources are the names of those that are read unless others are named.
func DefaultSources() []string { return []string{SecretSource, "karmada"} }

// Source is one kind of registrations.
type Source interface {
	// Name is a label value without dots, for names, metrics and --sources.
	Name() string
	// Watch selects the objects of this kind.
	Watch() Watch
	// Read reads one of them, and keeps no more of it than its registration needs.
	Read(*unstructured.Unstructured) Object
}

// Watch selects objects of the hub.
type Watch struct {
	// What the objects are, for people: "Karmada's Clusters".
	What string
	// Resource may come and go, unless it is of the core API.
	Resource schema.GroupVersionResource
	// Older are versions in which it may be served instead, the newest first.
	Older []string
	// Namespace of the objects; empty: of all namespaces, or of none.
	Namespace string
	// Namespaces of the objects where there may be several, in place of Namespace.
	Namespaces    []string
	LabelSelector string
}

// Object is an object as its source has read it. It does not change.
type Object interface {
	// Credentials names the Secret without which the object cannot be understood; the zero Reference if it says all itself.
	Credentials() Reference
	// Register is what the object says, with the Secret that Credentials names.
	Register(Credentials) Registration
}

// Reference names a Secret.
type Reference struct {
	Namespace, Name string
	// By is who names it: "spec.secretRef names".
	By string
	// Keys are what is read of it, and the rest is not kept.
	Keys [2]string
}

func (r Reference) String() string {
	return fmt.Sprintf("Secret %s/%s, which %s,", r.Namespace, r.Name, r.By)
}

// Credentials are what is known of the Secret that an object refers to.
type Credentials struct {
	// Data of the Secret; nil: there is none, or Awaiting says more.
	Data map[string][]byte
	// Awaiting, unless empty, says why nothing is known yet.
	Awaiting string
}

// Options say which objects are registrations, and what they may say.
type Options struct {
	// Sources are names of sources (those of DefaultSources).
	Sources []string
	// Namespace of the registration Secrets.
	Namespace string
	// WriteNamespace has a Secret of the same name beside each of them, with the credentials that write. If it is empty or
	// the same namespace, the credentials of a registration do both.
	WriteNamespace string
	// ClusterProfileNamespaces have the ClusterProfiles that register members.
	ClusterProfileNamespaces []string
	// ClusterAPINamespaces have the Clusters of Cluster API that register members.
	ClusterAPINamespaces []string
	// RancherNamespaces have the Clusters of Rancher's Fleet that register members.
	RancherNamespaces []string
	// ArgoCDNamespace has the Secrets by which Argo CD knows clusters.
	ArgoCDNamespace string
	// Hub is the way to the hub, and what the program is let in by there: for members that the hub is asked to pass requests on to.
	// Without a Config there are none.
	Hub Endpoint
	// Access chooses among the credentials.
	Access Access
	Policy Policy
}

// apart is true for who uses other credentials than those of the registration Secrets.
func (o Options) apart() bool {
	return o.Access == Write && o.WriteNamespace != "" && o.WriteNamespace != o.Namespace
}

// Access says which of a registration's credentials a program uses.
type Access int

const (
	// Write uses those of WriteNamespace.
	Write Access = iota
	// Read uses those of the registrations.
	Read
)

// Policy is what a registration may make us do beside opening a verified TLS
// connection. The zero value allows nothing of it.
type Policy struct {
	// AllowedExecCommands are patterns of the command lines by which credential plugins may be run: see [CheckExecPattern].
	AllowedExecCommands []string
	// AllowFiles lets a kubeconfig name files of our container.
	AllowFiles bool
	// AllowInsecure lets a registration do without TLS verification.
	AllowInsecure bool
}

// decode reads those fields of an object that into has, and drops the rest: a
// status alone may be tens of kilobytes. A field that holds what it cannot is a
// fault; name and uid are read in any case.
func decode(u *unstructured.Unstructured, into metav1.Object, reason fleet.Reason) []Fault {
	data, err := json.Marshal(u.Object)
	if err == nil {
		err = utiljson.Unmarshal(data, into)
	}
	into.SetName(u.GetName())
	into.SetNamespace(u.GetNamespace())
	into.SetUID(u.GetUID())
	into.SetManagedFields(nil)
	delete(into.GetAnnotations(), corev1.LastAppliedConfigAnnotation) // another copy of all that is in it
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		kind, _, _ := strings.Cut(wrong.Value, " ") // of a number, what follows is the number
		return []Fault{faultf(reason, "%s cannot be of type %s", wrong.Field, kind)}
	default:
		return []Fault{faultf(reason, "the object cannot be read")}
	}
}
