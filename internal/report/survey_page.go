package report

import (
	_ "embed"
	"html/template"
	"io"
	"time"
)

//go:embed survey.html
var surveyHTML string

var surveyPage = template.Must(template.New("survey").Funcs(template.FuncMap{
	"percent": func(x float64) float64 { return 100 * x },
}).Parse(surveyHTML))

// surveyPageData is what the page shows.
type surveyPageData struct {
	Title, State, At string
	Figures          [][]string
	Tables           []surveyTable
}

// writeSurveyPage writes a survey as a page that needs nothing else: no scripts,
// style sheets, fonts or pictures from anywhere.
func writeSurveyPage(out io.Writer, line surveyLine) error {
	now := time.Time(line.Now)
	return surveyPage.Execute(out, surveyPageData{
		Title: "Crawl " + line.Crawl + " in figures", State: line.State.String() + "; ", At: atWords(now), Figures: line.rows(now), Tables: line.tables(),
	})
}

func atWords(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 MST") }
