// @valtown/deno-http-worker as a val host, on Node: the path is the val, a new path starts a
// process, and DELETE ends it.
import { createServer } from "node:http"

/**
 * @typedef {import("node:http").IncomingMessage} IncomingMessage
 * @typedef {import("node:http").ServerResponse} ServerResponse
 * @typedef {{ request(url: string, options: object, onResponse: (response: IncomingMessage) => void):
 * import("node:http").ClientRequest, terminate(): void }} Worker
 */

// A variable, so that the type check does not resolve it: the package is installed by benchmarks
// only.
const packageName = "@valtown/deno-http-worker"
const { newDenoHTTPWorker } = await import(packageName)

const options = {
  denoExecutable: process.env.BENCH_DENO,
  // The options that its authors call "next" make it start faster. They are off by default.
  ...(process.env.BENCH_NEXT === "1"
    ? { next: { cacheBootstrap: true, fastReady: true, skipWarm: true } }
    : {}),
}

/** @type {Map<string, Promise<Worker>>} */
const workers = new Map()

const server = createServer((request, response) => {
  forward(request, response).catch((error) => {
    if (!response.headersSent) response.writeHead(502)
    response.end(String(error))
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object") console.log(`listens at http://127.0.0.1:${address?.port}`)
})
process.on("SIGTERM", async () => {
  for (const worker of workers.values()) (await worker).terminate()
  process.exit()
})

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
async function forward(request, response) {
  const id = request.url ?? "/"
  if (request.method === "DELETE") {
    ;(await workers.get(id))?.terminate()
    workers.delete(id)
    response.writeHead(204).end()
    return
  }
  const worker = await getWorker(id)
  const passed = worker.request(
    `http://val${id}`,
    { method: request.method, headers: request.headers },
    (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers)
      upstream.pipe(response)
    },
  )
  passed.on("error", (error) => response.destroy(error))
  request.pipe(passed)
}

/**
 * @param {string} id
 * @returns {Promise<Worker>}
 */
function getWorker(id) {
  const running = workers.get(id)
  if (running) return running
  // The comment makes the code of each val unique.
  const code = `// ${id}\n${process.env.BENCH_IMPORTS ?? ""}export default { fetch(request: Request): Response { return new Response("hello world") } }`
  const started = newDenoHTTPWorker(code, options)
  workers.set(id, started)
  // On a busy machine it may connect before its process listens. The next request gets a new
  // process.
  started.catch(() => workers.delete(id))
  return started
}
