// The page behind a ticket: it keeps the token in this tab, and goes on to the application, with nothing of it in an
// address.

sessionStorage.setItem("ripple-token", document.querySelector("meta[name=token]").content);
location.replace("/");
