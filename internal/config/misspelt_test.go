package config

import (
	"slices"
	"testing"
)

func TestMisspelt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		environ []string
		want    []Misspelling
	}{
		{[]string{"RECRAWL_ENCRYPTION_KEY=k1=file:/k1"}, []Misspelling{{"RECRAWL_ENCRYPTION_KEY", EnvEncryptionKeys}}},
		{[]string{"RECRAWL_CONCURENCY=8", "RECRAWL_SOTRE=sqlite:x.db", "RECRAWL_LOGS=info"}, []Misspelling{{"RECRAWL_CONCURENCY", EnvConcurrency}, {"RECRAWL_SOTRE", EnvStore}, {"RECRAWL_LOGS", EnvLog}}},
		{[]string{"RECRAWL_WEB_READ_TOKENS=0123456789abcdef", "RECRAWL_SMTP_HOSTS=mail"}, []Misspelling{{"RECRAWL_WEB_READ_TOKENS", EnvWebReadToken}, {"RECRAWL_SMTP_HOSTS", EnvSMTPHost}}},
		// What others read, and what is far from everything.
		{[]string{"RECRAWL_STORE=sqlite:x.db", "RECRAWL_LONG=1", "RECRAWL_DB_PASSWORD=x", "RECRAWL_TEMPORAL_CLI=/t", "RECRAWL_TAG=7", "RECRAWL_MY_OWN=1", "RECRAWLED=1", "PATH=/bin"}, nil},
		{[]string{"RECRAWL_WEB_TOKEN=env:RECRAWL_WEB_TOKEN1", "RECRAWL_WEB_TOKEN1=0123456789abcdef"}, nil},
		{[]string{"RECRAWL_ARCHIV="}, nil},
		{nil, nil},
	} {
		if got := Misspelt(c.environ); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.environ, got, c.want)
		}
	}
	if got := (Misspelling{"RECRAWL_LOGS", EnvLog}).String(); got != "the variable RECRAWL_LOGS is not read: is RECRAWL_LOG meant?" {
		t.Error(got)
	}
}
