// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

var update = flag.Bool("update", false, "write what the sources make of the golden objects into testdata")

// stance is what a program wants and allows.
type stance struct {
	name    string
	options Options
}

var stances = []stance{
	{"a program that writes", withAll(Options{Access: Write})},
	{"a program that reads", withAll(Options{Access: Read})},
	{"a program that writes with credentials apart", withAll(Options{WriteNamespace: "fleet-write", Access: Write})},
	{"a program that allows everything", withAll(Options{
		Policy: Policy{
			AllowedExecCommands: []string{
				"KEY=* A=* Z=* aws", "KEY=* A=* Z=* aws *", "argocd-k8s-auth aws --cluster-name * --role-arn arn:aws:iam::*:role/* --profile *",
			},
			AllowFiles: true, AllowInsecure: true,
		},
	})},
}

// withAll has the options name all sources.
func withAll(o Options) Options {
	o.Sources, o.Namespace, o.ArgoCDNamespace = SourceNames(), "fleet", "argocd"
	o.ClusterAPINamespaces, o.ClusterProfileNamespaces = []string{"prod"}, []string{"inventory"}
	o.RancherNamespaces = []string{"fleet-default"}
	o.Hub = Endpoint{Config: &rest.Config{Host: "https://hub:6443", BearerToken: "s3cret of the hub"}}
	return o
}

// TestEverySource holds each source to what package member, and whoever may not be trusted, relies on. A source has to
// have golden objects in testdata/<its name>: at least one that is usable and one that is refused to whom allows nothing,
// with "s3cret" in whatever must not be shown. The files beside them, which -update writes, say what becomes of them.
func TestEverySource(t *testing.T) {
	for rank, source := range Sources(stances[0].options) {
		t.Run(source.Name(), func(t *testing.T) {
			s := &conformance{T: t, rank: rank, examples: examples(t, source.Name())}
			t.Run("its objects are selected narrowly", s.selects)
			t.Run("its golden objects mean what is written beside them", s.golden)
			t.Run("an object is not changed, and not kept whole", s.keepsLittle)
			t.Run("fields that it does not know are ignored", s.ignoresUnknown)
			t.Run("fields that are missing or hold garbage are named", s.namesFields)
			t.Run("names that are none are refused", s.refusesNames)
			t.Run("Secrets that objects refer to are waited for, and missed by name", s.missesCredentials)
			t.Run("of one name the first gets it, and the others are listed by theirs", s.sharesNames)
		})
	}
}

// conformance tests one source.
type conformance struct {
	*testing.T

	rank     int
	examples []example
}

func (c *conformance) source(o Options) Source { return Sources(o)[c.rank] }

// register reads an object and checks what holds for any.
func (c *conformance) register(t *testing.T, u *unstructured.Unstructured, e example, o Options) Registration {
	t.Helper()
	object := c.source(o).Read(u)
	r := object.Register(e.credentials(object))
	ref := corev1.ObjectReference{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(),
	}
	if r.Ref != ref {
		t.Errorf("the registration is of %v, not of %v", r.Ref, ref)
	}
	if r.Invalid == "" {
		t.Error("there is no reason for an endpoint that leads nowhere")
	}
	for _, w := range r.Warnings {
		checkMessage(t, w.Message)
	}
	if !r.Refused() {
		if faults := validation.IsDNS1123Label(r.Name); len(faults) > 0 {
			t.Errorf("accepted with the name %q", r.Name)
		}
		if r.Awaiting == "" && slices.Equal(o.Policy.AllowedExecCommands, nil) {
			checkHarmless(t, r.Endpoint)
		}
		return r
	}
	checkMessage(t, r.Refusal().Error())
	if r.Endpoint.Config != nil {
		t.Error("a refused registration has an endpoint")
	}
	return r
}

// checkMessage is for what people read of a refusal, or of a warning.
func checkMessage(t *testing.T, message string) {
	t.Helper()
	if strings.Contains(message, "s3cret") {
		t.Errorf("the message shows a secret: %s", message)
	}
	if len(message) > 4096 || strings.ContainsAny(message, "\n\x00") {
		t.Errorf("the message is no line for people: %q", message)
	}
}

// checkHarmless is for what nobody allowed.
func checkHarmless(t *testing.T, e Endpoint) {
	t.Helper()
	c := e.Config
	if c.ExecProvider != nil || c.AuthProvider != nil || c.Insecure || c.CAFile+c.CertFile+c.KeyFile+c.BearerTokenFile != "" {
		t.Errorf("accepted what nobody allowed: %v", c)
	}
	if !strings.HasPrefix(c.Host, "https://") {
		t.Errorf("accepted the address %q", c.Host)
	}
}

