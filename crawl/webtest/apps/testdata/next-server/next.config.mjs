export default { output: "standalone", outputFileTracingRoot: process.cwd(), trailingSlash: true };
