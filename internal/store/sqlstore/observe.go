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
	Awaited  func(Transaction)                             // before an answer, also of the clock and of COMMIT
	Returned func(Transaction)                             // a row
	Ended    func(Transaction)
}

// Observe wraps an engine. The engine's own statements (BEGIN, COMMIT, the clock) are not
// among those that are asked.
func Observe(e Engine, o Observer) Engine {
	if o.Began == nil {
		o.Began = func(Transaction) {}
	}
	if o.Asked == nil {
		o.Asked = func(Transaction, string, []any) {}
	}
	if o.Awaited == nil {
		o.Awaited = func(Transaction) {}
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
	return e.run(ctx, Reading, e.engine.Read, e.committed(Reading, fn))
}

func (e *observedEngine) Glance(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, Reading, e.engine.Glance, fn)
}

func (e *observedEngine) Write(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, Writing, e.engine.Write, e.committed(Writing, fn))
}

func (e *observedEngine) WriteLazily(ctx context.Context, fn func(Tx) error) error {
	return e.run(ctx, WritingLazily, e.engine.WriteLazily, e.committed(WritingLazily, fn))
}

// committed awaits the answer of COMMIT.
func (e *observedEngine) committed(kind Transaction, fn func(Tx) error) func(Tx) error {
	return func(tx Tx) error {
		err := fn(tx)
		if err == nil {
			e.o.Awaited(kind)
		}
		return err
	}
}

func (e *observedEngine) run(ctx context.Context, kind Transaction, run func(context.Context, func(Tx) error) error, fn func(Tx) error) error {
	e.o.Began(kind)
	defer e.o.Ended(kind)
	return run(ctx, func(tx Tx) error { return fn(observedTx{tx, kind, e.o}) })
}

func (e *observedEngine) Watch(page int64) (<-chan struct{}, func()) { return e.engine.Watch(page) }

func (e *observedEngine) Settled(ctx context.Context, table Ordered) (Settled, error) {
	return e.engine.Settled(ctx, table)
}

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
	t.o.Awaited(t.kind)
	return t.tx.Exec(ctx, query, args...)
}

func (t observedTx) Queue(ctx context.Context, query string, args ...any) error {
	t.o.Asked(t.kind, query, args)
	return t.tx.Queue(ctx, query, args...)
}

func (t observedTx) Query(ctx context.Context, query string, args []any, scan func(Row) error) error {
	t.o.Asked(t.kind, query, args)
	t.o.Awaited(t.kind)
	return t.tx.Query(ctx, query, args, func(row Row) error {
		t.o.Returned(t.kind)
		return scan(row)
	})
}

func (t observedTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	t.o.Asked(t.kind, query, args)
	t.o.Awaited(t.kind)
	t.o.Returned(t.kind)
	return t.tx.QueryRow(ctx, query, args, dest...)
}

func (t observedTx) Pipeline(ctx context.Context, steps ...Step) error {
	observed := make([]Step, len(steps))
	for i, step := range steps {
		observed[i] = step
		if step.Clock != nil {
			continue
		}
		t.o.Asked(t.kind, step.Query, step.Args)
		observed[i].Scan = func(row Row) error {
			t.o.Returned(t.kind)
			return step.Scan(row)
		}
	}
	t.o.Awaited(t.kind)
	return t.tx.Pipeline(ctx, observed...)
}

func (t observedTx) Now(ctx context.Context) (int64, error) {
	t.o.Awaited(t.kind)
	return t.tx.Now(ctx)
}

func (t observedTx) Wake(page int64) { t.tx.Wake(page) }
