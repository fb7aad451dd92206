// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// apiServiceHub keeps APIServices by name, as the hub's API server would. It has [secretsOfCertificates] too.
type apiServiceHub map[string]*apiregistrationv1.APIService

// selfSignedAuthority is what is in the Secret of the adapter's certificate.
var selfSignedAuthority = sync.OnceValue(func() []byte {
	pem, _, err := cert.GenerateSelfSignedCertKey("metrics-adapter.fleetscale-system.svc", nil, nil)
	if err != nil {
		panic(err)
	}
	return pem
})

// secretsOfCertificates are, by their paths, those that hold a certificate, or none yet.
func secretsOfCertificates() map[string]map[string][]byte {
	const secrets = "/api/v1/namespaces/fleetscale-system/secrets/"
	return map[string]map[string][]byte{
		secrets + "metrics-adapter-self-signed":    {"ca.crt": selfSignedAuthority()},
		"/api/v1/namespaces/fleet/secrets/renamed": {"ca.crt": selfSignedAuthority()},
		secrets + "empty":                          nil,
		secrets + "broken":                         {"ca.crt": []byte("none")},
	}
}

func (h apiServiceHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if data, found := secretsOfCertificates()[r.URL.Path]; found {
		json.NewEncoder(w).Encode(corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, Data: data})
		return
	}
	name := path.Base(r.URL.Path)
	if r.URL.Query().Has("dryRun") {
		h = maps.Clone(h)
	}
	var sent apiregistrationv1.APIService
	switch r.Method {
	case http.MethodPost, http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &sent) // JSON or protobuf
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name = sent.Name
		h[name] = &sent
	case http.MethodDelete: // whose options are in the body
		if options, err := io.ReadAll(r.Body); err == nil && !bytes.Contains(options, []byte(metav1.DryRunAll)) {
			delete(h, name)
		}
		json.NewEncoder(w).Encode(metav1.Status{Status: metav1.StatusSuccess})
		return
	}
	if h[name] == nil {
		w.WriteHeader(http.StatusNotFound)
		json.NewEncoder(w).Encode(metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
		return
	}
	json.NewEncoder(w).Encode(h[name])
}

// serveAPIServices returns the path of a kubeconfig for the hub.
func serveAPIServices(t *testing.T, hub apiServiceHub) string {
	t.Helper()
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// These are the APIServices that are ours alone.
const membersAPI, historyAPI = "v1alpha1.members.fleetscale.io", "v1alpha1.history.fleetscale.io"

// run runs the plugin, and returns what it prints for people.
func run(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	cmd := NewCommand(streams)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func metricsServersAPI() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1beta1.metrics.k8s.io", Labels: map[string]string{"k8s-app": "metrics-server"}},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: "metrics.k8s.io", Version: "v1beta1", InsecureSkipTLSVerify: true,
			Service:              &apiregistrationv1.ServiceReference{Namespace: "kube-system", Name: "metrics-server", Port: new(int32(443))},
			GroupPriorityMinimum: 100, VersionPriority: 100,
		},
	}
}

