// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/transport"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/series"
)

// Bounds of what a Prometheus is asked, and answers.
const (
	// queryTimeout bounds one query.
	queryTimeout = time.Minute
	// mostPoints is how many times one query is of: a Prometheus refuses more than 11,000.
	mostPoints = 10_000
	// mostMoments is how many times all queries are of: those of four weeks, at one in a minute.
	mostMoments = 50_000
	// mostWarnings is how many of its warnings are printed, and mostRefusal how much of each, and of what it refuses, in bytes.
	mostWarnings, mostRefusal = 10, 300
	// mostAnswer is of one answer, in bytes, and mostSeries how many series it may have.
	mostAnswer, mostSeries = 128 << 20, 5_000
	// mostToken is of a file with a token, in bytes.
	mostToken = 64 << 10
)

// Prometheus says where one is, or what speaks its API.
type Prometheus struct {
	// URL is its base; empty: none is asked.
	URL string
	// Step is the time between two decisions that are read.
	Step time.Duration
	// Match are more label matchers, as PromQL has them between braces; empty: none.
	Match string
	// Tenant is what Mimir and Thanos are asked for; empty: nobody.
	Tenant string
	// TokenFile has the bearer token that is sent, and CAFile the authorities that it is trusted by; empty: none, and those of the system.
	TokenFile, CAFile string
}

func (p *Prometheus) validate(since time.Duration) error {
	at, err := url.Parse(p.URL)
	switch {
	case err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil ||
		at.RawQuery != "":
		return errors.New("--from-prometheus: must be the base URL of a Prometheus, such as http://127.0.0.1:9090 with kubectl port-forward, " +
			"without a user, password and query")
	case p.Step < time.Second:
		return fmt.Errorf("--step: must be 1s or more, got %v", p.Step)
	case since <= 0:
		return errors.New("--since: say how far back to go, such as 168h")
	case since/p.Step >= mostMoments:
		return fmt.Errorf("--since %v, --step %v: that is more than %d times; give a larger --step or a shorter --since", since, p.Step,
			mostMoments)
	}
	return nil
}

// past is what a Prometheus has of an autoscaler.
type past struct {
	moments []series.Moment
	// names are those of the metrics of which there are series.
	names map[model.LabelValue]bool
}

// partial is why an answer is not taken that its sender warns of: what an engine warns of where nothing is computed is series that it could
// not read.
func partial(warnings []string) error {
	var all []string
	for _, w := range warnings[:min(len(warnings), mostWarnings)] {
		all = append(all, fleet.PrintableLine(w, mostRefusal))
	}
	return fmt.Errorf("the past may not be whole, as it warns: %s: %s", strings.Join(all, "; "), askLater)
}

// past asks for what the series of an autoscaler say of a time.
func (p *Prometheus) past(ctx context.Context, of recording.Object, since, until time.Time) (*past, error) {
	client, err := p.client()
	if err != nil {
		return nil, err
	}
	query := p.query(of)
	all := &past{names: map[model.LabelValue]bool{}}
	for _, part := range parts(since, until, p.Step) {
		matrix, err := p.ask(ctx, client, query, part)
		if err != nil {
			return nil, err
		}
		all.moments = append(all.moments, series.Moments(matrix)...)
		for _, s := range matrix {
			all.names[s.Metric[model.MetricNameLabel]] = true
		}
	}
	return all, nil
}

// query selects the series of an object: those with its namespace, and those of which the label namespace is the target's own, as a scraper
// without honor_labels has it.
func (p *Prometheus) query(of recording.Object) string {
	matchers := fmt.Sprintf("__name__=~%q,name=%q", strings.Join(series.Names(), "|"), of.Name)
	if p.Match != "" {
		matchers += "," + p.Match
	}
	return fmt.Sprintf(`{%[1]s,namespace=%[2]q,exported_namespace=""} or {%[1]s,exported_namespace=%[2]q}`, matchers, of.Namespace)
}

// parts are the ranges that one query each is of. Their ends are not of the next.
func parts(since, until time.Time, step time.Duration) (all []promv1.Range) {
	since = since.Truncate(step) // the same times whenever it is asked, so that what caches answers can
	for !since.After(until) {
		end := since.Add((mostPoints - 1) * step)
		if end.After(until) {
			end = until
		}
		all = append(all, promv1.Range{Start: since, End: end, Step: step})
		since = end.Add(step)
	}
	return all
}

func (p *Prometheus) ask(ctx context.Context, client promv1.API, query string, of promv1.Range) (model.Matrix, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	value, warnings, err := client.QueryRange(ctx, query, of, promv1.WithTimeout(queryTimeout))
	fail := func(why error) (model.Matrix, error) {
		return nil, fmt.Errorf("asking %s for %s from %s to %s: %w", p.URL, query, of.Start.UTC().Format(time.RFC3339),
			of.End.UTC().Format(time.RFC3339), why)
	}
	if err != nil {
		return fail(refusal(err))
	}
	matrix, is := value.(model.Matrix)
	switch {
	case len(warnings) > 0:
		return fail(partial(warnings))
	case !is:
		return fail(errors.New("the answer is no matrix: " + isBase))
	case len(matrix) > mostSeries:
		return fail(fmt.Errorf("the answer has %d series, and not %d at most: if it has those of several hubs, give --prometheus-match",
			len(matrix), mostSeries))
	}
	return matrix, nil
}

