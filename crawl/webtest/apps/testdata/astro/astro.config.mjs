import preact from "@astrojs/preact";

export default {
  integrations: [preact()],
  devToolbar: { enabled: false },
  image: { service: { entrypoint: "astro/assets/services/noop" } },
};
