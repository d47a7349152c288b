package cli

import (
	"slices"

	"github.com/alecthomas/kong"

	"recrawl/internal/config"
	"recrawl/internal/report"
)

const description = `Keep a collection of web pages fresh, politely.

    starter dev https://example.com/ --contact you@example.org
    starter status
    starter history https://example.com/

The first runs everything on this machine in the folder ./data; the others, in another terminal in the
same folder, find it there. On a cluster name the store (--store) and Temporal (--address) instead.

Durations have units: 10s, 36h, 7d. Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 the cursor
leads nowhere.`

// settingsGroup holds the flags that set a field of a crawl's spec.
const settingsGroup = "crawl"

// Groups of flags in the help.
var groups = []kong.Group{
	{Key: settingsGroup, Title: "Crawl settings:", Description: "What is not given keeps its value in an existing crawl, and has its default in a new one."},
	{Key: "global", Title: "Where things are:", Description: "Each is looked for in the flag, then the variable, then the data folder of `starter dev`."},
}

type commands struct {
	global

	Dev        devCmd        `cmd:"" help:"Run everything on this machine."`
	Crawl      crawlCmd      `cmd:"" help:"Start or extend a crawl."`
	Import     importCmd     `cmd:"" help:"Add a long list of seeds to a crawl."`
	Status     statusCmd     `cmd:"" help:"Show crawls in numbers."`
	Web        webCmd        `cmd:"" help:"Serve a page on which to look at crawls, and the HTTP API."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Let an agent read crawls, through the Model Context Protocol."`
	Pages      pagesCmd      `cmd:"" help:"List the pages of a crawl."`
	Changes    changesCmd    `cmd:"" help:"Say what changed, follow it, or take a snapshot to follow from."`
	Hosts      hostsCmd      `cmd:"" help:"List, block and unblock hosts."`
	Evidence   evidenceCmd   `cmd:"" help:"Say what was requested of a host, for the owner of a site."`
	History    historyCmd    `cmd:"" help:"List the visits of a page."`
	Show       showCmd       `cmd:"" help:"Print a version of a page."`
	Search     searchCmd     `cmd:"" help:"Find pages of a crawl by their words."`
	Diff       diffCmd       `cmd:"" help:"Say what changed between two versions of a page."`
	Duplicates duplicatesCmd `cmd:"" help:"List pages with the content of other pages."`
	Rejected   rejectedCmd   `cmd:"" help:"List links that a crawl did not take, and why."`
	Report     reportCmd     `cmd:"" help:"Show a crawl in the figures that crawlers are judged by."`
	Forecast   forecastCmd   `cmd:"" help:"Say what other budgets would make of a crawl."`
	Traps      trapsCmd      `cmd:"" help:"List parts of sites that are held as traps, and release them."`
	Sources    sourcesCmd    `cmd:"" help:"List the sitemaps and feeds that a crawl reads."`
	Sinks      sinksCmd      `cmd:"" help:"List, test, pause and replay what a crawl sends out."`
	Explain    explainCmd    `cmd:"" help:"Say when a page is visited next, and why then."`
	Export     exportCmd     `cmd:"" help:"Write a crawl to a folder: as files, a mirror, WARC, WACZ or JSON Lines."`
	Replay     replayCmd     `cmd:"" help:"Play a crawl or a WACZ file back in a browser."`
	Check      checkCmd      `cmd:"" help:"Try how a URL would be judged, without a request."`

	Visit       visitCmd       `cmd:"" help:"Visit a page as soon as its host allows."`
	Retry       retryCmd       `cmd:"" help:"Visit all failing pages as soon as their hosts allow."`
	SetInterval setIntervalCmd `cmd:"" help:"Visit a page every so often."`
	Snooze      snoozeCmd      `cmd:"" help:"Make no visit of a page for some time."`
	StopPage    stopPageCmd    `cmd:"" help:"Visit a page no more; what is known of it stays."`
	Forget      forgetCmd      `cmd:"" help:"Remove a page or a host with all that is known of it."`

	Delete deleteCmd `cmd:"" help:"Remove a crawl with all that is only its own."`
	Pause  pauseCmd  `cmd:"" help:"Pause a crawl: no more requests, nothing is lost."`
	Resume resumeCmd `cmd:"" help:"Resume a paused crawl."`
	Stop   stopCmd   `cmd:"" help:"Stop a crawl: its workflows end, what it knows stays."`

	Repair repairCmd `cmd:"" help:"Start what a crawl's workflows lack, or what is stuck, anew."`

	Rank rankCmd `cmd:"" help:"Rank the pages of a crawl by the links between them, now."`

	Adopt       adoptCmd       `cmd:"" help:"Make a namespace of Temporal the home of the store: after a loss, or for a copy."`
	Archive     archiveCmd     `cmd:"" help:"Look after the archive of contents."`
	Backup      backupCmd      `cmd:"" help:"Copy the store and the archive to a folder, while crawls run."`
	Restore     restoreCmd     `cmd:"" help:"Bring back what starter backup copied."`
	Compact     compactCmd     `cmd:"" help:"Make the databases of a stopped starter dev smaller."`
	UndoUpgrade undoUpgradeCmd `cmd:"" help:"Go back to the store from before the last upgrade."`
	Simulate    simulateCmd    `cmd:"" help:"Compare revisit policies on drawn worlds, recorded changes or a crawl's own history."`

	Completion completionCmd `cmd:"" help:"Print a shell's completion script."`
	Version    versionCmd    `cmd:"" help:"Print the version; so does --version."`
}

// global are the flags of every command. Package config reads the variables, so
// that tests can pass their own environment.
type global struct {
	Store     string        `group:"global" placeholder:"DSN" help:"The store: sqlite:PATH or postgres://…, without a password (RECRAWL_STORE)."`
	Archive   string        `group:"global" placeholder:"PLACE" help:"The archive: a folder, or s3://BUCKET/PREFIX (RECRAWL_ARCHIVE)."`
	Data      string        `group:"global" placeholder:"DIR" help:"The data folder of starter dev, by default ./data (RECRAWL_DATA)."`
	Address   string        `group:"global" placeholder:"HOST:PORT" help:"Temporal's address (TEMPORAL_ADDRESS)."`
	Namespace string        `group:"global" placeholder:"NAME" help:"Temporal's namespace (TEMPORAL_NAMESPACE)."`
	Output    report.Format `enum:"text,json" default:"text" placeholder:"FORMAT" help:"How to answer: text, or json for one object a line."`
}

// contradiction is the error of a --data whose folder has another store than RECRAWL_STORE, which
// precedes the folder: the command would act on a store that nobody has in mind.
func (g global) contradiction(parsed *kong.Context, cfg config.Config, places config.Places) error {
	if g.Data == "" || g.Store != "" || cfg.Store == "" || ofFolder(parsed) {
		return nil
	}
	state, err := config.ReadDevState(g.Data)
	if err != nil || state.Store == "" || state.Store == places.Store {
		return nil //nolint:nilerr // a damaged state names no store
	}
	return usagef("--data %s has a store of its own, and %s names another: unset that, or leave --data out", g.Data, config.EnvStore)
}

// ofFolder reports whether a command acts on a data folder whatever RECRAWL_STORE says.
func ofFolder(parsed *kong.Context) bool {
	node := parsed.Selected()
	return node == nil || slices.Contains([]string{"dev", "compact", "restore", "undo-upgrade", "completion", "version"}, node.Name)
}

func (g global) overrides() config.Overrides {
	return config.Overrides{Store: g.Store, Archive: g.Archive, Data: g.Data, Address: g.Address, Namespace: g.Namespace}
}
