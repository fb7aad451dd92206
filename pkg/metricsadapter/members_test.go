// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/memberapi"
)

// fleetOf is a fleet that tests change, as a replica of the adapter serves it.
type fleetOf struct {
	*hub
	members *memberapi.Store

	mu    sync.Mutex
	known []memberapi.Known
}

func knownMember(name string, ready bool) memberapi.Known {
	k := memberapi.Known{
		Name: name,
		Source: member.Source{
			Name: "secret", Object: name, Address: "10.0.0.1:6443",
			Ref: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "fleetscale-clusters", Name: name, UID: "u1"},
		},
		State:  member.State{Ready: ready, Reason: "Ready", Contacted: true},
		Traits: member.Traits{Version: "v1.36.2", MetricsAPIs: []string{"metrics.k8s.io"}},
	}
	if !ready {
		k.State.Reason, k.State.Message = "Timeout", "no answer within 5s"
	}
	return k
}

// newFleet starts a replica that knows these members.
func newFleet(t *testing.T, known ...memberapi.Known) *fleetOf {
	t.Helper()
	f := &fleetOf{hub: &hub{t: t}, known: known}
	f.members = memberapi.New(memberapi.Options{Fleet: func() []memberapi.Known {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.known
	}})
	f.adapter = New(Options{Members: f.members, MaxAnswerBytes: 1 << 20})
	f.serve(authorizerfactory.NewAlwaysAllowAuthorizer())
	done := make(chan struct{})
	go func() { defer close(done); f.members.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	return f
}

func (f *fleetOf) become(known ...memberapi.Known) {
	f.mu.Lock()
	f.known = known
	f.mu.Unlock()
	f.members.Changed()
}

const membersPath = "/apis/members.fleetscale.io/v1alpha1/members"

func TestMembersAreServed(t *testing.T) {
	f := newFleet(t, knownMember("west", false), knownMember("east", true))
	var list v1alpha1.MemberList
	answer := f.ask(membersPath)
	if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%d %v: %s", answer.Code, err, answer.Body)
	}
	if list.Kind != "MemberList" || len(list.Items) != 2 || list.Items[0].Name != "east" || list.Items[1].Status.Reason != "Timeout" {
		t.Errorf("listed %s", answer.Body)
	}
	for path, want := range map[string]int{
		membersPath + "/east":                                             http.StatusOK,
		membersPath + "/north":                                            http.StatusNotFound,
		membersPath + query("resourceVersion", "4711"):                    http.StatusGone,
		membersPath + "?watch=1&resourceVersion=4711":                     http.StatusGone,
		membersPath + query("fieldSelector", "status.state=Ready"):        http.StatusBadRequest,
		membersPath + query("fieldSelector", "metadata.name=east"):        http.StatusOK,
		"/apis/members.fleetscale.io/v1alpha1/namespaces/default/members": http.StatusNotFound,
		"/apis/members.fleetscale.io":                                     http.StatusOK,
		"/apis/members.fleetscale.io/v1alpha1":                            http.StatusOK,
	} {
		if answer := f.ask(path); answer.Code != want {
			t.Errorf("%s: %d, want %d: %s", path, answer.Code, want, answer.Body)
		}
	}
	var resources metav1.APIResourceList
	if err := json.Unmarshal(f.ask("/apis/members.fleetscale.io/v1alpha1").Body.Bytes(), &resources); err != nil {
		t.Fatal(err)
	}
	want := []metav1.APIResource{{
		Name: "members", SingularName: "member", Kind: "Member", Verbs: metav1.Verbs{"get", "list", "watch"}, ShortNames: []string{"mbr"},
	}}
	fleettest.Same(t, "discovery", want, resources.APIResources)
}

func TestNobodyWritesMembers(t *testing.T) {
	f := newFleet(t, knownMember("east", true))
	for method, path := range map[string]string{
		http.MethodPost: membersPath, http.MethodPut: membersPath + "/east", http.MethodPatch: membersPath + "/east/status",
		http.MethodDelete: membersPath + "/east",
	} {
		request := httptest.NewRequestWithContext(t.Context(), method, "https://hub"+path, strings.NewReader("{}"))
		recorder := httptest.NewRecorder()
		f.handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusMethodNotAllowed && recorder.Code != http.StatusNotFound {
			t.Errorf("%s %s: %d", method, path, recorder.Code)
		}
	}
}

// What kubectl get prints is made of the table that it asks for.
func TestMembersAsATable(t *testing.T) {
	f := newFleet(t, knownMember("east", true), knownMember("west", false))
	answer := f.ask(membersPath, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	var table metav1.Table
	if err := json.Unmarshal(answer.Body.Bytes(), &table); err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%d %v: %s", answer.Code, err, answer.Body)
	}
	printed := func(wide bool) string {
		var out bytes.Buffer
		if err := printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(&table, &out); err != nil {
			t.Fatal(err)
		}
		return squeezed(out.String())
	}
	want := `NAME STATE REASON SOURCE VERSION METRICS PODS AGE
east Ready secret/east v1.36.2 metrics 0 <never>
west Silent Timeout secret/west v1.36.2 metrics 0 <never>
`
	fleettest.Same(t, "", want, printed(false))
	want = `NAME STATE REASON SOURCE VERSION METRICS PODS AGE CLOCK RIGHTS TOKEN MESSAGE
east Ready secret/east v1.36.2 metrics 0 <never> <unknown> read <unknown>
west Silent Timeout secret/west v1.36.2 metrics 0 <never> <unknown> read <unknown> no answer within 5s
`
	fleettest.Same(t, "wide", want, printed(true))
}

var spaces = regexp.MustCompile(` +`)

// squeezed has one space between words, and none at the end of lines.
func squeezed(text string) string {
	return strings.ReplaceAll(spaces.ReplaceAllString(text, " "), " \n", "\n")
}

// A reflector of client-go has what the replica has that it reaches, also when that is another one from now on.
func TestAReflectorFollowsMembers(t *testing.T) {
	first, second := newFleet(t, knownMember("east", true)), newFleet(t, knownMember("east", true), knownMember("west", true))
	var mu sync.Mutex
	reached := first
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		handler := reached.handler
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	informers := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := informers.ForResource(v1alpha1.SchemeGroupVersion.WithResource("members")).Informer()
	changed := make(chan struct{}, 1000)
	told := func(any) { changed <- struct{}{} }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: told, UpdateFunc: func(_, now any) { told(now) }, DeleteFunc: told,
	}); err != nil {
		t.Fatal(err)
	}
	informers.Start(t.Context().Done())
	t.Cleanup(informers.Shutdown)
	until := func(want map[string]string) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		for {
			got := map[string]string{}
			for _, object := range informer.GetStore().List() {
				m := object.(*unstructured.Unstructured)
				got[m.GetName()], _, _ = unstructured.NestedString(m.Object, "status", "state")
			}
			if cmp.Equal(want, got) {
				return
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("the reflector has %v, want %v", got, want)
			}
		}
	}
	until(map[string]string{"east": "Ready"})
	first.become(knownMember("east", false), knownMember("west", true))
	until(map[string]string{"east": "Silent", "west": "Ready"})
	first.become(knownMember("west", true))
	until(map[string]string{"west": "Ready"})

	mu.Lock()
	reached = second
	mu.Unlock()
	server.CloseClientConnections()
	until(map[string]string{"east": "Ready", "west": "Ready"})
	second.become(knownMember("east", false))
	until(map[string]string{"east": "Silent"})
}
