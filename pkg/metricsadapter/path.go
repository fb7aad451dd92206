// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// checkPath refuses a question to members whose path, after the API's version,
// is not the one in which the hub was asked. RBAC was asked about that one, and
// members do not ask again: they are asked with an identity that may read
// everything. The library reads some paths otherwise than RBAC, for instance
// those with an empty name, or with namespaces or metrics as the resource.
func checkPath(ctx context.Context, members []string) error {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errors.New("the path that RBAC has authorized is not known"))
	}
	if err := checkSegments(members); err != nil {
		return err
	}
	path := "/" + strings.Join(slices.Concat([]string{info.APIPrefix, info.APIGroup, info.APIVersion}, members), "/")
	if path != strings.TrimSuffix(info.Path, "/") {
		return apierrors.NewBadRequest(fmt.Sprintf("%s is not the path of a metric; request %s", info.Path, path))
	}
	return nil
}

// checkSegments refuses what would not stay one segment of a member's URL.
func checkSegments(segments []string) error {
	for _, segment := range segments {
		if segment == "" {
			return apierrors.NewBadRequest("the path has an empty segment; it names a metric, and where there is one a namespace")
		}
		if faults := content.IsPathSegmentName(segment); len(faults) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("%q in the path: %s", segment, faults[0]))
		}
	}
	return nil
}
