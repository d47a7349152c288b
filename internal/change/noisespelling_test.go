package change

import "testing"

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