func (c *conformance) selects(t *testing.T) {
	w := c.source(stances[0].options).Watch()
	if w.What == "" || w.Resource.Version == "" || w.Resource.Resource == "" {
		t.Errorf("not all is said: %+v", w)
	}
	if w.Resource.Resource == "secrets" && (w.Namespace == "" || w.LabelSelector == "") {
		t.Errorf("more Secrets would be read than are meant: %+v", w)
	}
}

func (c *conformance) golden(t *testing.T) {
	usable, refused := 0, 0
	for _, e := range c.examples {
		var got strings.Builder
		last := ""
		for i, st := range stances {
			r := c.register(t, e.object.DeepCopy(), e, st.options)
			text := render(t, r)
			if text != last {
				fmt.Fprintf(&got, "# to %s\n%s", st.name, text)
			}
			last = text
			switch {
			case i > 0:
			case r.Refused():
				refused++
			default:
				usable++
			}
		}
		compareGolden(t, e.file+".golden", got.String())
	}
	if usable == 0 || refused == 0 {
		t.Errorf("%d golden objects are usable, %d refused; there has to be one of both", usable, refused)
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, file, string(want), got)
}

// render is all that a registration says, secrets included, which rest.Config hides when it is printed.
func render(t *testing.T, r Registration) string {
	t.Helper()
	if r.Refused() {
		return "refused: " + r.Refusal().Error() + "\n"
	}
	endpoint := fields(r.Endpoint.Config)
	if r.Endpoint.Proxy != nil {
		endpoint["proxy"] = r.Endpoint.Proxy.String()
	}
	if len(r.Endpoint.ProxyHeader) > 0 {
		endpoint["proxyHeader"] = r.Endpoint.ProxyHeader
	}
	said := map[string]any{"registered": r.String(), "name": r.Name, "endpoint": endpoint}
	for name, value := range map[string]any{
		"sameAs": r.SameAs, "labels": r.Labels,
		"provider": r.Topology.Provider, "region": r.Topology.Region, "zones": r.Topology.Zones,
		"createIn": r.Creation.Namespaces, "createWith": r.Creation.ServiceAccounts,
	} {
		if fmt.Sprint(value) != "" && fmt.Sprint(value) != "[]" && fmt.Sprint(value) != "map[]" {
			said[name] = value
		}
	}
	for name, price := range map[string]*float64{"priceCPUHour": r.Prices.CPUHour, "priceGiBHour": r.Prices.GiBHour} {
		if price != nil {
			said[name] = *price
		}
	}
	text, err := yaml.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Warnings {
		text = fmt.Appendf(text, "warning: %s: %s\n", w.Reason, w.Message)
	}
	return string(text)
}

func fields(c *rest.Config) map[string]any {
	ca, key := registrationtest.SelfSigned()
	pem := strings.NewReplacer(string(ca), "$CA", string(key), "$KEY")
	all := map[string]any{
		"host": c.Host, "token": c.BearerToken, "tokenFile": c.BearerTokenFile, "user": c.Username, "password": c.Password,
		"ca": pem.Replace(string(c.CAData)), "caFile": c.CAFile, "cert": pem.Replace(string(c.CertData)), "certFile": c.CertFile,
		"key": pem.Replace(string(c.KeyData)), "keyFile": c.KeyFile, "serverName": c.ServerName,
	}
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == "" })
	if c.Insecure {
		all["insecure"] = true
	}
	if c.DisableCompression {
		all["disableCompression"] = true
	}
	if c.Impersonate.UserName != "" {
		all["impersonate"] = c.Impersonate
	}
	if exec := c.ExecProvider; exec != nil {
		plugin := map[string]any{
			"command": exec.Command, "args": exec.Args, "env": exec.Env, "apiVersion": exec.APIVersion,
			"interactiveMode": exec.InteractiveMode, "stdinUnavailable": exec.StdinUnavailable,
		}
		if exec.ProvideClusterInfo || exec.Config != nil {
			plugin["of the cluster"] = exec.Config
		}
		all["exec"] = plugin
	}
	return all
}

