// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

// hub is one whose configurations can be read, or not.
type hub struct {
	client.Client
	fails error
	asked int
}

func (h *hub) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	h.asked++
	if h.fails != nil {
		return h.fails
	}
	return h.Client.Get(ctx, key, object, o...)
}

func newHub(t *testing.T, objects ...client.Object) *hub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &hub{Client: hubtest.NewBuilder(scheme).WithObjects(objects...).Build()}
}

// karmadas are both configurations of Karmada's: as it installs them, or without the entries that docs/karmada.md has people take out.
func karmadas(whole bool) []client.Object {
	m := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: Mutating}}
	m.Webhooks = []admissionregistrationv1.MutatingWebhook{{Name: "work.karmada.io", Rules: nil}}
	v := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: Validating}}
	v.Webhooks = []admissionregistrationv1.ValidatingWebhook{validating("cluster.karmada.io")}
	if whole {
		m.Webhooks = append(m.Webhooks, admissionregistrationv1.MutatingWebhook{
			Name: "autoscaling.karmada.io", Rules: []admissionregistrationv1.RuleWithOperations{rule("federatedhpas")},
		})
		v.Webhooks = append(v.Webhooks, validating("federatedhpa.karmada.io", rule("federatedhpas")),
			validating("cronfederatedhpa.karmada.io", rule("cronfederatedhpas")))
	}
	return []client.Object{m, v}
}

// install does what Karmada's installer does, or the administrator after it.
func (h *hub) install(t *testing.T, whole bool) {
	t.Helper()
	for _, object := range karmadas(whole) {
		h.put(t, object)
	}
}

