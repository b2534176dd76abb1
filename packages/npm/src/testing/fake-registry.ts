import { createHash } from "node:crypto"
import { toTarball } from "./tarball.ts"

/** The files of a package, by their paths. */
export type PackageFiles = Readonly<Record<string, string | Uint8Array>>

/** What the registry has at an address beside packages. */
export interface FakeResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

interface NpmVersion {
  readonly packageJson: Record<string, unknown>
  readonly tarball: Uint8Array<ArrayBuffer>
}

/**
 * A registry of npm and JSR packages, and a server of modules, all on one port and in memory. What it serves can change at any time:
 *
 *   {npmUrl}{name}                         an npm package
 *   {jsrUrl}@{scope}/{name}/meta.json      a JSR package
 *   {url}…                                 whatever was put there with `serve`
 */
export class FakeRegistry {
  readonly url: string
  readonly npmUrl: string
  readonly jsrUrl: string
  /** The paths that were asked for, in order. */
  readonly requests: string[] = []
  /** Answers every request with this instead, as a registry in trouble does. */
  trouble: FakeResponse | undefined
  readonly #server: Bun.Server<undefined>
  readonly #npm = new Map<string, Map<string, NpmVersion>>()
  readonly #answers = new Map<string, FakeResponse | (() => Response | Promise<Response>)>()

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    })
    this.url = `http://127.0.0.1:${this.#server.port}/`
    this.npmUrl = `${this.url}npm/`
    this.jsrUrl = `${this.url}jsr/`
  }

  /** Host and port, as rules about addresses name it. */
  get host(): string {
    return new URL(this.url).host
  }

  /**
   * Publishes a version of an npm package, or puts another in its place. `fields` are those of its
   * package.json.
   */
  publish(
    name: string,
    version: string,
    files: PackageFiles,
    fields: Record<string, unknown> = {},
  ): void {
    const packageJson = { name, version, ...fields }
    const all = { "package.json": JSON.stringify(packageJson), ...files }
    const entries = Object.entries(all).map(([path, content]) => ({
      path: `package/${path}`,
      content,
    }))
    this.publishTarball(name, version, toTarball(entries), packageJson)
  }

  /** Publishes a version with any tarball. */
  publishTarball(
    name: string,
    version: string,
    tarball: Uint8Array<ArrayBuffer>,
    fields: Record<string, unknown> = {},
  ): void {
    const versions = this.#npm.get(name) ?? new Map<string, NpmVersion>()
    versions.set(version, { packageJson: { name, version, ...fields }, tarball })
    this.#npm.set(name, versions)
  }

  unpublish(name: string): void {
    this.#npm.delete(name)
  }

  /** Publishes a version of a JSR package, the only one that it then has. */
  publishJsr(
    name: string,
    version: string,
    files: Readonly<Record<string, string>>,
    exports: Readonly<Record<string, string>>,
  ): void {
    const base = `/jsr/${name}/`
    const manifest = Object.entries(files).map(([path, text]) => [
      path,
      { size: text.length, checksum: `sha256-${hash("sha256", text)}` },
    ])
    const json = { "content-type": "application/json" }
    this.serve(`${base}meta.json`, {
      headers: json,
      body: JSON.stringify({ latest: version, versions: { [version]: {} } }),
    })
    const meta = { manifest: Object.fromEntries(manifest), exports, moduleGraph2: undefined }
    this.serve(`${base}${version}_meta.json`, { headers: json, body: JSON.stringify(meta) })
    for (const [path, body] of Object.entries(files))
      this.serve(`${base}${version}${path}`, { headers: typescript, body })
  }

  /** Has an answer at a path. */
  serve(path: string, response: FakeResponse | (() => Response | Promise<Response>)): void {
    this.#answers.set(path, response)
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }

  #answer(request: Request): Response | Promise<Response> {
    const { pathname, search } = new URL(request.url)
    this.requests.push(pathname + search)
    if (this.trouble) return toResponse(this.trouble)
    const found = this.#answers.get(pathname + search)
    if (typeof found === "function") return found()
    if (found) return toResponse(found)
    return pathname.startsWith("/npm/")
      ? this.#answerNpm(decodeURIComponent(pathname.slice("/npm/".length)))
      : notFound()
  }

  #answerNpm(path: string): Response {
    const [name = "", file] = path.split("/-/")
    const versions = this.#npm.get(name)
    if (!versions) return notFound()
    if (file === undefined) return Response.json(this.#describe(name, versions))
    const found = versions.get(file.replace(/\.tgz$/, ""))
    return found ? new Response(found.tarball) : notFound()
  }

  #describe(name: string, versions: ReadonlyMap<string, NpmVersion>): unknown {
    const entries = [...versions].map(([version, { packageJson, tarball }]) => {
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`
      const dist = {
        tarball: `${this.npmUrl}${name}/-/${version}.tgz`,
        shasum: hash("sha1", tarball),
        integrity,
      }
      return [version, { ...packageJson, dist }]
    })
    return {
      name,
      "dist-tags": { latest: [...versions.keys()].at(-1) },
      versions: Object.fromEntries(entries),
    }
  }
}

const typescript = { "content-type": "text/typescript" }

function hash(algorithm: string, content: string | Uint8Array): string {
  return createHash(algorithm).update(content).digest("hex")
}

function toResponse({ status = 200, headers = {}, body = "" }: FakeResponse): Response {
  return new Response(body, { status, headers })
}

function notFound(): Response {
  return new Response("not found", { status: 404 })
}
