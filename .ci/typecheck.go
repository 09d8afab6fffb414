// Typecheck checks the types of every package of this module, with tests, for the target that GOOS and GOARCH name.
// It finds what keeps a package from being compiled there, without generating code: dependencies are only parsed and
// their declarations checked, which takes seconds where compiling them takes minutes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

// CGO_ENABLED=0 is required: files with C are not read.
const fields = "Dir,ImportPath,GoFiles,ImportMap,Module,Error"

// listed holds the fields of a package that are requested from go list.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

func main() {
	log.SetFlags(0)
	packages, err := list()
	if err != nil {
		log.Fatal(err)
	}
	if err := check(packages); err != nil {
		log.Fatal(err)
	}
}

// list returns the packages of this module and all that they import, each after what it imports.
func list() ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-test", "-e", "-json="+fields, "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(out); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, cmd.Wait()
}

// An importer finds packages that have been checked.
type importer struct {
	checked map[string]*types.Package
	mapped  map[string]string // the ImportMap of the package that imports
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if m, ok := i.mapped[path]; ok {
		path = m
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed", path)
}

func check(packages []listed) error {
	checked := map[string]*types.Package{}
	var all []error
	for _, p := range packages {
		own := p.Module != nil && p.Module.Main
		if p.Error != nil {
			all = append(all, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err))
			continue
		}
		fset := token.NewFileSet()
		files, err := parse(fset, p)
		if err != nil {
			return err
		}
		config := types.Config{
			Importer:         importer{checked, p.ImportMap},
			Sizes:            types.SizesFor("gc", os.Getenv("GOARCH")),
			IgnoreFuncBodies: !own,
			Error: func(err error) {
				if own {
					all = append(all, err)
				}
			},
		}
		checked[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil)
	}
	return errors.Join(all...)
}

func parse(fset *token.FileSet, p listed) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
