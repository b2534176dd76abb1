// The Worker Loader of workerd as a val host: the path is the val, and a path that is new makes a new isolate.

/**
 * @typedef {{ compatibilityDate: string, mainModule: string, modules: Record<string, string>, globalOutbound: null }} Code
 * @typedef {{ get(id: string, load: () => Promise<Code>): { getEntrypoint(): { fetch(request: Request): Promise<Response> } } }} Loader
 */

/** @param {string} id */
async function loadVal(id) {
  // The comment makes the code of each one its own, as the code of different vals is. It is JavaScript: workerd takes no TypeScript.
  const code = `// ${id}\nexport default { fetch(request) { return new Response("hello world") } }`
  return {
    compatibilityDate: "2026-10-01",
    mainModule: "val.js",
    modules: { "val.js": code },
    globalOutbound: null,
  }
}

// biome-ignore lint/style/noDefaultExport: this is where workerd looks for a worker.
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