func (c *conformance) keepsLittle(t *testing.T) {
	for _, e := range c.examples {
		u := e.object.DeepCopy()
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
		before := u.DeepCopy()
		object := c.source(stances[0].options).Read(u)
		want := render(t, object.Register(e.credentials(object)))
		if diff := cmp.Diff(before, u); diff != "" {
			t.Errorf("%s: reading it changed it (-was +is):\n%s", e.file, diff)
		}
		broken := before.DeepCopy()
		broken.Object["metadata"].(map[string]any)["creationTimestamp"] = "noon"
		if r := c.register(t, broken, e, stances[0].options); !r.Refused() { // whose it is, is known all the same
			t.Errorf("%s: what cannot be read is accepted", e.file)
		}
		u.Object["metadata"], u.Object["spec"], u.Object["data"] = nil, nil, nil
		if diff := cmp.Diff(want, render(t, object.Register(e.credentials(object)))); diff != "" {
			t.Errorf("%s: what was read holds on to it (-was +is):\n%s", e.file, diff)
		}
		if kept, ok := object.(metav1.Object); ok {
			if _, applied := kept.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; applied || kept.GetManagedFields() != nil {
				t.Errorf("%s: what takes most room is kept", e.file)
			}
		}
	}
}

func (c *conformance) ignoresUnknown(t *testing.T) {
	for _, e := range c.examples {
		for _, st := range stances {
			want := render(t, c.register(t, e.object.DeepCopy(), e, st.options))
			u := e.object.DeepCopy()
			addUnknown(u.Object)
			if diff := cmp.Diff(want, render(t, c.register(t, u, e, st.options))); diff != "" {
				t.Errorf("%s to %s (-without +with unknown fields):\n%s", e.file, st.name, diff)
			}
		}
	}
}

// addUnknown adds fields to each object in content. Where keys are free, as among labels, a key more is a field of its own.
func addUnknown(content map[string]any) {
	for name, value := range content {
		inner, ok := value.(map[string]any)
		if ok && !slices.Contains(freeKeys, name) {
			addUnknown(inner)
		}
	}
	content["notYetInvented"] = map[string]any{"a": []any{int64(1), "b"}}
	content["Spec"] = "names are not the same in capitals"
}

// freeKeys are fields whose entries have names of the users' choice.
var freeKeys = []string{"labels", "annotations", "data", "proxyHeader"}

// namesFields breaks each field of each object in each way. Either nobody misses what was there, or what is broken is named.
func (c *conformance) namesFields(t *testing.T) {
	ways := map[string]func(string) any{
		"nothing":   func(string) any { return nil },
		"an object": func(string) any { return map[string]any{"a": "b"} },
		"a list":    func(string) any { return []any{"a", int64(1)} },
		"a number":  func(string) any { return int64(7) },
		"a boolean": func(string) any { return true },
		"no text":   func(string) any { return "" },
		"no line":   func(parent string) any { return text(parent, "a: [: }\x00\n") },
		"a book":    func(parent string) any { return text(parent, strings.Repeat("a: [: }", 1000)) },
	}
	for _, e := range c.examples {
		refused := c.register(t, e.object.DeepCopy(), e, stances[0].options).Refused() // by more than the broken field
		for _, path := range paths(e.object.Object) {
			parent, name := path[len(path)-2], path[len(path)-1]
			for what, way := range ways {
				value := way(parent)
				if _, isText := value.(string); !isText && value != nil && slices.Contains([]string{"labels", "annotations", "data"}, parent) {
					continue // no API server serves that
				}
				u := e.object.DeepCopy()
				set(u.Object, path, value)
				r := c.register(t, u, e, stances[0].options) // checks what is said
				if !r.Refused() || refused || parent == "annotations" && (value == nil || value == "") {
					continue // what is not there is no fault of an annotation
				}
				named := func(words ...string) bool {
					return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(r.Refusal().Error(), word) })
				}
				if parent == "data" && value != nil {
					continue // what it holds may be a format of its own
				}
				if !named(name, parent) && (value == nil || !named("a: [: }")) {
					t.Errorf("%s with %s as %s: the refusal does not name it: %v", e.file, what, strings.Join(path, "."), r.Refusal())
				}
			}
		}
	}
}

// text returns what is held by a field below parent; in a Secret it may be secret, and is in base64.
func text(parent, plain string) string {
	if parent == "data" {
		return base64.StdEncoding.EncodeToString([]byte("s3cret " + plain))
	}
	return plain
}

