// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testGiven has certificates of somebody else, in Secrets that are made before, and the overlay that docs/operate.md tells people to write.
func (s *stage) testGiven(t *testing.T) {
	authority, err := s.Hub().CA()
	if err != nil {
		t.Fatal(err)
	}
	kinds, overlay := filepath.Join(s.root, "deploy/crds"), s.overlay(t, s.ownOverlay(t, authority))
	s.leavesNothing(t, func() {
		s.kubectl(t, "apply", "--server-side", "-k", filepath.Join(s.root, "deploy/base/namespace"))
		for program := range called() {
			s.giveCertificate(t, program)
		}
		s.kubectl(t, "apply", "--server-side", "-k", kinds)
		s.kubectl(t, "apply", "--server-side", "-k", overlay)
		t.Run("the hub is told the authority", func(t *testing.T) { s.testTrust(t, authority) })
		s.works(t, func() {
			t.Run("certificates are replaced", func(t *testing.T) { s.testRenewal(t, authority, s.giveCertificate) })
		})
		s.kubectl(t, "delete", "--ignore-not-found", "-k", overlay)
		s.kubectl(t, "delete", "-k", kinds)
	})
}

// ownOverlay writes what docs/operate.md has for certificates of one's own, and returns its folder below the checkout.
func (s *stage) ownOverlay(t *testing.T, authority []byte) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(s.root, "docs/operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	const folder = "deploy/overlays/mine"
	var text string
	blocks := regexp.MustCompile("(?s)```yaml\n(# " + folder + "/kustomization.yaml\n.*?)```")
	for _, block := range blocks.FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(block[1], "certs/given/webhook") {
			text = block[1]
		}
	}
	const placeholder = "LS0t..."
	if !strings.Contains(text, placeholder) {
		t.Fatalf("docs/operate.md has no overlay with certs/given/webhook and %s", placeholder)
	}
	text = strings.ReplaceAll(text, placeholder, base64.StdEncoding.EncodeToString(authority))
	if err := os.MkdirAll(filepath.Join(s.root, folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.root, folder, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// giveCertificate puts a new certificate, of the hub's own authority, into the Secret of a program.
func (s *stage) giveCertificate(t *testing.T, program string) {
	t.Helper()
	pair, err := s.Hub().ServingCertificate(serverName(program))
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := pair.Write(t.TempDir(), "serving")
	if err != nil {
		t.Fatal(err)
	}
	secret := s.kubectl(t, "-n", system, "create", "secret", "tls", keySecret(program), "--cert="+certificate, "--key="+key,
		"--dry-run=client", "-o", "yaml")
	s.feed(t, secret, "apply", "--server-side", "-f", "-")
}
