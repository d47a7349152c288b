package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	// The driver registers itself as "sqlite".
	_ "modernc.org/sqlite"

	"recrawl/internal/store/sqlstore"
)

// session is one connection with its prepared statements. One goroutine at a
// time may use it.
type session struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	// commits is the setting of the pragma synchronous.
	commits durability
}

// durability says when a commit counts as done.
type durability string

const (
	full durability = "FULL" // until it is on the disk
	// lazy commits are written to the log, and reach the disk with the next full one. The
	// log is read as far as it is intact, so only commits at its end can be lost.
	lazy durability = "NORMAL"
)

// commitsAre sets how durable the next transactions are. It must be called between two.
// Such a pragma takes effect when it is compiled, so it is not kept as a statement.
func (s *session) commitsAre(d durability) error {
	if s.commits == d {
		return nil
	}
	s.commits = "" // until it is known
	if _, err := s.conn.ExecContext(context.Background(), "PRAGMA synchronous = "+string(d)); err != nil {
		return err
	}
	s.commits = d
	return nil
}

// openSession opens a connection to a file and runs the pragmas on it. mode is
// "ro", "rw" or "rwc" (create).
func openSession(ctx context.Context, path, mode string, pragmas ...string) (*session, error) {
	db, err := sql.Open("sqlite", fileURI(path, mode))
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &session{db: db, conn: conn, stmts: map[string]*sql.Stmt{}}
	for _, pragma := range pragmas {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// fileURI names a file so that no character of its path is taken for anything
// else.
func fileURI(path, mode string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=" + mode}).String()
}

// exec runs a statement and returns how many rows it affected. Without
// arguments the query may be several statements.
func (s *session) exec(ctx context.Context, query string, args []any) (int64, error) {
	if len(args) == 0 {
		_, err := s.conn.ExecContext(ctx, query)
		return 0, err
	}
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, sqlstore.Plain(args)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// control runs a statement that begins or ends a transaction or a part of one. It is not
// interrupted.
func (s *session) control(statement string) error {
	stmt, err := s.prepare(context.Background(), statement)
	if err == nil {
		_, err = stmt.ExecContext(context.Background())
	}
	return err
}

// query calls scan for each row.
func (s *session) query(ctx context.Context, query string, args []any, scan func(sqlstore.Row) error) (err error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, sqlstore.Plain(args)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// prepare returns the statement of a query, prepared once. The queries of
// package sqlstore are few, so none is ever forgotten.
func (s *session) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = stmt
	return stmt, nil
}

// rollback ends a transaction that failed. SQLite may have ended it already,
// and a transaction that cannot be rolled back was not committed either, so
// there is nothing to report.
func (s *session) rollback() {
	_, _ = s.conn.ExecContext(context.Background(), "ROLLBACK")
}

func (s *session) close() error {
	var errs []error
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	errs = append(errs, s.conn.Close(), s.db.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close connection: %w", err)
	}
	return nil
}
