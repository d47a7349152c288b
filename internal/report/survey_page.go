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
	"next":    func(i int) int { return i + 1 },
}).Parse(surveyHTML))

// surveyPageData is the data of the page: first what people want to know, unless it
// compares two crawls, then the figures by which crawlers are compared.
type surveyPageData struct {
	Title, State, At string
	People           *surveyPeople
	Rows             []surveyRow
	Figures          []surveyTable
}

// surveyRow is a figure with its name and meaning.
type surveyRow struct{ Name, Value, About string }

// writeSurveyPage writes a survey as a page that needs nothing else: no scripts,
// style sheets, fonts or pictures from anywhere.
func writeSurveyPage(out io.Writer, line surveyLine, people surveyPeople) error {
	now := time.Time(line.Now)
	data := surveyPageData{Title: "Crawl " + line.Crawl, State: line.State.String() + "; ", At: atWords(now), People: &people, Figures: line.tables()}
	for _, row := range line.rows(now) {
		data.Rows = append(data.Rows, surveyRow{row[0], row[1], figureAbout[row[0]]})
	}
	return surveyPage.Execute(out, data)
}

func atWords(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 MST") }
