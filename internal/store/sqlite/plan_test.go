package sqlite

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

// recorder remembers every query with some arguments.
type recorder struct {
	mu      sync.Mutex
	queries map[string][]any
}

func (r *recorder) asked(_ sqlstore.Transaction, query string, args []any) { r.record(query, args) }

func (r *recorder) record(query string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queries[query] = args
}

// smallTables may be scanned: their rows are few in any store. "sub-query" is
// the result of one, whose own steps are checked too.
var smallTables = map[string]bool{
	"crawls": true, "rest": true, "recrawl_migrations": true, "owner": true, "workers": true, "crawl_care": true, "imports": true, "admission_bound": true, "sinks": true, "json_each": true, "sub-query": true, "CONSTANT": true,
}

// mustUse are the indexes of queries for which another index would do, but slowly: its
// entries are all of a crawl's living pages.
var mustUse = map[string]string{
	"ORDER BY f.page_id DESC LIMIT": "frontier_seeds", "f.attempted = 0 AND f.priority = 0 LIMIT $2": "frontier_new_seeds",
	"f.admission = $2":                   "frontier_admission",
	"f.attempted = 0 AND f.page_id > $2": "frontier_admission",
}

var (
	scanned  = regexp.MustCompile(`^SCAN (\S+)`)
	bySeq    = regexp.MustCompile(`(\w+)\.seq = `)
	aliasing = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?`)
)

// TestCollection runs the conformance suite once for several checks: each promise is
// kept, all delta counts are right afterwards, and no query of the store reads a
// table, or an index, from end to end, according to SQLite's query plan.
func TestCollection(t *testing.T) {
	r := &recorder{queries: map[string][]any{}}
	t.Run("Promises", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return openRecorded(t, r) })
	})
	t.Run("NoQueryScansATable", func(t *testing.T) { checkPlans(t, r) })
}

func TestCollectionAtOnce(t *testing.T) { storetest.RunAtOnce(t, openAudited) }

// openRecorded opens an empty store that is audited after the test, when the recorder
// gets the queries that it sent.
func openRecorded(t *testing.T, r *recorder) store.Store {
	t.Helper()
	e := openEmpty(t)
	one := &recorder{queries: map[string][]any{}}
	t.Cleanup(func() {
		for query, args := range one.queries {
			r.record(query, args)
		}
		audit(t, e)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: one.asked}), sqlstore.Options{})
}

// checkPlans asks SQLite how it would run each query: with a million pages, none may
// read a table, or an index, from end to end.
func checkPlans(t *testing.T, r *recorder) {
	e := testEngine(t)
	for query, args := range r.queries {
		for _, step := range plan(t, e, query, args) {
			m := scanned.FindStringSubmatch(step)
			if m != nil && !smallTables[tableOf(query, m[1])] {
				t.Errorf("%s\nin\n%s", step, query)
			}
			for fragment, index := range mustUse {
				if strings.Contains(query, fragment) && strings.HasPrefix(step, "SEARCH f ") && !strings.Contains(step, index) {
					t.Errorf("not by %s: %s\nin\n%s", index, step, query)
				}
			}
			// Without statistics SQLite takes this index of a crawl's pages for a narrow one.
			if strings.Contains(step, "frontier_state (crawl_id=? AND state>") {
				t.Errorf("all living pages of a crawl: %s\nin\n%s", step, query)
			}
			// A page may have tens of thousands of versions: each is found by its number.
			for _, m := range bySeq.FindAllStringSubmatch(query, -1) {
				if strings.HasPrefix(step, "SEARCH "+m[1]+" ") && !strings.Contains(step, "seq=?") {
					t.Errorf("all versions of a page: %s\nin\n%s", step, query)
				}
			}
			// Pages are written by their ids, not looked for among all of a crawl.
			if strings.HasPrefix(query, "UPDATE frontier") && strings.HasPrefix(step, "SEARCH frontier") && !strings.Contains(step, "PRIMARY KEY") {
				t.Errorf("%s\nin\n%s", step, query)
			}
		}
	}
	for fragment := range mustUse {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.queries)), func(q string) bool { return strings.Contains(q, fragment) }) {
			t.Errorf("no query with %s was taken down", fragment)
		}
	}
	if len(r.queries) < 60 {
		t.Errorf("only %d queries were taken down", len(r.queries))
	}
}

// TestVersionsAreFoundByNumber: neither the view of changes nor a part of the list of a
// page's versions reads all of these.
func TestVersionsAreFoundByNumber(t *testing.T) {
	t.Parallel()
	e := testEngine(t)
	r := &recorder{queries: map[string][]any{"SELECT * FROM recrawl_changes WHERE id > $1": {1}}}
	s := sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: r.asked}), sqlstore.Options{})
	for _, before := range []int{0, 1000} {
		if _, err := s.ListVersions(t.Context(), 1, before, 20); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.queries) != 3 {
		t.Fatalf("%d queries", len(r.queries))
	}
	for query, args := range r.queries {
		steps := strings.Join(plan(t, e, query, args), "\n")
		newest := strings.Contains(query, "ORDER BY v.visit")
		if strings.Contains(steps, "TEMP B-TREE") || !newest && !strings.Contains(steps, "versions_seq") {
			t.Errorf("%s\nin\n%s", steps, query)
		}
	}
}

// plan is SQLite's query plan, step by step.
func plan(t *testing.T, e *engine, query string, args []any) []string {
	t.Helper()
	var steps []string
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		return tx.Query(t.Context(), "EXPLAIN QUERY PLAN "+query, args, func(row sqlstore.Row) error {
			var id, parent, unused int
			var step string
			err := row.Scan(&id, &parent, &unused, &step)
			steps = append(steps, step)
			return err
		})
	})
	if err != nil {
		t.Fatalf("%v in\n%s", err, query)
	}
	return steps
}

// tableOf is the table behind an alias of a query.
func tableOf(query, alias string) string {
	for _, m := range aliasing.FindAllStringSubmatch(query, -1) {
		if m[1] == alias || m[2] == alias {
			return m[1]
		}
	}
	// SQLite names those without a name, as of a window, itself.
	if strings.HasPrefix(alias, "(subquery-") || regexp.MustCompile(`\) (AS )?`+alias+`\b`).MatchString(query) {
		return "sub-query"
	}
	return alias
}
