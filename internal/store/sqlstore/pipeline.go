package sqlstore

import "context"

// Step is one query of a pipeline: Clock, or Query with the function that takes its rows.
type Step struct {
	// Clock receives the store's clock, as Tx.Now returns it, after the steps before this one.
	Clock *int64

	Query string
	Args  []any
	Scan  func(Row) error
}

// oneRow is a step like Tx.QueryRow, but without a row it leaves the destinations as they are.
func oneRow(query string, args []any, dest ...any) Step {
	first := true
	return Step{Query: query, Args: args, Scan: func(row Row) error {
		if !first {
			return nil
		}
		first = false
		return row.Scan(dest...)
	}}
}

// InTurn is Tx.Pipeline for an engine that gains nothing by sending queries together.
func InTurn(ctx context.Context, tx Tx, steps []Step) error {
	for _, step := range steps {
		var err error
		if step.Clock != nil {
			*step.Clock, err = tx.Now(ctx)
		} else {
			err = tx.Query(ctx, step.Query, step.Args, step.Scan)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
