// The page behind a ticket: it keeps the token in this tab, and opens the view of the application that its fragment
// names. No address has the token in it.

sessionStorage.setItem("ripple-token", document.querySelector("meta[name=token]").content);
location.replace("/" + location.hash);
