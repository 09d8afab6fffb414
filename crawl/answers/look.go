package answers

import "github.com/sumi-ripple/ripple/crawl/render"

// TooMany is the refusal of requests beyond a page's limit.
const TooMany = "too many requests of one page"

// A Look gives a page its answers for one round.
type Look struct {
	Answers render.Answers
	Most    int // number of the page's requests that are answered

	Refused map[string]bool // reasons for which something was refused

	asked map[render.Resource]bool
}

// Answer implements [render.Answers].
func (l *Look) Answer(r render.Request) (render.Answer, bool) {
	if !l.asked[r.Resource] {
		if len(l.asked) >= l.Most {
			return l.refuse(TooMany), true
		}
		if l.asked == nil {
			l.asked = map[render.Resource]bool{}
		}
		l.asked[r.Resource] = true
	}
	a, ok := l.Answers.Answer(r)
	if a.Refused != "" {
		return l.refuse(a.Refused), true
	}
	return a, ok
}

func (l *Look) refuse(why string) render.Answer {
	if l.Refused == nil {
		l.Refused = map[string]bool{}
	}
	l.Refused[why] = true
	return render.Answer{Refused: why}
}
