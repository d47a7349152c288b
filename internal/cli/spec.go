package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// specFlags are a crawl's common settings. A nil field was not given.
type specFlags struct {
	Delay           *delayFlag      `group:"crawl" placeholder:"10s" help:"Least time between two requests to a host; auto is 1s to 10s, by how the host answers."`
	Factor          *float64        `group:"crawl" placeholder:"1" help:"That time is also at least FACTOR times the last request's duration; 0 is off."`
	Scope           *string         `group:"crawl" placeholder:"host" help:"Which links to follow, relative to the seeds: page, prefix, host, domain or any."`
	StripParam      []string        `group:"crawl" placeholder:"NAME" help:"Query parameter that addresses are kept without, such as 'utm_*'; can be repeated."`
	MaxDepth        *int            `group:"crawl" placeholder:"0" help:"Most links from a seed; 0 is unlimited."`
	MaxPages        *int            `group:"crawl" placeholder:"0" help:"Most pages in the collection; 0 is unlimited."`
	Window          *int            `group:"crawl" placeholder:"16" help:"Most new pages of a host that are tried at a time."`
	Policy          *string         `group:"crawl" placeholder:"sqrt" help:"What plans the visits of pages: ${policies}."`
	Budget          *string         `group:"crawl" placeholder:"10000/day" help:"Visits per time that a budgeted policy plans; one per page and --default-interval otherwise."`
	DefaultInterval *crawl.Duration `group:"crawl" placeholder:"1d" help:"Time between visits of a page that nothing is known of, and the policies' round."`
	MinInterval     *crawl.Duration `group:"crawl" placeholder:"1h" help:"Least time between two visits of a page."`
	MaxInterval     *crawl.Duration `group:"crawl" placeholder:"120d" help:"Most time between two visits of a page."`
	TimeLimit       *crawl.Duration `group:"crawl" placeholder:"30s" help:"Most time that a request may take."`
	AllowNetwork    []string        `group:"crawl" placeholder:"CIDR" help:"Private network that may be crawled, such as 10.0.0.0/8; can be repeated."`
	Contact         *string         `group:"crawl" placeholder:"URL|MAIL" help:"How site owners reach you; needed beyond this machine (RECRAWL_CONTACT of the worker)."`
	Purpose         []crawl.Use     `group:"crawl" placeholder:"USE" help:"What the pages are for: search, ai-input, ai-train or archive; can be repeated. Pages that their sites reserve from it are excluded."`
	Search          bool            `group:"crawl" help:"Keep a search index of the pages, for starter search: a sink of the kind search."`
	MaintainEvery   *crawl.Duration `group:"crawl" placeholder:"10m" help:"Time between two passes of maintenance."`
}

// given reports whether any flag was.
func (f specFlags) given() bool { return !reflect.ValueOf(f).IsZero() }

// apply puts the flags that were given into a spec.
func (f specFlags) apply(s *crawl.Spec) {
	if f.Delay != nil {
		_ = s.Politeness.SetDelay(string(*f.Delay)) // it was read when it was given
	}
	set(&s.Politeness.Factor, f.Factor)
	set(&s.Scope.Type, f.Scope)
	set(&s.Scope.MaxDepth, f.MaxDepth)
	set(&s.Limits.MaxPages, f.MaxPages)
	set(&s.Limits.Window, f.Window)
	set(&s.Revisit.Policy, f.Policy)
	set(&s.Revisit.Budget, f.Budget)
	set(&s.Revisit.DefaultInterval, f.DefaultInterval)
	set(&s.Revisit.MinInterval, f.MinInterval)
	set(&s.Revisit.MaxInterval, f.MaxInterval)
	set(&s.Fetch.TimeLimit, f.TimeLimit)
	set(&s.Identity.Contact, f.Contact)
	set(&s.MaintainEvery, f.MaintainEvery)
	if f.Search {
		addSearch(s)
	}
	if f.StripParam != nil {
		s.URLs.StripParams = f.StripParam
	}
	if f.Purpose != nil {
		s.Purpose = f.Purpose
	}
	if f.AllowNetwork != nil {
		s.Fetch.AllowNetworks = f.AllowNetwork
	}
}

