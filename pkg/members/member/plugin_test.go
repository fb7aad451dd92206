// SPDX-License-Identifier: Apache-2.0

package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// recordArgument has the test's program be a credential plugin that writes down how it was run.
const recordArgument = "record-how-it-was-run"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == recordArgument {
		if err := recordRun(os.Args[2]); err != nil {
			panic(err)
		}
		return
	}
	if err := os.Setenv("OF_THE_PROGRAM", "s3cret"); err != nil {
		panic(err)
	}
	m.Run()
}

// ran is how a plugin was run.
type ran struct{ Arguments, Environment []string }

// recordRun says how it was run in a file of that name, and a token on standard output.
func recordRun(file string) error {
	content, err := json.Marshal(ran{os.Args, os.Environ()})
	if err != nil {
		return err
	}
	_, sayErr := fmt.Println(`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"s3cret"}}`)
	return errors.Join(os.WriteFile(file, content, 0o600), sayErr)
}

// TestPluginIsRunAsAllowed has a registration run a plugin: with its words and variables, and with little of this program's environment.
func TestPluginIsRunAsAllowed(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	plugin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ran")
	put := func(arguments ...string) {
		hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) {
			*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
				Command: plugin, Args: arguments, Env: []clientcmdapi.ExecEnvVar{{Name: "PROFILE", Value: "prod 1"}},
				APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
			}}
		}))))
	}
	put(recordArgument, file, "--cluster-name", "east")
	r := start(t, hub, func(o *Options) {
		o.Registrations.Policy.AllowedExecCommands = []string{
			strings.Join([]string{"PROFILE=*", plugin, recordArgument, file, "--cluster-name", "*"}, " "),
		}
	})
	r.becomes("east=Ready")
	r.asks("east", "1")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got ran
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	got.Environment = slices.DeleteFunc(got.Environment, func(variable string) bool {
		return strings.HasPrefix(variable, "KUBERNETES_EXEC_INFO={")
	})
	slices.Sort(got.Environment)
	want := ran{
		[]string{plugin, recordArgument, file, "--cluster-name", "east"},
		[]string{"HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH"), "PROFILE=prod 1"},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("it was run as (-want +got):\n%s", diff)
	}

	put(recordArgument, file, "--cluster-name", "east", "--debug")
	r.becomes("east=ExecNotAllowed")
}

func TestPluginThatCannotBeRun(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) {
		*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			Command: "no-such-plugin", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		}}
	}))))
	r := start(t, hub, func(o *Options) { o.Registrations.Policy.AllowedExecCommands = []string{"no-such-plugin"} })
	r.becomes("east=InvalidKubeconfig")
	want := `preparing the credential plugin: exec: "no-such-plugin": executable file not found in $PATH`
	if got := r.member("east").State().Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
}
