// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func reference(apiVersion, kind, name string) autoscalingv2.CrossVersionObjectReference {
	return autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name}
}

var web = reference("apps/v1", "Deployment", "web")

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}
}

func federated(name string, change ...func(*v1alpha1.FederatedHPA)) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{ObjectMeta: meta(name)}
	f.UID = types.UID("uid-of-" + name)
	f.Spec.ScaleTargetRef = web
	for _, c := range change {
		c(f)
	}
	return f
}

func cron(name string) *v1alpha1.CronFederatedHPA {
	return &v1alpha1.CronFederatedHPA{ObjectMeta: meta(name), Spec: v1alpha1.CronFederatedHPASpec{ScaleTargetRef: web}}
}

// fhpaB is a FederatedHPA as rules name it.
var fhpaB = reference("autoscaling.karmada.io/v1alpha1", "FederatedHPA", "b")

func cronOf(name string, target autoscalingv2.CrossVersionObjectReference) *v1alpha1.CronFederatedHPA {
	c := cron(name)
	c.Spec.ScaleTargetRef = target
	return c
}

func multidim(name string, change ...func(*v1alpha1.MultidimPodAutoscaler)) *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: meta(name)}
	m.Spec.ScaleTargetRef, m.Spec.Goals = web, &v1alpha1.Goals{}
	for _, c := range change {
		c(m)
	}
	return m
}

func sizesOnly(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals = nil }

// madeBy is for a FederatedHPA that a MultidimPodAutoscaler made.
func madeBy(name string) func(*v1alpha1.FederatedHPA) {
	return func(f *v1alpha1.FederatedHPA) {
		f.OwnerReferences = []metav1.OwnerReference{{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "MultidimPodAutoscaler", Name: name,
			Controller: new(true)}}
	}
}

func local(name string, change ...func(*autoscalingv2.HorizontalPodAutoscaler)) *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta(name), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: web}}
	for _, c := range change {
		c(h)
	}
	return h
}

func managedBy(uid string) func(*autoscalingv2.HorizontalPodAutoscaler) {
	return func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Labels["fleetscale.io/managed-by"] = uid }
}

func givenTo(name string) func(*autoscalingv2.HorizontalPodAutoscaler) {
	return func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Annotations["fleetscale.io/adopt-by"] = name }
}

func scales(ref autoscalingv2.CrossVersionObjectReference) func(*autoscalingv2.HorizontalPodAutoscaler) {
	return func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.ScaleTargetRef = ref }
}

func vertical(name string, change ...func(*vpa.VerticalPodAutoscaler)) *vpa.VerticalPodAutoscaler {
	v := &vpa.VerticalPodAutoscaler{ObjectMeta: meta(name), Spec: vpa.Spec{TargetRef: web}}
	for _, c := range change {
		c(v)
	}
	return v
}

func updating(mode string) func(*vpa.VerticalPodAutoscaler) {
	return func(v *vpa.VerticalPodAutoscaler) { v.Spec.UpdatePolicy.UpdateMode = mode }
}

func sizes(ref autoscalingv2.CrossVersionObjectReference) func(*vpa.VerticalPodAutoscaler) {
	return func(v *vpa.VerticalPodAutoscaler) { v.Spec.TargetRef = ref }
}

func deleting(h *autoscalingv2.HorizontalPodAutoscaler) { h.DeletionTimestamp = &metav1.Time{} }

