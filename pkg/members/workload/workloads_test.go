// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

var web = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}

const deployments = "/apis/apps/v1/namespaces/shop/deployments"

// deployment is the workload web, as it was read.
func deployment() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": "shop", "name": "web", "uid": "u", "resourceVersion": "5"},
		"spec":     map[string]any{"replicas": int64(3)},
	}}
}

const deploymentText = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","resourceVersion":"5","uid":"u"},"spec":{"replicas":3}}`

func TestGet(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	c := s.join(t)
	s.Says("GET "+deployments+"/web", 200, deploymentText)
	got, err := c.Get(t.Context(), "shop", web)
	fleettest.Same(t, "error", "", memberstest.Told(err))
	fleettest.Same(t, "workload", deployment(), got)
	fleettest.Same(t, "requests", []string{"GET " + deployments + "/web"}, s.Heard())

	s.Says("GET "+deployments+"/web", 200, `{"kind":"Deployment"`)
	_, err = c.Get(t.Context(), "shop", web)
	fleettest.Same(t, "error about half an object", `decoding Deployment "web": unexpected end of JSON input`, memberstest.Told(err))

	_, err = c.Get(t.Context(), "other", web)
	if !apierrors.IsNotFound(err) {
		t.Errorf("error about a workload that is not there = %v", err)
	}
	_, err = c.Get(t.Context(), "shop", autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Rollout", Name: "web"})
	if !meta.IsNoMatchError(err) {
		t.Errorf("error about a kind that is not served = %v", err)
	}
	s.Says("GET /api/v1/namespaces/shop/replicationcontrollers/web", 200, `{"kind":"ReplicationController"}`)
	got, err = c.Get(t.Context(), "shop", autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "ReplicationController",
		Name: "web"})
	if err != nil || got.GetKind() != "ReplicationController" {
		t.Errorf("a kind of the group without a name: %v, %v", got, err)
	}
}

func TestCreate(t *testing.T) {
	const lacking, ending = `namespace "shop" does not exist in the cluster; create it there`,
		`namespace "shop" is being deleted in the cluster`
	tests := map[string]struct {
		answer answer
		err    string
	}{
		"made":          {answer{201, deploymentText}, ""},
		"there already": {answer{409, memberstest.Status(409, "AlreadyExists", "")}, "the cluster says AlreadyExists"},
		"invalid":       {answer{422, memberstest.Status(422, "Invalid", "")}, "the cluster says Invalid"},
		"forbidden":     {answer{403, memberstest.Status(403, "Forbidden", "")}, "the cluster says Forbidden"},
		"no namespace":  {answer{404, memberstest.Status(404, "NotFound", `{"name":"shop","kind":"namespaces"}`)}, lacking},
		"namespace that ends": {answer{403,
			memberstest.Status(403, "Forbidden", `{"causes":[{"reason":"NamespaceTerminating","field":"metadata.namespace"}]}`)}, ending},
		"something else lacks": {answer{404, memberstest.Status(404, "NotFound", `{"name":"fast","kind":"priorityclasses"}`)}, "the cluster says NotFound"},
		"refused by one":       {answer{409, memberstest.Status(409, "Conflict", `{"name":"shop","kind":"namespaces"}`)}, "the cluster says Conflict"},
		"nobody knows what": {answer{404,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"the cluster says NotFound"}`},
			"the cluster says NotFound"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("POST "+deployments, tc.answer.code, tc.answer.body)
			err := s.join(t).Create(t.Context(), deployment())
			want := tc.err
			if want != "" {
				want = `creating Deployment "web": ` + want
			}
			fleettest.Same(t, "error", want, memberstest.Told(err))
			fleettest.Same(t, "requests",
				[]string{"POST " + deployments + "?fieldManager=fleetscale-federatedhpa\napplication/json\n" + deploymentText},
				s.Heard())
		})
	}
}

// A workload is made in the version in which it is written, or not at all.
func TestCreateInAnotherVersion(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	d := deployment()
	d.SetAPIVersion("apps/v1beta1")
	if err := s.join(t).Create(t.Context(), d); !meta.IsNoMatchError(err) {
		t.Errorf("error = %v", err)
	}
	fleettest.Same(t, "requests", []string(nil), s.Heard())
}

func TestRemove(t *testing.T) {
	asked := []string{"DELETE " + deployments + "/web\napplication/json\n" +
		`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"5"},"propagationPolicy":"Background"}`}
	tests := map[string]struct {
		edit     func(*unstructured.Unstructured)
		answer   answer
		requests []string
		err      string
	}{
		"there":     {nil, answer{200, "{}"}, asked, ""},
		"gone":      {nil, answer{404, memberstest.Status(404, "NotFound", "")}, asked, ""},
		"changed":   {nil, answer{409, memberstest.Status(409, "Conflict", "")}, asked, `deleting Deployment "web": the cluster says Conflict`},
		"forbidden": {nil, answer{403, memberstest.Status(403, "Forbidden", "")}, asked, `deleting Deployment "web": the cluster says Forbidden`},
		"no uid": {func(d *unstructured.Unstructured) { d.SetUID("") }, answer{}, nil,
			`deleting Deployment "web": it is not as it was read: it lacks uid or resourceVersion`},
		"no version": {func(d *unstructured.Unstructured) { d.SetResourceVersion("") }, answer{}, nil,
			`deleting Deployment "web": it is not as it was read: it lacks uid or resourceVersion`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("DELETE "+deployments+"/web", tc.answer.code, tc.answer.body)
			d := deployment()
			if tc.edit != nil {
				tc.edit(d)
			}
			fleettest.Same(t, "error", tc.err, memberstest.Told(s.join(t).Remove(t.Context(), d)))
			fleettest.Same(t, "requests", tc.requests, s.Heard())
		})
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	c := s.join(t)
	const text = `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web","namespace":"shop","resourceVersion":"5"},"spec":{"replicas":3},"status":{"replicas":2}}`
	s.Says("GET "+deployments+"/web/scale", 200, text)
	s.Says("PUT "+deployments+"/web/scale", 200, text)
	scale, err := c.Scale(t.Context(), "shop", web)
	fleettest.Same(t, "error", "", memberstest.Told(err))
	want := &autoscalingv1.Scale{TypeMeta: metav1.TypeMeta{Kind: "Scale", APIVersion: "autoscaling/v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", ResourceVersion: "5"}}
	want.Spec.Replicas, want.Status.Replicas = 3, 2
	fleettest.Same(t, "scale", want, scale)
	fleettest.Same(t, "error", "", memberstest.Told(c.SetScale(t.Context(), web, scale)))
	fleettest.Same(t, "requests", []string{"GET " + deployments + "/web/scale",
		"PUT " + deployments + "/web/scale?fieldManager=fleetscale-federatedhpa\napplication/json\n" + text}, s.Heard())

	s.Says("PUT "+deployments+"/web/scale", 409, memberstest.Status(409, "Conflict", ""))
	if err := c.SetScale(t.Context(), web, scale); !apierrors.IsConflict(err) {
		t.Errorf("error of a scale that changed = %v", err)
	}
	if _, err := c.Scale(t.Context(), "other", web); !apierrors.IsNotFound(err) {
		t.Errorf("error of a workload that is not there = %v", err)
	}
}
