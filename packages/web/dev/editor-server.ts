import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { AppManifest } from "../src/build/app-manifest.ts"
import { findBuiltApp } from "../src/open-app.ts"

/** The options of the editor's page. */
export interface EditorServerOptions {
  readonly port: number
  /** Vals that can be imported: code by path, as `/v/ada/greet`. */
  readonly vals: Readonly<Record<string, string>>
  /** Responses of the API: JSON by path. It is read at each request. */
  readonly api?: Readonly<Record<string, unknown>>
}

export interface EditorServer {
  readonly origin: string
  /** The folder of the built files. */
  readonly folder: string
  stop(): Promise<void>
}

/** Builds the editor's page and serves it with the CSP of the app, and a few vals. */
export async function startEditorServer({
  port,
  vals,
  api = {},
}: EditorServerOptions): Promise<EditorServer> {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-editor-"))
  const [page, app] = await Promise.all([
    bundle(folder, ["./editor-page.tsx", "./editor-page.css"]),
    // Its type service takes seconds to build.
    findBuiltApp(folder),
  ])
  const html = toHtml(
    page.find((name) => name.endsWith(".js")),
    page.find((name) => name.endsWith(".css")),
    app.entries,
  )
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    development: false,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === "/")
        return servePage(
          search === "?libs=none" ? html.replace(app.entries.typeLibs, "none") : html,
        )
      if (pathname.startsWith("/assets/"))
        return serveFile([folder, app.folder], pathname.slice("/assets/".length))
      if (Object.hasOwn(api, pathname)) return Response.json(api[pathname])
      return await serveModule(pathname, vals, request)
    },
  })
  return {
    origin: server.url.origin,
    folder,
    async stop() {
      await server.stop(true)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function bundle(folder: string, entries: readonly string[]): Promise<readonly string[]> {
  const { outputs } = await Bun.build({
    entrypoints: entries.map((entry) => fileURLToPath(new URL(entry, import.meta.url))),
    outdir: folder,
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    naming: "[name]-[hash].[ext]",
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"' },
  })
  return outputs
    .filter(({ kind }) => kind !== "chunk")
    .map(({ path }) => path.slice(path.lastIndexOf("/") + 1))
}

function servePage(html: string): Response {
  const nonce = crypto.randomUUID()
  // The CSP of the app.
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types hamlet",
  ]
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
  }
  return new Response(html.replaceAll("NONCE", nonce), { headers })
}

async function serveFile(folders: readonly string[], name: string): Promise<Response> {
  for (const folder of folders) {
    const file = Bun.file(join(folder, name.replaceAll("/", "")))
    if (await file.exists()) return new Response(file)
  }
  return new Response("Not Found", { status: 404 })
}

/** Like the server: TypeScript for clients that accept it, JavaScript for other browsers. */
async function serveModule(
  path: string,
  vals: EditorServerOptions["vals"],
  request: Request,
): Promise<Response> {
  const code = path.startsWith("/std/")
    ? await readStandard(path.slice("/std/".length))
    : vals[path]
  if (code === undefined) return new Response("Not Found", { status: 404 })
  const isTypeScript = /text\/tsx/.test(request.headers.get("accept") ?? "")
  return new Response(isTypeScript ? code : "export {}", {
    headers: { "content-type": isTypeScript ? "text/tsx" : "text/javascript" },
  })
}

async function readStandard(name: string): Promise<string | undefined> {
  // What belongs to a val has the types of what belongs to the account.
  const module = name.replace(/\/main$/, "")
  const file = { sqlite2: "sqlite", utils: "val-files" }[module] ?? module
  const path = fileURLToPath(new URL(`../../std/src/${file}.ts`, import.meta.url))
  return /^[a-z-]+$/.test(file) ? await readFile(path, "utf8").catch(() => undefined) : undefined
}

function toHtml(
  main: string | undefined,
  style: string | undefined,
  { typeWorker, typeLibs, nodeTypes, domTypes }: AppManifest["entries"],
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="csp-nonce" content="NONCE">
<link rel="icon" href="/assets/none">
<title>Editor</title>
<link rel="stylesheet" href="/assets/${style}">
<script type="module" src="/assets/${main}"></script>
</head>
<body><div id="app" data-worker="/assets/${typeWorker}" data-libs="/assets/${typeLibs}" data-node-types="/assets/${nodeTypes}" data-dom-types="/assets/${domTypes}"></div></body>
</html>
`
}