// What is said for each pair of kinds: when the first is stored beside the second, when it works, and when it works in a member
// that has the second.
func TestPairs(t *testing.T) {
	tests := []struct {
		asker, by            metav1.Object
		stored, works, there string
	}{
		{federated("a"), federated("b"), `Deployment "web" is scaled by FederatedHPA "b" already: delete that, or name another workload`, "", ""},
		{federated("a"), local("a"), `Deployment "web" is scaled by HorizontalPodAutoscaler "a" already: delete that, or name another workload`, "",
			`the workload is scaled there by HorizontalPodAutoscaler shop/a: delete it, or take the cluster out of clusterAffinity`},
		{federated("a"), cron("a"), `CronFederatedHPA "a" sets the replicas of Deployment "web" too, and its rules will fail: make it name this FederatedHPA`, "", ""},
		{cron("a"), federated("a"), `Deployment "web" is scaled by FederatedHPA "a", and the rules will fail: name that FederatedHPA instead`,
			`Deployment "web" is scaled by FederatedHPA "a": name that FederatedHPA in scaleTargetRef, and set its bounds`, ""},
		{cron("a"), local("a"), `Deployment "web" is scaled by HorizontalPodAutoscaler "a", and the rules will fail: delete that, or use a FederatedHPA and name it here`,
			`Deployment "web" is scaled by HorizontalPodAutoscaler "a": delete that, or make a FederatedHPA of it and name that in scaleTargetRef`,
			"the workload is scaled there by HorizontalPodAutoscaler shop/a: delete that, or make a FederatedHPA of it and name that " +
				"in scaleTargetRef"},
		{cron("a"), cron("b"), `CronFederatedHPA "b" sets Deployment "web" too, and whichever rule runs last wins: put all rules into one`, "", ""},
		{federated("a"), multidim("b"),
			`Deployment "web" belongs to MultidimPodAutoscaler "b" already: write the metrics into its goals, or name another workload`, "", ""},
		{federated("a"), multidim("b", sizesOnly),
			`Deployment "web" belongs to MultidimPodAutoscaler "b" already: write the metrics into its goals, or name another workload`, "", ""},
		{federated("a"), federated("b", madeBy("c")),
			`Deployment "web" belongs to MultidimPodAutoscaler "c" already: write the metrics into its goals, or name another workload`, "", ""},
		{multidim("a"), multidim("b"), `Deployment "web" belongs to MultidimPodAutoscaler "b" already: delete that, or name another workload`,
			`Deployment "web" belongs to MultidimPodAutoscaler "b" already: delete one of the two, or name another workload`, ""},
		{multidim("a"), federated("b", madeBy("c")), `Deployment "web" belongs to MultidimPodAutoscaler "c" already: delete that, or name another workload`,
			`Deployment "web" belongs to MultidimPodAutoscaler "c" already: delete one of the two, or name another workload`, ""},
		{multidim("a"), federated("a"), `Deployment "web" is scaled by FederatedHPA "a" already: write its metrics into goals and delete it, or name another workload`,
			`Deployment "web" is scaled by FederatedHPA "a": write its metrics into goals and delete it, or name another workload`, ""},
		{multidim("a"), local("a"), `Deployment "web" is scaled by HorizontalPodAutoscaler "a" already: write its metrics into goals and delete it, or name another workload`,
			`Deployment "web" is scaled by HorizontalPodAutoscaler "a": write its metrics into goals and delete it, or name another workload`,
			`the workload is scaled there by HorizontalPodAutoscaler shop/a: delete it, or take the cluster out of clusterAffinity`},
		{multidim("a", sizesOnly), federated("b"), `Deployment "web" is scaled by FederatedHPA "b" already: write its metrics into goals and delete it, or name another workload`,
			`Deployment "web" is scaled by FederatedHPA "b": write its metrics into goals and delete it, or name another workload`, ""},
		{multidim("a", sizesOnly), local("b"), `Deployment "web" is scaled by HorizontalPodAutoscaler "b" already: write its metrics into goals and delete it, or name another workload`,
			`Deployment "web" is scaled by HorizontalPodAutoscaler "b": write its metrics into goals and delete it, or name another workload`,
			`the workload is scaled there by HorizontalPodAutoscaler shop/b: delete it, or take the cluster out of clusterAffinity`},
		{multidim("a"), vertical("a"), "",
			`Deployment "web" is sized by VerticalPodAutoscaler "a": delete that or set its updateMode to Off, or name another workload`,
			`the workload is sized there by VerticalPodAutoscaler shop/a: delete it or set its updateMode to Off, or take the cluster out of clusterAffinity`},
		{multidim("a", sizesOnly), vertical("b", updating("Initial")), "",
			`Deployment "web" is sized by VerticalPodAutoscaler "b": delete that or set its updateMode to Off, or name another workload`,
			`the workload is sized there by VerticalPodAutoscaler shop/b: delete it or set its updateMode to Off, or take the cluster out of clusterAffinity`},
		{multidim("a"), vertical("a", updating("Off")), "", "", ""},
		{federated("a"), vertical("a"), "", "", ""},
		{cron("a"), vertical("a"), "", "", ""},
		{multidim("a"), cron("a"), `CronFederatedHPA "a" sets the replicas of Deployment "web" too, and its rules will fail: make it name this MultidimPodAutoscaler`,
			`CronFederatedHPA "a" sets the replicas of Deployment "web" too, and its rules fail: make it name this MultidimPodAutoscaler`, ""},
		{multidim("a", sizesOnly), cron("a"), "", "", ""},
		{cron("a"), multidim("b"), `Deployment "web" belongs to MultidimPodAutoscaler "b", and the rules will fail: name that MultidimPodAutoscaler instead`,
			`Deployment "web" belongs to MultidimPodAutoscaler "b": name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds`, ""},
		{cron("a"), federated("b", madeBy("c")), `Deployment "web" belongs to MultidimPodAutoscaler "c", and the rules will fail: name that MultidimPodAutoscaler instead`,
			`Deployment "web" belongs to MultidimPodAutoscaler "c": name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds`, ""},
		{cronOf("a", fhpaB), federated("b", madeBy("c")), `FederatedHPA "b" belongs to MultidimPodAutoscaler "c", and the rules will fail: name that MultidimPodAutoscaler instead`,
			`FederatedHPA "b" belongs to MultidimPodAutoscaler "c": name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds`, ""},
		{cronOf("a", fhpaB), federated("b"), "", "", ""},
		{cronOf("a", fhpaB), federated("other", madeBy("b")), "", "", ""},
		{cronOf("a", reference("example.com/v1", "FederatedHPA", "b")), federated("b", madeBy("c")), "", "", ""},
		{cronOf("a", reference(fhpaB.APIVersion, "MultidimPodAutoscaler", "b")), federated("b", madeBy("b")), "", "", ""},
		{cronOf("a", reference(fhpaB.APIVersion, "MultidimPodAutoscaler", "b")), multidim("b"), "", "", ""},
		{local("a", scales(fhpaB)), federated("b", madeBy("c")), "", "", ""},
		{cron("a"), multidim("b", sizesOnly), "", "", ""},
		{multidim("a"), multidim("a"), "", "", ""},
		{multidim("a"), federated("b", madeBy("a")), "", "", ""},
		{federated("b", madeBy("a")), multidim("a"), "", "", ""},
		{federated("b", madeBy("a")), federated("b", madeBy("a")), "", "", ""},
		{federated("a"), federated("a"), "", "", ""},
		{cron("a"), cron("a"), "", "", ""},
	}
	for _, tc := range tests {
		asker, by := Of(tc.asker), Of(tc.by)
		t.Run(fmt.Sprint(asker, " beside ", by), func(t *testing.T) {
			var stored, works string
			for _, c := range On(asker, tc.by) {
				stored, works = c.WhenStored(), c.AtWork()
				if stored+works == "" {
					t.Errorf("there is a claim by %s, and nothing is said of it", by)
				}
			}
			inMember := asker
			switch o := tc.asker.(type) {
			case *v1alpha1.FederatedHPA:
				inMember = InMember(o, false)
			case *v1alpha1.MultidimPodAutoscaler:
				inMember = MultidimInMember(o, "")
			case *v1alpha1.CronFederatedHPA:
				inMember = CronInMember(o)
			}
			there := InTheWay(On(inMember, tc.by))
			fleettest.Same(t, "", []string{tc.stored, tc.works, tc.there}, []string{stored, works, there})
		})
	}
}

