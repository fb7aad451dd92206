// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// runs is a command line as a kubeconfig has it: variables, a command and its arguments.
func runs(command string, arguments ...string) *clientcmdapi.ExecConfig {
	return &clientcmdapi.ExecConfig{Command: command, Args: arguments}
}

func with(run *clientcmdapi.ExecConfig, name, value string) *clientcmdapi.ExecConfig {
	run.Env = append(run.Env, clientcmdapi.ExecEnvVar{Name: name, Value: value})
	return run
}

// refusedExec is what a registration is told; empty if it may run the command.
func refusedExec(run *clientcmdapi.ExecConfig, allowed ...string) string {
	faults := execFaults(run, Policy{AllowedExecCommands: allowed}, kubeconfigTerms)
	if len(faults) == 0 {
		return ""
	}
	_, why, _ := strings.Cut(faults[0].Message, " for its credentials")
	why, _, _ = strings.Cut(why, "; use a token")
	return "refused" + why
}

func TestExecPatterns(t *testing.T) {
	const (
		but = "refused, which is allowed, but not "
		eks = "AWS_PROFILE=* aws --region * eks get-token --cluster-name *"
	)
	token := func(cluster string) *clientcmdapi.ExecConfig {
		return runs("aws", "--region", "eu-central-1", "eks", "get-token", "--cluster-name", cluster)
	}
	tests := map[string]struct {
		run     *clientcmdapi.ExecConfig
		allowed []string
		want    string
	}{
		"nothing is allowed":               {token("east"), nil, "refused"},
		"its words":                        {token("east"), []string{eks}, ""},
		"another cluster":                  {token("west"), []string{eks}, ""},
		"a variable that may be set":       {with(token("east"), "AWS_PROFILE", "prod"), []string{eks}, ""},
		"one of several patterns":          {runs("kubelogin", "get-token"), []string{eks, "kubelogin get-token"}, ""},
		"a command by itself":              {runs("gke-gcloud-auth-plugin"), []string{"gke-gcloud-auth-plugin"}, ""},
		"another path of the same command": {runs("/tmp/aws", token("east").Args...), []string{eks}, "refused"},
		"a command allowed by itself":      {token("east"), []string{"aws"}, but + "with its argument 1"},
		"another word":                     {runs("aws", "--region", "eu", "s3", "cp"), []string{eks}, but + "with its argument 3"},
		"one argument more":                {runs("aws", append(token("east").Args, "--debug")...), []string{eks}, but + "with its argument 7"},
		"one argument less":                {runs("aws", token("east").Args[:5]...), []string{eks}, but + "without an argument 6"},
		"an option in place of a value":    {token("--endpoint-url=https://evil"), []string{eks}, but + "with its argument 6"},
		"a file in place of a value":       {token("file:///etc/passwd"), []string{eks}, but + "with its argument 6"},
		"two lines in place of a value":    {token("east\nexec: x"), []string{eks}, but + "with its argument 6"},
		"a control character":              {token("east\x1b"), []string{eks}, but + "with its argument 6"},
		"lines in a variable":              {with(token("east"), "AWS_PROFILE", "a\rb"), []string{eks}, but + `with its variable "AWS_PROFILE"`},
		"words joined":                     {runs("aws eks", "get-token"), []string{"aws eks get-token"}, "refused"},
		"another variable":                 {with(token("east"), "LD_PRELOAD", "/x"), []string{eks}, but + `with its variable "LD_PRELOAD"`},
		"another value of a variable":      {with(token("east"), "AWS_PROFILE", "/x"), []string{eks}, but + `with its variable "AWS_PROFILE"`},
		"a variable that hides another": {
			with(token("east"), "AWS_PROFILE=x\x00PATH", "/x"), []string{eks}, but + `with its variable "AWS_PROFILE=x\x00PATH"`,
		},
		"a variable set twice": {
			with(with(token("east"), "AWS_PROFILE", "x"), "AWS_PROFILE", "/x"), []string{eks}, but + `with its variable "AWS_PROFILE"`,
		},
		"the pattern that has most is told": {token("--x"), []string{"aws --version", eks, "aws"}, but + "with its argument 6"},
		"a path in a word": {
			runs("aws", "--role-arn", "arn:aws:iam::1:role/a"), []string{"aws --role-arn arn:aws:iam::1:role/*"}, "",
		},
		"a longer path in a word": {
			runs("aws", "--role-arn", "arn:aws:iam::1:role/a/b"), []string{"aws --role-arn arn:aws:iam::1:role/*"},
			but + "with its argument 2",
		},
		"a pattern without a command": {runs(""), []string{"", "A=*"}, "refused"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { fleettest.Same(t, "refusal", tc.want, refusedExec(tc.run, tc.allowed...)) })
	}
}

func TestCheckExecPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"gke-gcloud-auth-plugin":              "",
		"A=* B= aws eks --x=[a-z]* get-token": "",
		"":                                    `"" names no command`,
		" A=* ":                               `" A=* " names no command`,
		"aws [":                               `"aws [": no argument can be [`,
		"A=[ aws":                             `"A=[ aws": no variable can be A=[`,
		"=* aws":                              `"=* aws": no variable can be =*`,
	} {
		got := ""
		if err := CheckExecPattern(pattern); err != nil {
			got = err.Error()
		}
		fleettest.Same(t, pattern, want, got)
	}
}

// FuzzExecPattern holds for any words: a pattern that is the words allows no others, and a refusal repeats no argument or value.
func FuzzExecPattern(f *testing.F) {
	f.Add("aws", "eks", "A", "s3cret")
	f.Add("aws", "-x", "PATH", "*")
	f.Add("aws", "*", "", "[")
	f.Fuzz(func(t *testing.T, command, argument, name, value string) {
		run := with(runs(command, argument, "s3cret-argument"), name, value)
		for _, allowed := range []string{"", "aws", "aws eks", "aws eks *", "A=v aws eks *", command, command + " " + argument} {
			refusal := refusedExec(run, allowed)
			p := parseExecPattern(allowed)
			if _, known := p.variables[name]; refusal == "" && (p.command != command || len(p.arguments) != 2 || !known) {
				t.Errorf("%q runs %q", allowed, run)
			}
			if strings.Contains(refusal, "s3cret-argument") && !strings.Contains(command+name, "s3cret-argument") {
				t.Errorf("the refusal repeats an argument: %s", refusal)
			}
		}
	})
}

// No pattern sees what a registration says of its cluster beside the command line, so no plugin is told of it.
func TestPluginIsToldNothingOfTheCluster(t *testing.T) {
	run := runs("gke-gcloud-auth-plugin")
	run.ProvideClusterInfo = true
	cluster := &clientcmdapi.Cluster{
		Server: "https://east.example.com", TLSServerName: "s3cret",
		Extensions: map[string]runtime.Object{execExtension: &runtime.Unknown{Raw: []byte(`{"audience":"s3cret"}`)}},
	}
	e, faults := endpointOf(cluster, &clientcmdapi.AuthInfo{Exec: run}, Policy{AllowedExecCommands: []string{run.Command}}, kubeconfigTerms)
	if len(faults) > 0 {
		t.Fatalf("refused: %v", faults)
	}
	if told := e.Config.ExecProvider; told.ProvideClusterInfo || told.Config != nil {
		t.Errorf("the plugin is told of the cluster: %v", told)
	}
}
