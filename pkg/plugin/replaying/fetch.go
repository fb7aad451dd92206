// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// fetchTimeout bounds a request for a record, which may be large.
const fetchTimeout = 5 * time.Minute

// mostRefusal is how much is shown of what is answered in place of a record, in bytes.
const mostRefusal = 300

// RecordOptions are those of `record`.
type RecordOptions struct {
	// Words name an object: TYPE/NAME. None: all objects of all namespaces.
	Words []string
	// From is where a controller-manager serves its record.
	From string
	// Since is how far back the record goes; 0: as far as there is one.
	Since time.Duration
	// File is where it is written to; -: Out.
	File string
}

// Record writes a record of decisions to a file.
func Record(ctx context.Context, caller *plugin.Caller, o RecordOptions) error {
	var object recording.Object
	if len(o.Words) > 0 {
		var err error
		if object, err = named(caller, o.Words); err != nil {
			return err
		}
	}
	body, err := fetch(ctx, o.From, object, o.Since)
	if err != nil {
		return err
	}
	defer body.Close()
	if o.File == "-" {
		_, err := io.Copy(caller.Out, body)
		return whole(err)
	}
	file, err := os.CreateTemp(dirOf(o.File), ".record-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // nothing is left of half a record
	n, err := io.Copy(file, body)
	if err = whole(err); err == nil {
		err = file.Close()
	}
	if err != nil {
		return err
	}
	if err := os.Rename(file.Name(), o.File); err != nil {
		return err
	}
	_, err = fmt.Fprintf(caller.ErrOut, "%d bytes written to %s\n", n, o.File)
	return err
}

func whole(err error) error {
	if err != nil {
		return fmt.Errorf("the record did not come whole: %w", err)
	}
	return nil
}

func dirOf(file string) string {
	if i := strings.LastIndexByte(file, os.PathSeparator); i >= 0 {
		return file[:i+1]
	}
	return "."
}

// fetch asks a controller-manager for the record of an object; an empty one stands for all.
func fetch(ctx context.Context, from string, object recording.Object, since time.Duration) (io.ReadCloser, error) {
	at, valid := plugin.ForwardedAt(from)
	if !valid {
		return nil, fmt.Errorf("--from: must be the address of a controller-manager with --record-bind-address, such as "+
			"http://127.0.0.1:8083 with kubectl port-forward; got %q", from)
	}
	query := url.Values{}
	if object.Name != "" {
		query.Set("namespace", object.Namespace)
		query.Set("name", object.Name)
	}
	if since > 0 {
		query.Set("since", time.Now().Add(-since).UTC().Format(time.RFC3339))
	}
	answer, err := at.Get(ctx, fetchTimeout, query, recordstore.Path)
	if err != nil {
		return nil, fmt.Errorf("asking for the record: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, mostRefusal))
		return nil, fmt.Errorf("asking for the record: %s: %s", answer.Status, fleet.PrintableLine(string(text), mostRefusal))
	}
	return answer.Body, nil
}
