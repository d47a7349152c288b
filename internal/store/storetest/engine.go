package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"recrawl/internal/store/sqlstore"
)

const (
	addHost   = "INSERT INTO hosts (host) VALUES ($1)"
	hostNames = "SELECT host FROM hosts WHERE id > $1 ORDER BY host"
)

// RunEngine tests what package sqlstore expects of the statements of an engine. open returns
// one on an empty store.
func RunEngine(t *testing.T, open func(t *testing.T) sqlstore.Engine) {
	each(t, open, map[string]func(*testing.T, sqlstore.Engine){
		"queued statements are committed":      queuedIsCommitted,
		"queued statements are seen":           queuedIsSeen,
		"queued statements go with their own":  queuedIsUndone,
		"a queued statement fails":             queuedFails,
		"a pipeline goes in order":             pipelineInOrder,
		"a pipeline ends at its first failure": pipelineEnds,
	})
}

// wantHosts checks which hosts there are.
func wantHosts(t *testing.T, e sqlstore.Engine, want ...string) {
	t.Helper()
	var names []string
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
		names = nil
		return tx.Query(t.Context(), hostNames, []any{0}, intoList(&names))
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, want) {
		t.Errorf("hosts %v, want %v", names, want)
	}
}

func intoList(names *[]string) func(sqlstore.Row) error {
	return func(row sqlstore.Row) error {
		var name string
		err := row.Scan(&name)
		*names = append(*names, name)
		return err
	}
}

func queue(ctx context.Context, tx sqlstore.Tx, hosts ...string) error {
	for _, host := range hosts {
		if err := tx.Queue(ctx, addHost, host); err != nil {
			return err
		}
	}
	return nil
}

func queuedIsCommitted(t *testing.T, e sqlstore.Engine) {
	if err := e.Write(t.Context(), func(sqlstore.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	wantHosts(t, e)
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return queue(t.Context(), tx, "a", "b") }); err != nil {
		t.Fatal(err)
	}
	if err := e.WriteLazily(t.Context(), func(tx sqlstore.Tx) error { return queue(t.Context(), tx, "c") }); err != nil {
		t.Fatal(err)
	}
	wantHosts(t, e, "a", "b", "c")
}

func queuedIsSeen(t *testing.T, e sqlstore.Engine) {
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		var names []string
		var last string
		err := errors.Join(
			queue(t.Context(), tx, "a"), tx.Query(t.Context(), hostNames, []any{0}, intoList(&names)),
			queue(t.Context(), tx, "b"), tx.QueryRow(t.Context(), "SELECT MAX(host) FROM hosts WHERE id > $1", []any{0}, &last),
			queue(t.Context(), tx, "c"),
		)
		n, updated := tx.Exec(t.Context(), "UPDATE hosts SET crawl_delay = $1", 1)
		if err == nil && (!slices.Equal(names, []string{"a"}) || last != "b" || n != 3) {
			t.Errorf("saw %v, then %q, then %d hosts", names, last, n)
		}
		return errors.Join(err, updated)
	})
	if err != nil {
		t.Fatal(err)
	}
	wantHosts(t, e, "a", "b", "c")
}

func queuedIsUndone(t *testing.T, e sqlstore.Engine) {
	given := errors.New("given up")
	for _, answered := range []bool{false, true} {
		err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
			var err error
			if answered {
				_, err = tx.Now(t.Context())
			}
			return errors.Join(err, queue(t.Context(), tx, "a"), given)
		})
		if !errors.Is(err, given) {
			t.Errorf("error %v, want %v", err, given)
		}
	}
	wantHosts(t, e)
}

// queuedFails: the error is that of the statement, of the next one or of the commit.
func queuedFails(t *testing.T, e sqlstore.Engine) {
	for _, next := range []bool{false, true} {
		err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
			err := queue(t.Context(), tx, "a", "b", "a")
			if err == nil && next {
				_, err = tx.Exec(t.Context(), addHost, "c")
			}
			return err
		})
		if err == nil {
			t.Error("a host was added twice")
		}
	}
	wantHosts(t, e)
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return queue(t.Context(), tx, "d") }); err != nil {
		t.Errorf("after a failure: %v", err)
	}
	wantHosts(t, e, "d")
}

func pipelineInOrder(t *testing.T, e sqlstore.Engine) {
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		var added, names []string
		var before, after int64
		err := errors.Join(queue(t.Context(), tx, "a"), tx.Pipeline(
			t.Context(),
			sqlstore.Step{Clock: &before},
			sqlstore.Step{Query: addHost + " RETURNING host", Args: []any{"b"}, Scan: intoList(&added)},
			sqlstore.Step{Query: hostNames, Args: []any{0}, Scan: intoList(&names)},
			sqlstore.Step{Clock: &after},
		))
		if err == nil && (!slices.Equal(added, []string{"b"}) || !slices.Equal(names, []string{"a", "b"}) || before == 0 || after < before) {
			t.Errorf("added %v, saw %v, clock %d and %d", added, names, before, after)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantHosts(t, e, "a", "b")
}

func pipelineEnds(t *testing.T, e sqlstore.Engine) {
	unread := errors.New("unread")
	never := sqlstore.Step{Query: hostNames, Args: []any{0}, Scan: func(sqlstore.Row) error {
		t.Error("a step was heard after one that failed")
		return nil
	}}
	for _, fails := range []sqlstore.Step{
		{Query: hostNames, Args: []any{0}, Scan: func(sqlstore.Row) error { return unread }},
		{Query: addHost + " RETURNING host", Args: []any{"a"}, Scan: func(sqlstore.Row) error { return nil }},
	} {
		err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
			return errors.Join(queue(t.Context(), tx, "a"), tx.Pipeline(t.Context(), fails, never))
		})
		if err == nil {
			t.Error("a pipeline with a failure succeeded")
		}
	}
	wantHosts(t, e)
}
