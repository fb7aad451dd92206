// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// mostCheckpoints is how many bytes are read in all, some thousand checkpoints: as objects they take many times as much memory.
const mostCheckpoints = 4 << 20

// VPACheckpoints implements [Sizer].
func (s sizer) VPACheckpoints(ctx context.Context, namespace string) ([]unstructured.Unstructured, error) {
	if silence := s.Silence(); silence != nil {
		return nil, silence
	}
	read := 0
	request := func() *rest.Request {
		return connection.At(s.Client().Get(), vpa.SchemeGroupVersion.WithResource(vpa.Checkpoints), namespace)
	}
	all, err := mirror.List(ctx, s.Reading(), vpa.Checkpoints, namespace, request,
		func(page []byte) (items []unstructured.Unstructured, next string, err error) {
			if read += len(page); read > mostCheckpoints {
				return nil, "", fmt.Errorf("they have more than %d bytes", mostCheckpoints)
			}
			list, err := connection.DecodeJSON(ctx, s.Reading(), page, &unstructured.UnstructuredList{})
			if err != nil {
				return nil, "", err
			}
			return list.Items, list.GetContinue(), nil
		})
	if err != nil {
		return nil, fmt.Errorf("listing %s in namespace %q: %w", vpa.Checkpoints, namespace, err)
	}
	return all, nil
}
