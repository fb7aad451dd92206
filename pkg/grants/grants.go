// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// To are the rights that the manifests of a folder grant to an account of that name, each once, in their order. With namespaces,
// what they grant in all is meant in these only, and nothing of nodes, which have none.
func To(manifests fs.FS, folder, account string, namespaces []string) ([]Right, error) {
	all, err := readGrants(manifests, folder)
	if err != nil {
		return nil, err
	}
	var found []Right
	for _, b := range all.bindings {
		if !slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return s.Kind == rbacv1.ServiceAccountKind && s.Name == account }) {
			continue
		}
		key := roleKey(b.RoleRef.Kind, b.Namespace, b.RoleRef.Name)
		if len(all.rules[key]) == 0 {
			return nil, fmt.Errorf("deploy/%s binds %s, of which nothing is known", folder, key)
		}
		for _, rule := range all.rules[key] {
			found = append(found, expand(rule, b.Namespace, namespaces)...)
		}
	}
	seen := map[Right]bool{}
	return slices.DeleteFunc(found, func(r Right) bool {
		was := seen[r]
		seen[r] = true
		return was
	}), nil
}

// grants are the roles and bindings of a folder.
type grants struct {
	rules    map[string][]rbacv1.PolicyRule // by roleKey
	bindings []rbacv1.RoleBinding           // those of ClusterRoles without a namespace
}

// roleKey tells roles from each other; of a ClusterRole the namespace does not matter.
func roleKey(kind, namespace, name string) string {
	if kind == "ClusterRole" {
		namespace = ""
	}
	return kind + " " + namespace + "/" + name
}

// readGrants reads the files of the folder itself. Roles that every API server has are known.
func readGrants(manifests fs.FS, folder string) (grants, error) {
	all := grants{rules: map[string][]rbacv1.PolicyRule{
		roleKey("ClusterRole", "", "system:auth-delegator"): {
			{Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}},
			{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}},
		},
		roleKey("Role", "kube-system", "extension-apiserver-authentication-reader"): {{
			Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"configmaps"},
			ResourceNames: []string{"extension-apiserver-authentication"},
		}},
	}}
	files, err := fs.Glob(manifests, path.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return grants{}, fmt.Errorf("reading deploy/%s: %d files, %w", folder, len(files), err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(manifests, file)
		if err != nil {
			return grants{}, err
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			if err := all.take([]byte(document)); err != nil {
				return grants{}, fmt.Errorf("reading deploy/%s: %w", file, err)
			}
		}
	}
	return all, nil
}

func (g *grants) take(document []byte) error {
	var object struct {
		rbacv1.RoleBinding `json:",inline"`
		Rules              []rbacv1.PolicyRule `json:"rules"`
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	switch object.Kind {
	case "Role", "ClusterRole":
		key := roleKey(object.Kind, object.Namespace, object.Name)
		g.rules[key] = append(g.rules[key], object.Rules...)
	case "RoleBinding", "ClusterRoleBinding":
		g.bindings = append(g.bindings, object.RoleBinding)
	}
	return nil
}

// unnamespaced are the resources of our roles that are of the whole cluster.
func unnamespaced(resource string) bool {
	return slices.Contains([]string{"apiservices", "tokenreviews", "subjectaccessreviews"}, resource)
}

// expand are the rights of a rule that is bound in a namespace; empty: in all, or in those that are named.
func expand(rule rbacv1.PolicyRule, namespace string, namespaces []string) (all []Right) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, in := range scope(resource, namespace, namespaces) {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						r := Right{Verb: verb, Group: group, Resource: resource, Name: name, Namespace: in}
						if resource == "namespaces" { // each is in itself
							r.Namespace = name
						}
						all = append(all, r)
					}
				}
			}
		}
	}
	return all
}

// scope is where a right is meant.
func scope(resource, namespace string, namespaces []string) []string {
	switch {
	case namespace != "", len(namespaces) == 0, unnamespaced(resource), resource == "namespaces":
		return []string{namespace}
	case resource == "nodes":
		return nil
	}
	return namespaces
}