// addSearch adds the sink that keeps a search index, unless there is one.
func addSearch(s *crawl.Spec) {
	if _, _, there := s.SearchSink(); there {
		return
	}
	name := crawl.SinkSearch
	for s.Sinks[name].Kind != "" { // another kind's
		name += "-index"
	}
	sinks := map[string]crawl.SinkSpec{name: {Kind: crawl.SinkSearch}}
	maps.Copy(sinks, s.Sinks)
	s.Sinks = sinks
}

func set[T any](field *T, given *T) {
	if given != nil {
		*field = *given
	}
}

// withSeeds adds seeds that the spec does not have yet.
func withSeeds(spec crawl.Spec, seeds []string) crawl.Spec {
	spec.Seeds = slices.Clone(spec.Seeds)
	for _, seed := range seeds {
		if !slices.Contains(spec.Seeds, seed) {
			spec.Seeds = append(spec.Seeds, seed)
		}
	}
	return spec
}

// checkURLs reports which URL of the command line is none.
func checkURLs(urls []string) error {
	for _, u := range urls {
		if err := crawl.CheckSeed(u); err != nil {
			return usage(err)
		}
		if _, err := urlkey.Canonical(u); err != nil {
			return usagef("%q: %w", u, err)
		}
	}
	return nil
}

// maxSpecFile bounds how much of a spec file is read; a spec with 20 000 seeds fits.
const maxSpecFile = 4 << 20

// readSpec reads a spec file, YAML or JSON; "-" is standard input. Mistakes in
// it are a *crawl.SpecError that names the field.
func readSpec(path string, stdin io.Reader) (crawl.Spec, error) {
	text, err := readAll(path, stdin)
	if err != nil {
		return crawl.Spec{}, usagef("cannot read the spec: %w", err)
	}
	if !isJSON(text) {
		if text, err = yamlToJSON(text); err != nil {
			return crawl.Spec{}, usagef("%s: %w", path, err)
		}
	}
	spec, err := crawl.ParseWrittenSpec(text)
	if err != nil {
		return crawl.Spec{}, usagef("%s: %w", path, err)
	}
	return spec, nil
}

func readAll(path string, stdin io.Reader) ([]byte, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxSpecFile+1))
	if err == nil && len(text) > maxSpecFile {
		err = fmt.Errorf("%s is larger than %s", path, crawl.Size(maxSpecFile))
	}
	return text, err
}

// isJSON distinguishes JSON from YAML. JSON goes to its own parser, since YAML
// refuses tabs that JSON allows.
func isJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// yamlToJSON decodes YAML into plain values and encodes them as JSON, so that
// one parser checks both.
func yamlToJSON(text []byte) ([]byte, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var value any
	if err := dec.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil // an empty file: ParseSpec reports what is missing
		}
		return nil, fmt.Errorf("not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document: a file holds one spec")
	}
	data, err := json.Marshal(value)
	var odd *json.UnsupportedValueError
	switch {
	case errors.As(err, &odd):
		return nil, &crawl.SpecError{Field: oddNumber(value, ""), Problem: odd.Str + " is not a number"}
	case err != nil:
		return nil, errors.New("not a spec: the keys of a spec are texts")
	}
	return data, nil
}

// oddNumber is the path of a number that YAML has and JSON lacks; "" if there is none.
func oddNumber(value any, path string) string {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return path
		}
	case []any:
		for i, element := range v {
			if found := oddNumber(element, fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found := oddNumber(v[name], strings.TrimPrefix(path+"."+name, ".")); found != "" {
				return found
			}
		}
	}
	return ""
}