// What to do about what went wrong.
const (
	askLess  = "give a larger --step or a shorter --since"
	askLater = "ask again when all that it reads from is up"
	isBase   = "--from-prometheus must be the base URL of a Prometheus, without /api/v1"
)

// refusal says what went wrong, and what to do.
func refusal(err error) error {
	var of *promv1.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v: %s", queryTimeout, askLess)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("the answer has more than %d bytes: %s", mostAnswer, askLess)
	case errors.As(err, &certificate):
		return fmt.Errorf("%s: --prometheus-ca-file must have the authority of its certificate, and the URL a name in it",
			fleet.PrintableLine(certificate.Error(), mostRefusal))
	case !errors.As(err, &of):
		return fmt.Errorf("%s: is it reachable from here, as by kubectl port-forward?", fleet.PrintableLine(err.Error(), mostRefusal))
	}
	kind, said := reasonOf(of)
	return fmt.Errorf("%s: %s", fleet.PrintableLine(said, mostRefusal), adviceOn(of, kind, said))
}

// reasonOf is what was refused and why, which the client reads of the codes 400 and 422 only.
func reasonOf(of *promv1.Error) (kind promv1.ErrorType, said string) {
	var body struct {
		ErrorType promv1.ErrorType `json:"errorType"`
		Error     string           `json:"error"`
	}
	if json.Unmarshal([]byte(of.Detail), &body) == nil && body.ErrorType != "" {
		return body.ErrorType, string(body.ErrorType) + ": " + body.Error
	}
	return of.Type, strings.TrimSpace(string(of.Type) + ": " + of.Msg + " " + of.Detail)
}

// Words of refusals: of matchers that cannot be read, and by which less is to be asked for, such as of 11,000 points, of samples in memory,
// or of a range that is too long.
var (
	unreadable = regexp.MustCompile(`parse error|cannot parse`)
	tooMuch    = regexp.MustCompile(`(?i)exceed|too (many|much|large|long)|limit|timed? ?out`)
)

func adviceOn(of *promv1.Error, kind promv1.ErrorType, said string) string {
	client := of.Type == promv1.ErrClient
	switch {
	case client && (of.Msg == "client error: 401" || of.Msg == "client error: 403"):
		return "give --prometheus-token-file, or to Mimir or Thanos --prometheus-tenant"
	case client && of.Msg == "client error: 429":
		return "it is asked for too much at present; ask again later"
	case client || kind == promv1.ErrBadResponse:
		return isBase
	case unreadable.MatchString(said):
		return "--prometheus-match must be label matchers, such as hub=\"eu\""
	case kind == promv1.ErrTimeout || tooMuch.MatchString(said):
		return askLess
	}
	return askLater + "; if it is, " + askLess
}

// client asks over a transport of its own: what is sent to the hub is not sent here.
func (p *Prometheus) client() (promv1.API, error) {
	config := &transport.Config{}
	if p.CAFile != "" {
		config.TLS.CAFile = p.CAFile
	}
	if p.TokenFile != "" {
		token, err := tokenIn(p.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("--prometheus-token-file: %w", err)
		}
		config.BearerToken = token
	}
	via, err := transport.New(config)
	if err != nil {
		return nil, fmt.Errorf("--prometheus-ca-file: %w", err)
	}
	client, err := api.NewClient(api.Config{Address: p.URL, Client: &http.Client{
		Transport:     bounded{via, p.Tenant, p.Step, mostAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // where nobody said to send a token
	}})
	if err != nil {
		return nil, fmt.Errorf("--from-prometheus: %w", err)
	}
	return promv1.NewAPI(client), nil
}

func tokenIn(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	token, err := io.ReadAll(io.LimitReader(file, mostToken))
	return strings.TrimSpace(string(token)), err
}

var errTooLarge = errors.New("the answer is too large")

// whole has those who may answer with a part refuse instead: Thanos, where a store is down, and VictoriaMetrics, where a vmstorage is. And
// it has Thanos read what was scraped, not means over five minutes or an hour, which are no decisions. Others do not read these.
var whole = map[string]string{"partial_response": "false", "deny_partial_response": "1", "max_source_resolution": "0"}

// lookback are the names of for how long a sample counts: to Prometheus and Thanos, and to VictoriaMetrics.
var lookback = []string{"lookback_delta", "max_lookback"}

// bounded asks for a tenant, and for whole answers of what was scraped within a step; it ends those that are too large.
type bounded struct {
	via    http.RoundTripper
	tenant string
	step   time.Duration
	most   int64
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	query := r.URL.Query()
	for name, value := range whole {
		query.Set(name, value)
	}
	for _, name := range lookback { // for five minutes otherwise, in which what was decided before would be decided again and again
		query.Set(name, strconv.FormatFloat(b.step.Seconds(), 'f', -1, 64))
	}
	r.URL.RawQuery = query.Encode()
	if b.tenant != "" {
		r.Header.Set("X-Scope-OrgID", b.tenant) // of Mimir
		r.Header.Set("THANOS-TENANT", b.tenant)
	}
	answer, err := b.via.RoundTrip(r)
	if err == nil {
		answer.Body = &limited{answer.Body, b.most}
	}
	return answer, err
}

type limited struct {
	io.ReadCloser

	left int64
}

func (l *limited) Read(into []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.ReadCloser.Read(into[:min(int64(len(into)), l.left)])
	l.left -= int64(n)
	return n, err
}
