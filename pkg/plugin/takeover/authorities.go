// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	"github.com/fleetscale/fleetscale/pkg/certs"
)

// SelfSignedSecret is what deploy/ calls the Secret with the certificate that the adapter signs itself.
const SelfSignedSecret = "metrics-adapter-self-signed"

// SelfSignedAuthorities returns those of the certificate that the adapter signs itself.
func SelfSignedAuthorities(ctx context.Context, core kubernetes.Interface, secret types.NamespacedName) (pem []byte, err error) {
	pem, err = certs.Authorities(ctx, core, secret)
	if err != nil {
		return nil, fmt.Errorf("finding out how the hub verifies the adapter's certificate: %w; where it comes from elsewhere, set --ca-file",
			err)
	}
	return pem, nil
}

// ReadAuthorities returns those in the file of --ca-file.
func ReadAuthorities(file string) (pem []byte, err error) {
	pem, err = os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	if _, err := cert.ParseCertsPEM(pem); err != nil {
		return nil, fmt.Errorf("--ca-file: reading %s: %w", file, err)
	}
	return pem, nil
}