// A FederatedHPA belongs to the MultidimPodAutoscaler that controls it, and to nothing else that it names.
func TestWhoMadeAFederatedHPA(t *testing.T) {
	tests := map[string]struct {
		change func(*metav1.OwnerReference)
		want   string
	}{
		"its controller":    {func(*metav1.OwnerReference) {}, "MultidimPodAutoscaler shop/a"},
		"a later version":   {func(o *metav1.OwnerReference) { o.APIVersion = "autoscaling.karmada.io/v1" }, "MultidimPodAutoscaler shop/a"},
		"another group":     {func(o *metav1.OwnerReference) { o.APIVersion = "autoscaling.gke.io/v1beta1" }, "FederatedHPA shop/b"},
		"no group":          {func(o *metav1.OwnerReference) { o.APIVersion = "a/b/c" }, "FederatedHPA shop/b"},
		"another kind":      {func(o *metav1.OwnerReference) { o.Kind = "Deployment" }, "FederatedHPA shop/b"},
		"no controller":     {func(o *metav1.OwnerReference) { o.Controller = nil }, "FederatedHPA shop/b"},
		"not as controller": {func(o *metav1.OwnerReference) { o.Controller = new(false) }, "FederatedHPA shop/b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := federated("b", madeBy("a"))
			tc.change(&f.OwnerReferences[0])
			if got := Of(f).String(); got != tc.want {
				t.Errorf("it is %s, want %s", got, tc.want)
			}
			if in := InMember(f, true); in.String() != "FederatedHPA shop/b" || in.UID != f.UID {
				t.Errorf("in a member it is %s", in)
			}
		})
	}
}

