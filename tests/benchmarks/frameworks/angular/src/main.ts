import { Component, computed, effect, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";

interface Lantern {
  slug: string;
  name: string;
  text: string;
}

@Component({
  selector: "app-root",
  template: `
    @if (one(); as lantern) {
      <article>
        <h1>{{ lantern.name }}</h1>
        <p>{{ lantern.text }}</p>
        <a href="/">All lanterns</a>
      </article>
    } @else {
      <main>
        <h1>Lanterns for every night</h1>
        <ul>
          @for (lantern of lanterns(); track lantern.slug) {
            <li>
              <a [href]="'/lanterns/' + lantern.slug">{{ lantern.name }}</a> {{ lantern.text }}
            </li>
          }
        </ul>
      </main>
    }
  `,
})
class Shop {
  lanterns = signal<Lantern[]>([]);
  one = computed(() => this.lanterns().find(({ slug }) => location.pathname === `/lanterns/${slug}`));

  constructor() {
    fetch("/lanterns.json")
      .then((answer) => answer.json())
      .then((found: Lantern[]) => this.lanterns.set(found));
    effect(() => (document.title = this.one()?.name ?? document.title));
  }
}

bootstrapApplication(Shop, { providers: [provideZonelessChangeDetection()] });
