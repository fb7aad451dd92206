// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// List reads a list that nobody watches, page by page: the objects of the namespace (empty: of all), each once. Others that are sent count
// as dropped. The caller makes the request for a page, and decodes one, which tells where the next begins.
func List[T any, O interface {
	*T
	metav1.Object
}](ctx context.Context, reading *connection.Reading, resource, namespace string, request func() *rest.Request,
	decode func(page []byte) (items []T, next string, err error)) (all []T, err error) {
	var read length
	seen := map[Key]bool{}
	for from, more := "", true; more; more = from != "" {
		page := request().Param("limit", strconv.Itoa(pageSize))
		if from != "" {
			page.Param("continue", from)
		}
		answer, err := connection.Answer(ctx, page)
		if err != nil {
			return nil, err
		}
		items, next, err := decode(answer)
		if err == nil {
			err = reading.Endless(read.add(from, next, len(items), len(answer)))
		}
		if err != nil {
			return nil, err
		}
		kept := slices.DeleteFunc(items, func(item T) bool {
			key := keyOf(O(&item))
			if key.Name == "" || namespace != "" && key.Namespace != namespace || seen[key] {
				return true
			}
			seen[key] = true
			return false
		})
		reading.Dropped(resource, len(items)-len(kept))
		all, from = append(all, kept...), next
	}
	return all, nil
}
