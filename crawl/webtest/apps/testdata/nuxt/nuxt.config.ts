const stations = [1, 2, 3, 4, 5, 6].map((id) => `/stations/${id}`);

export default defineNuxtConfig({
  compatibilityDate: "2024-11-01",
  telemetry: false,
  nitro: { prerender: { routes: stations } },
});