// Whose claims count on the hub, whoever asks: those of others that are to stay, by whatever version they name the workload.
func TestOnTheHub(t *testing.T) {
	tests := map[string]struct {
		other metav1.Object
		want  int
	}{
		"a HorizontalPodAutoscaler":            {local("own"), 1},
		"one that names another version":       {local("own", scales(reference("apps/v1beta2", "Deployment", "web"))), 1},
		"one of another group":                 {local("own", scales(reference("argoproj.io/v1", "Deployment", "web"))), 0},
		"one of another kind":                  {local("own", scales(reference("apps/v1", "StatefulSet", "web"))), 0},
		"one of another name":                  {local("own", scales(reference("apps/v1", "Deployment", "db"))), 0},
		"one that has the asker's name":        {local("asker", scales(reference("apps/v1", "Deployment", "db"))), 0},
		"one of ours, for the hub as a member": {local("own", managedBy("uid")), 0},
		"one whose label is empty":             {local("own", managedBy("")), 1},
		"one that is given away":               {local("own", givenTo("asker")), 1},
		"one that is being deleted":            {local("own", deleting), 0},
		"a FederatedHPA":                       {federated("other"), 1},
		"a FederatedHPA that bears a label": {federated("other",
			func(f *v1alpha1.FederatedHPA) { f.Labels["fleetscale.io/managed-by"] = "uid" }), 1},
		"a VerticalPodAutoscaler that only advises": {vertical("other", updating("Off")), 0},
		"a MultidimPodAutoscaler":                   {multidim("other"), 1},
		"a MultidimPodAutoscaler that is being deleted": {multidim("other",
			func(m *v1alpha1.MultidimPodAutoscaler) { m.DeletionTimestamp = &metav1.Time{} }), 0},
		"a MultidimPodAutoscaler that names another kind": {multidim("other",
			func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.ScaleTargetRef.Kind = "StatefulSet" }), 0},
		"a FederatedHPA that is being deleted": {federated("other", func(f *v1alpha1.FederatedHPA) { f.DeletionTimestamp = &metav1.Time{} }),
			0},
		"a FederatedHPA that names another kind": {federated("other",
			func(f *v1alpha1.FederatedHPA) { f.Spec.ScaleTargetRef.Kind = "StatefulSet" }), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, asker := range []metav1.Object{federated("asker"), cron("asker"), multidim("asker")} {
				if got := On(Of(asker), tc.other); len(got) != tc.want {
					t.Errorf("%T: %d claims, want %d", asker, len(got), tc.want)
				}
			}
		})
	}
}

