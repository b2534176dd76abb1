/** A val with a hostile log, returned value and error. */
export function hostileScript(text: string): string {
  return `const text = ${JSON.stringify(text)}
class Hostile extends Error {
  name = text
  stack = text + "\\n    at " + text + " (javascript:canary(1)/x.tsx:1:1)\\n    at ada/hostile_run.tsx:1:1"
}
export default function (kind: string): unknown {
  for (const level of ["log", "info", "warn", "error", "debug"] as const) console[level](text, { [text]: text })
  if (kind === "error") throw new Hostile(text)
  if (kind === "table") return [{ [text]: text, b: "javascript:canary(1)" }, { [text]: text, b: 1 }]
  if (kind === "picture") return "data:image/png;base64,AAAA\\" onerror=\\"canary(1)"
  if (kind === "drawing") return "data:image/svg+xml;base64," + btoa("<svg xmlns='http://www.w3.org/2000/svg' onload='canary(1)'/>")
  return { [text]: [text, { __proto__: null, constructor: text }], html: text }
}
`
}

/** A val with hostile responses: headers, types, bodies and redirects. */
export function hostileHttp(text: string): string {
  return `const text = ${JSON.stringify(text)}
const page = "<!doctype html><title>x</title><h1>x-hostile</h1><script>for (const key of ['parent', 'top', 'opener']) try { window[key].canary(1) } catch {}</script>" + text
export default function (request: Request): Response {
  const { pathname } = new URL(request.url)
  const headers = new Headers({ "content-type": "text/html", "x-hostile": text.replace(/[^\\x20-\\x7e]/g, ""), "service-worker-allowed": "/" })
  if (pathname === "/svg") {
    headers.set("content-type", "image/svg+xml")
    return new Response("<svg xmlns='http://www.w3.org/2000/svg' onload='canary(1)'><script>canary(1)</script></svg>", { headers })
  }
  if (pathname === "/redirect") headers.set("location", "javascript:canary(1)")
  if (pathname === "/redirect") return new Response(text, { status: 302, headers })
  if (pathname === "/refresh") headers.set("refresh", "0;url=javascript:parent.canary(1)")
  if (pathname === "/worker.js") headers.set("content-type", "text/javascript")
  if (pathname === "/worker.js") return new Response("self.onfetch = (event) => event.respondWith(new Response('<script>canary(1)</script>'))", { headers })
  if (pathname === "/cookies")
    for (const domain of ["", "; Domain=localhost", "; Domain=.localhost"]) headers.append("set-cookie", "hamlet_session=planted; Path=/" + domain)
  return new Response(page, { headers })
}
`
}
