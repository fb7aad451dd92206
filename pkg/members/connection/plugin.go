// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthentication "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientauthenticationv1beta1 "k8s.io/client-go/pkg/apis/clientauthentication/v1beta1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// client-go can run credential plugins, too, and is not asked to: members of equal command lines wait for one another there, a plugin may
// run forever, and it gets all of the environment of the program, which is where clouds and people put what programs are let in by.

const (
	// pluginTime bounds a run of a credential plugin.
	pluginTime = 30 * time.Second
	// mostPlugins bounds those of one program that run at once, of all members.
	mostPlugins = 8
	// mostPrinted bounds the bytes that one prints.
	mostPrinted = 1 << 20
)

// plugins are the places for credential plugins that run, of each program its own: where one cloud does not answer, the plugins of others
// are not kept waiting. An administrator allows few programs, so that none is forgotten.
type plugins struct {
	mu     sync.Mutex
	places map[string]chan struct{}
}

func (p *plugins) of(path string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.places[path] == nil {
		p.places[path] = make(chan struct{}, mostPlugins)
	}
	return p.places[path]
}

// program is a credential plugin, ready to be run. It is told nothing of the cluster: what a registration says of that, no pattern of
// [registration.Policy].AllowedExecCommands has seen.
type program struct {
	path        string
	line        []string // the command as it was written, and its arguments
	environment []string
	apiVersion  string
	time        time.Duration
}

// programOf has a plugin that is trusted inherit all of the environment.
func programOf(plugin *clientcmdapi.ExecConfig, trusted bool) (program, error) {
	p := program{line: append([]string{plugin.Command}, plugin.Args...), apiVersion: plugin.APIVersion, time: pluginTime}
	known := []string{clientauthentication.SchemeGroupVersion.String(), clientauthenticationv1beta1.SchemeGroupVersion.String()}
	if !slices.Contains(known, p.apiVersion) {
		return p, fmt.Errorf("the apiVersion of exec must be %s, not %q", strings.Join(known, " or "), p.apiVersion)
	}
	var err error
	if p.path, err = exec.LookPath(plugin.Command); err != nil {
		return p, err
	}
	info, err := json.Marshal(clientauthentication.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: p.apiVersion, Kind: "ExecCredential"}, // both versions are written alike
	})
	if err != nil {
		return p, fmt.Errorf("encoding what the plugin is told: %w", err)
	}
	p.environment = os.Environ()
	if !trusted {
		p.environment = inherited(p.environment)
	}
	for _, variable := range plugin.Env {
		p.environment = append(p.environment, variable.Name+"="+variable.Value)
	}
	p.environment = append(p.environment, "KUBERNETES_EXEC_INFO="+string(info))
	return p, nil
}

// inherited is what a plugin gets of an environment: where it finds programs and files.
func inherited(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name != "HOME" && name != "PATH"
	})
}

var errPrintsMore = fmt.Errorf("it prints more than %d bytes", mostPrinted)

// printed is what a plugin prints, within bounds: it is no bytes.Buffer, which would read by itself.
type printed struct{ text bytes.Buffer }

func (p *printed) Write(text []byte) (int, error) {
	if p.text.Len()+len(text) > mostPrinted {
		return 0, errPrintsMore
	}
	return p.text.Write(text)
}

// mostComplaint bounds the bytes that are kept of what a plugin prints as errors.
const mostComplaint = 1 << 10

// complaint keeps the end of what a plugin prints as errors.
type complaint struct{ text []byte }

func (c *complaint) Write(text []byte) (int, error) {
	c.text = append(c.text, text[max(0, len(text)-mostComplaint):]...)
	c.text = slices.Delete(c.text, 0, max(0, len(c.text)-mostComplaint))
	return len(text), nil
}

// last is the last line that says anything, as the end of an error.
func (c *complaint) last() string {
	const most = 256
	text := bytes.TrimSpace(c.text)
	line := fleet.PrintableLine(string(text[bytes.LastIndexByte(text, '\n')+1:]), most)
	if line == "" {
		return ""
	}
	return ": " + line
}

// run ends with ctx, and so do all that the plugin has started.
func (p program) run(ctx context.Context) (*credential, error) {
	ctx, cancel := context.WithTimeout(ctx, p.time)
	defer cancel()
	var out printed
	var said complaint
	cmd := exec.CommandContext(ctx, p.path)
	cmd.Args, cmd.Env, cmd.Stdout, cmd.Stderr = p.line, p.environment, &out, &said
	cmd.WaitDelay = time.Second // for what is left of it, and holds its output open
	err := runWithChildren(cmd)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it does not return within %v", p.time)
	}
	if err != nil {
		return nil, fmt.Errorf("running the credential plugin: %w%s", err, said.last())
	}
	c, err := p.read(out.text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("reading what the credential plugin printed: %w", err)
	}
	return c, nil
}

// credential is what a plugin yields: a token, a certificate, or both.
type credential struct {
	token       string
	certificate *tls.Certificate
	expires     time.Time // zero: never
}

// read shows nothing of what was printed in an error.
func (p program) read(text []byte) (*credential, error) {
	var said clientauthentication.ExecCredential
	if json.Unmarshal(text, &said) != nil {
		return nil, errors.New("it is no JSON of an ExecCredential")
	}
	switch s := said.Status; {
	case said.APIVersion != p.apiVersion || said.Kind != "ExecCredential":
		return nil, fmt.Errorf("it is no ExecCredential of %s, as exec has it", p.apiVersion)
	case s == nil || s.Token == "" && s.ClientCertificateData == "" && s.ClientKeyData == "":
		return nil, errors.New("it has neither a token nor a certificate and key")
	}
	c := &credential{token: said.Status.Token}
	if t := said.Status.ExpirationTimestamp; t != nil {
		c.expires = t.Time
	}
	if said.Status.ClientCertificateData != "" || said.Status.ClientKeyData != "" {
		pair, err := tls.X509KeyPair([]byte(said.Status.ClientCertificateData), []byte(said.Status.ClientKeyData))
		if err != nil {
			return nil, errors.New("its certificate and key are no matching pair in PEM")
		}
		c.certificate = &pair
	}
	return c, nil
}