// Whose autoscalers a member has, for a FederatedHPA that writes replicas, and for one that has its own there.
func TestInMember(t *testing.T) {
	const own = "own"
	scaled := func(give string) string {
		return "the workload is scaled there by HorizontalPodAutoscaler shop/theirs: delete it, " + give +
			"or take the cluster out of clusterAffinity"
	}
	former := strings.Replace(scaled(""), "shop/theirs", "shop/theirs (of another FederatedHPA)", 1)
	give := "annotate it with fleetscale.io/adopt-by: web, "
	db := scales(reference("apps/v1", "Deployment", "db"))
	tests := map[string]struct {
		hpa            *autoscalingv2.HorizontalPodAutoscaler
		writes, adopts string
	}{
		"somebody's": {local("theirs"), scaled(""), scaled(give)},
		"somebody's, under our name": {local("web"),
			"the workload is scaled there by HorizontalPodAutoscaler shop/web: delete it, or take the cluster out of clusterAffinity",
			"the workload is scaled there by HorizontalPodAutoscaler shop/web: delete it, " + give + "or take the cluster out of clusterAffinity"},
		"of another version":  {local("theirs", scales(reference("apps/v1beta1", "Deployment", "web"))), scaled(""), scaled(give)},
		"of another workload": {local("theirs", db), "", ""},
		"of another workload, our name": {local("web", db), "", "HorizontalPodAutoscaler shop/web has the name of ours there, and scales " +
			"something else: delete it, give the FederatedHPA another name, or take the cluster out of clusterAffinity"},
		"ours":                               {local("mine", managedBy("uid-of-web")), own, own},
		"ours, though it scales another":     {local("web", managedBy("uid-of-web"), db), own, own},
		"ours, being deleted":                {local("web", managedBy("uid-of-web"), deleting), own, own},
		"another FederatedHPA's":             {local("theirs", managedBy("uid-of-former")), former, former},
		"another FederatedHPA's, being lost": {local("theirs", managedBy("uid-of-former"), deleting), former, former},
		"another hub's, which has one of its name, and given to that": {local("theirs", managedBy("uid-of-former"), givenTo("web")), former,
			former},
		"whose label is empty":             {local("theirs", managedBy("")), scaled(""), scaled(give)},
		"given to it":                      {local("theirs", givenTo("web")), scaled(""), own},
		"given to it, of another workload": {local("theirs", givenTo("web"), db), "", ""},
		"given to another":                 {local("theirs", givenTo("api")), scaled(""), scaled(give)},
		"given to nobody":                  {local("theirs", givenTo("")), scaled(""), scaled(give)},
		"given in another namespace": {local("theirs", givenTo("web"), func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Namespace = "bank" }),
			"the workload is scaled there by HorizontalPodAutoscaler bank/theirs: delete it, or take the cluster out of clusterAffinity",
			"the workload is scaled there by HorizontalPodAutoscaler bank/theirs: delete it, " + give +
				"or take the cluster out of clusterAffinity"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for adopts, want := range map[bool]string{false: tc.writes, true: tc.adopts} {
				asker := InMember(federated("web"), adopts)
				got := InTheWay(On(asker, tc.hpa))
				if asker.Owns(Of(tc.hpa)) {
					got += own
				}
				if got != want {
					t.Errorf("adopts %t: %q, want %q", adopts, got, want)
				}
			}
		})
	}
	nameless := InMember(federated(""), true)
	if nameless.Owns(Of(local("theirs"))) {
		t.Error("what is not given is taken for given to a FederatedHPA without a name")
	}
}

// Whose autoscalers a member has, for a MultidimPodAutoscaler.
func TestMultidimInMember(t *testing.T) {
	scaled := "the workload is scaled there by HorizontalPodAutoscaler shop/theirs: delete it, or take the cluster out of clusterAffinity"
	sized := "the workload is sized there by VerticalPodAutoscaler shop/theirs: delete it or set its updateMode to Off, or take the cluster " +
		"out of clusterAffinity"
	former := strings.Replace(scaled, "shop/theirs", "shop/theirs (of another FederatedHPA)", 1)
	db := reference("apps/v1", "Deployment", "db")
	labelled := func(v *vpa.VerticalPodAutoscaler) { v.Labels["fleetscale.io/managed-by"] = "child" }
	lost := func(v *vpa.VerticalPodAutoscaler) { v.DeletionTimestamp = &metav1.Time{} }
	tests := map[string]struct {
		child types.UID
		other metav1.Object
		want  string
	}{
		"somebody's":                          {"child", local("theirs"), scaled},
		"somebody's, and it has no child":     {"", local("theirs"), scaled},
		"its child's":                         {"child", local("theirs", managedBy("child")), ""},
		"its child's, being deleted":          {"child", local("theirs", managedBy("child"), deleting), ""},
		"of a FederatedHPA that is not there": {"child", local("theirs", managedBy("former")), former},
		"the same, and it has no child":       {"", local("theirs", managedBy("former")), former},
		"being deleted":                       {"", local("theirs", deleting), scaled},
		"whose label is empty":                {"", local("theirs", managedBy("")), scaled},
		"given to it, and not yet taken":      {"child", local("theirs", givenTo("web")), scaled},
		"under its name, of another workload": {"child", local("web", scales(db)), ""},

		"vertical":                            {"child", vertical("theirs"), sized},
		"vertical, of another version":        {"child", vertical("theirs", sizes(reference("apps/v1beta1", "Deployment", "web"))), sized},
		"vertical, being deleted":             {"", vertical("theirs", lost), sized},
		"vertical, with the child's label":    {"child", vertical("theirs", labelled), sized},
		"vertical, under its name":            {"child", vertical("web", sizes(db)), ""},
		"vertical, that names nothing":        {"child", vertical("theirs", sizes(reference("", "", ""))), ""},
		"vertical, that names what cannot be": {"child", vertical("theirs", sizes(reference("a/b/c", "Deployment", "web"))), ""},
		"vertical, that only advises":         {"child", vertical("theirs", updating("Off")), ""},
		"vertical, in a mode yet to come":     {"child", vertical("theirs", updating("Sometimes")), sized},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, m := range []*v1alpha1.MultidimPodAutoscaler{multidim("web"), multidim("web", sizesOnly)} {
				if got := InTheWay(On(MultidimInMember(m, tc.child), tc.other)); got != tc.want {
					t.Errorf("goals %v: %q, want %q", m.Spec.Goals, got, tc.want)
				}
			}
		})
	}
}

