// SPDX-License-Identifier: Apache-2.0

package command

import (
	"crypto/tls"

	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// MetricsAddressHelp describes the flag of the address for [MetricsServer].
const MetricsAddressHelp = "Address on which /metrics is served over HTTPS, to those whom the hub allows to get it; on a loopback " +
	"address over plain HTTP, to whoever runs beside. 0 disables it."

// MetricsServer says how /metrics is served. The hub is asked who a client is, and whether it may get /metrics, unless the
// address is one that no other Pod can reach. Without a certificate the server signs one, which nobody can verify.
func MetricsServer(address string, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) metricsserver.Options {
	o := metricsserver.Options{BindAddress: address}
	if !MetricsOverTLS(address) {
		return o
	}
	o.SecureServing = true
	o.FilterProvider = filters.WithAuthenticationAndAuthorization
	if certificate != nil {
		o.TLSOpts = append(o.TLSOpts, func(c *tls.Config) { c.GetCertificate = certificate })
	}
	return o
}

// MetricsOverTLS is true where [MetricsServer] serves, and needs a certificate for it.
func MetricsOverTLS(address string) bool { return address != "0" && !OnLoopback(address) }
