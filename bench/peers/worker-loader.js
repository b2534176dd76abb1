// The Worker Loader of workerd as a val host: the path is the val, and a new path creates a new
// isolate.

/**
 * @typedef {{ compatibilityDate: string, mainModule: string, modules: Record<string, string>, globalOutbound: null }} Code
 * @typedef {{ get(id: string, load: () => Promise<Code>): { getEntrypoint(): { fetch(request: Request): Promise<Response> } } }} Loader
 */

/** @param {string} id */
async function loadVal(id) {
  // The comment makes the code of each val unique. It is JavaScript: workerd accepts no TypeScript.
  const code = `// ${id}\nexport default { fetch(request) { return new Response("hello world") } }`
  return {
    compatibilityDate: "2026-10-01",
    mainModule: "val.js",
    modules: { "val.js": code },
    globalOutbound: null,
  }
}

// biome-ignore lint/style/noDefaultExport: workerd expects the worker here.
export default {
  /**
   * @param {Request} request
   * @param {{ loader: Loader }} env
   */
  fetch(request, env) {
    const id = new URL(request.url).pathname
    return env.loader
      .get(id, () => loadVal(id))
      .getEntrypoint()
      .fetch(request)
  },
}
