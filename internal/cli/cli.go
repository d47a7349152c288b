// Package cli is the starter's command line: it parses, asks, prints, and reports
// the result by its exit code. A Backend does the work.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// Exit codes.
const (
	ExitOK       = 0
	ExitFailed   = 1 // it was tried and did not work
	ExitUsage    = 2 // the command, a flag, a spec or a variable is wrong; nothing was done
	ExitNotFound = 3 // the crawl, page or store does not exist
	ExitGone     = 4 // the changes after the cursor cannot be had: take a snapshot
)

// Env is the world around a command.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       bool // Stdout is one
	Getenv         func(string) string
	// Environ lists the environment, as os.Environ does; nil is an empty one.
	Environ func() []string
	Backend Backend

	// screen is Stdout for output that controls the terminal. Text from pages is never
	// written to it unchanged.
	screen io.Writer
}

// draws reports whether lines can be overwritten.
func (e Env) draws() bool { return e.Terminal && e.Getenv("TERM") != "dumb" }

// warnMisspelt names variables that are probably settings with a wrong name.
func (e Env) warnMisspelt() {
	if e.Environ == nil {
		return
	}
	for _, wrong := range config.Misspelt(e.Environ()) {
		fmt.Fprintln(e.Stderr, "starter:", wrong)
	}
}

// Main runs one command and returns its exit code. An error is exactly one line
// on Stderr, which says what is wrong and what to do.
func Main(ctx context.Context, args []string, env Env) int {
	env.screen = env.Stdout
	if env.Terminal {
		shown := &visible{out: env.Stdout}
		env.Stdout = shown
		defer shown.Close()
	}
	err := run(ctx, args, env)
	if err == nil {
		return ExitOK
	}
	fmt.Fprintln(env.Stderr, "starter:", reasonOf(ctx, err))
	return exitCode(err)
}

// reasonOf says in one line why a command failed. Where it was interrupted (Ctrl-C) and nothing
// else is wrong, what was under way says nothing to people.
func reasonOf(ctx context.Context, err error) string {
	reason := oneLine(err)
	if ctx.Err() != nil && strings.HasSuffix(reason, context.Canceled.Error()) && !strings.Contains(reason, "; ") {
		return "interrupted: the same command goes on, or begins again if it only reads"
	}
	return reason
}

