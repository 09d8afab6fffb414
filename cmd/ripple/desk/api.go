package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strconv"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A Stream is an answer that writes itself, as JSON.
type Stream func(io.Writer) error

// maxBody is the size limit of the body of a POST, in bytes.
const maxBody = 1<<20 + 4096

// NewAPI returns the API: the routes, and openapi.json, which describes them. Requests that are
// answered apart go to reader; nil: this process is the reader, and answers nothing else.
func NewAPI(routes []Route, reader http.Handler, version string) (http.Handler, error) {
	mux := http.NewServeMux()
	for _, r := range routes {
		switch {
		case !r.Apart && reader == nil:
		case r.Handler != nil:
			mux.Handle(r.Method+" "+control.Root+r.Path, r.Handler)
		case r.Apart && reader != nil:
			mux.Handle(r.Method+" "+control.Root+r.Path, checked(r, reader))
		default:
			mux.Handle(r.Method+" "+control.Root+r.Path, answer(r))
		}
	}
	text, err := Document(routes, version)
	if err != nil {
		return nil, err
	}
	mux.HandleFunc("GET "+control.Root+"openapi.json",
		func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, text) })
	return withJSONErrors(mux), nil
}

// withJSONErrors answers 404 and 405 of the mux itself in JSON, too.
func withJSONErrors(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		header := http.Header{}
		h.ServeHTTP(&headless{header: header}, r)
		if allow := header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			Refuse(w, &control.Error{Code: http.StatusMethodNotAllowed,
				Text: r.Method + " is not allowed here, but " + allow})
			return
		}
		Refuse(w, &control.Error{Code: http.StatusNotFound, Text: "there is nothing at " + strconv.Quote(r.URL.Path) +
			"; " + control.Root + "openapi.json says what there is"})
	})
}

// A headless writer keeps only the header.
type headless struct{ header http.Header }

func (h *headless) Header() http.Header         { return h.header }
func (h *headless) Write(b []byte) (int, error) { return len(b), nil }
func (h *headless) WriteHeader(int)             {}

// ErrApart is the error of an answer that the [Reader] must give instead.
var ErrApart = errors.New("ask the reader")

// checked passes on requests that are valid for their route, and refuses others. It reads the body
// first: the reader answers one request at a time, and must not wait for the bodies of others.
func checked(r Route, to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var v any
		q, err := r.Parse(req)
		if err == nil && r.Method == http.MethodPost {
			if q.body, err = body(w, req); err == nil {
				req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(q.body)), int64(len(q.body))
				req.TransferEncoding = nil
			}
		}
		if err == nil {
			if err = ErrApart; r.Answer != nil {
				v, err = r.Answer(req.Context(), q)
			}
		}
		switch {
		case errors.Is(err, ErrApart):
			to.ServeHTTP(w, req)
		case err != nil:
			Refuse(w, err)
		default:
			write(w, v)
		}
	})
}

// answer returns the handler of a route.
func answer(r Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		q, err := r.Parse(req)
		if err == nil && r.Method == http.MethodPost {
			q.body, err = body(w, req)
		}
		if err != nil {
			Refuse(w, err)
			return
		}
		v, err := r.Answer(req.Context(), q)
		if err != nil {
			Refuse(w, err)
			return
		}
		write(w, v)
	})
}

func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if big := new(http.MaxBytesError); errors.As(err, &big) {
		return nil, &control.Error{Code: http.StatusRequestEntityTooLarge, Text: "the body is too long"}
	}
	if err != nil {
		return nil, wrong("the body could not be read")
	}
	return text, nil
}

// write sends an answer.
func write(w http.ResponseWriter, v any) {
	if s, ok := v.(Stream); ok {
		w.Header().Set("Content-Type", "application/json")
		if err := s(w); err != nil {
			panic(http.ErrAbortHandler) // a truncated answer must not be taken for a complete one
		}
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		Refuse(w, errors.New("the answer cannot be written"))
		return
	}
	send(w, http.StatusOK, sanitize.JSON(b.Bytes()))
}

// Refuse sends an error. A [control.Error] has its own code.
func Refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var e *control.Error
	if errors.As(err, &e) {
		code = e.Code
	}
	text, _ := json.Marshal(struct { // a string can always be marshalled
		Error string `json:"error"`
	}{err.Error()})
	send(w, code, sanitize.JSON(text))
}

func send(w http.ResponseWriter, code int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

// quiet returns a logger that discards errors caused by clients.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
