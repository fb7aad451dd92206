// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// MostAnswer bounds what is read of an answer, in bytes: of one object, that is months.
const MostAnswer = 64 << 20

// mostRefusal is how much is shown of what is answered in place of a record, in bytes.
const mostRefusal = 300

// ErrTooLong is of a record that has more than [MostAnswer] bytes.
var ErrTooLong = fmt.Errorf("the record is longer than %d MiB", MostAnswer>>20)

// Ask asks the store that is served at a URL for the record of an object from that time on; the zero time: for all that there is. The
// record that is returned ends with an error unless it is whole, and when ctx ends. Without TLS it is asked in plain text. What answers may
// be anything: no more than [MostAnswer] bytes are read of it, and it is followed nowhere.
func Ask(ctx context.Context, at *url.URL, config *tls.Config, object recording.Object, since time.Time) (io.ReadCloser, error) {
	query := url.Values{"namespace": {object.Namespace}, "name": {object.Name}}
	if object.Kind == recording.SizesKind {
		query.Set("type", object.Type())
	}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	at = at.JoinPath(Path)
	at.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the record: %w", err)
	}
	answer, err := (&http.Transport{
		TLSClientConfig: config, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: mostHeader,
	}).RoundTrip(request) // a client would follow redirects
	if err != nil {
		return nil, fmt.Errorf("asking for the record: %w", err)
	}
	if answer.StatusCode == http.StatusOK && answer.Header.Get("Content-Type") == contentType {
		return &bounded{answer.Body, MostAnswer}, nil
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, mostRefusal))
	return nil, fmt.Errorf("asking for the record: %d %s: %s", answer.StatusCode, http.StatusText(answer.StatusCode),
		fleet.PrintableLine(string(text), mostRefusal))
}

// bounded is what is read of an answer.
type bounded struct {
	io.ReadCloser

	left int64
}

func (b *bounded) Read(into []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLong
	}
	if b.left < int64(len(into)) {
		into = into[:b.left+1]
	}
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("reading the record: %w", err)
	}
	return n, err
}