func TestTakeoverAndBack(t *testing.T) {
	hub := apiServiceHub{"v1beta1.metrics.k8s.io": metricsServersAPI()}
	kubeconfig := serveAPIServices(t, hub)

	out, err := run(t, "takeover", "--kubeconfig", kubeconfig, "--self-signed-secret", "renamed",
		"--service-namespace", "fleet", "--service-name", "adapter", "--service-port", "8443")
	if err != nil {
		t.Fatal(err)
	}
	want := "v1beta1.metrics.k8s.io: taken over from Service kube-system/metrics-server\nv1.metrics.k8s.io: created\n" +
		membersAPI + ": created\n" + historyAPI + ": created\n"
	fleettest.Same(t, "takeover printed", want, out)
	wantSpec := metricsServersAPI().Spec
	wantSpec.InsecureSkipTLSVerify, wantSpec.CABundle = false, selfSignedAuthority()
	wantSpec.Service = &apiregistrationv1.ServiceReference{Namespace: "fleet", Name: "adapter", Port: new(int32(8443))}
	fleettest.Same(t, "spec", wantSpec, hub["v1beta1.metrics.k8s.io"].Spec)

	out, err = run(t, "restore", "--kubeconfig", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	want = "v1beta1.metrics.k8s.io: restored to Service kube-system/metrics-server\nv1.metrics.k8s.io: deleted: it did not exist " +
		"before the takeover\n" +
		"v1beta2.custom.metrics.k8s.io: not there, so nothing was restored\nv1beta1.custom.metrics.k8s.io: not there, so nothing was restored\n" +
		"v1beta1.external.metrics.k8s.io: not there, so nothing was restored\n"
	fleettest.Same(t, "restore printed", want, out)
	if len(hub) != 3 || hub[membersAPI] == nil || hub[historyAPI] == nil {
		t.Errorf("the hub has %d APIServices after the restore, want the former one and our own two", len(hub))
	}
	fleettest.Same(t, "restored spec", metricsServersAPI().Spec, hub["v1beta1.metrics.k8s.io"].Spec)
}

func TestDryRunOfTakeoverAndRestore(t *testing.T) {
	hub := apiServiceHub{"v1beta1.metrics.k8s.io": metricsServersAPI()}
	kubeconfig := serveAPIServices(t, hub)
	dry := func(command, want string) {
		t.Helper()
		out, err := run(t, command, "--kubeconfig", kubeconfig, "--apis=metrics.k8s.io", "--dry-run=server")
		if err != nil {
			t.Fatal(err)
		}
		fleettest.Same(t, command+" printed", want, out)
	}
	dry("takeover", "v1beta1.metrics.k8s.io: taken over from Service kube-system/metrics-server (server dry run)\n"+
		"v1.metrics.k8s.io: created (server dry run)\n"+membersAPI+": created (server dry run)\n"+historyAPI+": created (server dry run)\n")
	if len(hub) != 1 {
		t.Errorf("the hub has %d APIServices after the dry run, want one", len(hub))
	}
	fleettest.Same(t, "spec after the dry run", metricsServersAPI().Spec, hub["v1beta1.metrics.k8s.io"].Spec)

	if _, err := run(t, "takeover", "--kubeconfig", kubeconfig); err != nil {
		t.Fatal(err)
	}
	dry("restore", "v1beta1.metrics.k8s.io: restored to Service kube-system/metrics-server (server dry run)\n"+
		"v1.metrics.k8s.io: deleted: it did not exist before the takeover (server dry run)\n")
	if got := hub["v1beta1.metrics.k8s.io"].Spec.Service.Name; got != "metrics-adapter" || len(hub) != 4 {
		t.Errorf("after the dry run it leads to %s, and there are %d APIServices", got, len(hub))
	}
	for _, command := range []string{"takeover", "restore"} {
		if _, err := run(t, command, "--kubeconfig", kubeconfig, "--dry-run=maybe"); err == nil ||
			err.Error() != `--dry-run: must be one of none, server, got "maybe"` {
			t.Errorf("%s --dry-run=maybe: %v", command, err)
		}
	}
}

func kedasAPI() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1beta1.external.metrics.k8s.io"},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: "external.metrics.k8s.io", Version: "v1beta1",
			Service: &apiregistrationv1.ServiceReference{Namespace: "keda", Name: "keda-operator-metrics-apiserver",
				Port: new(int32(443))},
			GroupPriorityMinimum: 100, VersionPriority: 100,
		},
	}
}

