// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeploymentsAreRead(t *testing.T) {
	const manifest = `
spec:
  template:
    spec:
      containers:
      - name: one
        env:
        - {name: A, value: b}
        - {name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        resources: {limits: {memory: 2Ki}}
`
	got, err := deploymentOf([]byte(manifest))
	if diff := cmp.Diff(Deployment{Memory: 2048, Env: []string{"A=b", "GOMEMLIMIT=2048", "POD_IP=127.0.0.1"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for what, change := range map[string][2]string{
		"no limit":          {"memory: 2Ki", ""},
		"a part of a limit": {"limits.memory}", "limits.memory, divisor: 1Mi}"},
		"another field":     {"status.podIP", "status.hostIP"},
		"no container":      {"- name: one", "- name: two\n      - name: one"},
		"not YAML":          {"spec:", "{"},
	} {
		if got, err := deploymentOf([]byte(strings.Replace(manifest, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
	for _, folder := range []string{"adapter", "controller-manager", "webhook"} {
		data, err := os.ReadFile(filepath.Join("../../../deploy/base", folder, "deployment.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := deploymentOf(data); err != nil || got.Memory < 64<<20 {
			t.Errorf("%s: %+v, %v", folder, got, err)
		}
	}
}
