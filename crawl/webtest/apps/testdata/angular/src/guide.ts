import { Component } from "@angular/core";
import { RouterLink } from "@angular/router";

@Component({
  imports: [RouterLink],
  template: `<p>How a gauge is read, with <a routerLink="/stations/2">an example</a>.</p>`,
})
export class Guide {}
