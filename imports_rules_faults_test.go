// SPDX-License-Identifier: Apache-2.0

package fleetscale

import (
	"testing"
	"testing/fstest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// The rules themselves are tried on planted faults: each row is a tree of one file, and what is said of it.
func TestImportFaults(t *testing.T) {
	tests := map[string]struct {
		file, text string
		want       []string
	}{
		"an outer ring may import inner ones": {
			"pkg/metricsadapter/rest.go", imports("context", "k8s.io/klog/v2", module+"/pkg/members/usage", module+"/pkg/fleet"), nil,
		},
		"a package may import what lies below it": {
			"pkg/metricsadapter/server.go", imports(module + "/pkg/metricsadapter/openapi"), nil,
		},
		"an inner ring may not import an outer one": {
			"pkg/members/member/a.go", imports(module + "/pkg/metricsadapter/openapi"),
			[]string{"pkg/members/member/a.go imports " + module +
				"/pkg/metricsadapter/openapi: ring 2 may import only rings inside it, and pkg/metricsadapter is in ring 3"},
		},
		"a test follows the rings too": {
			"pkg/members/member/a_test.go", imports(module + "/pkg/webhook"),
			[]string{"pkg/members/member/a_test.go imports " + module +
				"/pkg/webhook: ring 2 may import only rings inside it, and pkg/webhook is in ring 3"},
		},
		"a ring does not import itself": {
			"pkg/controllers/federatedhpa/a.go", imports(module + "/pkg/controllers/cronfederatedhpa"),
			[]string{"pkg/controllers/federatedhpa/a.go imports " + module +
				"/pkg/controllers/cronfederatedhpa: ring 3 may import only rings inside it, and pkg/controllers/cronfederatedhpa is in ring 3"},
		},
		"the modes of a controller do not know each other": {
			"pkg/controllers/federatedhpa/central/a.go", imports(module + "/pkg/controllers/federatedhpa/distributed"),
			[]string{"pkg/controllers/federatedhpa/central/a.go imports " + module + "/pkg/controllers/federatedhpa/distributed: " +
				"ring 3 may import only rings inside it, and pkg/controllers/federatedhpa/distributed is in ring 3"},
		},
		"they decide in files that are pure": {
			"pkg/controllers/federatedhpa/central/decide.go", imports("context", module+"/pkg/controllers/federatedhpa/sight"),
			[]string{"pkg/controllers/federatedhpa/central/decide.go imports context: a decision is pure: a decision does not wait"},
		},
		"except for named neighbours": {
			"pkg/members/relay/a.go", imports(module + "/pkg/members/member"), nil,
		},
		"and neighbours in one direction only": {
			"pkg/members/member/a.go", imports(module + "/pkg/members/usage"),
			[]string{"pkg/members/member/a.go imports " + module +
				"/pkg/members/usage: ring 2 may import only rings inside it, and pkg/members/usage is in ring 2"},
		},
		"a package without a ring is refused": {
			"pkg/util/a.go", imports("fmt"),
			[]string{"pkg/util/a.go: its package has no ring; give it one in imports_test.go and doc.go"},
		},
		"as is one beside pkg and cmd": {
			"hack/a.go", imports("fmt"),
			[]string{"hack/a.go: its package has no ring; give it one in imports_test.go and doc.go"},
		},
		"and the import of one": {
			"pkg/members/usage/a.go", imports(module + "/pkg/util"),
			[]string{"pkg/members/usage/a.go imports " + module + "/pkg/util: it has no ring; give it one in imports_test.go and doc.go"},
		},
		"a name that only begins alike has no ring": {
			"pkg/fleetwide/a.go", imports("fmt"),
			[]string{"pkg/fleetwide/a.go: its package has no ring; give it one in imports_test.go and doc.go"},
		},
		"a decision is pure": {
			"pkg/replicas/a.go", imports("context", "net/http", "net/url", "os", "time", "k8s.io/client-go/rest", "k8s.io/klog/v2"),
			[]string{
				"pkg/replicas/a.go imports context: ring 1 is pure: a decision does not wait",
				"pkg/replicas/a.go imports net/http: ring 1 is pure: a decision is given what it needs and asks nobody",
				"pkg/replicas/a.go imports os: ring 1 is pure: a decision is given what it needs and asks nobody",
				"pkg/replicas/a.go imports k8s.io/client-go/rest: ring 1 is pure: a decision is given what it needs and asks nobody",
				"pkg/replicas/a.go imports k8s.io/klog/v2: ring 1 is pure: a decision returns its reason, and the caller logs it",
			},
		},
		"except for what one package parses": {
			"pkg/registration/a.go", imports("k8s.io/client-go/rest", "k8s.io/client-go/kubernetes"),
			[]string{"pkg/registration/a.go imports k8s.io/client-go/kubernetes: ring 1 is pure: a decision is given what it needs and asks nobody"},
		},
		"a word is pure": {
			"pkg/apis/autoscaling/v1alpha1/a.go", imports("math/rand/v2"),
			[]string{"pkg/apis/autoscaling/v1alpha1/a.go imports math/rand/v2: ring 0 is pure: the same input gives the same decision"},
		},
		"a test of a decision need not be": {
			"pkg/replicas/a_test.go", imports("context", "os"), nil,
		},
		"a decision reads no clock and starts nothing": {
			"pkg/schedule/a.go", "package a\nimport \"time\"\nvar at = time.Now\nfunc f(d time.Duration) { go f(time.Until(time.Time{})) }\n",
			[]string{
				"pkg/schedule/a.go uses time.Now: ring 1 is pure, and is told the time",
				"pkg/schedule/a.go uses time.Until: ring 1 is pure, and is told the time",
				"pkg/schedule/a.go starts a goroutine: ring 1 is pure, and leaves that to its caller",
			},
		},
		"a method that is named like the clock's is not the clock": {
			"pkg/schedule/a.go", "package a\nfunc f(rule interface{ Since() int }) int { return rule.Since() }\n", nil,
		},
		"I/O may do both": {
			"pkg/members/usage/a.go", "package a\nimport \"time\"\nfunc f(t time.Time) { time.Sleep(1); go f(time.Now()) }\n", nil,
		},
		"a test does not sleep": {
			"test/e2e/a_test.go", "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n",
			[]string{"test/e2e/a_test.go uses time.Sleep: a sleep is too long on a good day and too short on a bad one; wait for a condition, or " +
				"use testing/synctest"},
		},
		"save where the time is not real": {
			"pkg/members/usage/a_test.go", "package a\nimport \"time\"\nimport \"testing/synctest\"\nfunc f() { synctest.Test(nil, func(any) { " +
				"time.Sleep(1) }) }\n", nil,
		},
		"a test may read the clock": {
			"pkg/replicas/a_test.go", "package a\nimport \"time\"\nvar began = time.Now()\n", nil,
		},
		"main imports its own wiring": {
			"cmd/metrics-adapter/main.go", imports(module + "/cmd/metrics-adapter/app"), nil,
		},
		"and nobody else does": {
			"cmd/webhook/app/a.go", imports(module + "/cmd/metrics-adapter/app"),
			[]string{"cmd/webhook/app/a.go imports " + module +
				"/cmd/metrics-adapter/app: a program is imported by nobody; what two programs share belongs under pkg/"},
		},
		"not even the end-to-end tests": {
			"test/e2e/a_test.go", imports(module + "/cmd/metrics-adapter/app"),
			[]string{"test/e2e/a_test.go imports " + module +
				"/cmd/metrics-adapter/app: a program is imported by nobody; what two programs share belongs under pkg/"},
		},
		"the end-to-end tests may import the rest": {
			"test/lab/a.go", imports("os", "k8s.io/kubernetes/pkg/controller", module+"/pkg/fleet", module+"/test/lab/bin"), nil,
		},
		"nothing outside test imports test": {
			"pkg/members/usage/a_test.go", imports(module + "/test/lab"),
			[]string{"pkg/members/usage/a_test.go imports " + module + "/test/lab: test/ is a module of its own that nothing outside it needs"},
		},
		"nor Kubernetes itself": {
			"pkg/controllers/federatedhpa/a_test.go", imports("k8s.io/kubernetes/pkg/controller"),
			[]string{"pkg/controllers/federatedhpa/a_test.go imports k8s.io/kubernetes/pkg/controller: only the module test/ may; its replace " +
				"directives would reach everyone who imports fleetscale"},
		},
		"nor the Vertical Pod Autoscaler": {
			"pkg/sizes/a_test.go", imports("k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"),
			[]string{"pkg/sizes/a_test.go imports k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model: only the module test/oracle " +
				"may; nothing else links VPA"},
		},
		"not even the other tests": {
			"test/e2e/a_test.go", imports("k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"),
			[]string{"test/e2e/a_test.go imports k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model: only the module test/oracle " +
				"may; nothing else links VPA"},
		},
		"but what it judges is compared with it": {
			"test/oracle/a_test.go", imports("k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model", module+"/pkg/sizes"), nil,
		},
		"nor cert-manager, not even by tests on a real node": {
			"test/node/install/a_test.go", imports("github.com/cert-manager/cert-manager/pkg/controller"),
			[]string{"test/node/install/a_test.go imports github.com/cert-manager/cert-manager/pkg/controller: only the module " +
				"test/certmanager may; what others apply are manifests"},
		},
		"but the module that runs it may": {
			"test/certmanager/main.go", imports("github.com/cert-manager/cert-manager/pkg/controller"), nil,
		},
		"nor Karmada, not even by other tests": {
			"test/lab/a.go", imports("github.com/karmada-io/karmada/pkg/util"),
			[]string{"test/lab/a.go imports github.com/karmada-io/karmada/pkg/util: only the module test/karmada may; its versions of " +
				"Kubernetes' modules are Karmada's"},
		},
		"what is for tests is imported by tests of every ring": {
			"pkg/registration/a_test.go", imports(module + "/pkg/members/memberstest"), nil,
		},
		"and by what else is for tests": {
			"pkg/command/commandtest/a.go", imports(module + "/pkg/members/memberstest"), nil,
		},
		"and by nothing else": {
			"pkg/metricsadapter/a.go", imports(module + "/pkg/members/memberstest"),
			[]string{"pkg/metricsadapter/a.go imports " + module + "/pkg/members/memberstest: it is for tests, and only they may import it"},
		},
		"not even within its place": {
			"pkg/registration/a.go", imports(module + "/pkg/registration/registrationtest"),
			[]string{"pkg/registration/a.go imports " + module +
				"/pkg/registration/registrationtest: it is for tests, and only they may import it"},
		},
		"tools stand aside": {
			"tools/a.go", imports("fmt"), nil,
		},
		"tools may have packages": {
			"tools/dist/a.go", imports(module + "/tools/dist/charts"), nil,
		},
		"that nothing else imports": {
			"cmd/webhook/a.go", imports(module + "/tools/dist/charts"),
			[]string{"cmd/webhook/a.go imports " + module + "/tools/dist/charts: tools/ are modules of their own that nothing outside them needs"},
		},
		"hidden directories are not ours": {
			".lab/a.go", "not Go at all", nil,
		},
		"examples of broken code are ignored": {
			"pkg/members/usage/testdata/a.go", "not Go at all", nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := importFaults(fstest.MapFS{tc.file: {Data: []byte(tc.text)}})
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "", tc.want, got)
		})
	}
}

func TestImportFaultsNamesTheFileThatDoesNotParse(t *testing.T) {
	_, err := importFaults(fstest.MapFS{"pkg/members/usage/a.go": {Data: []byte("not Go at all")}})
	if err == nil || err.Error() != "pkg/members/usage/a.go:1:1: expected 'package', found not" {
		t.Errorf("got error %v, want one that names pkg/members/usage/a.go and the place", err)
	}
}

// imports is a Go file that imports these packages.
func imports(packages ...string) string {
	text := "package a\n"
	for _, pkg := range packages {
		text += "import _ \"" + pkg + "\"\n"
	}
	return text
}
