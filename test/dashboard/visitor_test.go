// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// visitor is a browser that has the page open, and asks as the page does: for a stream, and for one autoscaler, again whenever its line
// changes, and every 10 s.
type visitor struct {
	name, token string
	// address is that of the page; it ends with a slash.
	address string
	client  *http.Client

	mu       sync.Mutex
	may      []string // the names that may be in any answer
	rows     map[string]int32
	messages int
	loaded   bool
	notices  []string
	news     chan struct{} // closed at the next message
	visits   int           // how often the page was another
	asked    int           // how often for an autoscaler
	faults   []error
	end      context.CancelFunc
	ended    chan struct{}
}

// theirs are all that tell whose something is.
var theirs = regexp.MustCompile(`team-\d\d|` + crowd)

func newVisitor(name, token string, may ...string) *visitor {
	return &visitor{name: name, token: token, may: may, client: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, // as browsers do
	}}}
}

// fault notes what is wrong, which is told at the end.
func (v *visitor) fault(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = append(v.faults, fmt.Errorf(v.name+": "+format, args...))
}

// judge holds an answer to have no names of others.
func (v *visitor) judge(what, text string) {
	for _, name := range theirs.FindAllString(text, -1) {
		if !slices.Contains(v.may, name) {
			v.fault("%s tells of %s: %.500s", what, name, text)
			return
		}
	}
}

func (v *visitor) do(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.address+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	return v.client.Do(r)
}

// get asks for a path, and judges the answer.
func (v *visitor) get(ctx context.Context, path string, query ...string) (code int, text []byte, err error) {
	for i := 0; i < len(query); i += 2 {
		path += map[bool]string{true: "?", false: "&"}[i == 0] + query[i] + "=" + url.QueryEscape(query[i+1])
	}
	answer, err := v.do(ctx, path)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return 0, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	v.judge(path, string(text))
	if answer.StatusCode >= http.StatusInternalServerError {
		v.fault("%s: %s %s", path, answer.Status, text)
	}
	return answer.StatusCode, text, nil
}

// open opens the page at an address, and follows it until leave.
func (v *visitor) open(ctx context.Context, address string) error {
	if v.address != address {
		v.visits++
	}
	v.address, v.rows, v.loaded, v.messages, v.news, v.ended = address, map[string]int32{}, false, 0, make(chan struct{}), make(chan struct{})
	if code, _, err := v.get(ctx, ""); code != http.StatusOK {
		return fmt.Errorf("%s: the page: %d %w", v.name, code, err)
	}
	ctx, v.end = context.WithCancel(ctx)
	answer, err := v.do(ctx, "stream")
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%s: the stream: %s %s", v.name, answer.Status, text)
	}
	go func() {
		defer close(v.ended)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				v.take(data)
			}
		}
		if ctx.Err() == nil {
			v.fault("the stream has ended: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))
		}
	}()
	return nil
}

// leave closes the page.
func (v *visitor) leave() {
	v.end()
	<-v.ended
}

// goneAmid leaves while an autoscaler is being asked for.
func (v *visitor) goneAmid(ctx context.Context, id string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v.asked++
	_, _, _ = v.get(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{ // nobody waits for the answer
		WroteRequest: func(httptrace.WroteRequestInfo) { cancel() },
	}), "autoscaler", "id", id)
	v.leave()
}

// take takes in a message.
func (v *visitor) take(data string) {
	v.judge("the stream", data)
	var m struct {
		Loading     []string
		Notices     []struct{ About string }
		Autoscalers []struct {
			ID  string
			Max int32
		}
		GoneAutoscalers []string
	}
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		v.fault("a message: %w", err)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range m.Autoscalers {
		v.rows[a.ID] = a.Max
	}
	for _, id := range m.GoneAutoscalers {
		delete(v.rows, id)
	}
	v.loaded, v.notices = len(m.Loading) == 0, nil
	for _, n := range m.Notices {
		v.notices = append(v.notices, n.About)
	}
	v.messages++
	close(v.news)
	v.news = make(chan struct{})
}

// sees waits until what the page has been told is so.
func (v *visitor) sees(ctx context.Context, what string, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		v.mu.Lock()
		done, news, rows := so(), v.news, fmt.Sprint(v.rows, v.notices)
		v.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("%s does not see %s: %s: %w", v.name, what, rows, context.Cause(ctx))
		}
	}
}

// shown is the page of an autoscaler.
type shown struct {
	ID     string
	Max    int32
	Series struct {
		At  []int64
		Max []*int32
	}
	Recorded *struct {
		Decisions int
		To        int64
	}
	Reading                      bool
	RecordTrouble, EventsTrouble string
}

// asks asks for the page of an autoscaler, as who may read it.
func (v *visitor) asks(ctx context.Context, id string) (is shown, err error) {
	v.mu.Lock()
	v.asked++
	v.mu.Unlock()
	code, text, err := v.get(ctx, "autoscaler", "id", id)
	if err != nil {
		return is, err
	}
	if code != http.StatusOK {
		return is, fmt.Errorf("%s: %s: %d %s", v.name, id, code, text)
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return is, err
	}
	if is.ID != id || is.RecordTrouble != "" || is.EventsTrouble != "" {
		v.fault("%s is shown as %s, %q, %q", id, is.ID, is.RecordTrouble, is.EventsTrouble)
	}
	return is, nil
}
