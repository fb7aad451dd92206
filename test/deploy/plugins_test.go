// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// withPlugins is an overlay as people write it, with the component of credential plugins.
const withPlugins = "../test/deploy/testdata/plugins"

// The component lets the programs that ask members find plugins, beside their other volumes, and gives them nothing to write but a home.
func TestCredentialPlugins(t *testing.T) {
	for _, d := range deployments(t, withPlugins) {
		checkRestricted(t, d)
		env, mounts := map[string]string{}, map[string]string{}
		c := d.Spec.Template.Spec.Containers[0]
		for _, variable := range c.Env {
			env[variable.Name] = variable.Value
		}
		for _, mount := range c.VolumeMounts {
			mounts[mount.MountPath] = fmt.Sprint(mount.Name, " ", mount.ReadOnly)
		}
		if d.Name == "webhook" {
			if mounts["/credential-plugins"] != "" || env["HOME"] != "" {
				t.Error("the webhook asks no members, and has plugins")
			}
			continue
		}
		if env["HOME"] != "/home/nonroot" || mounts["/home/nonroot"] != "home false" || !strings.HasPrefix(env["PATH"], "/credential-plugins:") ||
			mounts["/credential-plugins"] != "credential-plugins true" || env["GOMEMLIMIT"] == "" {
			t.Errorf("%s has the environment %v, and the mounts %v", d.Name, env, mounts)
		}
		volumes := d.Spec.Template.Spec.Volumes
		image := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == "credential-plugins" && v.Image != nil })
		if image < 0 || d.Name == "metrics-adapter" && len(volumes) != 3 {
			t.Errorf("%s has the volumes %v", d.Name, volumes)
		}
	}
}

// What docs/clouds.md has people allow, allows the registrations beside it, and runs restricted.
func TestDocumentedPluginsAreAllowed(t *testing.T) {
	mine := newMine(t)
	users := regexp.MustCompile("(?s)```yaml\n(users:\n.*?)\n```")
	clouds := 0
	for _, section := range strings.Split(readPage(t, "clouds.md"), "\n## ") {
		for _, overlay := range documentedOverlays(section) {
			for _, d := range deploymentsOf(known(t, mine(overlay))) {
				checkRestricted(t, d)
				user := users.FindStringSubmatch(section)
				if user == nil || d.Name == "webhook" {
					continue
				}
				clouds++
				allowed := allowedCommands(t, d)
				if refusal := registered(t, user[1], allowed); refusal != "" {
					t.Errorf("%s, which allows %q, refuses\n%s\n%s", d.Name, allowed, user[1], refusal)
				}
				if refusal := registered(t, user[1], nil); !strings.Contains(refusal, "ExecNotAllowed") {
					t.Errorf("without a flag it is allowed: %q", refusal)
				}
			}
		}
	}
	if clouds != 6 {
		t.Errorf("found %d programs with plugins; are the patterns still right?", clouds)
	}
}

// allowedCommands are the patterns that a program is given.
func allowedCommands(t *testing.T, d *appsv1.Deployment) []string {
	t.Helper()
	options := command.NewMemberOptions()
	flags := pflag.NewFlagSet(d.Name, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	options.AddFlags(flags)
	if err := flags.Parse(d.Spec.Template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	if err := options.Validate(); err != nil {
		t.Error(err)
	}
	return options.Policy.AllowedExecCommands
}

// registered is why a registration Secret is refused whose kubeconfig has these users; empty if it is not.
func registered(t *testing.T, users string, allowed []string) string {
	t.Helper()
	kubeconfig := "apiVersion: v1\nkind: Config\ncurrent-context: east\ncontexts: [{name: east, context: {cluster: east, user: east}}]\n" +
		"clusters: [{name: east, cluster: {server: https://10.0.0.1}}]\n" + users
	object, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "east", "namespace": "fleetscale-clusters"},
		"data": map[string]any{"kubeconfig": []byte(kubeconfig)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var secret unstructured.Unstructured
	if err := yaml.Unmarshal(object, &secret); err != nil {
		t.Fatal(err)
	}
	source := registration.Sources(registration.Options{
		Namespace: "fleetscale-clusters", Access: registration.Read, Policy: registration.Policy{AllowedExecCommands: allowed},
	})[0]
	if r := source.Read(&secret).Register(registration.Credentials{}); r.Refused() {
		return r.Refusal().Error()
	}
	return ""
}
