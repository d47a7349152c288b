package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/backup"
	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/keyring"
	"recrawl/internal/report"
	"recrawl/internal/room"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// Backend does the work of the commands; package app implements it.
//
// Its errors are one line for a person, with what to do about it. An error that
// wraps store.ErrNotFound exits with 3, a *crawl.SpecError with 2, all others
// with 1.
type Backend interface {
	// Dev runs everything on this machine until ctx ends, which is no error.
	Dev(ctx context.Context, o DevOptions) error
	// Web serves the page for operators until ctx ends, which is no error.
	Web(ctx context.Context, o WebOptions) error
	// WebReady asks the page that listens at HOST:PORT whether it works. The error says why
	// not.
	WebReady(ctx context.Context, listen string) error
	// Replay serves a WACZ file to this machine's browsers until ctx ends, which is no error.
	Replay(ctx context.Context, o ReplayOptions) error
	// OpenStore opens a store for reading. It gives up within seconds.
	OpenStore(ctx context.Context, dsn string) (Opened, error)
	// OpenArchive opens an archive that exists, for reading.
	OpenArchive(ctx context.Context, url string) (archive.Store, error)
	// Export writes an export of a crawl below the folder out.
	Export(ctx context.Context, at Target, out string, o export.Options) (export.Result, error)
	// FindDuplicates brings the records of a crawl's duplicates and mirrored hosts up
	// to date.
	FindDuplicates(ctx context.Context, at Target, crawl string) (FoundDuplicates, error)
	// RebuildIndex fills a crawl's search index anew, and returns the number of pages. It
	// calls progress now and then.
	RebuildIndex(ctx context.Context, at Target, crawl string, progress func(pages int)) (int, error)
	// SetBlocked blocks or unblocks a host for all crawls and says so.
	SetBlocked(ctx context.Context, at Target, host string, blocked bool) (string, error)
	// ChangeCrawl stops, pauses, resumes or ranks a crawl: in the store first, so that it
	// takes effect whatever has become of the crawl's workflow. The workflow is told
	// after that, and started if it is gone.
	ChangeCrawl(ctx context.Context, at Target, crawl string, change Change) (string, error)
	// Repair starts the workflows that a crawl or its pages lack, and restarts those that
	// are stuck. It calls progress now and then.
	Repair(ctx context.Context, at Target, crawl string, progress func(Repaired)) (Repaired, error)
	// RevivePage makes a page that is stopped live again in the store, with its history,
	// unless its crawl is stopped.
	RevivePage(ctx context.Context, at Target, page store.PageRecord) (store.PageRecord, error)
	// ReleaseTrap makes the held pages of a crawl's trap known again and says so.
	ReleaseTrap(ctx context.Context, at Target, crawl, trap string) (string, error)
	// Forget removes pages with their workflows and bytes, and their traces on disk.
	Forget(ctx context.Context, at Target, what Takedown, o ForgetOptions) (Forgotten, error)
	// Remember allows forgotten pages to be found again.
	Remember(ctx context.Context, at Target, what Takedown) error
	// Delete removes a crawl. It returns the counts of removed items even if it is cut
	// off.
	Delete(ctx context.Context, at Target, crawl string, o DeleteOptions) (Deleted, error)
	// Import adds the seeds of a list to an existing crawl. It returns its progress
	// even if it is cut off.
	Import(ctx context.Context, at Target, crawl string, o ImportOptions) (store.Import, error)
	// Adopt makes the place that at names the home of its store; ended are stores that
	// no longer exist, besides those whose crawls are found there. A dry run only
	// reports it.
	Adopt(ctx context.Context, at Target, ended []string, dry bool) (Adopted, error)
	// VerifyArchive reads every content that a version has. It returns its findings
	// even if it is cut off.
	VerifyArchive(ctx context.Context, at Target, o gc.VerifyOptions) (gc.Verified, error)
	// CollectArchive deletes contents that no version has. It returns the counts even
	// if it is cut off.
	CollectArchive(ctx context.Context, at Target, o gc.CollectOptions) (gc.Collected, error)
	// Backup adds a backup of an embedded store and its archive to a folder. It returns
	// the counts even if it is cut off.
	Backup(ctx context.Context, at Target, dir string, o BackupOptions) (backup.Made, error)
	// BackupArchive copies the archive of any store to such a folder.
	BackupArchive(ctx context.Context, at Target, dir string, progress backup.Progress) (backup.Copied, error)
	// Restore restores a backup to a place without a store; backup.ErrNone if the
	// folder has none.
	Restore(ctx context.Context, dir string, o RestoreOptions) (backup.Restored, error)
	// RestoreArchive copies the contents of such a folder to an archive.
	RestoreArchive(ctx context.Context, archive, dir string, progress backup.Progress) (backup.Copied, error)
	// Compact writes the databases of a data folder that nobody uses anew, without the
	// parts that deletions have left; begin names each before. It returns the finished
	// ones even if it is cut off; fs.ErrNotExist if there is no such folder.
	Compact(ctx context.Context, data string, begin func(file string)) ([]Compacted, error)
	// UndoUpgrade puts the copy that was kept before an upgrade in the store's place;
	// store.ErrNotFound if there is none.
	UndoUpgrade(ctx context.Context, o UndoOptions) (Undone, error)
	// DialTemporal connects to Temporal. It gives up within seconds.
	DialTemporal(ctx context.Context, o TemporalOptions) (Client, error)
}