func run(ctx context.Context, args []string, env Env) error {
	var commands commands
	exited := false
	parser, err := kong.New(&commands,
		kong.Name("starter"), kong.Description(description), kong.Vars{"version": "recrawl " + config.VersionText(), "agent": defaultAgent(), "formats": exportFormats(), "policies": strings.Join(crawl.Policies(), ", "), "lines": noFormat},
		kong.Writers(env.Stdout, env.Stderr), kong.Exit(func(int) { exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ExplicitGroups(groups),
		// "--delay -5s" is a wrong duration, not an unknown flag -5.
		kong.WithHyphenPrefixedParameters(true),
		kong.KindMapper(reflect.Uint, kong.MapperFunc(decodeNumber)),
	)
	if err != nil {
		panic("cli: the command line's own description is wrong: " + err.Error())
	}
	parsed, err := parser.Parse(args)
	if exited { // help or version was printed; other missing arguments do not matter
		return nil
	}
	if asksForVersion(err) {
		return run(ctx, []string{"version"}, env)
	}
	if err != nil {
		return parseError(err, args, parser)
	}
	if err := cmp.Or(missingValue(args, parsed), wrongValue(parsed)); err != nil {
		return err
	}
	env.warnMisspelt()
	cfg, err := config.Load(env.Getenv)
	if err != nil {
		return usage(err)
	}
	places, err := config.Resolve(commands.overrides(), cfg, env.Getenv)
	if err != nil {
		return usage(err)
	}
	if err := commands.contradiction(parsed, cfg, places); err != nil {
		return err
	}
	return parsed.Run(parser, &session{ctx: ctx, env: env, cfg: cfg, places: places, global: commands.global})
}

// decodeNumber reads a number of things, which commands count as an int: a larger one would be
// negative there.
func decodeNumber(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	n, err := strconv.ParseUint(text, 10, strconv.IntSize-1)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is too large", text)
	case err != nil:
		return fmt.Errorf("%q is not a number from 0 on", text)
	}
	target.SetUint(n)
	return nil
}

// session is one command's run.
type session struct {
	//nolint:containedctx // a session is one call of run, and kong passes one value
	ctx    context.Context
	env    Env
	cfg    config.Config
	places config.Places
	global global
}

// target is where the command acts.
func (s *session) target() Target {
	at := Target{
		Store: s.places.Store, Archive: s.places.Archive,
		Temporal: s.temporal(),
	}
	if s.places.FromDev {
		at.Data = s.places.Data
	}
	return at
}

// temporal is the place of the workflows.
func (s *session) temporal() TemporalOptions {
	folder := ""
	if s.places.FromDev && s.places.OfFolder {
		folder = s.places.Data
	}
	return TemporalOptions{
		Address: s.places.Address, Namespace: s.places.Namespace, TaskQueue: s.places.TaskQueue, Store: s.places.Store, Keys: s.cfg.Keys,
		Unknown: s.places.NoTemporal, Folder: folder,
	}
}

// withStore opens the store for as long as do runs.
func (s *session) withStore(do func(Opened) error) error {
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	opened, err := s.env.Backend.OpenStore(s.ctx, s.places.Store)
	if err != nil {
		return fmt.Errorf("cannot open the store: %w", err)
	}
	return errors.Join(do(opened), opened.Close())
}

// withTemporal connects to Temporal for as long as do runs.
func (s *session) withTemporal(do func(Client) error) error {
	client, err := s.env.Backend.DialTemporal(s.ctx, s.temporal())
	if err != nil && s.places.FromDev {
		return fmt.Errorf("%w; this is where the last `starter dev` in %s had it: is it running?", err, s.places.Data)
	}
	if err != nil && s.nowhere() {
		return fmt.Errorf("%w; nor is there a `starter dev` in %s: run this in its folder, or give its data folder with --data", err, s.places.Data)
	}
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

// nowhere reports whether nothing names a store or a Temporal server, so that Temporal's
// usual address was tried.
func (s *session) nowhere() bool {
	return s.places.Store == "" && s.places.Address == "" && !config.NamesTemporal(s.env.Getenv)
}

// withReport makes a reporter on the store for as long as do runs.
func (s *session) withReport(do func(report.Reporter) error) error {
	return s.withStore(func(opened Opened) error {
		return do(s.reporter(opened, s.env.Stdout))
	})
}

func (s *session) reporter(opened Opened, out io.Writer) report.Reporter {
	r := opened.Reporter(s.target(), s.cfg.Contact)
	r.Out, r.Format = out, s.global.Output
	return r
}

// say prints the answer of a command that does something.
func (s *session) say(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if s.global.Output == report.JSON {
		return report.Message(s.env.Stdout, message)
	}
	_, err := fmt.Fprintln(s.env.Stdout, message)
	return err
}

// failure is an error with an exit code and its own words.
type failure struct {
	code int
	text string // "" means the cause's
	err  error
}

func (f *failure) Error() string {
	if f.text != "" {
		return f.text
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage marks an error as a mistake of the command line, which has done nothing.
func usage(err error) error { return &failure{code: ExitUsage, err: err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// orNoCrawl gives the error for a missing crawl helpful words.
func orNoCrawl(name string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &failure{ExitNotFound, fmt.Sprintf("there is no crawl %q: `starter status` lists the crawls", name), err}
	}
	return err
}

func exitCode(err error) int {
	var failed *failure
	var spec *crawl.SpecError
	switch {
	case errors.As(err, &failed):
		return failed.code
	case errors.As(err, &spec):
		return ExitUsage
	case errors.Is(err, store.ErrNotFound), errors.Is(err, ErrNoStoreThere):
		return ExitNotFound
	}
	return ExitFailed
}

// oneLine puts an error on one line. It may quote a page or a server.
func oneLine(err error) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Map(crawl.Visible, err.Error())) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case strings.HasSuffix(b.String(), ":"):
			b.WriteByte(' ')
		case b.Len() > 0:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// asksForVersion reports whether parsing failed at a --version before any command: there it is
// no flag, for `show --version N` means something else.
func asksForVersion(err error) bool {
	var parse *kong.ParseError
	return errors.As(err, &parse) && parse.Context.Selected() == nil && strings.HasPrefix(err.Error(), "unknown flag --version")
}

// parseError words kong's parse errors.
func parseError(err error, args []string, parser *kong.Kong) error {
	text := err.Error()
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return usagef("%s (see `starter --help`)", text)
	}
	if err := cmp.Or(missingValue(args, parse.Context), wrongValue(parse.Context)); err != nil {
		return err
	}
	if parse.Context.Selected() == nil {
		if word, is := strings.CutPrefix(text, "unexpected argument "); is {
			word, hint, _ := strings.Cut(word, ",")
			text = strings.TrimSuffix(fmt.Sprintf("unknown command %q,%s", word, hint), ",")
		} else if strings.HasPrefix(text, "expected one of ") {
			text = "no command: give one of " + strings.Join(commandNames(parser), ", ")
		}
	}
	return usagef("%s (see `%s --help`)", text, where(parse.Context))
}

// missingValue is the error of a flag at the end of the line without its value,
// which kong takes for an empty text.
func missingValue(args []string, parsed *kong.Context) error {
	if len(args) == 0 || slices.Contains(args, "--") {
		return nil
	}
	last := args[len(args)-1]
	for _, flag := range parsed.Flags() {
		if last == "--"+flag.Name && !flag.IsBool() {
			return usagef("%s: give a value: %s (see `%s --help`)", last, flag, where(parsed))
		}
	}
	return nil
}

// wrongValue is the error of a flag whose value was forgotten in the middle of the line, or is
// empty, as with a shell's variable that is not set: the command would act on another store, or on
// all hosts. An empty crawl setting means something.
func wrongValue(parsed *kong.Context) error {
	for _, part := range parsed.Path {
		flag := part.Flag
		if flag == nil {
			continue
		}
		value := reflect.Indirect(reflect.ValueOf(parsed.FlagValue(flag)))
		if value.Kind() != reflect.String {
			continue
		}
		another := func(f *kong.Flag) bool { return value.String() == "--"+f.Name }
		switch {
		case value.String() == "" && (flag.Group == nil || flag.Group.Key != settingsGroup):
			return usagef("--%s is empty: give it a value, or leave it out (see `%s --help`)", flag.Name, where(parsed))
		case slices.ContainsFunc(parsed.Flags(), another):
			return usagef("--%s: give a value: %s, before %s (see `%s --help`)", flag.Name, flag, value, where(parsed))
		}
	}
	return nil
}

// where is the chosen command.
func where(parsed *kong.Context) string {
	if node := parsed.Selected(); node != nil {
		return node.FullPath()
	}
	return "starter"
}

func commandNames(parser *kong.Kong) []string {
	var names []string
	for _, c := range parser.Model.Children {
		names = append(names, c.Name)
	}
	return names
}
