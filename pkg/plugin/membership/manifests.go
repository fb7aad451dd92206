// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	kustomize "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fleetscale/fleetscale/deploy"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// What the manifests of deploy/member* call things.
const (
	memberNamespace = "fleetscale-member"
	reader          = "fleetscale-read"
	writer          = "fleetscale-write"
	creator         = "fleetscale-create"
	partOf          = "app.kubernetes.io/part-of"
	ours            = "fleetscale"
)

// Rights are what a member grants.
type Rights struct {
	// ReadOnly: metrics, and nothing else.
	ReadOnly bool
	// Namespaces are those in which; empty: all.
	Namespaces []string
	// CreateIn are the namespaces where workloads may be created, or [registration.AllNamespaces].
	CreateIn []string
	// Sizes: Pods may be given their size.
	Sizes bool
}

// Validate returns every fault at once.
func (r Rights) Validate() error {
	var errs []error
	if r.ReadOnly && (len(r.CreateIn) > 0 || r.Sizes) {
		errs = append(errs, errors.New("--read-only: --create-workloads-in and --sizes need the identity that writes"))
	}
	if _, err := tenancy.NewScope(r.Namespaces); err != nil {
		errs = append(errs, fmt.Errorf("--namespaces: %w", err))
	}
	for _, namespace := range r.CreateIn {
		switch {
		case namespace == registration.AllNamespaces && len(r.CreateIn) == 1 && len(r.Namespaces) == 0:
		case len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, namespace):
			errs = append(errs, fmt.Errorf("--create-workloads-in: %q is not among --namespaces", namespace))
		default:
			if _, err := tenancy.NewScope([]string{namespace}); err != nil {
				errs = append(errs, fmt.Errorf("--create-workloads-in: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// applied is a kustomization below deploy/, and the namespace that its objects get; empty: they say.
type applied struct{ folder, namespace string }

// folders are the kustomizations that grant the rights.
func (r Rights) folders() []applied {
	level, root := "write", "member-write"
	if r.ReadOnly {
		level, root = "read", "member"
	}
	sizes := "member-sizes"
	if len(r.Namespaces) > 0 {
		root, sizes = "member-namespaced/"+level, "member-namespaced/sizes"
	}
	all := []applied{{folder: root}}
	if r.Sizes {
		all = append(all, applied{folder: sizes})
	}
	if len(r.CreateIn) > 0 {
		all = append(all, applied{folder: "member-create"})
	}
	for _, namespace := range r.Namespaces {
		all = append(all, applied{root + "/rights", namespace})
		if r.Sizes {
			all = append(all, applied{sizes + "/rights", namespace})
		}
	}
	return all
}

// Manifests are what is applied to a member that grants the rights, in the order in which that works.
func (r Rights) Manifests() ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, a := range r.folders() {
		objects, err := build(a)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	for _, namespace := range r.CreateIn {
		bound, err := runtime.DefaultUnstructuredConverter.ToUnstructured(binding(namespace))
		if err != nil {
			return nil, err
		}
		all = append(all, &unstructured.Unstructured{Object: bound})
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(place(a), place(b)) })
	return all, nil
}

// place is where a kind stands in the order.
func place(o *unstructured.Unstructured) int {
	return slices.Index([]string{"ServiceAccount", "CustomResourceDefinition", "Namespace"}, o.GetKind()) * -1
}

// binding binds the role of deploy/member-create, which binds nothing by itself.
func binding(namespace string) any {
	to := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: creator}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: memberNamespace, Name: writer}}
	labels := map[string]string{partOf: ours}
	if namespace == registration.AllNamespaces {
		b := &rbacv1.ClusterRoleBinding{RoleRef: to, Subjects: subjects}
		b.APIVersion, b.Kind, b.Name, b.Labels = rbacv1.SchemeGroupVersion.String(), "ClusterRoleBinding", creator, labels
		return b
	}
	b := &rbacv1.RoleBinding{RoleRef: to, Subjects: subjects}
	b.APIVersion, b.Kind, b.Name, b.Labels = rbacv1.SchemeGroupVersion.String(), "RoleBinding", creator, labels
	b.Namespace = namespace
	return b
}

// build is what `kubectl kustomize` prints of a folder of deploy/.
func build(a applied) ([]*unstructured.Unstructured, error) {
	files := filesys.MakeFsInMemory()
	err := fs.WalkDir(deploy.Member, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := deploy.Member.ReadFile(path)
		if err != nil {
			return err
		}
		return files.WriteFile("/"+path, data)
	})
	if err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = kustomize.DisabledPluginConfig()
	built, err := krusty.MakeKustomizer(options).Run(files, "/"+a.folder)
	if err != nil {
		return nil, fmt.Errorf("building deploy/%s: %w", a.folder, err)
	}
	var all []*unstructured.Unstructured
	for _, resource := range built.Resources() {
		content, err := resource.Map()
		if err != nil {
			return nil, fmt.Errorf("building deploy/%s: %w", a.folder, err)
		}
		o := &unstructured.Unstructured{Object: content}
		if a.namespace != "" {
			o.SetNamespace(a.namespace)
		}
		all = append(all, o)
	}
	return all, nil
}

// granted is whatever any rights grant outside of the namespaces that they name, so that all of it can be taken away.
func granted() ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, r := range []Rights{
		{Sizes: true, CreateIn: []string{registration.AllNamespaces}}, {Namespaces: []string{"any"}},
	} {
		objects, err := r.Manifests()
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			known := slices.ContainsFunc(all, func(other *unstructured.Unstructured) bool { return sameObject(o, other) })
			if o.GetNamespace() != "any" && !known {
				all = append(all, o)
			}
		}
	}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(place(b), place(a)) })
	return all, nil
}

func sameObject(a, b *unstructured.Unstructured) bool {
	return a.GetKind() == b.GetKind() && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

// ofSizes reports whether PodSizes are stored or applied by an object of deploy/member-sizes, which therefore is no mere right.
func ofSizes(o *unstructured.Unstructured) bool {
	kinds := []string{"CustomResourceDefinition", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}
	return slices.Contains(kinds, o.GetKind())
}