// Of all MultidimPodAutoscalers that name one workload exactly one has none before it, whatever the order in which they are seen.
func TestPrior(t *testing.T) {
	made := func(name, uid string, second int64, change ...func(*v1alpha1.MultidimPodAutoscaler)) *v1alpha1.MultidimPodAutoscaler {
		m := multidim(name, change...)
		m.UID, m.CreationTimestamp = types.UID(uid), metav1.Unix(second, 0)
		return m
	}
	all := []*v1alpha1.MultidimPodAutoscaler{
		made("c", "3", 20), made("a", "2", 10, sizesOnly), made("d", "1", 20), made("b", "1", 10),
		made("leaves", "0", 5, func(m *v1alpha1.MultidimPodAutoscaler) { m.DeletionTimestamp = &metav1.Time{} }),
		made("elsewhere", "0", 5, func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.ScaleTargetRef.Name = "db" }),
	}
	want := map[string][]string{
		"b": nil,
		"a": {"MultidimPodAutoscaler shop/b"},
		"d": {"MultidimPodAutoscaler shop/a", "MultidimPodAutoscaler shop/b"},
		"c": {"MultidimPodAutoscaler shop/a", "MultidimPodAutoscaler shop/b", "MultidimPodAutoscaler shop/d"},

		"leaves":    nil,
		"elsewhere": nil,
	}
	for range 2 {
		for _, m := range all {
			names := Names(Prior(m, all...))
			slices.Sort(names)
			if diff := cmp.Diff(want[m.Name], names); diff != "" {
				t.Errorf("before %s (-want +got):\n%s", m.Name, diff)
			}
		}
		slices.Reverse(all)
	}
	if all[0].Name != "c" || len(all) != 6 {
		t.Error("what was given is changed")
	}
}