// paths lead to all fields below those at the top, but for the names that an API server gives.
func paths(content map[string]any) [][]string {
	var all [][]string
	for _, top := range slices.Sorted(maps.Keys(content)) {
		for _, path := range below(content[top]) {
			if top != "metadata" || path[0] == "annotations" && len(path) > 1 || path[0] == "labels" && len(path) > 1 {
				all = append(all, append([]string{top}, path...))
			}
		}
	}
	return all
}

func below(content any) [][]string {
	inner, _ := content.(map[string]any)
	var all [][]string
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		all = append(all, []string{name})
		for _, path := range below(inner[name]) {
			all = append(all, append([]string{name}, path...))
		}
	}
	return all
}

// set puts a value where path leads to; nil takes away what is there.
func set(content map[string]any, path []string, value any) {
	for ; len(path) > 1; path = path[1:] {
		content = content[path[0]].(map[string]any)
	}
	content[path[0]] = value
	if value == nil {
		delete(content, path[0])
	}
}

func (c *conformance) refusesNames(t *testing.T) {
	for _, e := range c.examples {
		for _, name := range []string{"a.b", "A", strings.Repeat("e", 64), "-"} {
			u := e.object.DeepCopy()
			u.SetName(name)
			r := c.register(t, u, e, stances[0].options) // checks the name of what is accepted
			if r.Name == name && !r.has(reasonInvalidName) {
				t.Errorf("%s: the name %q is accepted", e.file, name)
			}
		}
	}
}

func (c *conformance) missesCredentials(t *testing.T) {
	for _, e := range c.examples {
		object := c.source(stances[0].options).Read(e.object.DeepCopy())
		ref := object.Credentials()
		if ref == (Reference{}) || object.Register(e.credentials(object)).Refused() {
			continue
		}
		waits := object.Register(Credentials{Awaiting: "the Secret"})
		if waits.Refused() || waits.Awaiting != "the Secret" || waits.Endpoint.Config != nil {
			t.Errorf("%s: while its Secret is not known yet it is %+v; want neither refused nor usable", e.file, waits)
		}
		misses := object.Register(Credentials{})
		name := ref.Namespace + "/" + ref.Name
		if !misses.Refused() || misses.Refusal().Reason != ReasonMissingCredentials || !strings.Contains(misses.Refusal().Detail, name) {
			t.Errorf("%s: without its Secret it is refused with %v, want %s and %s", e.file, misses.Faults, ReasonMissingCredentials, name)
		}
		for key := range e.secrets[name] {
			partly := maps.Clone(e.secrets[name])
			delete(partly, key)
			r := object.Register(Credentials{Data: partly})
			if r.Refused() && (!strings.Contains(r.Refusal().Detail, name) || !strings.Contains(r.Refusal().Detail, key)) {
				t.Errorf("%s: without %s of its Secret it is refused with %v, which names not both", e.file, key, r.Faults)
			}
		}
	}
}

// sharesNames registers one name by this source, by it again, and by each other.
func (c *conformance) sharesNames(t *testing.T) {
	sources := Sources(stances[0].options)
	e := c.examples[slices.IndexFunc(c.examples, func(e example) bool {
		return !c.register(t, e.object.DeepCopy(), e, stances[0].options).Refused()
	})]
	r := c.register(t, e.object.DeepCopy(), e, stances[0].options)
	key := func(rank int, object string) Key {
		return Key{Rank: rank, Source: sources[rank].Name(), Object: object}
	}
	mine := key(c.rank, "m")
	for rank := range sources {
		others := []Key{key(rank, "a"), key(rank, "ns/z")}
		all := map[Key]Registration{mine: r, others[0]: {Name: r.Name}, others[1]: {Name: r.Name}}
		order := slices.SortedFunc(maps.Keys(all), Key.Compare)
		if place := slices.Index(order, mine); (place == 0) != (c.rank < rank) || (place == 2) != (c.rank > rank) {
			t.Errorf("the order of precedence is %v", order)
		}
		want := map[Key]string{order[0]: r.Name, order[1]: order[1].String(), order[2]: order[2].String()}
		fleettest.Same(t, "names", want, Names(all, nil))
		kept := Names(all, map[Key]bool{order[2]: true})
		if kept[order[2]] != r.Name || kept[order[0]] != order[0].String() {
			t.Errorf("with the name kept by %v the names are %v", order[2], kept)
		}
	}
	if got := key(c.rank, "ns/z").String(); got != sources[c.rank].Name()+".ns.z" {
		t.Errorf("an object of many namespaces is listed as %s", got)
	}
}
