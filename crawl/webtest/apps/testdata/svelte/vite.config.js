import { svelte } from "@sveltejs/vite-plugin-svelte";

const input = ["index.html", "stations/index.html", "guide/index.html"];

export default { plugins: [svelte()], build: { rollupOptions: { input } } };
