// Light or dark: the system's setting, until the user chooses otherwise.

const kept = "ripple-theme", dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = localStorage.getItem(kept);

export function isDark() { return chosen ? chosen === "dark" : dark.matches; }

export function apply() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  document.dispatchEvent(new Event("theme"));
}

export function flip() {
  chosen = isDark() ? "light" : "dark";
  localStorage.setItem(kept, chosen);
  apply();
}

dark.addEventListener("change", apply);