// Opened is a store that is open for reading.
type Opened struct {
	report.Store
	Seeds  SeedKeys
	Visits report.Visits
	Feed   Feed
	Sinks  report.Deliveries
	// Imports reads unfinished imports.
	Imports report.Imports
	// Relations returns pages by their numbers, for the page for operators.
	Relations report.Relations
	// Requests provides the data for evidence.
	Requests report.Requests
	// Search finds pages and hosts for the page for operators.
	Search report.Search
	// Index finds pages by their words.
	Index report.SearchIndex
	io.Closer
}

// Reporter answers questions from the store, and says when the disks of a target on this
// machine are full. contact is the workers'. The caller sets Out and Format.
func (o Opened) Reporter(at Target, contact string) report.Reporter {
	return report.Reporter{
		Store: o.Store, Visits: o.Visits, Deliveries: o.Sinks, Imports: o.Imports, Relations: o.Relations,
		Requests: o.Requests, Search: o.Search, Index: o.Index, Contact: contact,
		Short: func() string {
			return room.Short(config.LocalFolders(at.Store, at.Archive), room.Least, room.Measure)
		},
	}
}

// Feed is the part of the feed of changes that commands read.
type Feed interface {
	reader.Store
	ChangeBefore(ctx context.Context, at time.Time) (feed.Cursor, error)
	Now(ctx context.Context) (time.Time, error)
}

// SeedKeys looks up imported seeds by their keys; see scope.AskedKeys.
type SeedKeys interface {
	SeedKeys(ctx context.Context, crawlID int64, keys []crawl.SeedKey) (map[crawl.SeedKey]bool, error)
}

// TemporalOptions say where Temporal is. Empty fields are left to Temporal's own
// settings (TEMPORAL_* variables, configuration file, localhost:7233).
type TemporalOptions struct {
	Address, Namespace string
	// Keys encrypt what Temporal keeps.
	Keys keyring.Ring
	// TaskQueue is where workflows are started; "" means the store's own task queue.
	TaskQueue string
	// Store is the DSN of the store that crawls are started for, "" if it is not known.
	Store string
	// Unknown, unless "", says why Temporal's place is not known and what to do: then
	// nothing is asked, not even where Temporal's own settings lead.
	Unknown string
	// Folder is the data folder of Store and of the server, which had this address last. ""
	// means that they do not belong together like that.
	Folder string
}

// ErrNoStoreThere: there is no store at the place that was named. Only a worker makes one.
var ErrNoStoreThere = errors.New("there is no store")

// ErrOvertaken: somebody else has started or changed the crawl since it was looked at, and nothing
// was done.
var ErrOvertaken = errors.New("somebody else is starting or changing it at the same time: try again")

