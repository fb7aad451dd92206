// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// The built controller-manager, with the rights of deploy/, has a real API server renew both tokens of a registration late in their
// life; the cluster stays the same, and Ready, for who uses them.
func TestTokensAreRenewed(t *testing.T) {
	const life, age = 30 * time.Minute, 25 * time.Minute
	e := shared.Of(t)
	e.ask(t, "--context", memberName, "apply", "-k", e.Deploy("member-write"))
	e.ask(t, "apply", "--server-side", "-k", e.Deploy("crds"))
	t.Cleanup(func() {
		_, _ = e.Ask(afterwards(t), "--context", memberName, "delete", "-k", e.Deploy("member-write"))
		_, _ = e.Ask(afterwards(t), "delete", "-k", e.Deploy("crds"))
	})
	holders := map[string]string{fixture.RegistrationNamespace: fixture.MemberAccount, fixture.WriteNamespace: fixture.MemberWriter}
	former := map[string]string{}
	for namespace, account := range holders {
		token, err := e.member.AgedToken(t.Context(), fixture.MemberNamespace, account, life, age)
		if err != nil {
			t.Fatal(err)
		}
		former[namespace] = token
		e.holds(t, namespace, e.kubeconfig(t, token))
	}
	t.Cleanup(func() {
		if err := e.Leave(afterwards(t), memberName); err != nil {
			t.Error(err)
		}
	})
	adapter := e.start(t, fixture.AdapterService, registration.Read, "--sources=secret")
	adapter.registered(t, "secret.east=Ready")
	member := adapter.only(t)
	client := member.Client()

	e.control(t)
	for namespace, account := range holders {
		t.Logf("waiting for the token of %s", account)
		now := e.renewed(t, namespace, former[namespace])
		if now.Subject != "system:serviceaccount:fleetscale-member:"+account || now.Expires-now.Issued != int64(life.Seconds()) {
			t.Errorf("the new token is of %s, for %d s", now.Subject, now.Expires-now.Issued)
		}
	}
	if err := fixture.Await(t.Context(), time.Minute, func(context.Context) error {
		if member.Client() == client {
			return fmt.Errorf("the former token is in use")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	adapter.registered(t, "secret.east=Ready")
	if adapter.only(t) != member {
		t.Error("the member was replaced by the new token")
	}

	for namespace, account := range holders {
		e.holds(t, namespace, e.script(t, "fleetscale-member/"+account, "--context", memberName))
		if now := e.claims(t, namespace); now.Expires-now.Issued != 720*3600 {
			t.Errorf("the token of %s that the script made lasts %d s", account, now.Expires-now.Issued)
		}
	}
	adapter.registered(t, "secret.east=Ready")
}

// control runs the controller-manager.
func (e *env) control(t *testing.T) {
	t.Helper()
	program, err := fixture.Build(t.Context(), "controller-manager", t.TempDir(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	controllers, err := e.StartControllers(t.Context(), e.Hub(), program, "tokens", "--member-probe-period=1s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := controllers.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func (e *env) kubeconfig(t *testing.T, token string) []byte {
	t.Helper()
	kubeconfig, err := e.member.TokenKubeconfig(token)
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// holds has the registration in a namespace hold the kubeconfig.
func (e *env) holds(t *testing.T, namespace string, kubeconfig []byte) {
	t.Helper()
	write := e.Register
	if namespace == fixture.WriteNamespace {
		write = e.RegisterToWrite
	}
	if err := write(t.Context(), memberName, kubeconfig); err != nil {
		t.Fatal(err)
	}
}

// token is what is in the registration of a namespace.
func (e *env) token(ctx context.Context, namespace string) (string, error) {
	said, err := e.Ask(ctx, "-n", namespace, "get", "secret", memberName, "-o", "go-template={{.data.kubeconfig | base64decode}}")
	if err != nil {
		return "", err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(said.Stdout))
	if err != nil {
		return "", err
	}
	return config.BearerToken, nil
}

// issued are the claims of a token.
type issued struct {
	Subject string `json:"sub"`
	Issued  int64  `json:"iat"`
	Expires int64  `json:"exp"`
}

// renewed waits until the registration of a namespace holds another token, and has the member accept that.
func (e *env) renewed(t *testing.T, namespace, former string) issued {
	t.Helper()
	var token string
	err := fixture.Await(t.Context(), 3*time.Minute, func(ctx context.Context) (err error) {
		if token, err = e.token(ctx, namespace); err == nil && token == former {
			err = fmt.Errorf("the token in %s has not been renewed", namespace)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(e.kubeconfig(t, token))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{}); err != nil {
		t.Errorf("the new token in %s: %v", namespace, err)
	}
	return e.claims(t, namespace)
}

func (e *env) claims(t *testing.T, namespace string) (c issued) {
	t.Helper()
	token, err := e.token(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%s holds no token", namespace)
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// script is what deploy/kubeconfig.sh prints.
func (e *env) script(t *testing.T, args ...string) []byte {
	t.Helper()
	var stderr strings.Builder
	script := exec.CommandContext(t.Context(), "sh", append([]string{e.Deploy("kubeconfig.sh")}, args...)...)
	script.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(), "PATH="+filepath.Join(e.Dir(), "bin")+":"+os.Getenv("PATH"))
	script.Stderr = &stderr
	out, err := script.Output()
	if err != nil {
		t.Fatalf("kubeconfig.sh: %v: %s", err, stderr.String())
	}
	return out
}
