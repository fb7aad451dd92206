// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// readers are two accounts of which one may read all autoscalers, and the other those of a namespace.
const readers = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: ann}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: bob}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-autoscalers}
rules: [{apiGroups: [autoscaling.karmada.io], resources: ["*"], verbs: [list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ann}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-autoscalers}
subjects: [{kind: ServiceAccount, name: ann, namespace: shop}]
`

// inPay is what the second may.
const inPay = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bob}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-autoscalers}
subjects: [{kind: ServiceAccount, name: bob, namespace: shop}]
`

const watched = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: cart}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}, minReplicas: 2, maxReplicas: 8,
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}
`

// site is cmd/dashboard, which serves a hub.
type site struct {
	t       *testing.T
	address string
	hub     kubernetes.Interface
}

// servePage starts a hub, and the built program beside it, which is given the hub's address and nothing else.
func servePage(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	program, err := fixture.Build(t.Context(), "dashboard", dir, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), lab.Options{Dir: filepath.Join(dir, fixture.LabDir), Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(); err != nil {
			t.Error(err)
		}
	})
	f, err := fixture.New(l, "")
	if err != nil {
		t.Fatal(err)
	}
	hub := l.Hub()
	if err := f.InstallKinds(t.Context(), hub); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		f.Apply(t.Context(), hub, "shop", readers+"---"+watched), f.Apply(t.Context(), hub, "pay", inPay+"---"+watched),
	); err != nil {
		t.Fatal(err)
	}
	p := &site{t: t}
	if p.hub, err = hub.Client(); err != nil {
		t.Fatal(err)
	}
	p.start(t, f, hub, lab.Program{Path: program}, dir)
	return p
}

// start runs the program, with further arguments if it has some.
func (p *site) start(t *testing.T, f *fixture.Fleet, hub *lab.Cluster, program lab.Program, dir string) *lab.Process {
	t.Helper()
	certificate, err := hub.ServingCertificate("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	way, err := hub.TokenKubeconfig("a-token-that-nobody-issued") // which is not used: the page would not work with it
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string][]byte{"hub": way, "tls.crt": certificate.CertPEM, "tls.key": certificate.KeyPEM} {
		if err := os.WriteFile(at(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ports, err := f.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	p.address = fmt.Sprintf("https://127.0.0.1:%d", ports[0])
	program.Name, program.Ready = "dashboard", lab.HTTPReady(p.address+"/readyz")
	program.Args = append(program.Args, "--kubeconfig="+at("hub"), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
		"--tls-cert-file="+at("tls.crt"), "--tls-private-key-file="+at("tls.key"))
	process, err := f.Run(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

// token is a new one of an account.
func (p *site) token(account string) string {
	p.t.Helper()
	asked := &authenticationv1.TokenRequest{}
	made, err := p.hub.CoreV1().ServiceAccounts("shop").CreateToken(p.t.Context(), account, asked, metav1.CreateOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return made.Status.Token
}

// ask asks for a path with a token, if there is one.
func (p *site) ask(ctx context.Context, path, token string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// told is a message to a page.
type told struct {
	Loading     []string
	Autoscalers []struct{ ID string }
	Notices     []struct{ About, Text string }
}

// sees is what a token shows, once the hub has listed it: autoscalers, and of what it is said that they are not all.
func (p *site) sees(path, token string) (autoscalers, notices []string) {
	p.t.Helper()
	answer := p.ask(p.t.Context(), path+"stream", token)
	if answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s", path, answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var now told
		if err := json.Unmarshal([]byte(data), &now); err != nil {
			p.t.Fatal(err)
		}
		for _, a := range now.Autoscalers {
			autoscalers = append(autoscalers, a.ID)
		}
		if len(now.Loading) == 0 {
			for _, n := range now.Notices {
				notices = append(notices, n.About)
			}
			break
		}
	}
	slices.Sort(autoscalers)
	return slices.Compact(autoscalers), notices
}

// The page of a real hub shows each account what the hub lets it read, and nobody else anything; an account that is gone is out.
func TestSharedPage(t *testing.T) {
	p := servePage(t)
	ann, bob := p.token("ann"), p.token("bob")
	for name, tc := range map[string]struct{ path, token, autoscalers string }{
		"who may read all":             {"/", ann, "[fhpa/pay/cart fhpa/shop/cart]"},
		"who may read one namespace":   {"/namespaces/pay/", bob, "[fhpa/pay/cart]"},
		"the same for another":         {"/namespaces/shop/", bob, "[]"},
		"the same for all":             {"/", bob, "[]"},
		"who may read all, once again": {"/", p.token("ann"), "[fhpa/pay/cart fhpa/shop/cart]"},
	} {
		autoscalers, notices := p.sees(tc.path, tc.token)
		if fmt.Sprint(autoscalers) != tc.autoscalers || slices.Contains(notices, "FederatedHPAs") != (tc.token == bob) {
			t.Errorf("%s sees %v, want %s; notices of %v", name, autoscalers, tc.autoscalers, notices)
		}
	}
	for name, token := range map[string]string{
		"without a token": "", "with one that nobody issued": "a.b.c", "with a part of one": ann[:len(ann)-2],
	} {
		answer := p.ask(t.Context(), "/stream", token)
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "kubectl create token") {
			t.Errorf("%s: %s %s (%v)", name, answer.Status, text, err)
		}
	}
	p.outOnceGone(ann)
}

// outOnceGone deletes the account of a token: the open page ends, and there is no other.
func (p *site) outOnceGone(token string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	open := p.ask(ctx, "/stream", token)
	if err := p.hub.CoreV1().ServiceAccounts("shop").Delete(ctx, "ann", metav1.DeleteOptions{}); err != nil {
		p.t.Fatal(err)
	}
	begun := time.Now()
	if _, err := io.Copy(io.Discard, open.Body); errors.Is(err, context.DeadlineExceeded) {
		p.t.Fatalf("the page is still open: %v", err)
	}
	p.t.Logf("a page of an account that was deleted ended after %v", time.Since(begun).Round(100*time.Millisecond))
	if answer := p.ask(ctx, "/", token); answer.StatusCode != http.StatusUnauthorized {
		p.t.Errorf("after that: %s", answer.Status)
	}
}
