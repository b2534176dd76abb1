import { findOwnStandardModule, standardModuleNames } from "@hamlet/contract"
import type { Caller } from "../../domain/access.ts"
import { AppError } from "../../domain/app-error.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { versionNotFound } from "../../domain/vals/versions.ts"
import type { Handlers } from "../call.ts"
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

/** The modules that vals import: other vals and the standard library. */
export function moduleHandlers(nouns: Nouns) {
  const { formatting, standardModules, parser } = nouns
  return {
    getModule: async ({ caller, params, request }) => {
      const [name = "", ...rest] = params.val_name.split("@")
      const pinned = rest.length === 0 ? undefined : rest.join("@")
      const val = await getPinned(nouns, caller, params.username, name, pinned)
      const isBrowser = isFromBrowser(request)
      const body = isBrowser ? await parser.toJavaScript(val.code, val.ownerId) : val.code
      const headers = {
        ...moduleHeaders,
        vary: "authorization, accept, user-agent",
        "cache-control": toCacheControl(val, pinned !== undefined),
      }
      return withEtag(content(isBrowser ? javascriptType : tsxType, body, headers), val.version)
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
      const isBrowser = isFromBrowser(request)
      const code = standardModules[name]
      const body = isBrowser ? await parser.toJavaScript(code, "the standard library") : code
      // An upgrade of the server may change the module.
      const headers = {
        ...moduleHeaders,
        vary: "accept, user-agent",
        "cache-control": "public, no-cache",
      }
      return withEtag(content(isBrowser ? javascriptType : typescriptType, body, headers), 1)
    },
  } satisfies Partial<Handlers>
}

function isFromBrowser(request: Request): boolean {
  // The editor of the web app needs the TypeScript source, and cannot change its `user-agent`.
  if (/\btext\/(tsx|typescript)\b/.test(request.headers.get("accept") ?? "")) return false
  return (request.headers.get("user-agent") ?? "").startsWith("Mozilla/")
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
