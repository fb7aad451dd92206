// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

const (
	beta   = "v1beta1.metrics.k8s.io"
	stable = "v1.metrics.k8s.io"
)

func resourceOnly() []string { return []string{"metrics.k8s.io"} }

func ourOptions() Options {
	return Options{
		APIs:    resourceOnly(),
		Service: types.NamespacedName{Namespace: "fleetscale-system", Name: "metrics-adapter"}, Port: 443,
	}
}

// metricsServers is the APIService as metrics-server's own manifests make it.
func metricsServers() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{
			Name:        beta,
			UID:         "5e7",
			Labels:      map[string]string{"k8s-app": "metrics-server"},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}\n"},
		},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: "metrics.k8s.io", Version: "v1beta1", CABundle: []byte("theirs"),
			Service:              &apiregistrationv1.ServiceReference{Namespace: "kube-system", Name: "metrics-server", Port: new(int32(443))},
			GroupPriorityMinimum: 100, VersionPriority: 100,
		},
	}
}

// ours is the APIService as Takeover leaves it.
func ours(version, record string) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{
			Name:        version + ".metrics.k8s.io",
			Labels:      map[string]string{"app.kubernetes.io/name": "metrics-adapter", "app.kubernetes.io/part-of": "fleetscale"},
			Annotations: map[string]string{FormerAnnotation: record},
		},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: "metrics.k8s.io", Version: version,
			Service: &apiregistrationv1.ServiceReference{Namespace: "fleetscale-system", Name: "metrics-adapter",
				Port: new(int32(443))},
			GroupPriorityMinimum: 100, VersionPriority: 100,
		},
	}
}

func nothingBefore() string {
	return `{"by":{"namespace":"fleetscale-system","name":"metrics-adapter"},"former":null}`
}

func metricsServerBefore() string {
	return `{"by":{"namespace":"fleetscale-system","name":"metrics-adapter"},"former":{` +
		`"labels":{"k8s-app":"metrics-server"},` +
		`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}\n"},` +
		`"spec":{"service":{"namespace":"kube-system","name":"metrics-server","port":443},"group":"metrics.k8s.io","version":"v1beta1",` +
		`"caBundle":"dGhlaXJz","groupPriorityMinimum":100,"versionPriority":100}}}`
}

func get(t *testing.T, client *fake.Clientset, name string) *apiregistrationv1.APIService {
	t.Helper()
	api, err := client.ApiregistrationV1().APIServices().Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	api.TypeMeta, api.ManagedFields = metav1.TypeMeta{}, nil // the fake's, sometimes
	return api
}

// pointAt rewrites an APIService as `kubectl apply` of somebody's manifest
// does: our annotation and labels stay.
func pointAt(t *testing.T, client *fake.Clientset, namespace, name string) {
	t.Helper()
	api := get(t, client, beta)
	api.Spec.Service.Namespace, api.Spec.Service.Name = namespace, name
	if _, err := client.ApiregistrationV1().APIServices().Update(t.Context(), api, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func takeOverAll(t *testing.T, client *fake.Clientset, o Options) []Step {
	t.Helper()
	steps, err := Takeover(t.Context(), client, o)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// failOnce answers the first request of this kind with err.
func failOnce(client *fake.Clientset, verb string, err error) {
	failed := false
	client.PrependReactor(verb, "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		fails := !failed
		failed = true
		return fails, nil, err
	})
}

// These lead to us and to nobody else.
const membersAPI, historyAPI = "v1alpha1.members.fleetscale.io", "v1alpha1.history.fleetscale.io"

func writes(client *fake.Clientset) []string {
	var verbs []string
	for _, action := range client.Actions() {
		if action.GetVerb() != "get" {
			verbs = append(verbs, action.GetVerb())
		}
	}
	return verbs
}

func conflict() error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "apiservices"}, beta, nil)
}

