// SPDX-License-Identifier: Apache-2.0

package app

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// selfSignedSecret is what deploy/ calls it.
const selfSignedSecret = "metrics-adapter-self-signed"

// newKeeper is nil where files are named.
func newKeeper(o *Options, h *hub, metrics *certs.Metrics) *certs.Keeper {
	if o.Serving.Secure.ServerCert.CertKey.CertFile != "" {
		return nil
	}
	var targets []certs.Target
	for _, name := range apiservice.Names(o.Hub.APIs) {
		targets = append(targets, certs.APIService(name))
	}
	return certs.New(certs.Options{
		Core:     h.core,
		Dynamic:  h.dynamic,
		Service:  types.NamespacedName{Namespace: o.Hub.ServiceNamespace, Name: o.Hub.ServiceName},
		Targets:  targets,
		Settings: o.SelfSigning,
		Metrics:  metrics,
	})
}

// served is a Keeper as the API server library takes it.
type served struct{ *certs.Keeper }

var _ dynamiccertificates.CertKeyContentProvider = served{}

func (served) Name() string { return "self-signed" }

func (s served) AddListener(l dynamiccertificates.Listener) { s.OnChange(l.Enqueue) }
