// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/hostile/byzantine"
	"github.com/fleetscale/fleetscale/test/sim"
)

// written is a kubeconfig as a registrar has made it up.
type written func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)

// Kubeconfig implements stage.Registrable.
func (w written) Kubeconfig() ([]byte, error) {
	const name = "made-up"
	config := clientcmdapi.NewConfig()
	cluster, user := clientcmdapi.NewCluster(), clientcmdapi.NewAuthInfo()
	cluster.Server, user.Token = "https://127.0.0.1:1", "none"
	w(cluster, user)
	config.Clusters[name], config.AuthInfos[name] = cluster, user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// deadAddresses are ten that nobody answers at: some refuse, and some say nothing.
const deadAddresses = 10

// registrations are what a registrar writes, by their names: they come before all others in order.
func registrations(honest *sim.Member) map[string]stage.Registrable {
	all := map[string]stage.Registrable{
		"aaa-again": honest,
		"aaa-exec": written(func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Exec = &clientcmdapi.ExecConfig{Command: "/bin/sh", Args: []string{"-c", "kill 1"}, APIVersion: "client.authentication.k8s.io/v1",
				InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
		}),
		"aaa-files": written(func(c *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			c.CertificateAuthority, u.TokenFile = "/etc/passwd", "/var/run/secrets/kubernetes.io/serviceaccount/token"
		}),
		"aaa-proxy": written(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.ProxyURL = "http://169.254.169.254/latest" }),
		"aaa-http":  written(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "http://169.254.169.254/latest" }),
		"aaa-hub":   written(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.InsecureSkipTLSVerify = true }),
	}
	for i := range deadAddresses {
		all[fmt.Sprintf("aaa-dead-%d", i)] = written(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.Server = fmt.Sprintf("https://%s:%d", []string{"127.0.0.1", "192.0.2.1"}[i%2], 1+i) // TEST-NET-1 is nobody's
		})
	}
	return all
}

// registrar does what one may who can write registrations: Secrets, and Karmada's Clusters.
func (s *scene) registrar(t *testing.T) (end func()) {
	t.Helper()
	liar, err := byzantine.New(t.Context(), s.fleet.Members()[len(s.fleet.Members())-1])
	if err != nil {
		t.Fatal(err)
	}
	all := registrations(s.honest[1])
	for _, a := range s.attacks {
		if a.Name == "uid of another" {
			liar.Attack(a, false)
			all["aaa-claims"] = liar
		}
	}
	for name, r := range all {
		if err := stage.Register(s.hub, name, r); err != nil {
			t.Fatal(err)
		}
	}
	const declares = "aaa-declares"
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-cluster", Name: declares},
		Data: map[string][]byte{"token": []byte("none"), "caBundle": s.honest[0].Authority()}}
	if err := s.hub.Put(token); err != nil {
		t.Fatal(err)
	}
	s.karmada.put(declares, map[string]any{
		"id": s.uid(t, s.honest[0]), "syncMode": "Push", "apiEndpoint": "https://192.0.2.1:6443",
		"secretRef": map[string]any{"namespace": token.Namespace, "name": token.Name},
	})
	return func() {
		for name := range all {
			s.remove(t, "/api/v1/namespaces/"+fixture.RegistrationNamespace+"/secrets/"+name)
		}
		s.karmada.remove(declares)
		if err := liar.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (s *scene) uid(t *testing.T, m *sim.Member) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(m.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	system, err := client.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(system.UID)
}

// Whoever was never there keeps nobody from scaling in.
func (s *scene) scalesIn(t *testing.T) {
	const falling = "falling"
	end := s.registrar(t)
	defer end()
	for _, m := range s.honest {
		if err := m.Run(sim.Workload{Namespace: falling, Name: falling, Replicas: many / len(s.honest), Usage: of(target / 5),
			Age: old}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.hub.Run(sim.Workload{Namespace: falling, Name: falling, Replicas: many, Template: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.hub.Put(autoscaler(falling, many)); err != nil {
		t.Fatal(err)
	}
	err := fixture.Await(t.Context(), time.Minute, func(context.Context) error {
		n, err := s.hub.Replicas(sim.Deployment, falling, falling)
		if err == nil && n >= many {
			err = fmt.Errorf("%d replicas still", n)
		}
		return err
	})
	if err != nil {
		t.Errorf("registrations of clusters that never were hold up an autoscaler: %v", err)
	}
}
