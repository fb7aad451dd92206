// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/certs"
)

func newCertificate(config *rest.Config, o *Options, metrics *certs.Metrics) (*certs.Certificate, error) {
	if o.Serving.CertFile != "" {
		certificate, err := certs.OfFiles(o.Serving.CertFile, o.Serving.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading --tls-cert-file and --tls-private-key-file: %w", err)
		}
		return certificate, nil
	}
	return certs.SelfSigned(config, certs.Options{
		Service: types.NamespacedName{Namespace: o.Hub.ServiceNamespace, Name: o.Hub.ServiceName},
		Targets: []certs.Target{
			certs.MutatingWebhooks(o.Hub.MutatingWebhookConfiguration),
			certs.ValidatingWebhooks(o.Hub.ValidatingWebhookConfiguration),
		},
		Settings: o.SelfSigning,
		Metrics:  metrics,
	})
}
