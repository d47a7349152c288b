package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// section is a part of a document that begins with a heading, and ends before the next one
// that is as high or higher.
type section struct {
	level      int
	title      string
	begin, end int // in bytes
}

// sections returns the sections of a document in our Markdown, where headings begin with #
// in the first column, and nothing in a fence is one.
func sections(markdown string) []section {
	var all []section
	at, fence := 0, ""
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, "\r\n")
		switch marker := fenceOf(text); {
		case fence != "":
			if strings.HasPrefix(marker, fence) && strings.Trim(text, " "+fence[:1]) == "" {
				fence = ""
			}
		case marker != "":
			fence = marker
		default:
			if level, title := headingOf(text); level > 0 {
				all = append(all, section{level: level, title: title, begin: at, end: len(markdown)})
			}
		}
		at += len(line)
	}
	ends(all)
	return all
}

// ends sets where each section ends: before the next one whose level is not deeper.
func ends(all []section) {
	var open []int // sections that have not ended, each deeper than the one before
	for i, s := range all {
		for len(open) > 0 && all[open[len(open)-1]].level >= s.level {
			all[open[len(open)-1]].end = s.begin
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
}

// fenceOf returns the marks that begin or end a block of code, "" if the line is neither.
func fenceOf(line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || len(text) < 3 || text[0] != '`' && text[0] != '~' {
		return ""
	}
	marks := text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
	if len(marks) < 3 || marks[0] == '`' && strings.Contains(text[len(marks):], "`") {
		return ""
	}
	return marks
}

// headingOf returns the level and the text of a heading, 0 for other lines.
func headingOf(line string) (int, string) {
	text := strings.TrimLeft(line, "#")
	level := len(line) - len(text)
	if level == 0 || level > 6 || text != "" && text[0] != ' ' && text[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.ReplaceAll(text, `\`, ""))
}

// find returns the requested section, by its number from 1 or by its heading.
func find(all []section, asked string) (section, error) {
	if n, err := strconv.Atoi(asked); err == nil && n >= 1 && n <= len(all) {
		return all[n-1], nil
	}
	for _, s := range all {
		if key := letters(asked); key != "" && letters(s.title) == key {
			return s, nil
		}
	}
	if len(all) == 0 {
		return section{}, mistakef("the page has no headings, and so no section %q: leave section out", oneLine(asked, 100))
	}
	return section{}, mistakef("there is no section %q: give its number, from 1 to %d, or its heading, as read_page lists them if section is left out", oneLine(asked, 100), len(all))
}

// letters returns the letters and digits of a text: what people remember of a heading.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// An outline lists at most outlineMost sections, in at most outlineRoom characters.
const (
	outlineMost = 100
	outlineRoom = 4000
	headingMost = 120 // bytes of a heading in it
)

// outlineLeast is how few sections are no outline: often only the title is that high.
const outlineLeast = 2

// outlined is a list of sections, with their numbers and lengths in characters.
type outlined struct {
	text         string
	listed, left int // sections of the levels in it; those left are not in the text
}

// outline lists the sections of the highest levels that fit. If those are too few to be of use,
// it lists the first sections of one level more.
func outline(markdown string, all []section) outlined {
	deeper := outlined{}
	for deepest := 6; deepest > 0; deepest-- {
		o := outlineTo(markdown, all, deepest)
		switch {
		case o.left == 0 && (o.listed >= outlineLeast || deeper.listed == 0):
			return o
		case o.listed+o.left < outlineLeast:
			return deeper
		}
		deeper = o
	}
	return deeper
}

func outlineTo(markdown string, all []section, deepest int) (o outlined) {
	var b strings.Builder
	room := outlineRoom
	for i, s := range all {
		if s.level > deepest {
			continue
		}
		line := fmt.Sprintf("%s%d. %s (%d characters)\n", strings.Repeat("  ", s.level-1), i+1, oneLine(s.title, headingMost), utf8.RuneCountInString(markdown[s.begin:s.end]))
		if room -= utf8.RuneCountInString(line); room < 0 || o.listed == outlineMost {
			o.left++
			continue
		}
		b.WriteString(line)
		o.listed++
	}
	if o.left > 0 {
		fmt.Fprintf(&b, "… and %d more\n", o.left)
	}
	o.text = b.String()
	return o
}

// words say how many sections there are, and which of them are listed.
func (o outlined) words(all int) string {
	switch {
	case o.left > 0:
		return fmt.Sprintf("%d; the first %d of the %d highest are listed below before the text", all, o.listed, o.listed+o.left)
	case o.listed < all:
		return fmt.Sprintf("%d; the %d highest are listed below before the text", all, o.listed)
	}
	return fmt.Sprintf("%d, listed below before the text", all)
}
