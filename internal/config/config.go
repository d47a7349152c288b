// Package config holds everything that an operator may set for the worker and the
// starter besides a crawl's spec: the RECRAWL_* variables, their defaults and
// checks, and the state file by which a running `starter dev` is found.
//
// Temporal's own settings (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, profiles, TLS,
// API keys) are read by its SDK, as in every other Temporal program.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/keyring"
	"recrawl/internal/sink/program"
	"recrawl/internal/urlkey"
)

// Variables of the environment.
const (
	EnvStore       = "RECRAWL_STORE"
	EnvArchive     = "RECRAWL_ARCHIVE"
	EnvContact     = "RECRAWL_CONTACT"
	EnvData        = "RECRAWL_DATA"
	EnvConcurrency = "RECRAWL_CONCURRENCY"
	EnvLog         = "RECRAWL_LOG"
	EnvOverdue     = "RECRAWL_OVERDUE"
	EnvGroupHosts  = "RECRAWL_GROUP_HOSTS"
	EnvFilters     = "RECRAWL_FILTERS"
	EnvSinkFolders = "RECRAWL_SINK_FOLDERS"
	EnvReserve     = "RECRAWL_RESERVE"
	EnvDeployment  = "RECRAWL_DEPLOYMENT"
	EnvTaskQueue   = "RECRAWL_TASK_QUEUE"
	EnvReplay      = "RECRAWL_REPLAY"
	// EnvSinkPrograms and EnvSinkVariables are for sinks of kind exec.
	EnvSinkPrograms, EnvSinkVariables = "RECRAWL_SINK_PROGRAMS", "RECRAWL_SINK_VARIABLES"
	// EnvMetrics and EnvLogFormat are for those who watch the worker.
	EnvMetrics, EnvLogFormat = "RECRAWL_METRICS", "RECRAWL_LOG_FORMAT"
	// EnvEncryptionKeys says where the keys are; see package keyring.
	EnvEncryptionKeys = keyring.Setting
)

// DefaultData is the data folder of `starter dev`, below the working directory,
// so that each project's folder holds its own crawls.
const DefaultData = "data"

// Config holds the operator's settings. See Load for the defaults.
type Config struct {
	// Store is the store's DSN, sqlite:PATH or postgres://…; "" if not set.
	Store string
	// Archive is the URL or folder of the archive; "" if not set.
	Archive string
	// Contact is a URL or mail address that site owners may write to, for crawls
	// whose spec names none.
	Contact string
	// Data is the data folder of `starter dev`.
	Data string
	// Concurrency is how many requests one worker makes at the same time, 1 to
	// 10000.
	Concurrency int
	// Log is the least level that is logged, and LogJSON makes each line a JSON object.
	Log     slog.Level
	LogJSON bool
	// Metrics is where a worker listens for Prometheus and for health checks, as HOST:PORT
	// or :PORT; "" means nowhere.
	Metrics string
	// Overdue is how late a page may be before maintenance starts its workflow
	// again, ≥ 1s. Too short a time starts workflows that are only waiting.
	Overdue time.Duration
	// GroupHosts says which hosts are one unit of politeness, fixed when the store is
	// made; "" means urlkey.ByHost for a new store and the existing grouping for an
	// old one.
	GroupHosts urlkey.Grouping
	// Filters are the paths of the filter programs that specs may name, by name: only
	// the operator decides which programs run on the worker's machine.
	Filters map[string]string
	// SinkPrograms are the programs that sinks may name, by name. SinkVariables are the
	// names of the worker's variables that they get, in addition to those without
	// secrets.
	SinkPrograms  program.Programs
	SinkVariables []string
	// SinkFolders are the folders that sinks of kind folder may keep, by name.
	SinkFolders map[string]string
	// SMTP is the mail server of sinks.
	SMTP SMTP
	// Reserve is how many bytes must be left on the disks of the store's file and the
	// archive's folder; with less no request is made. 0 turns the check off.
	Reserve crawl.Size
	// Deployment is the Worker Deployment of Temporal that workers belong to, as NAME or
	// NAME:BUILD; "" means none. Without BUILD the version is the build.
	Deployment string
	// TaskQueue is Temporal's task queue of the workflows and activities; "" means
	// contract.TaskQueue, or, for the starter, the task queue of the store's workers.
	TaskQueue string
	// Replay is the folder of wabac.js for `starter replay`; "" is the folder replay beside
	// the program.
	Replay string
	// Keys encrypt Temporal's data about a crawl; none if not set.
	Keys keyring.Ring
	// Worker holds a worker's settings for Temporal.
	Worker Worker
	// Web says who may use the page for operators.
	Web Web
}

// DefaultReserve is room for the results of 64 simultaneous requests, and for the
// databases to record that there is no more of it.
const DefaultReserve crawl.Size = 512 << 20

// Default returns the configuration of an empty environment.
func Default() Config {
	return Config{Data: DefaultData, Concurrency: 64, Log: slog.LevelInfo, Overdue: time.Hour, Reserve: DefaultReserve, Worker: DefaultWorker()}
}

