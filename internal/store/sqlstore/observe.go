package sqlstore

import "context"

// Transaction is a kind of transaction.
type Transaction int

// The kinds of transactions.
const (
	Reading Transaction = iota
	Writing
	WritingLazily
)

// Observer observes a store's use of its engine, to count it, log it or hold it up. Each
// function may be nil. They are called by the goroutine of the transaction, and by many at
// once.
type Observer struct {
	Began    func(Transaction)                             // once, even if the engine runs it again
	Asked    func(t Transaction, query string, args []any) // before a statement runs
	Returned func(Transaction)                             // a row
	Ended    func(Transaction)
}

// Observe wraps an engine. The engine's own additions (BEGIN, COMMIT, the clock) are not
// observed.
func Observe(e Engine, o Observer) Engine {
	if o.Began == nil {
		o.Began = func(Transaction) {}
	}
	if o.Asked == nil {
		o.Asked = func(Transaction, string, []any) {}
	}
	if o.Returned == nil {
		o.Returned = func(Transaction) {}
	}
	if o.Ended == nil {
		o.Ended = func(Transaction) {}
	}
	return &observedEngine{engine: e, o: o}
}

// observedEngine embeds no Engine: a new kind of transaction there cannot go
// unobserved.
type observedEngine struct {
	engine Engine
	o      Observer
}

func (e *observedEngine) Dialect() Dialect { return e.engine.Dialect() }

func (e *observedEngine) Read(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, Reading, e.engine.Read, fn)
}

func (e *observedEngine) Glance(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, Reading, e.engine.Glance, fn)
}

func (e *observedEngine) Write(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, Writing, e.engine.Write, fn)
}

func (e *observedEngine) WriteLazily(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, WritingLazily, e.engine.WriteLazily, fn)
}

func (e *observedEngine) run(ctx context.Context, kind Transaction, run func(context.Context, func(Tx) error) error, fn func(Tx) error) error {
	e.o.Began(kind)
	defer e.o.Ended(kind)
	return run(ctx, func(tx Tx) error { return fn(observedTx{tx, kind, e.o}) })
}

func (e *observedEngine) Watch(page int64) (<-chan struct{}, func()) { return e.engine.Watch(page) }

func (e *observedEngine) Settled(ctx context.Context) (Settled, error) { return e.engine.Settled(ctx) }

func (e *observedEngine) Erase(ctx context.Context, rewrite bool, tables []string) error {
	return e.engine.Erase(ctx, rewrite, tables)
}

func (e *observedEngine) Close() error { return e.engine.Close() }

type observedTx struct {
	tx   Tx
	kind Transaction
	o    Observer
}

func (t observedTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	t.o.Asked(t.kind, query, args)
	return t.tx.Exec(ctx, query, args...)
}

func (t observedTx) Query(ctx context.Context, query string, args []any, scan func(Row) error) error {
	t.o.Asked(t.kind, query, args)
	return t.tx.Query(ctx, query, args, func(row Row) error {
		t.o.Returned(t.kind)
		return scan(row)
	})
}

func (t observedTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	t.o.Asked(t.kind, query, args)
	t.o.Returned(t.kind)
	return t.tx.QueryRow(ctx, query, args, dest...)
}

func (t observedTx) Now(ctx context.Context) (int64, error) { return t.tx.Now(ctx) }

func (t observedTx) Wake(page int64) { t.tx.Wake(page) }