func TestTakeoverSavesWhatStoodThere(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	steps := takeOverAll(t, client, ourOptions())

	wantSteps := []Step{
		{beta, "taken over from Service kube-system/metrics-server"}, {stable, "created"}, {membersAPI, "created"}, {historyAPI, "created"},
	}
	fleettest.Same(t, "steps", wantSteps, steps)
	want := ours("v1beta1", metricsServerBefore())
	want.UID = "5e7" // updated in place: whoever watches it sees no gap
	fleettest.Same(t, beta, want, get(t, client, beta))
	fleettest.Same(t, stable, ours("v1", nothingBefore()), get(t, client, stable))
}

func TestTakeoverTwiceWritesOnce(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	takeOverAll(t, client, ourOptions())
	client.ClearActions()
	steps := takeOverAll(t, client, ourOptions())

	const left = "left as it is: it is ours already"
	want := []Step{{beta, left}, {stable, left}, {membersAPI, left}, {historyAPI, left}}
	fleettest.Same(t, "steps", want, steps)
	if got := writes(client); len(got) > 0 {
		t.Errorf("the second takeover wrote: %v", got)
	}
}

func TestLaterTakeoverKeepsWhatWasSaved(t *testing.T) {
	moved := ourOptions()
	moved.Service.Name = "adapter"
	verified := ourOptions()
	verified.CABundle = []byte("ours")
	tests := map[string]struct {
		between func(*testing.T, *fake.Clientset)
		options Options
	}{
		"with a certificate authority":   {options: verified},
		"with a Service of another name": {options: moved},
		"after our own manifests gave it the other name": {
			between: func(t *testing.T, c *fake.Clientset) { pointAt(t, c, "fleetscale-system", "adapter") },
			options: moved,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(metricsServers())
			takeOverAll(t, client, ourOptions())
			if tc.between != nil {
				tc.between(t, client)
			}
			steps := takeOverAll(t, client, tc.options)
			if want := (Step{beta, "updated: it was ours already"}); steps[0] != want {
				t.Errorf("step = %v, want %v", steps[0], want)
			}
			got := get(t, client, beta)
			want := ours("v1beta1", strings.Replace(metricsServerBefore(), `"metrics-adapter"`, `"`+tc.options.Service.Name+`"`, 1))
			want.UID = "5e7"
			want.Spec.Service.Name = tc.options.Service.Name
			want.Spec.CABundle = tc.options.CABundle
			fleettest.Same(t, beta, want, got)
		})
	}
}

func TestTakeoverFromWhoRewroteOurs(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	takeOverAll(t, client, ourOptions())
	pointAt(t, client, "monitoring", "prometheus-adapter")
	steps := takeOverAll(t, client, ourOptions())

	if want := (Step{beta, "taken over from Service monitoring/prometheus-adapter"}); steps[0] != want {
		t.Errorf("step = %v, want %v", steps[0], want)
	}
	var record takeoverRecord
	if err := json.Unmarshal([]byte(get(t, client, beta).Annotations[FormerAnnotation]), &record); err != nil {
		t.Fatal(err)
	}
	if got := record.Former.target().String(); got != "monitoring/prometheus-adapter" {
		t.Errorf("former = %s, want the latest that was not ours", got)
	}
	if _, nested := record.Former.Annotations[FormerAnnotation]; nested {
		t.Error("the former's record was saved inside the new one")
	}
}

// An APIService that manifests pointed at us has no record: what stood there
// before is not known, and "nothing" would be a guess.
func TestTakeoverGuessesNoFormer(t *testing.T) {
	applied := ours("v1beta1", "")
	applied.Annotations = nil
	client := fake.NewClientset(applied)
	verified := ourOptions()
	verified.CABundle = []byte("ours")
	takeOverAll(t, client, verified)

	got := get(t, client, beta)
	if len(got.Annotations) > 0 {
		t.Errorf("annotations = %v, want none", got.Annotations)
	}
	if string(got.Spec.CABundle) != "ours" {
		t.Errorf("caBundle = %q, want the new one", got.Spec.CABundle)
	}
}

