// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"testing"
	"testing/fstest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const manifests = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: one}
rules:
- {apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [get]}
- {apiGroups: ["*"], resources: ["*/scale"], verbs: [get, update]}
- {apiGroups: [""], resources: [nodes], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: one}
roleRef: {kind: ClusterRole, name: one}
subjects: [{kind: ServiceAccount, name: us, namespace: fleetscale-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: two, namespace: here}
roleRef: {kind: Role, name: two}
subjects: [{kind: ServiceAccount, name: us, namespace: fleetscale-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: two, namespace: here}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: two, namespace: there}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reviews}
roleRef: {kind: ClusterRole, name: system:auth-delegator}
subjects: [{kind: ServiceAccount, name: us, namespace: fleetscale-system}, {kind: User, name: them}]
`

func TestTo(t *testing.T) {
	folder := fstest.MapFS{"base/x/all.yaml": {Data: []byte(manifests)}}
	for name, tc := range map[string]struct {
		account string
		scope   []string
		want    []string
	}{
		"everywhere": {"us", nil, []string{"get namespaces kube-system in kube-system", "get */scale.*", "update */scale.*", "list nodes",
			"get deployments.apps in here", "create tokenreviews.authentication.k8s.io", "create subjectaccessreviews.authorization.k8s.io"}},
		"in two namespaces": {"us", []string{"shop", "pay"}, []string{"get namespaces kube-system in kube-system", "get */scale.* in shop",
			"update */scale.* in shop", "get */scale.* in pay", "update */scale.* in pay", "get deployments.apps in here",
			"create tokenreviews.authentication.k8s.io", "create subjectaccessreviews.authorization.k8s.io"}},
		"a user is no account": {"them", nil, nil},
	} {
		rights, err := To(folder, "base/x", tc.account, tc.scope)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rights {
			got = append(got, r.String())
		}
		fleettest.Same(t, name, tc.want, got)
	}
	if _, err := To(folder, "base/y", "us", nil); err == nil {
		t.Error("a folder that is not there grants nothing")
	}
	a := Right{Verb: "get", Group: "*", Resource: "*/scale"}.Attributes()
	if a.Resource != "*" || a.Subresource != "scale" {
		t.Errorf("a subresource is asked for as %+v", a)
	}
}

// A role of which nothing is known may grant anything.
func TestUnknownRole(t *testing.T) {
	folder := fstest.MapFS{"x/all.yaml": {Data: []byte(`
kind: ClusterRoleBinding
metadata: {name: one}
roleRef: {kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: us}]
`)}}
	if _, err := To(folder, "x", "us", nil); err == nil {
		t.Error("a role that is not there grants nothing")
	}
}