// Load reads the environment over the defaults. The error has one line for each
// mistake, each naming the variable and what to write; it joins them, so that
// one start shows them all.
func Load(getenv func(string) string) (Config, error) {
	c := Default()
	var errs []error
	read := func(name string, set func(value string) error) {
		value := strings.TrimSpace(getenv(name))
		if value == "" {
			return
		}
		if err := set(value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	read(EnvStore, func(v string) error { c.Store = v; return CheckStore(v) })
	read(EnvArchive, func(v string) error { c.Archive = v; return nil })
	read(EnvContact, func(v string) error { c.Contact = v; return crawl.CheckContact(v) })
	read(EnvData, func(v string) error { c.Data = v; return nil })
	read(EnvConcurrency, func(v string) (err error) { c.Concurrency, err = parseConcurrency(v); return err })
	read(EnvLog, func(v string) (err error) { c.Log, err = parseLevel(v); return err })
	read(EnvLogFormat, func(v string) (err error) { c.LogJSON, err = parseLogFormat(v); return err })
	read(EnvMetrics, func(v string) error { c.Metrics = v; return checkListen(v) })
	read(EnvOverdue, func(v string) (err error) { c.Overdue, err = parseOverdue(v); return err })
	read(EnvGroupHosts, func(v string) (err error) { c.GroupHosts, err = urlkey.ParseGrouping(v); return err })
	read(EnvReserve, func(v string) (err error) { c.Reserve, err = crawl.ParseSize(v); return err })
	read(EnvFilters, func(v string) (err error) { c.Filters, err = parseFilters(v); return err })
	read(EnvSinkPrograms, func(v string) (err error) { c.SinkPrograms, err = program.Parse(v); return err })
	read(EnvSinkVariables, func(v string) (err error) { c.SinkVariables, err = program.ParseVariables(v); return err })
	read(EnvSinkFolders, func(v string) (err error) { c.SinkFolders, err = parseFilters(v); return err })
	read(EnvDeployment, func(v string) error { c.Deployment = v; return checkDeployment(v) })
	read(EnvTaskQueue, func(v string) (err error) { c.TaskQueue, err = parseTaskQueue(v); return err })
	read(EnvReplay, func(v string) error { c.Replay = v; return nil })
	read(EnvEncryptionKeys, func(v string) (err error) { c.Keys, err = keyring.Parse(v, getenv); return err })
	c.Worker.load(read)
	c.SMTP.load(read, getenv)
	c.Web.load(read, getenv)
	if len(errs) > 0 {
		return Config{}, errors.Join(errs...)
	}
	return c, nil
}

// CheckStore reports what is wrong with a store's DSN, or returns nil. It does not
// repeat the DSN, which may hold a password.
func CheckStore(dsn string) error {
	path, isSQLite := strings.CutPrefix(dsn, "sqlite:")
	switch {
	case isSQLite && path == "":
		return errors.New("the sqlite: store has no path: write sqlite:PATH")
	case isSQLite:
		return nil
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		if isAmbiguous(dsn) {
			return errAmbiguous
		}
		return nil
	}
	return errors.New("not a store: write sqlite:PATH or postgres://USER@HOST/DATABASE")
}

// LocalFolders are the folders of this machine to which a store and an archive write.
func LocalFolders(store, archive string) []string {
	var folders []string
	if path, ok := strings.CutPrefix(store, "sqlite:"); ok {
		folders = append(folders, filepath.Dir(path))
	}
	if archive != "" && !strings.Contains(archive, "://") {
		folders = append(folders, strings.TrimPrefix(archive, "dir:"))
	}
	return folders
}

func parseConcurrency(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 10000 {
		return 0, fmt.Errorf("%q is not a number of requests: write 1 to 10000", v)
	}
	return n, nil
}

// The length is checked apart: a counted repetition compiles to that many copies, and every
// command compiles this pattern when it starts.
var validTaskQueue = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func parseTaskQueue(v string) (string, error) {
	if len(v) > 100 || !validTaskQueue.MatchString(v) {
		return "", fmt.Errorf("%q cannot name a task queue: use 1 to 100 of A-Z a-z 0-9 . _ -, starting with a letter or digit", v)
	}
	return v, nil
}

func parseLevel(v string) (slog.Level, error) {
	switch strings.ToLower(v) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("%q is not a level: write debug, info, warn or error", v)
}

// parseFilters reads "NAME=PATH NAME=PATH", of filter programs or of folders.
func parseFilters(v string) (map[string]string, error) {
	filters := map[string]string{}
	for _, field := range strings.Fields(v) {
		name, path, _ := strings.Cut(field, "=")
		switch {
		case !crawl.ValidFilterName(name):
			return nil, fmt.Errorf("%q: write NAME=PATH, the name of 1 to 40 of a-z 0-9 . _ -", field)
		case !filepath.IsAbs(path):
			return nil, fmt.Errorf("%s: %q is not an absolute path", name, path)
		case filters[name] != "":
			return nil, fmt.Errorf("%s is named twice", name)
		}
		filters[name] = path
	}
	return filters, nil
}

var (
	deploymentName  = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	deploymentBuild = regexp.MustCompile(`^[A-Za-z0-9_+.-]+$`)
)

func checkDeployment(v string) error {
	name, build, built := strings.Cut(v, ":")
	if len(name) > 64 || !deploymentName.MatchString(name) || built && (len(build) > 64 || !deploymentBuild.MatchString(build)) {
		return fmt.Errorf("%q is not a worker deployment: write NAME, or NAME:BUILD, of letters, digits, - and _; in BUILD also + and dots", v)
	}
	return nil
}

func parseOverdue(v string) (time.Duration, error) {
	d, err := crawl.ParseDuration(v)
	if err == nil && d < time.Second {
		err = fmt.Errorf("%s is too short: write at least 1s", crawl.FormatDuration(d))
	}
	return d, err
}