func TestTakeoverTriesAgainWhenItCameSecond(t *testing.T) {
	tests := map[string]struct {
		verb string
		err  error
	}{
		"somebody changed it meanwhile": {"update", conflict()},
		"somebody created it meanwhile": {"create", apierrors.NewAlreadyExists(schema.GroupResource{Resource: "apiservices"}, stable)},
		"somebody deleted it meanwhile": {"update", apierrors.NewNotFound(schema.GroupResource{Resource: "apiservices"}, beta)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(metricsServers())
			failOnce(client, tc.verb, tc.err)
			takeOverAll(t, client, ourOptions())
			for _, name := range []string{beta, stable} {
				if api := get(t, client, name); api == nil || apiservice.Target(api) != ourOptions().Service {
					t.Errorf("%s does not point at us: %v", name, api)
				}
			}
		})
	}
}

func TestTakeoverDoesNotStopAtTheFirstFailure(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	client.PrependReactor("update", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, context.DeadlineExceeded
	})
	steps, err := Takeover(t.Context(), client, ourOptions())
	fleettest.Same(t, "steps", []Step{{stable, "created"}, {membersAPI, "created"}, {historyAPI, "created"}}, steps)
	if want := "taking over APIService v1beta1.metrics.k8s.io: context deadline exceeded"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestTakeoverRefusesARecordThatItCannotRead(t *testing.T) {
	broken := ours("v1beta1", "{")
	client := fake.NewClientset(broken)
	_, err := Takeover(t.Context(), client, ourOptions())
	if err == nil || !strings.Contains(err.Error(), "reading annotation fleetscale.io/former-apiservice") {
		t.Errorf("error = %v, want one that names the annotation", err)
	}
	fleettest.Same(t, "it was written", broken, get(t, client, beta))
}

// What came with deploy/base gets the authority, and no record: nothing of it is to be restored.
func TestTakeoverGivesOurOwnTheAuthority(t *testing.T) {
	applied := ours("v1alpha1", "")
	applied.Name, applied.Annotations, applied.Spec.Group = membersAPI, nil, "members.fleetscale.io"
	client := fake.NewClientset(applied)
	o := ourOptions()
	o.CABundle = []byte("authority")
	takeOverAll(t, client, o)
	want := applied.DeepCopy()
	want.Spec.CABundle = o.CABundle
	fleettest.Same(t, membersAPI, want, get(t, client, membersAPI))
	if _, err := Restore(t.Context(), client, apiservice.Groups(), nil); err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "after a restore", want, get(t, client, membersAPI))
}

// What discovery prefers is what prometheus-adapter has it prefer.
func TestTakeoverOfCustomMetricsPrefersTheNewerVersion(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	o := ourOptions()
	o.APIs = []string{"custom.metrics.k8s.io"}
	steps := takeOverAll(t, client, o)

	newer, older := "v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io"
	want := []Step{{newer, "created"}, {older, "created"}, {membersAPI, "created"}, {historyAPI, "created"}}
	fleettest.Same(t, "steps", want, steps)
	if n, o := get(t, client, newer).Spec.VersionPriority, get(t, client, older).Spec.VersionPriority; n <= o {
		t.Errorf("v1beta2 has priority %d, v1beta1 %d", n, o)
	}
	fleettest.Same(t, beta+" was not named", metricsServers(), get(t, client, beta))
}

func TestTakeoverOfNothingIsRefused(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	o := ourOptions()
	o.APIs = nil
	_, err := Takeover(t.Context(), client, o)
	if err == nil || !strings.HasPrefix(err.Error(), "taking over APIServices: no API group: ") {
		t.Errorf("error = %v, want one that says that no group is named", err)
	}
	if got := len(client.Actions()); got != 0 {
		t.Errorf("asked the hub %d times, want never", got)
	}
}
