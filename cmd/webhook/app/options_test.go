// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func parsed(t *testing.T, args ...string) *Options {
	t.Helper()
	return commandtest.Parsed(t, NewOptions(), args...)
}

func TestValidateNamesTheFlag(t *testing.T) {
	commandtest.Refusals(t, NewOptions, map[string]struct {
		Args []string
		Want string
	}{
		"namespaces of nobody": {[]string{"--namespaces=shop,shop", "--namespaces=kube-system"},
			`--namespaces: nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one` +
				"\n--namespaces: names \"shop\" more than once"},
		"half a certificate": {[]string{"--tls-cert-file=x"},
			"--tls-cert-file and --tls-private-key-file: set both, or none to have us sign our own certificate"},
		"the other half": {[]string{"--tls-private-key-file=x"},
			"--tls-cert-file and --tls-private-key-file: set both, or none to have us sign our own certificate"},
		"no port":                   {[]string{"--secure-port=0"}, "--secure-port: must be from 1 to 65535, got 0"},
		"no port of TCP":            {[]string{"--secure-port=65536"}, "--secure-port: must be from 1 to 65535, got 65536"},
		"an address with a name":    {[]string{"--bind-address=localhost"}, `--bind-address: must be an IP address, got "localhost"`},
		"an end before the signal":  {[]string{"--shutdown-delay-duration=-1s"}, "--shutdown-delay-duration: must be 0 or more, got -1s"},
		"no name for the Service":   {[]string{"--service-name="}, "--service-name: must be set"},
		"no place for the Secret":   {[]string{"--service-namespace="}, "--service-namespace: must be set"},
		"no Secret":                 {[]string{"--self-signed-secret="}, "--self-signed-secret: must be set"},
		"no configuration":          {[]string{"--mutating-webhook-configuration="}, "--mutating-webhook-configuration: must be set"},
		"no other configuration":    {[]string{"--validating-webhook-configuration="}, "--validating-webhook-configuration: must be set"},
		"no check period":           {[]string{"--self-signed-check-period=0"}, "--self-signed-check-period: must be above 0, got 0s"},
		"served before it is known": {[]string{"--self-signed-settle-time=0"}, "--self-signed-settle-time: must be above 0, got 0s"},
		"too short to be replaced": {[]string{"--self-signed-validity=1h1m59s"},
			"--self-signed-validity: must be 1h2m0s or more with this settle time and check period, got 1h1m59s"},
		"all at once": {[]string{"--secure-port=0", "--service-name="},
			"--secure-port: must be from 1 to 65535, got 0\n--service-name: must be set"},
	})

}

func TestCertificateFilesThatAreNotThere(t *testing.T) {
	o := parsed(t, "--tls-cert-file=/none", "--tls-private-key-file=/none")
	_, err := newCertificate(nil, o, nil)
	const want = "reading --tls-cert-file and --tls-private-key-file: open /none: no such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// Every flag that the webhook's manifests pass is one of ours, with a value that it takes.
func TestManifestsPassFlagsThatExist(t *testing.T) {
	commandtest.ManifestFlags(t, func() *cobra.Command { return NewCommand(t.Context()) }, commandtest.None, "../../../deploy/base/webhook",
		"../../../deploy/overlays/karmada/webhook-host", "../../../certs/cert-manager/webhook")
}
