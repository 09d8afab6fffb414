package desk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sumi-ripple/ripple/crawl/control"
)

// Document describes the API as OpenAPI 3.1 does (https://spec.openapis.org/oas/v3.1.1).
func Document(routes []Route, version string) ([]byte, error) {
	paths := map[string]map[string]any{}
	for _, r := range routes {
		operation, err := r.operation()
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", r.Name, err)
		}
		path := "/" + strings.ReplaceAll(r.Path, "...}", "}")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(r.Method)] = operation
	}
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.1",
		"info": map[string]any{"title": "Ripple", "version": version,
			"description": "What is known about a terrain, and the crawl that maps it. " +
				"Fields are named as the columns of the SQL export."},
		"servers":  []any{map[string]any{"url": strings.TrimSuffix(control.Root, "/")}},
		"security": []any{map[string]any{"token": []string{}}},
		"paths":    paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
			"schemas": map[string]any{"error": map[string]any{"type": "object", "required": []string{"error"},
				"properties": map[string]any{"error": map[string]any{"type": "string"}}}},
		},
	}, "", " ")
}

// operation describes a route.
func (r *Route) operation() (map[string]any, error) {
	content := map[string]any{r.Media: map[string]any{"schema": map[string]any{"type": Text}}}
	if r.Handler == nil {
		returns, err := schemaOf(r.Returns)
		if err != nil {
			return nil, err
		}
		content = inJSON(returns)
	}
	o := map[string]any{
		"operationId": r.Name, "summary": r.Doc, "parameters": r.parameters(),
		"responses": map[string]any{
			"200": map[string]any{"description": "the answer", "content": content},
			"default": map[string]any{"description": "why not",
				"content": inJSON(map[string]any{"$ref": "#/components/schemas/error"})},
		},
	}
	if r.Method != http.MethodPost {
		return o, nil
	}
	body := &jsonschema.Schema{Type: "object"}
	if r.Body != nil {
		var err error
		if body, err = schemaOf(r.Body); err != nil {
			return nil, err
		}
	}
	o["requestBody"] = map[string]any{"required": true, "content": inJSON(body)}
	return o, nil
}

func inJSON(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func (r *Route) parameters() []any {
	all := []any{}
	for _, p := range r.Params {
		schema := map[string]any{"type": p.Kind}
		switch {
		case p.Kind == Number:
			schema["minimum"], schema["maximum"], schema["default"] = p.Least, p.Most, p.Default
		case p.Words != nil:
			schema["enum"] = p.Words
		case p.Most > 0:
			schema["maxLength"] = p.Most
		}
		in := "query"
		if r.inPath(p) {
			in = "path"
		}
		all = append(all, map[string]any{
			"name": p.Name, "in": in, "required": p.Required, "description": p.Doc, "schema": schema,
		})
	}
	return all
}

// schemaOf describes the type of a value. All members of an embedded pointer may be missing
// together.
func schemaOf(v any) (*jsonschema.Schema, error) {
	t := reflect.TypeOf(v)
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
	}})
	if err != nil || t.Kind() != reflect.Struct {
		return s, err
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous || f.Type.Kind() != reflect.Pointer {
			continue
		}
		for _, inner := range reflect.VisibleFields(f.Type.Elem()) {
			name, _, _ := strings.Cut(inner.Tag.Get("json"), ",")
			s.Required = slices.DeleteFunc(s.Required, func(n string) bool { return n == name })
		}
	}
	return s, nil
}
