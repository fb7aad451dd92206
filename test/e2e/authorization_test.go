// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/test/lab"
)

// What the users may read on the hub. Nobody may anything in authz-other.
const authorizationManifest = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pods}
rules: [{apiGroups: [metrics.k8s.io], resources: [pods], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: custom}
rules: [{apiGroups: [custom.metrics.k8s.io], resources: ["*"], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: one}
rules: [{apiGroups: [custom.metrics.k8s.io], resources: [services/authz_rps], resourceNames: [web], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: external}
rules: [{apiGroups: [external.metrics.k8s.io], resources: ["*"], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: authz-nodes}
rules: [{apiGroups: [metrics.k8s.io], resources: [nodes], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: authz-nodes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: authz-nodes}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: authz-nodes}]
`

const authorizationBinding = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ROLE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ROLE}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: authz-ROLE}]
`

// Namespaces of which nothing is asked but by this test.
const (
	mine  = "authz-mine"
	other = "authz-other"
)

// A request of a user, and what becomes of it.
type request struct {
	user, path string
	code       int
	// asks is the path that members are asked, without its query; empty for none.
	asks string
	// of is the only member that is asked; empty for all.
	of string
	// accept is empty for JSON.
	accept string
}

const table = "application/json;as=Table;g=meta.k8s.io;v=v1"

// usageRequests are those of metrics.k8s.io, in both versions.
func usageRequests() (all []request) {
	ofOne := "?labelSelector=" + url.QueryEscape("fleetscale.io/cluster=member1")
	asksMine := v1beta1 + "/namespaces/" + mine + "/pods"
	for _, api := range []string{v1beta1, v1} {
		inMine, inOther := api+"/namespaces/"+mine, api+"/namespaces/"+other
		all = append(all,
			request{user: "pods", path: inMine + "/pods", code: 200, asks: asksMine},
			request{user: "pods", path: inMine + "/pods", code: 200, asks: asksMine, accept: table},
			request{user: "pods", path: inMine + "/pods/web-0", code: 404, asks: asksMine},
			request{user: "pods", path: inMine + "/pods" + ofOne, code: 200, asks: asksMine},
			request{user: "pods", path: inMine + "/pods?fieldSelector=metadata.namespace%3D" + other, code: 200, asks: asksMine},
			request{user: "pods", path: inMine + "/pods?watch=true", code: 405},
			request{user: "pods", path: inMine + "/pods/web-0/status", code: 403},
			request{user: "pods", path: inMine + "/pods/" + url.PathEscape("../../"+other+"/pods"), code: 403},
			request{user: "pods", path: inMine + "/nodes", code: 403},
			request{user: "pods", path: inOther + "/pods", code: 403},
			request{user: "pods", path: inOther + "/pods", code: 403, accept: table},
			request{user: "pods", path: inOther + "/pods/web-0", code: 403},
			request{user: "pods", path: inOther + "/pods?watch=true", code: 403},
			request{user: "pods", path: inOther + "/pods?fieldSelector=metadata.namespace%3D" + mine, code: 403},
			request{user: "pods", path: api + "/namespaces/%2A/pods", code: 403},
			request{user: "pods", path: api + "/namespaces/" + url.PathEscape(mine+"/../"+other) + "/pods", code: 403},
			request{user: "pods", path: api + "/pods", code: 403},
			request{user: "pods", path: api + "/pods?fieldSelector=metadata.namespace%3D" + mine, code: 403},
			request{user: "pods", path: api + "/nodes", code: 403},
			request{user: "nodes", path: api + "/nodes", code: 200, asks: v1beta1 + "/nodes"},
			request{user: "nodes", path: api + "/nodes/nobody", code: 404, asks: v1beta1 + "/nodes"},
			request{user: "nodes", path: api + "/pods", code: 403},
			request{user: "nodes", path: inOther + "/pods", code: 403},
			request{user: "custom", path: inOther + "/pods", code: 403},
			request{user: "external", path: inOther + "/pods", code: 403},
		)
	}
	return all
}

// customRequests are those of custom.metrics.k8s.io, in both versions.
func customRequests() (all []request) {
	cluster := url.QueryEscape("fleetscale.io/cluster=member1")
	for _, api := range []string{customV1beta1, customV1beta2} {
		inMine, inOther := "/namespaces/"+mine, "/namespaces/"+other
		asks := func(user, path string, code int) request {
			return request{user: user, path: api + path, code: code, asks: customV1beta2 + strings.ReplaceAll(path, "%2A", "*")}
		}
		refused := func(user, path string, code int) request { return request{user: user, path: api + path, code: code} }
		ofOne := asks("custom", inMine+"/services/web/authz_rps", 200)
		ofOne.path, ofOne.of = ofOne.path+"?metricLabelSelector="+cluster, "member1"
		listOfOne := asks("custom", inMine+"/services/%2A/authz_rps", 200)
		listOfOne.path, listOfOne.of = listOfOne.path+"?labelSelector="+cluster, "member1"
		tables := asks("custom", inMine+"/services/%2A/authz_rps", 406) // there are none of metrics
		tables.accept = table
		watch := asks("one", inMine+"/services/web/authz_rps", 200) // with a name it is a get, to RBAC too
		watch.path += "?watch=true"
		all = append(all, ofOne, listOfOne, tables, watch,
			asks("custom", inMine+"/services/web/authz_rps", 200),
			asks("custom", inMine+"/services/%2A/authz_rps", 200),
			asks("custom", inMine+"/metrics/authz_rps", 200),
			asks("custom", inMine+"/services/nobody/authz_rps", 404),
			asks("one", inMine+"/services/web/authz_rps", 200),
			refused("custom", inMine+"/namespaces/"+other+"/authz_rps", 400),
			refused("custom", inMine+"/namespaces/"+mine+"/authz_rps", 400),
			refused("custom", inMine+"/namespaces/%2A/authz_rps", 400),
			refused("custom", inMine+"/namespaces./"+other+"/authz_rps", 400),
			refused("custom", inMine+"/services/web", 404),
			refused("custom", inMine+"/services/web/authz_rps/more", 404),
			refused("custom", inMine+"/services/"+url.PathEscape("../../"+other+"/services/web")+"/authz_rps", 404),
			refused("custom", inMine+"/../"+other+"/services/web/authz_rps", 404),
			refused("custom", "/namespaces/"+url.PathEscape(mine+"/../"+other)+"/services/web/authz_rps", 404),
			refused("custom", inOther+"/services/web/authz_rps", 403),
			refused("custom", inOther+"/services/%2A/authz_rps", 403),
			refused("custom", inOther+"/metrics/authz_rps", 403),
			refused("custom", "/namespaces/%2A/metrics/authz_rps", 403),
			refused("custom", "/namespaces/%2A/services/%2A/authz_rps", 403),
			refused("custom", "/nodes/%2A/authz_rps", 403),
			refused("custom", "/services/web/authz_rps", 403),
			refused("one", inMine+"/services/%2A/authz_rps", 403),
			refused("one", inMine+"/services/web/authz_errors", 403),
			refused("one", inMine+"/pods/web/authz_rps", 403),
			refused("one", inMine+"/metrics/authz_rps", 403),
			refused("one", inMine+"/namespaces/"+other+"/authz_rps", 403),
			refused("one", inOther+"/services/web/authz_rps", 403),
			refused("pods", inMine+"/services/web/authz_rps", 403),
			refused("external", inMine+"/services/web/authz_rps", 403),
		)
	}
	return all
}

// externalRequests are those of external.metrics.k8s.io.
func externalRequests() []request {
	const inMine, inOther = externalV1beta1 + "/namespaces/" + mine, externalV1beta1 + "/namespaces/" + other
	cluster := "?labelSelector=" + url.QueryEscape("fleetscale.io/cluster=member1")
	return []request{
		{user: "external", path: inMine + "/authz_queue", code: 200, asks: inMine + "/authz_queue"},
		{user: "external", path: inMine + "/authz_queue" + cluster, code: 200, asks: inMine + "/authz_queue", of: "member1"},
		{user: "external", path: inMine + "/authz_queue", code: 406, accept: table}, // there are none of metrics
		{user: "external", path: inMine + "/nobody_has_this", code: 404, asks: inMine + "/nobody_has_this"},
		{user: "external", path: inMine + "/authz_queue?fieldSelector=metadata.name%3Dx", code: 400},
		{user: "external", path: inMine + "/authz_queue?watch=true", code: 405},
		{user: "external", path: inMine + "/authz_queue/x", code: 404},
		{user: "external", path: inMine + "/" + url.PathEscape("../"+other+"/authz_queue"), code: 404},
		{user: "external", path: inMine + "/../" + other + "/authz_queue", code: 404},
		{user: "external", path: externalV1beta1 + "/namespaces/" + url.PathEscape(mine+"/../"+other) + "/authz_queue", code: 404},
		{user: "external", path: externalV1beta1 + "/namespaces/%2A/authz_queue", code: 403},
		{user: "external", path: externalV1beta1 + "/authz_queue", code: 403},
		{user: "external", path: inOther + "/authz_queue", code: 403},
		{user: "external", path: inOther + "/authz_queue", code: 403, accept: table},
		{user: "custom", path: inMine + "/authz_queue", code: 403},
		{user: "pods", path: inMine + "/authz_queue", code: 403},
		{user: "nodes", path: inMine + "/authz_queue", code: 403},
	}
}

// Members are asked with an identity that may read everything, so what RBAC of
// the hub was asked is all that holds a user back: that, and nothing else, is what
// members are asked; and where it says no they are asked nothing.
func TestMembersAreAskedWhatUsersMayRead(t *testing.T) {
	e := whole(t)
	e.authorize(t)
	t.Run("by questions", e.checkRelayed)
	t.Run("by scrapes", e.checkScraped)
}

func (e *env) checkRelayed(t *testing.T) {
	relayed := append(customRequests(), externalRequests()...)
	for i, r := range relayed {
		e.askAs(t, r, r.marked(t, i))
	}
	for _, member := range allMembers() {
		asked := e.askedByMark(t, member)
		for i, r := range relayed {
			var want []string
			if r.asks != "" && (r.of == "" || r.of == member) {
				want = []string{r.asks}
			}
			if got := asked[markOf(i)]; !slices.Equal(got, want) {
				t.Errorf("%s: GET %s: %s was asked %q, want %q", r.user, r.path, member, got, want)
			}
		}
	}
}

// Samples are scraped, and not asked for by each request: so what is refused goes first.
func (e *env) checkScraped(t *testing.T) {
	const asksMine = v1beta1 + "/namespaces/" + mine + "/pods"
	for _, want := range [][]string{nil, {asksMine}} {
		for _, r := range usageRequests() {
			if (r.asks == "") == (want == nil) {
				e.askAs(t, r, r.path)
			}
		}
		for _, member := range allMembers() {
			var got []string
			for _, uri := range e.asked(t, member, "authz-") {
				if path := pathOf(t, uri); strings.HasPrefix(path, v1beta1) && !slices.Contains(got, path) {
					got = append(got, path)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s was asked %q, want %q", member, got, want)
			}
			if want != nil && len(e.asked(t, member, v1beta1+"/nodes")) == 0 {
				t.Errorf("%s was not asked for its nodes", member)
			}
		}
	}
}

func markOf(i int) string { return fmt.Sprintf("authz%d.", i) }

// marked is the path with a selector by which the question is found among those that members were asked.
func (r request) marked(t *testing.T, i int) string {
	t.Helper()
	parameter := "metricLabelSelector"
	if strings.HasPrefix(r.path, externalV1beta1) {
		parameter = "labelSelector"
	}
	path, query, _ := strings.Cut(r.path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	selector := markOf(i) + "x notin (y)"
	if former := values.Get(parameter); former != "" {
		selector = former + "," + selector
	}
	values.Set(parameter, selector)
	return path + "?" + values.Encode()
}

// askedByMark are the paths that a member was asked, by what marks them.
func (e *env) askedByMark(t *testing.T, member string) map[string][]string {
	t.Helper()
	marks := regexp.MustCompile(`authz[0-9]+\.`)
	asked := map[string][]string{}
	for _, uri := range e.asked(t, member, "authz") {
		if mark := marks.FindString(uri); mark != "" {
			asked[mark] = append(asked[mark], pathOf(t, uri))
		}
	}
	return asked
}

func (e *env) authorize(t *testing.T) {
	t.Helper()
	manifest := authorizationManifest
	for _, role := range []string{"pods", "custom", "one", "external"} {
		manifest += strings.ReplaceAll(authorizationBinding, "ROLE", role)
	}
	for _, namespace := range []string{mine, other} {
		if err := e.CreateNamespace(t.Context(), e.Hub(), namespace); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Apply(t.Context(), e.Hub(), mine, manifest); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = e.Ask(afterwards(t), "--context", e.Hub().Name, "delete", "--wait=false", "namespace/"+mine, "namespace/"+other,
			"clusterrole/authz-nodes", "clusterrolebinding/authz-nodes")
	})
	one := resource.MustParse("1")
	for _, namespace := range []string{mine, other} { // there is something to be had wrongly
		e.tellFigure(t, "member1", lab.Figure{Namespace: namespace, Resource: "services", Object: "web", Metric: "authz_rps", Value: one})
		e.tellFigure(t, "member1", lab.Figure{Resource: "namespaces", Object: namespace, Metric: "authz_rps", Value: one})
	}
	e.tellSeries(t, "member1", "authz_queue", map[string]string{"queue=mail": "1"})
}

// askAs asks the hub as a user, and wants that status.
func (e *env) askAs(t *testing.T, r request, path string) {
	t.Helper()
	user := rest.CopyConfig(config(t, e.Hub()))
	user.Impersonate = rest.ImpersonationConfig{UserName: "authz-" + r.user, Groups: []string{"system:authenticated"}}
	a, err := raw(t.Context(), user, path, r.accept)
	if err != nil {
		t.Fatalf("%s: GET %s: %v", r.user, path, err)
	}
	if a.Code != r.code {
		t.Errorf("%s: GET %s: %d %s, want %d", r.user, path, a.Code, a.Body, r.code)
	}
}

// pathOf is readable: names are not escaped.
func pathOf(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path
}
