// SPDX-License-Identifier: Apache-2.0

package main

// dashboard is as much of Grafana's model as ours need.
type dashboard struct {
	file string

	UID           string   `json:"uid"`
	Title         string   `json:"title"`
	Description   string   `json:"description"`
	Tags          []string `json:"tags"`
	SchemaVersion int      `json:"schemaVersion"`
	Refresh       string   `json:"refresh"`
	Time          span     `json:"time"`
	Templating    list     `json:"templating"`
	Panels        []panel  `json:"panels"`
}

type span struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type list struct {
	List []variable `json:"list"`
}

// variable is what the viewer chooses at the top.
type variable struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Query      string      `json:"query"`
	Datasource *datasource `json:"datasource,omitempty"`
	Refresh    int         `json:"refresh,omitempty"` // 2: whenever the time changes
	Sort       int         `json:"sort,omitempty"`    // 1: by name
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Datasource  datasource  `json:"datasource"`
	GridPos     position    `json:"gridPos"`
	FieldConfig fieldConfig `json:"fieldConfig"`
	Targets     []target    `json:"targets"`
}

type position struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

type fieldConfig struct {
	Defaults  defaults `json:"defaults"`
	Overrides []string `json:"overrides"`
}

type defaults struct {
	Unit   string  `json:"unit"`
	Custom *custom `json:"custom,omitempty"`
}

type custom struct {
	FillOpacity int       `json:"fillOpacity"`
	Stacking    *stacking `json:"stacking,omitempty"`
}

type stacking struct {
	Mode string `json:"mode"`
}

// target is one query; its letter names it within the panel.
type target struct {
	RefID        string     `json:"refId"`
	Datasource   datasource `json:"datasource"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat"`
}

// prometheus is the data source that the viewer chose.
var prometheus = datasource{"prometheus", "${datasource}"}

// newDashboard lays the panels out, two in a row.
func newDashboard(file, title, description string, variables []variable, panels []panel) dashboard {
	const width, height = 12, 8
	for i := range panels {
		panels[i].ID = i + 1
		panels[i].GridPos = position{X: i % 2 * width, Y: i / 2 * height, W: width, H: height}
	}
	return dashboard{
		file: file + ".json", UID: "fleetscale-" + file, Title: title, Description: description, Tags: []string{"fleetscale"},
		SchemaVersion: 39, Refresh: "30s", Time: span{"now-3h", "now"}, Panels: panels,
		Templating: list{append([]variable{{Name: "datasource", Type: "datasource", Query: "prometheus"}}, variables...)},
	}
}

// choice is a variable of the values of a label.
func choice(name, query string) variable {
	return variable{Name: name, Type: "query", Query: query, Datasource: &prometheus, Refresh: 2, Sort: 1}
}

// A query is an expression and the legend of its series.
type query struct{ expr, legend string }

// graph draws lines over time.
func graph(title, description, unit string, queries ...query) panel {
	return newPanel("timeseries", title, description, defaults{Unit: unit, Custom: &custom{}}, queries)
}

// stack draws areas that add up.
func stack(title, description, unit string, queries ...query) panel {
	return newPanel("timeseries", title, description,
		defaults{Unit: unit, Custom: &custom{FillOpacity: 40, Stacking: &stacking{"normal"}}}, queries)
}

// timeline draws one bar for each series, coloured by its value.
func timeline(title, description string, queries ...query) panel {
	return newPanel("state-timeline", title, description, defaults{Unit: "short", Custom: &custom{FillOpacity: 70}}, queries)
}

func newPanel(kind, title, description string, d defaults, queries []query) panel {
	p := panel{
		Type: kind, Title: title, Description: description, Datasource: prometheus,
		FieldConfig: fieldConfig{Defaults: d, Overrides: []string{}},
	}
	for i, q := range queries {
		p.Targets = append(p.Targets, target{RefID: string(rune('A' + i)), Datasource: prometheus, Expr: q.expr, LegendFormat: q.legend})
	}
	return p
}
