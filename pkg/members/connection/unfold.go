// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"compress/gzip"
	"net/http"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// Metrics of Pods unfold to some twenty times their compressed bytes, and a list of nearly equal items to 150 times. An answer of
// metrics that unfolds further is given up once it has shown that, long before it has cost what the largest answer may. Objects are
// not judged so: a tenant of the cluster writes what is in them, and they are listed with those of others.
const (
	mostUnfolding = 200
	leastUnfolded = 4 << 20
)

// compressed is the request, asking for compression as net/http would: the wire unfolds answers itself, to count both sides.
func compressed(req *http.Request) *http.Request {
	if len(req.Header["Accept-Encoding"]) > 0 || len(req.Header["Range"]) > 0 || req.Method == http.MethodHead {
		return req
	}
	asking := *req
	asking.Header = req.Header.Clone()
	if asking.Header == nil {
		asking.Header = http.Header{}
	}
	asking.Header.Set("Accept-Encoding", "gzip")
	return &asking
}

// receive has the body of an answer of that class counted, and read uncompressed.
func (i *intake) receive(resp *http.Response, of ratelimit.Class) {
	i.chatter.answered(mostHeader)
	body := &answerBody{ReadCloser: resp.Body, chatter: &i.chatter}
	resp.Body = body
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	resp.Body = &unfolded{folded: body, intake: i, of: of}
}

// unfolded is a body that is uncompressed as it is read.
type unfolded struct {
	folded *answerBody
	reader *gzip.Reader // nil: nothing was read yet; not before, as what lasts may begin late
	intake *intake
	of     ratelimit.Class

	out int64
	err error // that ended it
}

func (u *unfolded) Read(p []byte) (n int, err error) {
	if u.err != nil {
		return 0, u.err
	}
	if u.reader == nil {
		if u.reader, u.err = gzip.NewReader(filled{u}); u.err != nil {
			return 0, u.err
		}
	}
	n, u.err = u.reader.Read(p)
	u.out += int64(n)
	metrics := u.of == ratelimit.Scraped || u.of == ratelimit.Relayed
	if metrics && u.out > leastUnfolded && u.out/mostUnfolding > u.folded.n {
		u.err = errHeavy
		if u.of == ratelimit.Scraped { // a tenant of the cluster has a part in what else it measures
			u.err = u.intake.offended(offenceTooHeavy, errHeavy)
		}
		return 0, u.err
	}
	return n, u.err
}

// filled is what is uncompressed. It may hold but little that unfolds to nothing, which all other bounds, of what was uncompressed,
// know nothing of: gzip makes nothing much larger.
type filled struct{ u *unfolded }

func (f filled) Read(p []byte) (int, error) {
	const mostEmpty = 1 << 20
	if f.u.folded.n > 2*f.u.out+mostEmpty {
		return 0, f.u.intake.misbehaved(offenceTooHeavy, errHeavy)
	}
	return f.u.folded.Read(p)
}

func (u *unfolded) Close() error { return u.folded.Close() }
