// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestAddresses(t *testing.T) {
	tests := map[string]struct {
		server string
		given  bool
		want   string // empty: it is allowed
	}{
		"an address":             {server: "https://10.0.0.5:6443"},
		"a name":                 {server: "https://east.example.com"},
		"a name that only looks": {server: "https://localhost.example.com"},
		"a path":                 {server: "https://rancher.example.com/k8s/clusters/c-1"},
		"loopback":               {server: "https://127.0.0.1:6443", want: `server of context "c" is https://127.0.0.1:6443, which leads elsewhere`},
		"loopback elsewhere":     {server: "https://127.1.2.3", want: "leads elsewhere"},
		"of six":                 {server: "https://[::1]:6443", want: "leads elsewhere"},
		"four in six":            {server: "https://[::ffff:127.0.0.1]", want: "leads elsewhere"},
		"localhost":              {server: "https://LOCALHOST.:6443", want: "leads elsewhere"},
		"below localhost":        {server: "https://kind.localhost", want: "leads elsewhere"},
		"link-local":             {server: "https://169.254.169.254", want: "leads elsewhere"},
		"link-local of six":      {server: "https://[fe80::1%25eth0]", want: "leads elsewhere"},
		"unspecified":            {server: "https://0.0.0.0:6443", given: true, want: "--server is https://0.0.0.0:6443, which leads elsewhere"},
		"plain text":             {server: "http://10.0.0.5", want: `the server of context "c" must be an https URL`},
		"a password":             {server: "https://me:s3cret@10.0.0.5", given: true, want: "--server must be an https URL without user"},
		"no host":                {server: "https://", given: true, want: "--server must be an https URL"},
		"no URL":                 {server: "east", given: true, want: "--server must be an https URL"},
		"no URL at all":          {server: "https://[::1", given: true, want: "--server must be an https URL"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sameError(t, judgeAddress("c", tc.server, tc.given, false), tc.want)
			if strings.Contains(tc.want, "leads elsewhere") {
				sameError(t, judgeAddress("c", tc.server, tc.given, true), "")
			}
		})
	}
}

