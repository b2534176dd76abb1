import type { PackageCase } from "../package-case.ts"

/** A way to write a web server, which is a val's web address. */
export interface ServerCheck {
  readonly name: string
  readonly server: PackageCase
}

/** Checks that are modules of their own, because each is a server. */
export const servers: readonly ServerCheck[] = [
  {
    name: "Deno.serve(handler)",
    server: {
      code: `Deno.serve({ port: Number(Deno.env.get("PORT") ?? 8000) }, (request) => new Response("hello " + new URL(request.url).searchParams.get("name")))`,
      responds: "hello Ada",
    },
  },
  {
    name: "Deno.serve({ handler })",
    server: {
      code: `Deno.serve({ port: Number(Deno.env.get("PORT") ?? 8000), onListen() {}, handler: (request) => new Response("hello " + new URL(request.url).searchParams.get("name")) })`,
      responds: "hello Ada",
    },
  },
  {
    name: "export default { fetch }",
    server: {
      code: `export default { fetch: (request) => new Response("hello " + new URL(request.url).searchParams.get("name")) }`,
      responds: "hello Ada",
    },
  },
  {
    name: "node:http createServer",
    server: {
      code: `import { createServer } from "node:http"
createServer((req, res) => res.end("hello " + new URL(req.url, "http://x").searchParams.get("name"))).listen(process.env.PORT ?? 3000)`,
      responds: "hello Ada",
    },
  },
  {
    name: "export default (req, res) => …",
    server: {
      code: `export default (req, res) => res.end("hello " + new URL(req.url, "http://x").searchParams.get("name"))`,
      responds: "hello Ada",
    },
  },
  {
    name: "Deno.upgradeWebSocket in a handler",
    server: {
      code: `export default { fetch: (request) => {
  try { Deno.upgradeWebSocket(request) } catch (error) { return new Response("hello " + (error instanceof TypeError ? "Ada" : error)) }
} }`,
      responds: "hello Ada",
    },
  },
]
