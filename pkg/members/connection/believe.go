// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"fmt"
	"io"
	"net/http"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// IdentityPath is what each cluster has, and whose uid is its identity: the namespace kube-system.
const IdentityPath = "/api/v1/namespaces/kube-system"

// believe returns why a 404 is not the cluster's. Karmada's API server, or Rancher, which pass on what is below a path of theirs, say 404
// themselves of a cluster that they do not know, for lack of a Secret, and while they serve no such path. Nothing in it tells both
// apart for sure: any API server says the same of an API that it does not serve. So whoever says that something is not there is asked for
// what is there in each cluster.
func (w *wire) believe(req *http.Request, resp *http.Response) error {
	switch {
	case resp.StatusCode != http.StatusNotFound:
		return nil
	case w.asked(req) == IdentityPath:
		return w.nobody(resp.StatusCode)
	case w.base == "":
		return nil
	}
	address := *req.URL
	address.Path, address.RawPath, address.RawQuery = w.base+IdentityPath, "", ""
	ask, err := http.NewRequestWithContext(req.Context(), http.MethodGet, address.String(), nil)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", IdentityPath, err)
	}
	ask.Header.Set("Accept", acceptMetadata)
	there, err := w.RoundTrip(ask)
	if err != nil {
		return err
	}
	defer there.Body.Close()
	_, _ = io.CopyN(io.Discard, there.Body, mostProbeBytes) // so that its connection can be used again
	if there.StatusCode != http.StatusOK {
		return w.nobody(there.StatusCode)
	}
	return nil
}

// nobody is the silence of a cluster whose address answers with a code what each cluster has.
func (w *wire) nobody(code int) error {
	if w.base == "" {
		return fleet.Silencef(fleet.ReasonBadAnswer, "%d to GET %s: is the address that of a Kubernetes API server?", code, IdentityPath)
	}
	return fleet.Silencef(fleet.ReasonUnreachable, "%d to GET %s: what is in front of the cluster does not pass requests on to it",
		code, IdentityPath)
}