// put replaces what there is of that name.
func (h *hub) put(t *testing.T, object client.Object) {
	t.Helper()
	if err := h.Delete(t.Context(), object.DeepCopyObject().(client.Object)); err != nil {
		t.Fatal(err)
	}
	if err := h.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// watched is a watch of a hub.
type watched struct {
	*Watch
	ctx    context.Context
	lines  []string
	events chan string
}

func watch(t *testing.T, h *hub) *watched {
	t.Helper()
	recorder := events.NewFakeRecorder(10)
	w := &watched{events: recorder.Events}
	logger := funcr.New(func(_, args string) { w.lines = append(w.lines, args) }, funcr.Options{})
	w.ctx = logr.NewContext(t.Context(), logger)
	w.Watch = New(Options{
		Hub: h, Mapper: kinds(true), Period: time.Minute, Metrics: served.NewWebhookMetrics(prometheus.NewRegistry()), Recorder: recorder,
	})
	return w
}

// kinds are those of a control plane of Karmada, or none.
func kinds(karmadas bool) meta.RESTMapper {
	version := schema.GroupVersion{Group: "policy.karmada.io", Version: "v1alpha1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{version})
	if karmadas {
		mapper.Add(version.WithKind("PropagationPolicy"), meta.RESTScopeNamespace)
	}
	return mapper
}

// says wants the lines that one check logs, and its Events, each by what is in it.
func (w *watched) says(t *testing.T, when string, lines, events []string) {
	t.Helper()
	w.lines = nil
	w.check(w.ctx)
	var heard []string
	for len(w.events) > 0 {
		heard = append(heard, <-w.events)
	}
	fleettest.Contain(t, when+": lines", w.lines, lines...)
	fleettest.Contain(t, when+": events", heard, events...)
}

func (w *watched) measures(t *testing.T, when string, federated, cron int) {
	t.Helper()
	const help = "1 if no webhook of Karmada is asked about the kind, 0 if one is, which refuses fields of ours or takes them out."
	want := fmt.Sprintf("# HELP fleetscale_webhooks_ours "+help+`
# TYPE fleetscale_webhooks_ours gauge
fleetscale_webhooks_ours{kind="CronFederatedHPA"} %d
fleetscale_webhooks_ours{kind="FederatedHPA"} %d
fleetscale_webhooks_ours{kind="MultidimPodAutoscaler"} 1
`, cron, federated)
	if err := testutil.CollectAndCompare(w.options.Metrics, strings.NewReader(want)); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if faults, err := testutil.CollectAndLint(w.options.Metrics); err != nil || len(faults) > 0 {
		t.Errorf("promlint: %v %v", faults, err)
	}
}

func TestWatchTellsEachChangeOnce(t *testing.T) {
	h := newHub(t, karmadas(false)...)
	w := watch(t, h)
	w.says(t, "taken out", nil, nil)
	w.measures(t, "taken out", 1, 1)

	h.install(t, true)
	w.says(t, "Karmada's installer ran", []string{
		`"msg"="Webhooks of Karmada are asked about our kinds" "error"=null "configuration"="mutatingwebhookconfiguration/mutating-config" ` +
			`"webhooks"=["autoscaling.karmada.io (FederatedHPA)"] "effect"="fields that Karmada does not know are lost`,
		`"configuration"="validatingwebhookconfiguration/validating-config" ` +
			`"webhooks"=["federatedhpa.karmada.io (FederatedHPA)" "cronfederatedhpa.karmada.io (CronFederatedHPA)"] "effect"="what Karmada does not`,
	}, []string{
		"Warning KarmadaIsAskedToo Asked about kinds of fleetscale: autoscaling.karmada.io (FederatedHPA); " +
			"fields that Karmada does not know are lost when an object is written; run `kubectl patch mutatingwebhookconfiguration " +
			`mutating-config --type strategic -p '{"webhooks": [{"$patch": "delete", "name": "autoscaling.karmada.io"}]}'` +
			"`, and keep Karmada's installer from bringing them back (docs/karmada.md)",
		"Warning KarmadaIsAskedToo Asked about kinds of fleetscale: federatedhpa.karmada.io (FederatedHPA), cronfederatedhpa.karmada.io ",
	})
	w.measures(t, "Karmada's installer ran", 0, 0)
	w.says(t, "nothing has changed", nil, nil)
	h.install(t, true)
	w.says(t, "the installer ran again", nil, nil)

	h.install(t, false)
	w.says(t, "taken out again", []string{
		`"msg"="Webhooks of Karmada are no longer asked about our kinds" "configuration"="mutatingwebhookconfiguration/mutating-config"`,
		`"configuration"="validatingwebhookconfiguration/validating-config"`,
	}, nil)
	w.measures(t, "taken out again", 1, 1)
}

// Entries come and go one by one, too.
func TestWatchMeasuresEachKind(t *testing.T) {
	h := newHub(t, karmadas(true)...)
	w := watch(t, h)
	w.says(t, "at the start", []string{"mutating", "validating"}, []string{"autoscaling", "federatedhpa"})
	part := karmadas(false)[1].(*admissionregistrationv1.ValidatingWebhookConfiguration)
	part.Webhooks = append(part.Webhooks, validating("cronfederatedhpa.karmada.io", rule("cronfederatedhpas")))
	h.install(t, false)
	h.put(t, part)
	w.says(t, "one is left", []string{"no longer asked", `"webhooks"=["cronfederatedhpa.karmada.io (CronFederatedHPA)"]`},
		[]string{"cronfederatedhpa.karmada.io"})
	w.measures(t, "one is left", 1, 0)

	more := part.DeepCopy()
	more.ResourceVersion = ""
	more.Webhooks[len(more.Webhooks)-1].Rules = []admissionregistrationv1.RuleWithOperations{rule("cronfederatedhpas", "federatedhpas")}
	h.put(t, more)
	w.says(t, "it is asked about more", []string{`["cronfederatedhpa.karmada.io (FederatedHPA, CronFederatedHPA)"]`}, []string{"FederatedHPA, Cron"})
	w.measures(t, "it is asked about more", 0, 0)
}

func TestHubWithoutKarmada(t *testing.T) {
	h := newHub(t)
	w := watch(t, h)
	w.options.Mapper = kinds(false)
	w.says(t, "at the start", nil, nil)
	w.measures(t, "at the start", 1, 1)
	if h.asked > 0 {
		t.Errorf("asked %d times for what there is not, and what nobody may read", h.asked)
	}
}

func TestKarmadaWithoutConfigurations(t *testing.T) {
	w := watch(t, newHub(t))
	w.says(t, "at the start", nil, nil)
	w.measures(t, "at the start", 1, 1)
}

func TestWhatCannotBeReadIsNoFinding(t *testing.T) {
	h := newHub(t, karmadas(true)...)
	w := watch(t, h)
	h.fails = errors.New("connection refused")
	w.says(t, "silent", []string{`"Could not read the webhook configurations of Karmada" "reason"="getting mutatingwebhookconfiguration ` +
		`mutating-config: connection refused\ngetting validatingwebhookconfiguration validating-config: connection refused"`}, nil)
	if n := testutil.CollectAndCount(w.options.Metrics); n != 0 {
		t.Errorf("%d series without a finding", n)
	}
	w.says(t, "still silent", nil, nil)
	h.fails = nil
	w.says(t, "there", []string{"mutating-config", "validating-config"}, []string{"autoscaling", "federatedhpa"})
	h.fails = errors.New("connection refused")
	w.says(t, "silent again", []string{"Could not read"}, nil)
	w.measures(t, "a finding outlives silence", 0, 0)
}

// Where the rights of a Karmada hub are not granted there is none, most likely.
func TestWhatMayNotBeReadIsNotWorthAWord(t *testing.T) {
	h := newHub(t)
	h.fails = apierrors.NewForbidden(schema.GroupResource{Resource: "mutatingwebhookconfigurations"}, Mutating, nil)
	w := watch(t, h)
	w.says(t, "forbidden", nil, nil)
}

func TestWatchEndsInSilence(t *testing.T) {
	h := newHub(t)
	w := watch(t, h)
	ctx, stop := context.WithCancel(w.ctx)
	stop()
	h.fails = context.Canceled
	w.check(ctx)
	fleettest.Contain(t, "lines", w.lines)
}

func TestWatchAsksOncePerPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		w := watch(t, h)
		ctx, cancel := context.WithTimeout(w.ctx, 150*time.Second)
		defer cancel()
		w.Run(ctx)
		if want := 3 * 2; h.asked != want {
			t.Errorf("asked %d times, want %d: two configurations at 0 s, 60 s and 120 s", h.asked, want)
		}
	})
}

// The controller-manager may read these configurations, by name, and no others.
func TestManifestsGrantWhatTheWatchGets(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/overlays/karmada/controller-manager/webhooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(string(text), "\n---\n")
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
		t.Fatal(err)
	}
	var want []rbacv1.PolicyRule
	for _, c := range configurations() {
		want = append(want, rbacv1.PolicyRule{
			APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{c.resource + "s"}, ResourceNames: []string{c.name},
			Verbs: []string{"get"},
		})
	}
	fleettest.Same(t, "rules", want, role.Rules)
}
