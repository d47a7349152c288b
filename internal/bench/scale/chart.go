//go:build unix

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// curve is one line of a panel, with its name at its end.
type curve struct {
	name  string
	value func(stretch) float64 // NaN leaves a gap
}

// panel is a plot with its own measure, over the common time.
type panel struct {
	title  string
	curves []curve
}

// panels are the plots of a run.
var panels = []panel{
	{"visits a second", []curve{{"visits", stretch.rate}}},
	{"processor time of a visit, ms", []curve{
		{"server", perVisit(func(s sample) time.Duration { return s.ServerCPU })},
		{"worker", perVisit(func(s sample) time.Duration { return s.WorkerCPU })},
	}},
	{"age of the oldest task that waits, s", []curve{{"backlog", gauge(backlogAge, float64(time.Second))}}},
	{"tasks that wait, workflows that run", []curve{
		{"tasks", gauge(backlog, 1)},
		{"Page", gauge(func(s sample) int64 { return s.Pages }, 1)},
		{"Discover", gauge(func(s sample) int64 { return s.Discovers }, 1)},
	}},
	{"memory, MB", []curve{
		{"server", gauge(func(s sample) int64 { return s.ServerRSS }, 1e6)},
		{"worker", gauge(func(s sample) int64 { return s.WorkerRSS }, 1e6)},
	}},
	{"kB on disk for each visited page", []curve{
		{"Temporal", eachPage(func(s sample) int64 { return s.Temporal })},
		{"store", eachPage(func(s sample) int64 { return s.Store })},
		{"archive", eachPage(func(s sample) int64 { return s.Archive })},
	}},
}

// gauge makes a curve of a momentary value.
func gauge(of func(sample) int64, unit float64) func(stretch) float64 {
	return func(s stretch) float64 {
		if v := of(s.to); v >= 0 {
			return float64(v) / unit
		}
		return math.NaN()
	}
}

// fewVisits is a number of visits too small to say what one costs.
const fewVisits = 20

func perVisit(cpu func(sample) time.Duration) func(stretch) float64 {
	return func(s stretch) float64 {
		visits := s.to.Visits - s.from.Visits
		if visits < fewVisits {
			return math.NaN()
		}
		return float64(cpu(s.to)-cpu(s.from)) / float64(time.Millisecond) / float64(visits)
	}
}

// eachPage leaves out the first pages, on which the size of an empty database would fall.
func eachPage(size func(sample) int64) func(stretch) float64 {
	return func(s stretch) float64 {
		if v := size(s.to); v >= 0 && s.to.Visited >= fewVisits*5 {
			return float64(v) / 1e3 / float64(s.to.Visited)
		}
		return math.NaN()
	}
}

// smooth makes stretches, about count for a phase, so that rates are over many visits.
func smooth(of []sample, count int) []stretch {
	if len(of) < 2 {
		return nil
	}
	least := of[len(of)-1].At.Sub(of[0].At) / time.Duration(count)
	var parts []stretch
	from := of[0]
	for _, s := range of[1:] {
		if d := s.At.Sub(from.At); d > 0 && d >= least {
			parts = append(parts, stretch{from, s})
			from = s
		}
	}
	return parts
}

// span is a phase on the common time axis, in minutes, with its measurements.
type span struct {
	phase      string
	start, end float64
	origin     time.Time
	parts      []stretch
}

func (p span) at(t time.Time) float64 { return p.start + t.Sub(p.origin).Minutes() }

// spans puts the phases side by side. The time in which nothing ran is not drawn.
func (r run) spans() []span {
	var all []span
	var length float64
	for _, phase := range []string{firstPass, sleeping, afterStart} {
		if of := r.in(phase); len(of) >= 2 {
			length += of[len(of)-1].At.Sub(of[0].At).Minutes()
		}
	}
	at := 0.0
	for _, phase := range []string{firstPass, sleeping, afterStart} {
		of := r.in(phase)
		if len(of) < 2 {
			continue
		}
		took := of[len(of)-1].At.Sub(of[0].At).Minutes()
		count := max(4, int(150*took/length))
		all = append(all, span{phase, at, at + took, of[0].At, smooth(of, count)})
		at += took + 0.01*length
	}
	return all
}

// Places in a drawing, in pixels.
const (
	width         = 900.0
	left, right   = 64.0, 806.0
	top           = 74.0
	panelHeight   = 104.0
	panelDistance = 44.0
)

// chart draws a run.
func (r run) chart() []byte {
	spans := r.spans()
	height := top + float64(len(panels))*(panelHeight+panelDistance) + 14
	d := &drawing{height: height}
	title := fmt.Sprintf("%d hosts × %d pages: %s", r.Hosts, r.Pages, r.phases())
	d.text(left, 26, "t", "start", title)
	d.text(left, 46, "f", "start", fmt.Sprintf("%d cores, %s between two requests to a host, window %d", r.Cores, r.Delay, r.Window))
	if len(spans) == 0 {
		d.text(left, top+40, "f", "start", "no phase was sampled twice")
		return d.bytes(title)
	}
	minutes := axis{to: spans[len(spans)-1].end, start: left, end: right}
	for i, p := range panels {
		y := top + float64(i)*(panelHeight+panelDistance)
		d.panel(p, spans, minutes, y)
	}
	d.text((left+right)/2, height-10, "f", "middle", "minutes")
	return d.bytes(title)
}

func (r run) phases() string {
	var names []string
	for _, s := range r.spans() {
		names = append(names, s.phase)
	}
	return strings.Join(names, ", ")
}

// axis leads from values, which begin at 0, to pixels.
type axis struct {
	to, start, end float64
}

