package report

// Words says how fresh copies are believed to be, and how old.
func (f Freshness) Words() string { return f.words() }

// NeedsSomebody reports whether a host in this state recovers only if somebody acts.
func (s HostState) NeedsSomebody() bool { return s.needsSomebody() }

// TroublePart names a part of a crawl in a sentence.
func TroublePart(part string) string { return troublePart(part) }
