import { createApp, h } from "vue";
import { RouterLink, createRouter, createWebHistory } from "vue-router";
import App from "./App.vue";

const Home = () => h("p", ["Levels of rivers. Begin with ", h(RouterLink, { to: "/stations/1" }, () => "Ash Weir"), "."]);

const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: "/", component: Home },
    { path: "/stations", component: () => import("./Stations.vue") },
    { path: "/stations/:id", component: () => import("./Station.vue"), props: true },
    { path: "/guide", component: () => import("./Guide.vue") },
  ],
});
createApp(App).use(router).mount("#app");
