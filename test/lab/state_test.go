// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/test/lab/internal/process"
)

func TestStateIsReadAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	want := state{
		Programs: "/programs", EtcdURL: "http://127.0.0.1:1", MetricResolution: 10 * time.Second,
		Clusters: []Cluster{{Name: "hub", URL: "https://127.0.0.1:2", Kubeconfig: "/k"}},
	}
	if err := want.write(dir); err != nil {
		t.Fatalf("write: %v", err)
	}
	added := Cluster{Name: "member1", ValuesURL: "http://127.0.0.1:3"}
	err := changeState(dir, func(s *state) error {
		s.Clusters = append(s.Clusters, added)
		return nil
	})
	if err != nil {
		t.Fatalf("changeState: %v", err)
	}
	want.Clusters = append(want.Clusters, added)
	got, err := readState(dir)
	if err != nil {
		t.Fatalf("readState: %v", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Cluster{})); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestLoadSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir)
	if want := "no lab is up in " + dir + `; start one with "lab up --dir ` + dir + `"`; err == nil || err.Error() != want {
		t.Errorf("without a lab: error = %v, want %s", err, want)
	}
	if err := process.Open(dir).Create(); err != nil {
		t.Fatal(err)
	}
	_, err = Load(dir)
	if want := "the lab in " + dir + ` is still starting, or its start was cut off; "lab down" ends it`; err == nil || err.Error() != want {
		t.Errorf("while it starts: error = %v, want %s", err, want)
	}
}

func TestALabIsNotStartedOverSomethingElse(t *testing.T) {
	dir := t.TempDir()
	if err := checkDir(filepath.Join(dir, "none")); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	for _, name := range dirContents() {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkDir(dir); err != nil {
		t.Errorf("a folder that a lab left: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := "folder " + dir + " holds thesis.tex, which is no lab's; choose an empty folder, or one that does not exist yet"
	if err := checkDir(dir); err == nil || err.Error() != want {
		t.Errorf("a folder with something else: error = %v, want %s", err, want)
	}
}

func TestDownWhereNothingWasEver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if err := Down(dir); err != nil {
		t.Errorf("Down: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("Down made the folder")
	}
}

func TestUpIsRefusedWhereALabIsUp(t *testing.T) {
	dir := t.TempDir()
	if err := process.Open(dir).Create(); err != nil {
		t.Fatal(err)
	}
	_, err := prepare(Options{Dir: dir}, "/programs")
	want := "a lab is up in " + dir + `; end it with "lab down --dir ` + dir + `", or choose another folder`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("prepare: error = %v, want %s...", err, want)
	}
}

func TestKubeconfigs(t *testing.T) {
	l := &Lab{dir: t.TempDir()}
	var clusters []Cluster
	for _, name := range []string{"hub", "member1"} {
		c := Cluster{Name: name, URL: "https://" + name, Kubeconfig: filepath.Join(l.dir, name), lab: l}
		if err := c.createCredentials(); err != nil {
			t.Fatalf("createCredentials: %v", err)
		}
		clusters = append(clusters, c)
	}
	if err := mergeKubeconfigs(l.Kubeconfig(), clusters); err != nil {
		t.Fatalf("mergeKubeconfigs: %v", err)
	}
	merged, err := clientcmd.LoadFromFile(l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if merged.CurrentContext != "hub" || len(merged.Contexts) != 2 {
		t.Errorf("contexts %v, current %s; want hub and member1, current hub", merged.Contexts, merged.CurrentContext)
	}
	config, err := clientcmd.NewDefaultClientConfig(*merged, &clientcmd.ConfigOverrides{CurrentContext: "member1"}).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	ca, err := clusters[1].CA()
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://member1" || string(config.CAData) != string(ca) || len(config.CertData) == 0 {
		t.Errorf("context member1 leads to %s, with %d bytes of CA", config.Host, len(config.CAData))
	}
	token, err := clusters[1].TokenKubeconfig("secret")
	if err != nil {
		t.Fatal(err)
	}
	if config, err = clientcmd.RESTConfigFromKubeConfig(token); err != nil || config.BearerToken != "secret" || len(config.CertData) != 0 {
		t.Errorf("TokenKubeconfig = %v, %v; want the token and no certificate", config, err)
	}
}