// Several claims in one member are one sentence, and one on the name is another.
func TestInTheWay(t *testing.T) {
	db := reference("apps/v1", "Deployment", "db")
	found := On(InMember(federated("web"), true), local("a"), local("web", scales(db)), local("b"))
	want := "the workload is scaled there by HorizontalPodAutoscaler shop/a, HorizontalPodAutoscaler shop/b: delete it, annotate it with " +
		"fleetscale.io/adopt-by: web, or take the cluster out of clusterAffinity; " +
		"HorizontalPodAutoscaler shop/web has the name of ours there, and scales something else: delete it, give the FederatedHPA another " +
		"name, or take the cluster out of clusterAffinity"
	if got := InTheWay(found); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A member may have any number of them.
func TestFewAreNamed(t *testing.T) {
	var others []metav1.Object
	for i := range 5 {
		others = append(others, local(fmt.Sprint("h", i)))
	}
	for i := range 3 {
		others = append(others, vertical(fmt.Sprint("v", i)))
	}
	want := "the workload is scaled there by HorizontalPodAutoscaler shop/h0, HorizontalPodAutoscaler shop/h1, HorizontalPodAutoscaler " +
		"shop/h2, and 2 more: delete it, or take the cluster out of clusterAffinity; the workload is sized there by VerticalPodAutoscaler " +
		"shop/v0, VerticalPodAutoscaler shop/v1, VerticalPodAutoscaler shop/v2: delete it or set its updateMode to Off, or take the cluster " +
		"out of " +
		"clusterAffinity"
	if got := InTheWay(On(MultidimInMember(multidim("web"), "child"), others...)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOurs(t *testing.T) {
	tests := map[string]struct {
		labels map[string]string
		uid    types.UID
		want   bool
	}{
		"labelled with the uid":              {map[string]string{"fleetscale.io/managed-by": "0d1c"}, "0d1c", true},
		"labelled with another uid":          {map[string]string{"fleetscale.io/managed-by": "0d1d"}, "0d1c", false},
		"labelled, and no uid is known":      {map[string]string{"fleetscale.io/managed-by": "0d1d"}, "", false},
		"not labelled":                       {nil, "0d1c", false},
		"not labelled, and no uid":           {nil, "", false},
		"labelled with no uid, and there is": {map[string]string{"fleetscale.io/managed-by": ""}, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Ours(&metav1.ObjectMeta{Name: "any", Labels: tc.labels}, tc.uid); got != tc.want {
				t.Errorf("Ours = %v, want %v", got, tc.want)
			}
		})
	}
}

// One equality of references: it is one, and compares all but the version.
func TestSame(t *testing.T) {
	var all []autoscalingv2.CrossVersionObjectReference
	for _, apiVersion := range []string{"apps/v1", "apps/v1beta1", "argoproj.io/v1", "v1", "", "a/b/c"} {
		for _, kind := range []string{"Deployment", "StatefulSet"} {
			all = append(all, reference(apiVersion, kind, "web"), reference(apiVersion, kind, "db"))
		}
	}
	group := map[string]string{"apps/v1": "apps", "apps/v1beta1": "apps", "argoproj.io/v1": "argoproj.io"}
	for _, a := range all {
		for _, b := range all {
			want := a.Kind == b.Kind && a.Name == b.Name && group[a.APIVersion] == group[b.APIVersion]
			if Same(a, b) != want || Same(b, a) != want {
				t.Errorf("Same(%v, %v) = %t", a, b, !want)
			}
		}
	}
}

// An observer is told whom it will meet, and nobody else is.
func TestBeside(t *testing.T) {
	observes := func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve }
	observer := federated("a", observes)
	other := local("other", scales(reference("apps/v1", "Deployment", "shop")))
	for name, tc := range map[string]struct {
		found []Claim
		want  string
	}{
		"on the hub":            {Beside(Of(observer), local("live"), other), "live"},
		"another observer":      {Beside(Of(observer), federated("b", observes)), "b"},
		"itself":                {Beside(Of(observer), observer), ""},
		"in a member":           {Beside(InMember(observer, false), local("live")), "live"},
		"of one that acts":      {Beside(Of(federated("a")), local("live")), ""},
		"of rules for whatever": {Beside(Of(cron("rules")), local("live")), ""},
	} {
		got := ""
		for _, claim := range tc.found {
			got += claim.by.Name
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	names := []string{"a", "b", "c", "d"}
	if got := ScaledToo(names); got != "; in its way once it acts: a, b, c, and 1 more" || ScaledToo(nil) != "" {
		t.Errorf("told %q, and of nobody %q", got, ScaledToo(nil))
	}
}

// A FederatedHPA that only observes is in nobody's way, and nobody in its, unless it acted before and has autoscalers in members; rules may
// not set what it observes all the same, for they are not asked again when it begins to act.
func TestObserver(t *testing.T) {
	observes := func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve }
	observer, active := federated("a", observes), federated("b")
	for _, claims := range [][]Claim{On(Of(observer), local("live")), On(Of(observer), active), On(Of(active), observer),
		On(InMember(observer, false), local("live")), On(Of(multidim("m")), observer)} {
		if len(claims) > 0 {
			t.Errorf("in the way: %s", InTheWay(claims))
		}
	}
	distributed := func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{} }
	bound := func(f *v1alpha1.FederatedHPA) { f.Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer} }
	bounds := federated("c", observes, distributed)
	if claims := append(On(Of(bounds), local("live")), On(InMember(bounds, true), local("live"))...); len(claims) > 0 {
		t.Errorf("in the way of bounds that would be split: %s", InTheWay(claims))
	}
	made := federated("d", observes, madeBy("m"))
	for name, claims := range map[string][]Claim{
		"distributed, after it acted":     On(Of(federated("c", observes, distributed, bound)), local("live")),
		"in a member, after it acted":     On(InMember(federated("c", observes, distributed, bound), true), local("live")),
		"central, after it acted":         On(Of(federated("c", observes, bound)), local("live")),
		"made by a MultidimPodAutoscaler": On(Of(made), active),
		"rules":                           On(Of(cron("rules")), observer)} {
		if len(claims) != 1 {
			t.Errorf("%s: %d claims, not one", name, len(claims))
		}
	}
}