// Another server's custom and external metrics are taken by nobody who did not say so.
func TestTakeoverTakesOnlyWhatIsNamed(t *testing.T) {
	const keda = "v1beta1.external.metrics.k8s.io"
	hub := apiServiceHub{keda: kedasAPI()}
	kubeconfig := serveAPIServices(t, hub)
	takeOver := func(args ...string) string {
		t.Helper()
		out, err := run(t, append([]string{"takeover", "--kubeconfig", kubeconfig}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := "v1beta1.metrics.k8s.io: created\nv1.metrics.k8s.io: created\n" + membersAPI + ": created\n" + historyAPI + ": created\n"
	fleettest.Same(t, "takeover of none named", want, takeOver())
	fleettest.Same(t, "KEDA's was written", kedasAPI().Spec, hub[keda].Spec)
	want = "v1beta2.custom.metrics.k8s.io: created\nv1beta1.custom.metrics.k8s.io: created\n" +
		keda + ": taken over from Service keda/keda-operator-metrics-apiserver\n" + membersAPI + ": left as it is: it is ours already\n" +
		historyAPI + ": left as it is: it is ours already\n"
	fleettest.Same(t, "takeover of two", want, takeOver("--apis=external.metrics.k8s.io,custom.metrics.k8s.io"))

	out, err := run(t, "restore", "--kubeconfig", kubeconfig, "--apis=external.metrics.k8s.io")
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "restore of one", keda+": restored to Service keda/keda-operator-metrics-apiserver\n", out)
	if len(hub) != 7 {
		t.Errorf("the hub has %d APIServices, want the restore to leave the other four and our own two", len(hub))
	}
}

func TestAPIsThatAreRefused(t *testing.T) {
	for _, command := range []string{"takeover", "restore"} {
		for apis, want := range map[string]string{
			"":                       "--apis: no API group: name one or more of ",
			"metrics.k8s.io,metrics": `--apis: unknown API group "metrics": name one or more of `,
		} {
			t.Run(command+" of "+apis, func(t *testing.T) {
				_, err := run(t, command, "--apis="+apis, "--kubeconfig", filepath.Join(t.TempDir(), "none"))
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("error = %v, want it to begin with %q", err, want)
				}
			})
		}
	}
}

func TestTakeoverWithAnAuthority(t *testing.T) {
	pem, _, err := cert.GenerateSelfSignedCertKey("metrics-adapter.fleetscale-system.svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	hub := apiServiceHub{}
	if _, err := run(t, "takeover", "--kubeconfig", serveAPIServices(t, hub), "--ca-file", file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v1beta1.metrics.k8s.io", "v1.metrics.k8s.io"} {
		spec := hub[name].Spec
		if !bytes.Equal(spec.CABundle, pem) || spec.InsecureSkipTLSVerify {
			t.Errorf("%s is verified with %q (insecure: %v), want the file's contents", name, spec.CABundle, spec.InsecureSkipTLSVerify)
		}
		if got := spec.Service.Namespace + "/" + spec.Service.Name; got != "fleetscale-system/metrics-adapter" || *spec.Service.Port != 443 {
			t.Errorf("%s points at %s:%d, want what deploy/ makes", name, got, *spec.Service.Port)
		}
	}
}

// What was done is told even when not all could be done.
func TestTakeoverTellsStepsBesideTheError(t *testing.T) {
	broken := metricsServersAPI()
	broken.Annotations = map[string]string{"fleetscale.io/former-apiservice": "{"}
	out, err := run(t, "takeover", "--kubeconfig", serveAPIServices(t, apiServiceHub{broken.Name: broken}))
	if err == nil || out != "v1.metrics.k8s.io: created\n"+membersAPI+": created\n"+historyAPI+": created\n" {
		t.Errorf("printed %q, error %v; want two steps and an error", out, err)
	}
}

func TestTakeoverRefusesFlags(t *testing.T) {
	noCertificate := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(noCertificate, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"nothing is signed yet": {[]string{"--self-signed-secret", "empty"}, "finding out how the hub verifies the adapter's certificate: " +
			"Secret fleetscale-system/empty holds no authority yet: no replica has signed a certificate; where it comes from " +
			"elsewhere, set --ca-file"},
		"nothing that can be read":      {[]string{"--self-signed-secret", "broken"}, "reading ca.crt of Secret fleetscale-system/broken: "},
		"there is no such Secret":       {[]string{"--self-signed-secret", "none"}, "getting Secret fleetscale-system/none: "},
		"both":                          {[]string{"--ca-file", noCertificate, "--self-signed-secret", "x"}, "none of the others can be"},
		"an authority without any":      {[]string{"--ca-file", noCertificate}, "--ca-file: reading " + noCertificate},
		"an authority that is not here": {[]string{"--ca-file", noCertificate + ".not"}, "--ca-file: open "},
		"a kubeconfig that is not here": {[]string{"--kubeconfig", noCertificate + ".not"}, noCertificate + ".not"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub := apiServiceHub{}
			_, err := run(t, append([]string{"takeover", "--kubeconfig", serveAPIServices(t, hub)}, tc.args...)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want it to contain %q", err, tc.want)
			}
			if len(hub) > 0 {
				t.Errorf("%d APIServices were made all the same", len(hub))
			}
		})
	}
}
