// Package sqlite is the embedded store: sqlstore on one SQLite file, for one
// machine. Besides it, only package fts imports modernc.org/sqlite.
package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	lib "modernc.org/sqlite/lib"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/urlkey"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks our files in their header, so that no other program's
// database is taken for a store: "rcrw".
const applicationID = 0x72637277

// Options say how a file is opened.
type Options struct {
	// ReadOnly opens a store that exists for questions only.
	ReadOnly bool
	// Owner is the process that runs the hosts' lines; there is one at a time. It
	// marks the file as unclean while it is open, and finding that mark at its
	// start makes every host rest before the next request: requests may have been
	// under way when the last owner ended.
	Owner bool
	// Yields is for a command beside the owner: between two transactions it leaves the file
	// alone for as long as the first took.
	Yields bool
	// Grouping; see sqlstore.Options.
	Grouping urlkey.Grouping
	// Log is told what people should know; nil for nobody.
	Log *slog.Logger
	// Wrap, unless nil, wraps the engine, for example to count its queries.
	Wrap func(sqlstore.Engine) sqlstore.Engine
}

// pragmas of every connection. A statement waits 5 s for another process;
// synchronous=FULL makes each commit durable: promises to a workflow or a host must be
// known after a power loss. See Engine.WriteLazily for the exception. Deleted rows are
// overwritten at once, so that they are not in the file's free pages.
var pragmas = []string{
	"busy_timeout = 5000", "foreign_keys = ON", "synchronous = FULL", "secure_delete = ON",
	"temp_store = MEMORY", "cache_size = -16000",
}

// Open opens the store in a SQLite file, creating the file unless ReadOnly is
// set; its folder must exist. Errors wrap store.ErrForeign for a file that is
// not a store or of a newer recrawl, store.ErrUnavailable for one that is locked
// or cannot be written, and store.ErrNotFound for one to be read that does not
// exist.
func Open(ctx context.Context, path string, opts Options) (store.Store, error) {
	e, err := openEngine(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	var wrapped sqlstore.Engine = e
	if opts.Wrap != nil {
		wrapped = opts.Wrap(e)
	}
	s, err := sqlstore.Open(ctx, wrapped, sqlstore.Options{Grouping: opts.Grouping, Log: opts.Log, ReadOnly: opts.ReadOnly})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", e.named(err)), e.Close())
	}
	return s, nil
}

func openEngine(ctx context.Context, path string, opts Options) (*engine, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	e := &engine{
		path: absolute, log: opts.Log, owner: opts.Owner && !opts.ReadOnly, yields: opts.Yields && !opts.Owner,
		requests: make(chan *request), idle: make(chan *session, readers), closed: make(chan struct{}),
	}
	if e.owner {
		e.clock = newClock()
	}
	if err := e.open(ctx, opts); err != nil {
		e.owner = false // it was not opened: Close must not mark it clean
		return nil, errors.Join(fmt.Errorf("open store: %w", err), e.abandon())
	}
	return e, nil
}

// open opens the connections, each step the next one's condition.
func (e *engine) open(ctx context.Context, opts Options) error {
	migrations, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		return err
	}
	if opts.ReadOnly {
		return e.openReadOnly(ctx, migrations)
	}
	if e.owner {
		if err := e.takeOwnership(ctx); err != nil {
			return err
		}
	}
	makeFile(e.path)
	if e.writer, err = e.connect(ctx, "rwc"); err != nil {
		return err
	}
	if err := e.claim(ctx); err != nil {
		return err
	}
	if err := e.keepBefore(ctx, migrations); err != nil {
		return err
	}
	e.served = make(chan struct{})
	go e.serve()
	if err := sqlstore.Migrate(ctx, e.Write, migrations); err != nil {
		return e.named(err)
	}
	if err := e.openReaders(ctx); err != nil {
		return err
	}
	if e.owner {
		return e.Write(ctx, markOwned)
	}
	return nil
}

func (e *engine) openReadOnly(ctx context.Context, migrations []sqlstore.Migration) error {
	if err := e.checkFile(ctx); err != nil {
		return err
	}
	if err := e.openReaders(ctx); err != nil {
		return err
	}
	return e.named(e.Read(ctx, func(tx sqlstore.Tx) error { return sqlstore.CheckMigrated(ctx, tx, migrations) }))
}