// sameError fails unless the error has the words, and shows no secret; empty words are no error.
func sameError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want == "":
	case err == nil || want == "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret"):
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestTargets(t *testing.T) {
	contexts := []string{"prod-b", "hub", "prod-a", "prod-hub", "arn:aws:eks:eu:1:cluster/east"}
	tests := map[string]struct {
		choice Choice
		want   []Target
		err    string
	}{
		"one":             {Choice{Args: []string{"east"}, Context: "prod-a"}, []Target{{"east", "prod-a"}}, ""},
		"without context": {Choice{Args: []string{"east"}}, []Target{{"east", ""}}, ""},
		"pairs": {Choice{Args: []string{"east=prod-a", "west=arn:aws:eks:eu:1:cluster/east"}},
			[]Target{{"east", "prod-a"}, {"west", "arn:aws:eks:eu:1:cluster/east"}}, ""},
		"a pattern, without the hub": {Choice{Contexts: "prod-*"}, []Target{{"prod-a", "prod-a"}, {"prod-b", "prod-b"}}, ""},
		"both": {Choice{Args: []string{"east=arn:aws:eks:eu:1:cluster/east"}, Contexts: "prod-b"},
			[]Target{{"east", "arn:aws:eks:eu:1:cluster/east"}, {"prod-b", "prod-b"}}, ""},
		"none":                      {Choice{}, nil, "give the NAME of a cluster"},
		"a context that is not one": {Choice{Args: []string{"east"}, Context: "nope"}, nil, `the kubeconfig has no context "nope"`},
		"several by one context":    {Choice{Args: []string{"a", "b"}, Context: "prod-a"}, nil, "--context leads to one cluster"},
		"two contexts for one":      {Choice{Args: []string{"a=prod-a"}, Context: "prod-b"}, nil, "a=prod-a names its context: leave"},
		"half a pair":               {Choice{Args: []string{"a="}}, nil, "a= names no context"},
		"no match":                  {Choice{Contexts: "dev-*"}, nil, `no context matches "dev-*"`},
		"no pattern":                {Choice{Contexts: "[a"}, nil, `--contexts: "[a" is no pattern`},
		"a context that is no name": {Choice{Contexts: "arn:*/*"}, nil, "cannot name a cluster"},
		"no label":                  {Choice{Args: []string{"east.eu=prod-a"}}, nil, `"east.eu" cannot name a cluster`},
		"too long":                  {Choice{Args: []string{strings.Repeat("e", 64) + "=prod-a"}}, nil, "at most 63 characters"},
		"one name for two":          {Choice{Args: []string{"a=prod-a", "a=prod-b"}}, nil, `"a" is named twice`},
		"two names for one":         {Choice{Args: []string{"a=prod-a", "b=prod-a"}}, nil, `context "prod-a" is named twice`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.choice.Targets(contexts, "prod-hub")
			sameError(t, err, tc.err)
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeJoin(t *testing.T) {
	of := func(known ...registered) sight {
		return sight{target: Target{"east", "c"}, uid: "E", hub: "H", server: "https://10.0.0.5", known: known}
	}
	with := func(s sight, edit func(*sight)) sight {
		edit(&s)
		return s
	}
	tests := map[string]struct {
		sight  sight
		rights Rights
		hubToo bool
		want   string
	}{
		"a new one":           {sight: of()},
		"beside others":       {sight: of(registered{by: "secret/west", name: "west", uid: "W"})},
		"again":               {sight: of(registered{by: "secret/east", name: "east", uid: "E"})},
		"again, by its alias": {sight: of(registered{by: "secret/old", name: "east", uid: "E"})},
		"registered by hand":  {sight: of(registered{by: "secret/east", name: "east", sameServer: true})},
		"registered by hand, elsewhere": {sight: of(registered{by: "secret/east", name: "east"}),
			want: `the name "east" is taken: Secret "east" does not say which cluster it registers`},
		"its name is another's": {sight: of(registered{by: "secret/east", name: "east", uid: "W"}),
			want: `registers another cluster than that of context "c": the uids of kube-system are W and E`},
		"another, at the same server": {sight: of(registered{by: "secret/east", name: "east", uid: "W", sameServer: true}),
			want: "registers another cluster"},
		"its Secret's name is another's": {sight: of(registered{by: "secret/east", name: "west", uid: "W"}), want: "registers another cluster"},
		"of another source": {sight: of(registered{by: "karmada/east", name: "east", uid: "W"}),
			want: `the name "east" is taken by another cluster, which karmada/east registers`},
		"by another source": {sight: of(registered{by: "karmada/east", name: "east", uid: "E"}),
			want: "east is a member already, by karmada/east"},
		"under another name": {sight: of(registered{by: "secret/west", name: "west", uid: "E"}),
			want: `the cluster of context "c" is a member already, as "west" (Secret "west")`},
		"the hub":         {sight: with(of(), func(s *sight) { s.uid = "H" }), want: "give --hub-too"},
		"the hub, wanted": {sight: with(of(), func(s *sight) { s.uid = "H" }), hubToo: true},
		"to read only, where it writes": {sight: with(of(), func(s *sight) { s.beside = &corev1.Secret{} }), rights: Rights{ReadOnly: true},
			want: "`kubectl fleetscale leave east --context c` first"},
		"to read only, where it was left writing": {sight: with(of(), func(s *sight) { s.writer = true }), rights: Rights{ReadOnly: true},
			want: "ServiceAccount fleetscale-member/fleetscale-write, " +
				"whose tokens may still be in force: `kubectl fleetscale leave east --context c`"},
		"to write, where it was left writing": {sight: with(of(), func(s *sight) { s.writer = true })},
		"to write, where it writes": {sight: with(of(registered{by: "secret/east", name: "east", uid: "E"}), func(s *sight) {
			s.registered, s.beside = &corev1.Secret{}, &corev1.Secret{}
		})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sameError(t, judgeJoin(tc.sight, tc.rights, tolerated{hubToo: tc.hubToo}), tc.want)
		})
	}
}

func TestJudgeLeaving(t *testing.T) {
	of := func(context string, known ...registered) sight {
		s := sight{target: Target{"east", context}, known: known}
		if context != "" {
			s.uid = "E"
		}
		return s
	}
	east, west := registered{by: "secret/east", name: "east", uid: "E"}, registered{by: "secret/west", name: "west", uid: "W"}
	tests := map[string]struct {
		sight sight
		want  string
	}{
		"it":                        {sight: of("c", east, west)},
		"it, without a context":     {sight: of("", east, west)},
		"identities that were left": {sight: of("c", west)},
		"nothing":                   {sight: of("")},
		"a member under another name": {sight: of("c", registered{by: "secret/west", name: "west", uid: "E"}),
			want: `the cluster of context "c" is a member already, as "west" (Secret "west")`},
		"a member of another source": {sight: of("c", registered{by: "karmada/e", name: "e", uid: "E"}),
			want: `is a member already, as "e" (karmada/e)`},
		"one of another source": {sight: of("c", registered{by: "karmada/east", name: "east", uid: "E"}),
			want: "east is registered by karmada/east, not by a Secret"},
		"one of another source, without a context": {sight: of("", registered{by: "karmada/east", name: "east", uid: "E"}),
			want: "east is registered by karmada/east, not by a Secret"},
		"a Secret called so": {sight: of("", registered{by: "secret/east", name: "west", uid: "W"}),
			want: `Secret "east" registers its cluster under the name "west": give that name`},
		"two Secrets":           {sight: of("", east, registered{by: "secret/a", name: "east"}), want: "the Secrets a, east of the hub all bear"},
		"another cluster's":     {sight: of("c", registered{by: "secret/east", name: "east", uid: "W"}), want: "registers another cluster"},
		"registered twice, too": {sight: of("c", east, registered{by: "secret/b", name: "b", uid: "E"}), want: `already, as "b"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { sameError(t, judgeLeaving(tc.sight), tc.want) })
	}
}

func TestJudgeForm(t *testing.T) {
	apart := Places{Registrations: "r", Writers: "w"}
	holding := func(keys ...string) *corev1.Secret {
		s := secret("r", "east", nil)
		s.Data = map[string][]byte{}
		for _, key := range keys {
			s.Data[key] = []byte("s3cret")
		}
		return s
	}
	tests := map[string]struct {
		places Places
		held   *corev1.Secret
		want   string
	}{
		"none":             {apart, nil, ""},
		"one":              {apart, holding("kubeconfig"), ""},
		"another key":      {apart, holding("kubeconfig", "to-read"), ""},
		"two":              {apart, holding("kubeconfig", "kubeconfig-read"), `Secret r/east of the hub is of the older form`},
		"two, called so":   {apart, holding("value", "value-read"), `under "value" and "value-read"`},
		"in one namespace": {Places{Registrations: "r", Writers: "r"}, nil, `--write-namespace and --cluster-namespace are both "r"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { sameError(t, judgeForm(tc.places, tc.held), tc.want) })
	}
}

func TestRightsThatCannotBe(t *testing.T) {
	tests := map[string]struct {
		rights Rights
		want   string
	}{
		"all":                       {Rights{}, ""},
		"everything":                {Rights{Namespaces: []string{"shop", "pay"}, CreateIn: []string{"shop"}, Sizes: true}, ""},
		"to create everywhere":      {Rights{CreateIn: []string{"*"}}, ""},
		"to read, and to create":    {Rights{ReadOnly: true, CreateIn: []string{"shop"}}, "--read-only: "},
		"to read, and to size":      {Rights{ReadOnly: true, Sizes: true}, "--read-only: "},
		"a namespace of Kubernetes": {Rights{Namespaces: []string{"kube-system"}}, "--namespaces: "},
		"no name":                   {Rights{Namespaces: []string{"Shop"}}, "--namespaces: "},
		"to create in ours":         {Rights{CreateIn: []string{"fleetscale-system"}}, "--create-workloads-in: "},
		"to create beside":          {Rights{Namespaces: []string{"shop"}, CreateIn: []string{"pay"}}, `"pay" is not among --namespaces`},
		"to create everywhere, but": {Rights{Namespaces: []string{"shop"}, CreateIn: []string{"*"}}, `"*" is not among --namespaces`},
		"to create in all, and one": {Rights{CreateIn: []string{"*", "shop"}}, "--create-workloads-in: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { sameError(t, tc.rights.Validate(), tc.want) })
	}
}

// What is registered is told by the Secrets that are there; the record tells of other sources, and of Secrets that do not say.
func TestKnown(t *testing.T) {
	secret := func(name string, annotations map[string]string) corev1.Secret {
		return corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
	}
	got := known([]corev1.Secret{
		secret("east", map[string]string{UIDAnnotation: "E"}), secret("west", nil), secret("north", nil),
		secret("s", map[string]string{"fleetscale.io/cluster-name": "south"}),
	}, map[string]string{
		"OLD": `{"registration":"secret/east","name":"east"}`, "W": `{"registration":"secret/west","name":"west"}`,
		"K": `{"registration":"karmada/k","name":"k"}`, "G": `{"registration":"secret/gone","name":"gone"}`, "bad": "{",
	})
	want := []registered{
		{by: "karmada/k", name: "k", uid: "K"}, {by: "secret/east", name: "east", uid: "E"}, {by: "secret/west", name: "west", uid: "W"},
		{by: "secret/north", name: "north"}, {by: "secret/s", name: "south"},
	}
	fleettest.Same(t, "known", want, got, cmp.AllowUnexported(registered{}))
}

func TestCovered(t *testing.T) {
	tests := map[string]Said{
		"":                                  {},
		"answered=west":                     {},
		"answered=east,west":                {State: ready},
		"absent=east":                       {State: ready},
		"answered=west;silent=east:Timeout": {State: "Silent", Reason: "Timeout"},
	}
	for header, want := range tests {
		c, err := fleet.ParseCoverage(header)
		if err != nil {
			t.Fatal(err)
		}
		if got := covered(c, "east"); got != want {
			t.Errorf("covered(%q) = %v, want %v", header, got, want)
		}
	}
}

func TestReached(t *testing.T) {
	const silence = 10 * time.Second
	tests := map[string]struct {
		said   Said
		writes bool
		since  time.Duration
		want   bool
	}{
		"nobody knows it":                  {},
		"it joins":                         {said: Said{State: "Joining"}, since: time.Hour},
		"to read":                          {said: Said{State: ready}, want: true},
		"to write, and nothing is known":   {said: Said{State: ready}, writes: true, since: silence - 1},
		"to write, and nobody ever says":   {said: Said{State: ready}, writes: true, since: silence, want: true},
		"to write, and nobody can":         {said: Said{State: ready, Partly: true}, writes: true, want: true},
		"to write, and it is not reached":  {said: Said{State: ready, ControllerManager: View{State: "Joining"}}, writes: true, since: time.Hour},
		"to write, and it is reached":      {said: Said{State: ready, ControllerManager: View{State: ready}}, writes: true, want: true},
		"to read, and it is not to write":  {said: Said{State: ready, ControllerManager: View{State: "Silent"}}, want: true},
		"to write, and the adapter cannot": {said: Said{State: "Silent", ControllerManager: View{State: ready}}, writes: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.said.reached(tc.writes, tc.since, silence); got != tc.want {
				t.Errorf("reached = %v", got)
			}
		})
	}
}

func TestNames(t *testing.T) {
	list := func(names ...any) object { return object{"clusterNames": names} }
	tests := map[string]struct {
		object object
		want   bool
	}{
		"nothing":          {object{"spec": object{}}, false},
		"its affinity":     {object{"spec": object{"clusterAffinity": list("west", "east")}}, true},
		"another":          {object{"spec": object{"clusterAffinity": list("west")}}, false},
		"a weight":         {object{"spec": object{"a": []any{object{"targetCluster": list("east")}}}}, true},
		"what it does now": {object{"status": object{"clusters": []any{object{"name": "east"}}}}, true},
		"another's":        {object{"status": object{"clusters": []any{object{"name": "west"}, "east"}}}, false},
		"another list":     {object{"spec": object{"names": []any{"east"}}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := names(&unstructured.Unstructured{Object: tc.object}, "east"); got != tc.want {
				t.Errorf("names = %v", got)
			}
		})
	}
}
