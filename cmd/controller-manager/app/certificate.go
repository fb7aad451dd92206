// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
)

// metricsCertificate is that by which scrapers verify the program. There is none where metrics are not served over TLS, and where the
// program only observes: an authority that it may not write cannot be known to them.
func metricsCertificate(config *rest.Config, o *Options, metrics *certs.Metrics) (*certs.Certificate, error) {
	switch {
	case o.Serving.MetricsCertFile != "":
		certificate, err := certs.OfFiles(o.Serving.MetricsCertFile, o.Serving.MetricsKeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading --metrics-tls-cert-file and --metrics-tls-private-key-file: %w", err)
		}
		return certificate, nil
	case o.Observing.Observe || !command.MetricsOverTLS(o.Serving.MetricsBindAddress):
		return &certs.Certificate{Ready: func() error { return nil }, Run: func(context.Context) error { return nil }}, nil
	}
	return certs.SelfSigned(config, certs.Options{
		Service:  types.NamespacedName{Namespace: o.Hub.ServiceNamespace, Name: o.Hub.ServiceName},
		Settings: o.SelfSigning,
		Metrics:  metrics,
	})
}
