// Package decide changes a map by decisions, changed lists and stored pages, without asking a server: the entry of a
// decision in its file, its effect, the pages whose class or state changes, and links and facts extracted again.
package decide
