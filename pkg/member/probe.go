// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const (
	// identityPath is what a probe asks for: it needs authentication and one
	// right, and its uid is the cluster's identity.
	identityPath = "/api/v1/namespaces/kube-system"
	// nestedPath is answered by fleetscale itself where it serves metrics.
	nestedPath = "/apis/metrics.k8s.io/v1beta1"

	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	// mostProbeBytes bounds what a probe reads of an answer.
	mostProbeBytes = 1 << 20
)

// identify asks the cluster who it is.
func (c *connection) identify(ctx context.Context) (types.UID, *fleet.Silence) {
	body, code, err := c.get(ctx, identityPath)
	if err != nil {
		silence, _ := fleet.Classify(err)
		return "", brief(silence)
	}
	if code != http.StatusOK {
		return "", silenceOfCode(code)
	}
	var namespace struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &namespace) != nil || namespace.Metadata.UID == "" {
		return "", silencef(fleet.ReasonBadAnswer, "the answer to GET %s is no namespace with a uid: is the address that of a Kubernetes API server?", identityPath)
	}
	return namespace.Metadata.UID, nil
}

// silenceOfCode has words of our own: what the server says may be long, may
// change each time, and may repeat what it was sent.
func silenceOfCode(code int) *fleet.Silence {
	switch code {
	case http.StatusUnauthorized:
		return silencef(fleet.ReasonForbidden, "401 to GET %s: the cluster does not accept the registration's token or certificate; it may have expired", identityPath)
	case http.StatusForbidden:
		return silencef(fleet.ReasonForbidden, "403 to GET %s: the registration's identity lacks rights in the cluster; grant those of deploy/member", identityPath)
	case http.StatusNotFound:
		return silencef(fleet.ReasonBadAnswer, "404 to GET %s: is the address that of a Kubernetes API server?", identityPath)
	case http.StatusTooManyRequests:
		return silencef(fleet.ReasonRateLimited, "429 to GET %s: the API server has too many requests", identityPath)
	}
	reason := fleet.ReasonBadAnswer
	if code >= http.StatusInternalServerError {
		reason = fleet.ReasonServerError
	}
	return silencef(reason, "%d to GET %s", code, identityPath)
}

// checkNested finds out whether the cluster is served by fleetscale. Only an
// answer settles it: a failure leaves the matter as it was.
func (c *connection) checkNested(ctx context.Context) *fleet.Silence {
	path := nestedPath
	if seen := c.wire.nestedAt.Load(); seen != nil {
		path = *seen
	}
	_, _, err := c.get(ctx, path)
	var silence *fleet.Silence
	if errors.As(err, &silence) && silence.Reason == ReasonNestedHub {
		return silence
	}
	if err == nil {
		c.wire.nestedAt.Store(nil)
	}
	return nil
}

// get asks for one small document, past the callers' limit.
func (c *connection) get(ctx context.Context, path string) (body []byte, code int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("asking for %s: %w", path, err)
	}
	req.Header.Set("Accept", acceptMetadata)
	sent := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	c.wire.meter.observeClock(resp.Header, sent, time.Now())
	body, err = io.ReadAll(io.LimitReader(resp.Body, mostProbeBytes))
	return body, resp.StatusCode, err
}

// mostDetail bounds the words of others that we repeat.
const mostDetail = 300

func brief(s *fleet.Silence) *fleet.Silence {
	if runes := []rune(s.Detail); len(runes) > mostDetail {
		return &fleet.Silence{Reason: s.Reason, Detail: string(runes[:mostDetail]) + "…"}
	}
	return s
}