func (e *engine) openReaders(ctx context.Context) error {
	for range cap(e.idle) {
		s, err := e.connect(ctx, "ro")
		if err != nil {
			return err
		}
		e.idle <- s
	}
	return nil
}

// makeFile makes a file that other users cannot read, whatever the process's umask,
// if there is none. SQLite gives the files that it makes beside it the same
// permissions. If the file cannot be made, SQLite reports why.
func makeFile(path string) {
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Chmod(0o600)
		_ = f.Close()
	}
}

// connect opens a connection with our pragmas.
func (e *engine) connect(ctx context.Context, mode string) (*session, error) {
	s, err := openSession(ctx, e.path, mode, pragmas...)
	if err != nil {
		return nil, e.translate(err)
	}
	return s, nil
}

// claim makes sure that the file is ours, or new, before anything is written to
// it, and makes a new one ours.
func (e *engine) claim(ctx context.Context) error {
	id, tables, err := e.identify(ctx, e.writer)
	if err != nil {
		return err
	}
	if id != applicationID && (id != 0 || tables != 0) {
		return e.foreign()
	}
	all := []string{"journal_mode = WAL", fmt.Sprintf("application_id = %d", applicationID)}
	if id == applicationID && tables > 0 {
		all = all[:1] // a copy that was restored has no log yet; the others stay as they are
	}
	for _, pragma := range all {
		if _, err := e.writer.exec(ctx, "PRAGMA "+pragma, nil); err != nil {
			return e.translate(err)
		}
	}
	return nil
}

// identify reads whose file it is and how many tables it has.
func (e *engine) identify(ctx context.Context, s *session) (id, tables int64, err error) {
	err = s.query(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT COUNT(*) FROM sqlite_master)", nil,
		func(row sqlstore.Row) error { return row.Scan(&id, &tables) })
	return id, tables, e.translate(err)
}

func (e *engine) foreign() error {
	return fmt.Errorf("%s: a SQLite database of another program: %w", e.path, store.ErrForeign)
}

// named adds the file's name to an error that lacks it.
func (e *engine) named(err error) error {
	var known *storeError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fmt.Errorf("%s: %w", e.path, err)
}

// takeOwnership takes the owner's lock: an exclusive transaction on an empty
// database beside the store. The system ends it with the process, however the
// process ends.
func (e *engine) takeOwnership(ctx context.Context) error {
	makeFile(e.path + "-owner")
	guard, err := openSession(ctx, e.path+"-owner", "rwc", "busy_timeout = 0")
	if err != nil {
		return e.translate(err)
	}
	if _, err := guard.exec(ctx, "BEGIN EXCLUSIVE", nil); err != nil {
		if resultCode(err) == lib.SQLITE_BUSY {
			err = fmt.Errorf("%s is in use by another recrawl process: stop that one first, or choose another file: %w", e.path, store.ErrUnavailable)
		}
		return errors.Join(e.translate(err), guard.close())
	}
	e.guard = guard
	return nil
}

// markOwned notes that the file is in use. If the last owner did not close it,
// every host rests first.
func markOwned(tx sqlstore.Tx) error {
	ctx := context.Background()
	var clean int64
	if err := tx.QueryRow(ctx, "SELECT clean FROM owner WHERE id = 1", nil, &clean); err != nil {
		return fmt.Errorf("read how the store was closed: %w", err)
	}
	if clean == 0 {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if err := sqlstore.RestAllHosts(ctx, tx, now); err != nil {
			return err
		}
	}
	return setClean(ctx, tx, false)
}

func markClean(tx sqlstore.Tx) error { return setClean(context.Background(), tx, true) }

func setClean(ctx context.Context, tx sqlstore.Tx, clean bool) error {
	_, err := tx.Exec(ctx, "UPDATE owner SET clean = $1 WHERE id = 1", clean)
	return err
}

// abandon closes everything that a failed open has opened.
func (e *engine) abandon() error {
	var errs []error
	close(e.closed)
	if e.served != nil {
		<-e.served
	}
	for {
		select {
		case s := <-e.idle:
			errs = append(errs, s.close())
			continue
		default:
		}
		break
	}
	for _, s := range []*session{e.writer, e.guard} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}
