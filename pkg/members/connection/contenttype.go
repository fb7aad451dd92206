// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// decodable are the formats that answers are decoded from.
var decodable = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}

// mostShown is how much of a content type is repeated.
const mostShown = 80

var errContentType error = fleet.Silencef(fleet.ReasonBadAnswer, "the answer was in a format that it was not asked for in")

// asked returns why an answer is not to be read: it is in another format than it was asked for in. What no API server has said, but
// perhaps a proxy before it, is text, and no offence. Errors are in any format: they are decoded if they can be, and cut if not.
func (i *intake) asked(req *http.Request, resp *http.Response) error {
	said := resp.Header.Get("Content-Type")
	if resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices || said == "" { // that is taken for JSON
		return nil
	}
	media, _, err := mime.ParseMediaType(said)
	if err == nil && slices.Contains(decodable, media) && accepts(req, media) {
		return nil
	}
	if !strings.HasPrefix(media, "text/") {
		_ = i.offended(offenceContentType, errContentType)
	}
	return fleet.Silencef(fleet.ReasonBadAnswer,
		"the answer is %q, for which it was not asked: is the address that of a Kubernetes API server?",
		said[:min(len(said), mostShown)])
}

func accepts(req *http.Request, media string) bool {
	for _, accept := range req.Header.Values("Accept") {
		for one := range strings.SplitSeq(accept, ",") {
			if one, _, _ = strings.Cut(one, ";"); strings.TrimSpace(one) == media || strings.TrimSpace(one) == "*/*" {
				return true
			}
		}
	}
	return len(req.Header.Values("Accept")) == 0
}
