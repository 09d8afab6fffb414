import { AsyncPipe } from "@angular/common";
import { HttpClient } from "@angular/common/http";
import { Component, inject, input } from "@angular/core";
import { toObservable } from "@angular/core/rxjs-interop";
import { RouterLink } from "@angular/router";
import { switchMap } from "rxjs";

interface Place {
  id: number;
  name: string;
  river: string;
  text: string;
  report: string;
  next: number;
}

@Component({
  imports: [AsyncPipe, RouterLink],
  template: `
    @if (stations | async; as all) {
      <ul>
        @for (s of all; track s.id) {
          <li><a [routerLink]="['/stations', s.id]">{{ s.name }}</a>, {{ s.river }}</li>
        }
      </ul>
    } @else {
      <p>Loading…</p>
    }
  `,
})
export class Stations {
  stations = inject(HttpClient).get<Place[]>("/data/stations.json");
}

@Component({
  imports: [AsyncPipe, RouterLink],
  template: `
    @if (station | async; as s) {
      <h1>{{ s.name }}</h1>
      <p>{{ s.text }}</p>
      <a [href]="s.report">Report</a> <a [routerLink]="['/stations', s.next]">Next station</a>
    } @else {
      <p>Loading…</p>
    }
  `,
})
export class Station {
  private http = inject(HttpClient);
  id = input.required<string>();
  station = toObservable(this.id).pipe(switchMap((id) => this.http.get<Place>(`/data/stations/${id}.json`)));
}
