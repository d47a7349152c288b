package change

import (
	"fmt"
	"testing"
	"time"
)

// What a reader cannot tell apart is no edit, and what a reader can is one.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prev, next string
		noise      bool
	}{
		{"Café in Zürich", "Cafe\u0301 in Zu\u0308rich", true},
		{"Café in Zürich", "Cafe in Zürich", false},
		{"שלום 123 עולם", "שלום \u200e123\u200f עולם", true},
		{"שלום 123 עולם", "שלום 124 עולם", false},
		{"Price 12 €", "Price \u200e \u206812\u2069 €", true},
		{"Price 12 €", "Price \u206813\u2069 €", false},
		{"☀ today", "☀\ufe0f today", true},
		{"☀ today", "☁ today", false},
		{"e\u2011mail", "e-mail", true},
		{"e\u2011mail", "email", false},
		{"می\u200cخواهم", "میخواهم", false}, // other letters
		{"今日は天気が良いので、 散歩に行きました。 港は", "今日は天気が良いので、散歩に行きました。港は", true},
		{"今日は天気が良いので、 散歩に行きました。 港は", "今日は天気が良いので、散歩に来ました。港は", false},
		{"本条款适用于 所有用户的服务", "本条款适用于所有 用户的服务", true},
		{"第 3 条", "第 4 条", false},
		{"한국 어", "한국어", false},
		{"every one", "everyone", false},
	} {
		if noise, _ := CompareRenderings(Rendering{Text: "Head\n" + c.prev, At: at}, Rendering{Text: "Head\n" + c.next, At: at.AddDate(0, 0, 1)}); noise != c.noise {
			t.Errorf("%q and %q: noise is %v", c.prev, c.next, noise)
		}
	}
}

// Programs write times in quotation marks, and in seconds since 1970.
func TestTimesOfPrograms(t *testing.T) {
	t.Parallel()
	then := at.AddDate(0, 0, 40)
	line := func(format string, args ...any) [2]string {
		return [2]string{fmt.Sprintf(format, args[0]), fmt.Sprintf(format, args[1])}
	}
	for _, c := range []struct {
		lines [2]string
		noise bool
	}{
		{line(`"generated_at": "%s",`, at.Format(time.RFC3339), then.Format(time.RFC3339)), true},
		{line(`"day": "%s",`, at.Format(time.DateOnly), then.Format(time.DateOnly)), true},
		{line(`"day": "%s",`, "2024-03-04", "2024-03-05"), false},
		{line(`"now": %d,`, at.Unix(), then.Unix()), true},
		{line(`"now": %d`, at.UnixMilli(), then.UnixMilli()), true},
		{line(`"ends": %d,`, at.AddDate(0, 1, 0).Unix(), then.AddDate(0, 1, 0).Unix()), false},
		{line(`"price": %d,`, 12, 14), false},
		{line(`"name": "%s",`, "Pier", "Quay"), false},
	} {
		if noise, _ := CompareRenderings(Rendering{Text: "{\n" + c.lines[0] + "\n}", At: at}, Rendering{Text: "{\n" + c.lines[1] + "\n}", At: then}); noise != c.noise {
			t.Errorf("%q: noise is %v", c.lines, noise)
		}
	}
	if noise, _ := CompareRenderings(Rendering{Text: "A ticket costs 12 euros", At: time.Unix(1, 0)}, Rendering{Text: "A ticket costs 15 euros", At: time.Unix(2, 0)}); noise {
		t.Error("a small number is a time")
	}
}
