import { findOwnStandardModule, standardModuleNames } from "@hamlet/contract"
import { type ModuleType, toModuleType } from "@hamlet/sandbox"
import type { Caller } from "../../domain/access/caller.ts"
import { AppError } from "../../domain/app-error.ts"
import type { ModuleAddress } from "../../domain/files/module-files.ts"
import { isModulePath } from "../../domain/modules/graph/version-files.ts"
import { toModuleUrl } from "../../domain/modules/module-url.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { versionNotFound } from "../../domain/vals/versions.ts"
import type { Call, Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { withEtag } from "../request/preconditions.ts"
import { content, json } from "../response/api-response.ts"

const tsxType = "text/tsx; charset=utf-8"
const typescriptType = "text/typescript; charset=utf-8"
const javascriptType = "text/javascript; charset=utf-8"

// Code of users is served only as a module: opened as a page, it must not run.
const moduleHeaders = {
  // Always sent: shared caches return the same response to all origins.
  "access-control-allow-origin": "*",
  "content-security-policy": "default-src 'none'; sandbox",
}

/** The modules that vals import: other vals, their files and the standard library. */
export function moduleHandlers(nouns: Nouns) {
  const { formatting, standardModules, parser, moduleFiles } = nouns
  const { links } = nouns.api
  /** Sends a file, or its own address in its version if the request named another one. */
  const sendFile = async (
    { caller, request }: Pick<Call, "caller" | "request">,
    address: ModuleAddress,
  ) => {
    const found = await moduleFiles.get(caller, address)
    const { val, file, path, version } = found
    const headers = {
      ...moduleHeaders,
      vary: "authorization, accept, user-agent",
      "cache-control": toCacheControl(val, found.isPinned),
    }
    if (!found.isPinned || address.path === undefined) {
      const location = toModuleUrl(links.module(val.ownerName, val.name), found)
      return { status: 302, headers: { ...headers, location }, body: null }
    }
    const isTranspiled = isScript(path) && !readsTypeScript(request)
    const type = isTranspiled ? javascriptType : toContentType(path)
    const url = toModuleUrl(links.module(val.ownerName, val.name), found)
    const text = await moduleFiles.toText({
      ...found,
      url,
      code: file.content,
      ownerId: val.ownerId,
    })
    const body = isTranspiled ? await parser.toJavaScript(text, val.ownerId) : text
    return withEtag(content(type, body, headers), version)
  }
  return {
    getModule: async (call) => {
      const { caller, params, query, request } = call
      const val_name = withVersion(params.val_name, query.v)
      const [name = "", ...rest] = val_name.split("@")
      const pinned = rest.length === 0 ? undefined : rest.join("@")
      if (pinned !== undefined && !/^[0-9]*$/.test(pinned))
        return sendFile(call, { username: params.username, val: val_name, path: undefined })
      const val = await getPinned(nouns, caller, params.username, name, pinned)
      // Relative to the address of the val, they would be other vals.
      if (importsFiles(val.code))
        return sendFile(call, { username: params.username, val: val_name, path: undefined })
      const isTranspiled = !readsTypeScript(request)
      const { version, ownerId } = val
      const url = toModuleUrl(links.module(val.ownerName, val.name), { ...val.file, version })
      const text = await moduleFiles.toText({ ...val.file, version, ownerId, url, code: val.code })
      const body = isTranspiled ? await parser.toJavaScript(text, ownerId) : text
      const headers = {
        ...moduleHeaders,
        vary: "authorization, accept, user-agent",
        "cache-control": toCacheControl(val, pinned !== undefined),
      }
      return withEtag(content(isTranspiled ? javascriptType : tsxType, body, headers), val.version)
    },
    getModuleFile: (call) => {
      const { username, val_name, file_path: path } = call.params
      return sendFile(call, { username, val: withVersion(val_name, call.query.v), path })
    },
    formatCode: async ({ caller, body }) => {
      const { code, semicolons = true, quotes = "double" } = body
      const style = { semicolons, quotes }
      return json(200, { code: await formatting.format(caller, code, style) })
    },
    getStandardModule: async ({ params, request }) => {
      const name = findOwnStandardModule(`/std/${params.module}`)
      if (name === undefined)
        throw new AppError(
          "route_not_found",
          `Cannot find module "${params.module}": there are ${standardModuleNames.join(", ")}`,
        )
      const isTranspiled = !readsTypeScript(request)
      const code = standardModules[name]
      const body = isTranspiled ? await parser.toJavaScript(code, "the standard library") : code
      // An upgrade of the server may change the module.
      const headers = {
        ...moduleHeaders,
        vary: "accept, user-agent",
        "cache-control": "public, no-cache",
      }
      return withEtag(content(isTranspiled ? javascriptType : typescriptType, body, headers), 1)
    },
  } satisfies Partial<Handlers>
}

/** Whether code may import files of its val. */
function importsFiles(code: string): boolean {
  return /["']\.\.?\/[^"'\n]*\.(?:[cm]?[jt]sx?|json)["']/.test(code)
}

/** Code, which most clients get as JavaScript. Text of other types is never more than text. */
function isScript(path: string): boolean {
  return isModulePath(path) && toModuleType(path) !== "json"
}

function toContentType(path: string): string {
  return isModulePath(path) ? contentTypes[toModuleType(path)] : "text/plain; charset=utf-8"
}

const contentTypes: Readonly<Record<ModuleType, string>> = {
  tsx: tsxType,
  ts: typescriptType,
  jsx: "text/jsx; charset=utf-8",
  js: javascriptType,
  json: "application/json; charset=utf-8",
}

/**
 * Deno and Bun run TypeScript; browsers, Node and everything else need JavaScript. A client that asks
 * for one of the two gets it: the editor of the web app needs the source.
 */
function readsTypeScript({ headers }: Request): boolean {
  const accept = headers.get("accept") ?? ""
  if (/\b(?:text|application)\/(?:tsx|typescript)\b/.test(accept)) return true
  if (/\b(?:text|application)\/javascript\b/.test(accept)) return false
  return /^(?:Deno|Bun)\//.test(headers.get("user-agent") ?? "")
}

/** The name of a val with the version that the query names, unless the path names one. */
function withVersion(name: string, version: string | undefined): string {
  if (version === undefined || name.includes("@")) return name
  if (!/^[1-9][0-9]*$/.test(version)) throw versionNotFound(version)
  return `${name}@${version}`
}

async function getPinned(
  { vals, versions }: Nouns,
  caller: Caller | undefined,
  username: string,
  name: string,
  pinned: string | undefined,
): Promise<Val> {
  const val = await vals.getByName(caller, username, name)
  if (pinned === undefined) return val
  if (!/^[1-9][0-9]{0,14}$/.test(pinned)) throw versionNotFound(pinned)
  return versions.get(caller, val.id, Number(pinned))
}

/** A version never changes. Without a version, caches must revalidate on every request. */
function toCacheControl(val: Val, isPinned: boolean): string {
  const scope = val.privacy === "private" ? "private" : "public"
  return isPinned ? `${scope}, max-age=31536000, immutable` : `${scope}, no-cache`
}
