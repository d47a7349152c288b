package urlkey

import (
	"errors"
	"testing"
)

// TestNamesInManyScripts: names as UTS 46 processes them for the URL standard, from its
// rules.
func TestNamesInManyScripts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"bücher.example":         "xn--bcher-kva.example",
		"BÜCHER.example":         "xn--bcher-kva.example",
		"faß.de":                 "xn--fa-hia.de", // a deviation character is kept
		"fass.de":                "fass.de",
		"FAẞ.de":                 "xn--fa-hia.de", // the capital is that of ß since Unicode 15.1
		"xn--fa-hia.de":          "xn--fa-hia.de",
		"βόλος.com":              "xn--nxasmm1c.com", // the final sigma too
		"ΒΌΛΟΣ.com":              "xn--nxasmq6b.com",
		"пример.рф":              "xn--e1afmkfd.xn--p1ai",
		"ПРИМЕР.РФ":              "xn--e1afmkfd.xn--p1ai",
		"例え.jp":                  "xn--r8jz45g.jp",
		"例え。jp":                  "xn--r8jz45g.jp",
		"中国.中国":                  "xn--fiqs8s.xn--fiqs8s",
		"한국.kr":                  "xn--3e0b707e.kr",
		"مثال.إختبار":            "xn--mgbh0fb.xn--kgbechtv",
		"דוגמה.example":          "xn--6dbbec0c.example",
		"उदाहरण.example":         "xn--p1b6ci4b4b3a.example",
		"ไทย.example":            "xn--o3cw4h.example",
		"ⴀⴁ.ge":                  "xn--rkjc.ge",
		"ႠႡ.ge":                  "xn--rkjc.ge", // mapped since Unicode 16
		"Ӏ.example":              "xn--s5a.example",
		"☃.net":                  "xn--n3h.net",
		"💩.la":                   "xn--ls8h.la",
		"a_ü.example":            "xn--a_-yka.example", // no host name by RFC 1034, but looked up
		"_dmarc.bücher.example":  "_dmarc.xn--bcher-kva.example",
		"my_shop.xn--p1ai":       "my_shop.xn--p1ai",
		"r3---sn-ü.example":      "xn--r3---sn--e6a.example",
		"-ü-.example":            "xn-----xka.example",
		"نامه\u200cای.com":       "xn--mgba3gch31f060k.com", // a joiner where it may stand
		"क्\u200dष.example":      "xn--11b2ezcw70k.example",
		"a\u00adb.example":       "ab.example",
		"a\u2061b.example":       "ab.example", // ignored since Unicode 16
		"ﬁsh.example":            "fish.example",
		"Å.example":              "xn--5ca.example",
		"a\u030a.example":        "xn--5ca.example",
		"%E2%98%83.net":          "xn--n3h.net",
		"≠.example":              "xn--1ch.example", // allowed since Unicode 15.1
		"ａｂｃ．ｅｘａｍｐｌｅ":            "abc.example",
		"xn--bcher-kva.EXAMPLE.": "xn--bcher-kva.example",
	} {
		if u, err := Canonical("http://" + name + "/"); err != nil || u.Hostname() != want {
			t.Errorf("%q is %q, %v; want %q", name, u.Hostname(), err, want)
		} else {
			checkInvariants(t, u)
		}
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{
		"xn--a.example":          "no Punycode",
		"xn--.example":           "Punycode of nothing",
		"xn--abc-.example":       "Punycode of nothing but ASCII",
		"example.com.xn--":       "Punycode of nothing at its end",
		"example.com.XN--:80":    "the same in capitals, and a port",
		"example.com.xn--.":      "the same before a dot",
		"example.com.x\u00adn--": "the same with a hyphen that is ignored",
		"example.com.ｘn--":       "the same once it is mapped",
		"xn--":                   "nothing else",
		"xn--aa例xn--":            "Punycode of nothing beside another character",
		"+127.1:8000":            "a number with a sign",
		"1.0x+1":                 "a number with a sign, in hexadecimal digits",
		"-1.2.3.4":               "a number that is negative",
		"1.-2":                   "a last number that is negative",
		"0-1":                    "an octal number that is negative",
		"a+b.example":            "a plus sign",
		"[::1]]":                 "a bracket too many",
		"[[::1]":                 "a bracket too many at its start",
		"\u00ad[::1]":            "brackets that begin after something ignored",
		"%5B%5D":                 "brackets that are encoded",
		"xn--Bcher-KVA\u0301":    "a mark in a label of Punycode",
		"xn--53h.xn--zn7c":       "Punycode of a character that is mapped",
		"xn--u-ccb.example":      "Punycode of what is not composed",
		"a\u200cb.example":       "a joiner where none may stand",
		"\u200d.example":         "nothing but a joiner",
		"\u0301a.example":        "begins with a mark",
		"א1a.example":            "two directions in a label",
		"١٢٣.example":            "nothing but Arabic digits",
		"％４１.example":            "a percent sign once it is mapped",
		"0א.example":             "begins with a digit, in a name from right to left",
		"\ufffd.example":         "no character",
		"a\u2028b.example":       "a separator of lines",
		"\u00a8a.example":        "a space once it is mapped",
		"a℀b.example":            "a slash once it is mapped",
		"%ff.example":            "no UTF-8",
		"%25.example":            "a percent sign",
		"a\U000e0001b.example":   "a tag",
		"\U0001fffe.example":     "no character for ever",
		"bücher=kva.example":     "an equals sign, which no resolver looks up",
		"xn--bcher-kva.a b":      "a space",
		"\u3002example.example":  "an empty label",
	} {
		if u, err := Canonical("http://" + name + "/"); !errors.Is(err, ErrHost) {
			t.Errorf("%q, which has %s, is %q, %v", name, why, u, err)
		}
	}
}