func (a axis) at(v float64) float64 { return a.start + v/a.to*(a.end-a.start) }

// ticks are round values on an axis, at most about count.
func (a axis) ticks(count int) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(a.to/float64(count))))
	for _, factor := range []float64{1, 2, 5, 10} {
		if a.to/(step*factor) <= float64(count) {
			step *= factor
			break
		}
	}
	var at []float64
	for i := 0; float64(i)*step <= a.to*1.0001; i++ {
		at = append(at, float64(i)*step)
	}
	return at
}

// drawing is an SVG file that stands alone and follows the reader's light or dark mode.
type drawing struct {
	body   bytes.Buffer
	height float64
}

const style = `text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.bg{fill:#fff}.ink{fill:#222}.t{fill:#222;font-size:15px;font-weight:600}.p{fill:#222;font-weight:600}.f{fill:#666}
.grid{stroke:#e2e2e2}.phase{stroke:#999;stroke-dasharray:3 3}
.c0{stroke:#0072b2}.c1{stroke:#c2410c}.c2{stroke:#00805e}.n0{fill:#0072b2}.n1{fill:#c2410c}.n2{fill:#00805e}
path{fill:none;stroke-width:1.8;stroke-linejoin:round}
@media (prefers-color-scheme:dark){.bg{fill:#0d1117}.ink,.t,.p{fill:#e6edf3}.f{fill:#9aa4af}.grid{stroke:#2a313b}.phase{stroke:#6e7681}
.c0{stroke:#58a6ff}.c1{stroke:#ff9f5a}.c2{stroke:#3fcf9a}.n0{fill:#58a6ff}.n1{fill:#ff9f5a}.n2{fill:#3fcf9a}}`

func (d *drawing) bytes(title string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img">`+"\n", px(width), px(d.height), px(width), px(d.height))
	fmt.Fprintf(&out, "<title>%s</title>\n<style>%s</style>\n<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n", escape(title), style)
	out.Write(d.body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(&d.body, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`+"\n", px(x), px(y), class, anchor, escape(text))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// panel draws one plot with its top at y.
func (d *drawing) panel(p panel, spans []span, minutes axis, y float64) {
	values := axis{to: highest(p, spans), start: y + panelHeight, end: y}
	d.text(left, y-8, "p", "start", p.title)
	for _, v := range values.ticks(4) {
		d.line(left, values.at(v), right, values.at(v), "grid")
		d.text(left-8, values.at(v)+4, "f", "end", tick(v))
	}
	for _, m := range minutes.ticks(10) {
		d.line(minutes.at(m), y+panelHeight, minutes.at(m), y+panelHeight+4, "grid")
		d.text(minutes.at(m), y+panelHeight+17, "f", "middle", tick(m))
	}
	for _, s := range spans[1:] {
		d.line(minutes.at(s.start), y, minutes.at(s.start), y+panelHeight, "phase")
	}
	// The last phase's name goes to the left if there is no room on the right.
	for _, s := range spans {
		if x := minutes.at(s.start); x > left+150 && x < right-90 {
			d.text(x+5, y-8, "f", "start", s.phase)
		} else if x >= right-90 {
			d.text(right, y-8, "f", "end", s.phase)
		}
	}
	var names []name
	for i, c := range p.curves {
		if end, ok := d.curve(c, spans, minutes, values, i); ok {
			names = append(names, name{c.name, i, end})
		}
	}
	d.names(names, y)
}

// curve draws a line and returns the height of its end.
func (d *drawing) curve(c curve, spans []span, minutes, values axis, colour int) (end float64, ok bool) {
	var path strings.Builder
	for _, s := range spans {
		next := "M"
		for _, part := range s.parts {
			v := c.value(part)
			if math.IsNaN(v) {
				next = "M"
				continue
			}
			end, ok = values.at(min(v, values.to)), true
			fmt.Fprintf(&path, "%s%s %s", next, px(minutes.at(s.at(part.to.At))), px(end))
			next = "L"
		}
	}
	fmt.Fprintf(&d.body, `<path class="c%d" d="%s"/>`+"\n", colour, path.String())
	return end, ok
}

// highest returns the top of a panel's scale. A few peaks far above everything else are cut
// off, such as the bytes of a page while there are few.
func highest(p panel, spans []span) float64 {
	var all []float64
	for _, s := range spans {
		for _, part := range s.parts {
			for _, c := range p.curves {
				if v := c.value(part); !math.IsNaN(v) {
					all = append(all, v)
				}
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	top := all[len(all)-1]
	if usual := all[len(all)*97/100]; usual > 0 {
		top = min(top, 2*usual)
	}
	return cmp.Or(1.05*top, 1)
}

// name is the name of a curve, at its end.
type name struct {
	text   string
	colour int
	y      float64
}

// names writes the names of curves beside their ends, without overlaps.
func (d *drawing) names(names []name, y float64) {
	const gap = 14
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	for i := range names {
		if i > 0 {
			names[i].y = max(names[i].y, names[i-1].y+gap)
		}
	}
	for i, lowest := len(names)-1, y+panelHeight; i >= 0; i, lowest = i-1, min(names[i].y, lowest)-gap {
		names[i].y = min(names[i].y, lowest)
		d.text(right+8, names[i].y+4, fmt.Sprintf("n%d", names[i].colour), "start", names[i].text)
	}
}

// px writes a length in tenths of a pixel.
func px(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") }

// tick writes a round value.
func tick(v float64) string {
	if v >= 10_000 {
		return fmt.Sprintf("%gk", math.Round(v/100)/10)
	}
	return fmt.Sprintf("%g", math.Round(v*1e6)/1e6)
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
