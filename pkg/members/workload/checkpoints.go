// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// mostCheckpoints is how many bytes are read in all, some thousand checkpoints: as objects they take many times as much memory.
const mostCheckpoints = 4 << 20

// VPACheckpoints implements [Cluster].
func (c memberCluster) VPACheckpoints(ctx context.Context, namespace string) (all []unstructured.Unstructured, err error) {
	if silence := c.Silence(); silence != nil {
		return nil, silence
	}
	var length mirror.Length
	names := map[mirror.Key]bool{}
	read := 0
	for next, more := "", true; more; more = next != "" {
		request := resourcesAt(c.Client().Get(), vpa.SchemeGroupVersion.WithResource(vpa.Checkpoints), namespace).
			Param("limit", strconv.Itoa(pageSize))
		if next != "" {
			request.Param("continue", next)
		}
		answer, err := answerTo(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("listing %s in namespace %q: %w", vpa.Checkpoints, namespace, err)
		}
		if read += len(answer); read > mostCheckpoints {
			return nil, fmt.Errorf("listing %s in namespace %q: they have more than %d bytes", vpa.Checkpoints, namespace, mostCheckpoints)
		}
		page := &unstructured.UnstructuredList{}
		_, err = connection.Decode(ctx, c.Reading(), answer, connection.TypeOf(page).JSON, func(answer []byte) (any, error) {
			return nil, page.UnmarshalJSON(answer)
		})
		if err == nil {
			err = c.Reading().Endless(length.Add(next, page.GetContinue(), len(page.Items), len(answer)))
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s in namespace %q: %w", vpa.Checkpoints, namespace, err)
		}
		all, next = append(all, asked(c, vpa.Checkpoints, namespace, names, page.Items)...), page.GetContinue()
	}
	return all, nil
}
