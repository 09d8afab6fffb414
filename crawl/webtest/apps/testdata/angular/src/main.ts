import { provideHttpClient } from "@angular/common/http";
import { Component } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { RouterLink, RouterOutlet, provideRouter, withComponentInputBinding } from "@angular/router";

@Component({
  selector: "app-home",
  imports: [RouterLink],
  template: `<p>Levels of rivers. Begin with <a routerLink="/stations/1">Ash Weir</a>.</p>`,
})
class Home {}

@Component({
  selector: "app-root",
  imports: [RouterLink, RouterOutlet],
  template: `
    <nav>
      <a routerLink="/">Home</a> <a routerLink="/stations">Stations</a> <a routerLink="/guide">Guide</a>
      <a href="/about.html">About</a>
    </nav>
    <main><router-outlet /></main>
  `,
})
class App {}

const routes = [
  { path: "", component: Home },
  { path: "stations", loadComponent: () => import("./stations").then((m) => m.Stations) },
  { path: "stations/:id", loadComponent: () => import("./stations").then((m) => m.Station) },
  { path: "guide", loadComponent: () => import("./guide").then((m) => m.Guide) },
];

bootstrapApplication(App, { providers: [provideHttpClient(), provideRouter(routes, withComponentInputBinding())] });
