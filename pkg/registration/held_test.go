// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// heldToken is a kubeconfig with the token.
func heldToken(t testing.TB, token string) []byte {
	return registrationtest.Kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token = token }))
}

func secretIn(namespace string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "east"}, Data: data}
}

func TestWhereCredentialsAreHeld(t *testing.T) {
	apart := Options{Namespace: "clusters", WriteNamespace: "clusters-write"}
	together := Options{Namespace: "clusters", WriteNamespace: "clusters"}
	one := secretIn("clusters", map[string][]byte{"kubeconfig": heldToken(t, "first")})
	two := secretIn("clusters", map[string][]byte{"kubeconfig-read": heldToken(t, "first"), "kubeconfig": heldToken(t, "second")})
	beside := secretIn("clusters-write", map[string][]byte{"kubeconfig": heldToken(t, "beside")})
	keyed := one.DeepCopy()
	keyed.Annotations = map[string]string{keyAnnotation: "value"}
	keyed.Data = map[string][]byte{"value": heldToken(t, "first")}
	tests := map[string]struct {
		options            Options
		access             Access
		registered, beside *corev1.Secret
		want               string // namespace key token
	}{
		"what reads is in the registration":         {apart, Read, one, beside, "clusters kubeconfig first"},
		"what writes is beside it":                  {apart, Write, one, beside, "clusters-write kubeconfig beside"},
		"nothing is beside it":                      {apart, Write, one, nil, "MissingCredentials"},
		"one namespace, one credential, to read":    {together, Read, one, nil, "clusters kubeconfig first"},
		"one namespace, one credential, to write":   {together, Write, one, nil, "clusters kubeconfig first"},
		"the older form, to read":                   {apart, Read, two, nil, "clusters kubeconfig-read first"},
		"the older form, to write":                  {apart, Write, two, nil, "clusters kubeconfig second"},
		"the older form gives way to what is apart": {apart, Write, two, beside, "clusters-write kubeconfig beside"},
		"another key":                               {apart, Read, keyed, beside, "clusters value first"},
		"another key that is not beside it":         {apart, Write, keyed, beside, "InvalidKubeconfig"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.options.Access = tc.access
			held, faults := HeldIn(tc.options, tc.registered, tc.beside)
			got := ""
			if len(faults) > 0 {
				got = string(faults[0].Reason)
			} else {
				got = strings.Join([]string{held.Namespace, held.Key, held.Endpoint.Token()}, " ")
			}
			fleettest.Same(t, "held", tc.want, got)
		})
	}
}

func TestTokenIsReplaced(t *testing.T) {
	const plain = `# ours
apiVersion: v1
kind: Config
current-context: a
contexts:
- name: a
  context: {cluster: c, user: u}
- name: b
  context: {cluster: c, user: other}
clusters:
- name: c
  cluster: {server: "https://10.0.0.1:6443"}
users:
- name: u
  user: {token: aaa.bbb.ccc} # renewed
- name: other
  user: {token: ddd.eee.fff}
`
	tests := map[string]struct {
		kubeconfig, context string
		want                string
	}{
		"in its place":    {plain, "", strings.Replace(plain, "aaa.bbb.ccc", "new.new.new", 1)},
		"of the context":  {plain, "b", strings.Replace(plain, "ddd.eee.fff", "new.new.new", 1)},
		"no such context": {plain, "none", ""},
		"no token":        {strings.Replace(plain, "token: aaa.bbb.ccc", "username: a", 1), "", ""},
		"no kubeconfig":   {"{", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Held{Kubeconfig: []byte(tc.kubeconfig), Context: tc.context}.WithToken("new.new.new")
			if (err != nil) != (tc.want == "") {
				t.Fatalf("WithToken: %v", err)
			}
			fleettest.Same(t, "the kubeconfig", tc.want, string(got))
		})
	}
}

// Where the text of the token stands elsewhere too, or is written in another way, only that of the user changes.
func TestTokenThatStandsTwiceIsReplacedOnce(t *testing.T) {
	for name, kubeconfig := range map[string][]byte{
		"another user has it": registrationtest.Kubeconfig(t, func(c *clientcmdapi.Config) {
			c.AuthInfos["other"] = &clientcmdapi.AuthInfo{Token: "s3cret"}
		}),
		"a name has it": registrationtest.Kubeconfig(t, func(c *clientcmdapi.Config) {
			c.Contexts["s3cret"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
		}),
		"it is escaped": []byte(strings.Replace(string(registrationtest.Kubeconfig(t)), "token: s3cret", `token: "s3c\u0072et"`, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			before, _, _ := loadAll(t, kubeconfig)
			text, err := Held{Kubeconfig: kubeconfig}.WithToken("new")
			if err != nil {
				t.Fatal(err)
			}
			after, user, _ := loadAll(t, text)
			if user.Token != "new" {
				t.Errorf("the token is %q", user.Token)
			}
			before.AuthInfos["u"].Token = "new"
			fleettest.Same(t, "something else changed", before, after)
		})
	}
}

func loadAll(t testing.TB, kubeconfig []byte) (*clientcmdapi.Config, *clientcmdapi.AuthInfo, *clientcmdapi.Cluster) {
	t.Helper()
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cluster, user, faults := chooseContext(config, "")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return config, user, cluster
}

func TestSameServer(t *testing.T) {
	endpoint := func(edits ...func(*clientcmdapi.Cluster)) Endpoint {
		var all []func(*clientcmdapi.Config)
		for _, edit := range edits {
			all = append(all, registrationtest.OnCluster(edit))
		}
		e, faults := parseKubeconfig(registrationtest.Kubeconfig(t, all...), "", Policy{AllowInsecure: true})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return e
	}
	tests := map[string]struct {
		edit func(*clientcmdapi.Cluster)
		want bool
	}{
		"nothing differs":      {func(*clientcmdapi.Cluster) {}, true},
		"the port is explicit": {func(c *clientcmdapi.Cluster) { c.Server = "https://10.0.0.1:6443/" }, true},
		"another address":      {func(c *clientcmdapi.Cluster) { c.Server = "https://10.0.0.2:6443" }, false},
		"another path":         {func(c *clientcmdapi.Cluster) { c.Server += "/k8s/clusters/c" }, false},
		"another name":         {func(c *clientcmdapi.Cluster) { c.TLSServerName = "other" }, false},
		"a proxy":              {func(c *clientcmdapi.Cluster) { c.ProxyURL = "http://proxy:3128" }, false},
		"no authority":         {func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = nil }, false},
		"not verified":         {func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData, c.InsecureSkipTLSVerify = nil, true }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := endpoint().SameServer(endpoint(tc.edit)); got != tc.want {
				t.Errorf("SameServer = %v, want %v", got, tc.want)
			}
		})
	}
}