// Client speaks to the workflows. The texts that it returns confirm the request, in
// words. For AddSeeds, SetSpec, ChangeCrawl and Explain a crawl or page without a
// running workflow is store.ErrNotFound.
type Client interface {
	// Running reports whether the crawl's workflow runs.
	Running(ctx context.Context, name string) (bool, error)
	// StartCrawl starts the crawl's workflow, and waits until it has opened the crawl in the
	// store. If it runs already, that is ErrOvertaken.
	StartCrawl(ctx context.Context, spec crawl.Spec) error
	// AddSeeds gives a running crawl more seeds.
	AddSeeds(ctx context.Context, name string, seeds []string) (string, error)
	// SetSpec replaces the spec of a running crawl: that of the generation base, or any if that is
	// 0. If it is another by now, that is ErrOvertaken.
	SetSpec(ctx context.Context, spec crawl.Spec, base int64) (string, error)
	// ChangeCrawl stops, pauses, resumes or ranks a running crawl, or tells it about new
	// seeds.
	ChangeCrawl(ctx context.Context, name string, change Change) (string, error)
	// ChangePage asks the workflow of a page that lives for a change, and starts it if it
	// is gone; arg is its duration, if it has one.
	ChangePage(ctx context.Context, page store.PageRecord, change PageChange, arg string) (string, error)
	// AskVisit is ChangePage(VisitNow) without waiting for the answer.
	AskVisit(ctx context.Context, page store.PageRecord) error
	// CommandSink sends a command to the workflow of a crawl's sink, and starts it if it is
	// gone.
	CommandSink(ctx context.Context, c store.CrawlRecord, name string, command SinkCommand, replay SinkReplay) (SinkAnswer, error)
	// Explain returns the page's workflow's own explanation.
	Explain(ctx context.Context, page store.PageRecord) (report.Live, error)
	// Close ends the connection.
	Close()
}

// Change is a change that ChangeCrawl makes. The values are the names of the
// crawl's updates.
type Change string

// The changes.
const (
	Stop   Change = "stop"
	Pause  Change = "pause"
	Resume Change = "resume"
	Rank   Change = "rank"
	// SeedsImported says that seeds were imported, so that they are admitted.
	SeedsImported Change = "seeds-imported"
)

// PageChange is a change that ChangePage makes. The values are the names of the
// page's updates.
type PageChange string

// The changes of a page.
const (
	VisitNow    PageChange = "visit-now"
	SetInterval PageChange = "set-interval" // arg: the interval, "0" for the policy's
	Snooze      PageChange = "snooze"       // arg: the duration, "0" ends it
	StopPage    PageChange = "stop"
)

// SinkCommand is a command for CommandSink. The values are the names of the sink's
// updates.
type SinkCommand string

// The commands of a sink.
const (
	TestSink   SinkCommand = "test"
	PauseSink  SinkCommand = "pause"
	ResumeSink SinkCommand = "resume"
	SkipChange SinkCommand = "skip"
	ReplaySink SinkCommand = "replay"
)

// SinkReplay says what ReplaySink sends again: all after a cursor, or some changes.
type SinkReplay struct {
	After   string
	Changes []int64
}

// SinkAnswer is the answer to a command to a sink, in words. Failed: it was tried, and did not
// work. Replayed is of a replay of changes, nil from a worker of an earlier release.
type SinkAnswer struct {
	Message  string
	Failed   bool
	Replayed *sink.Replayed
}

// result is the answer as a command ends with it.
func (a SinkAnswer) result() (string, error) {
	if a.Failed {
		return "", errors.New(a.Message)
	}
	return a.Message, nil
}

// Target is the place where a command acts that writes to the store itself.
type Target struct {
	Store, Archive string
	Temporal       TemporalOptions
	// Data is the data folder that owns the Temporal server; "" if it is no `starter
	// dev`'s.
	Data string
}

// DevOptions are the options of `starter dev`.
type DevOptions struct {
	// Data is the data folder; it is made if it does not exist.
	Data string
	// TemporalPort, UIPort and WebPort must be these when not 0; else free ones are found.
	TemporalPort, UIPort, WebPort int
	// For ends it by itself after this time; 0 runs until the context ends.
	For    time.Duration
	Config config.Config
	Getenv func(string) string
	Out    io.Writer
	Err    io.Writer
	// Demo runs the demo's site too.
	Demo bool
	// Terminal says that lines on Out can be overwritten.
	Terminal bool
	// Ready, unless nil, is called once when everything runs. It starts or extends
	// the requested crawl; demo are the seeds of the demo's site, if it runs. Its
	// error ends Dev and is returned.
	Ready func(ctx context.Context, s DevStore, c Client, demo []string) error
}
