// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/cert"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func TestHelpShowsTheFlagsThatAreTaken(t *testing.T) {
	commandtest.HelpShowsFlags(t, func() *cobra.Command { return NewCommand(t.Context()) })
}

func TestItSaysItsVersion(t *testing.T) {
	port := commandtest.FreePort(t)
	certFile, keyFile := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err := errors.Join(err, os.WriteFile(certFile, certPEM, 0o600), os.WriteFile(keyFile, keyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	commandtest.SaysVersion(t, program, "https://127.0.0.1:"+port+"/metrics",
		"--bind-address=127.0.0.1", "--secure-port="+port, "--authorization-always-allow-paths=/metrics",
		"--authentication-tolerate-lookup-failure", "--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile)
}

// Every flag that deploy/ and certs/ pass is one of ours, with a value that it
// takes; but for those that are for other programs, whose tests check them.
func TestManifestsPassFlagsThatExist(t *testing.T) {
	commandtest.ManifestFlags(t, func() *cobra.Command { return NewCommand(t.Context()) }, ofOthers, "../../../deploy", "../../../certs")
}

func ofOthers(file string) bool {
	others := []string{
		"webhook", "controller-manager", "placement-decisions", "components/observe", "components/shards", "certs/given/monitoring",
	}
	return slices.ContainsFunc(others, func(part string) bool { return strings.Contains(file, part) })
}
