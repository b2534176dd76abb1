import type { Caller } from "../../domain/access.ts"
import { AppError } from "../../domain/app-error.ts"
import { standardModuleNames } from "../../domain/modules/standard-modules.ts"
import { getValByName, type Val } from "../../domain/vals/vals.ts"
import { getVersion, versionNotFound } from "../../domain/vals/versions.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { withEtag } from "../request/preconditions.ts"
import { content } from "../response/api-response.ts"

const tsxType = "text/tsx; charset=utf-8"
const typescriptType = "text/typescript; charset=utf-8"
const javascriptType = "text/javascript; charset=utf-8"

// Code of users is only ever handed out as a module. Opened as a page it can do nothing, and it is
// never sniffed into one.
const moduleHeaders = {
  // Caches keep a module for everybody, so it allows everybody, whoever asked for it first.
  "access-control-allow-origin": "*",
  "content-security-policy": "default-src 'none'; sandbox",
}

/** The addresses that vals import each other by, and the standard library. */
export function moduleHandlers(deps: HttpDeps) {
  return {
    getModule: async ({ caller, params, request }) => {
      const [name = "", ...rest] = params.val_name.split("@")
      const pinned = rest.length === 0 ? undefined : rest.join("@")
      const val = await getPinned(deps, caller, params.username, name, pinned)
      const isBrowser = isFromBrowser(request)
      const body = isBrowser ? await deps.toJavaScript(val.code, val.ownerId) : val.code
      const headers = {
        ...moduleHeaders,
        vary: "authorization, accept, user-agent",
        "cache-control": toCacheControl(val, pinned !== undefined),
      }
      return withEtag(content(isBrowser ? javascriptType : tsxType, body, headers), val.version)
    },
    getStandardModule: async ({ params, request }) => {
      const name = standardModuleNames.find(
        (known) => params.module === known || params.module === `${known}.ts`,
      )
      if (name === undefined)
        throw new AppError(
          "route_not_found",
          `Cannot find module "${params.module}": there are ${standardModuleNames.join(" and ")}`,
        )
      const isBrowser = isFromBrowser(request)
      const code = deps.standardModules[name]
      const body = isBrowser ? await deps.toJavaScript(code, "the standard library") : code
      // It may be another one when the server is.
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
  // The editor of the web app reads types from the code as it was written, and a browser does not
  // let it say that it is something else.
  if (/\btext\/(tsx|typescript)\b/.test(request.headers.get("accept") ?? "")) return false
  return (request.headers.get("user-agent") ?? "").startsWith("Mozilla/")
}

async function getPinned(
  deps: HttpDeps,
  caller: Caller | undefined,
  username: string,
  name: string,
  pinned: string | undefined,
): Promise<Val> {
  const val = await getValByName(deps, caller, username, name)
  if (pinned === undefined) return val
  if (!/^[1-9][0-9]{0,14}$/.test(pinned)) throw versionNotFound(pinned)
  return getVersion(deps, caller, val.id, Number(pinned))
}

/**
 * A version never changes, so whoever has it need not ask again; without one, it must be asked
 * every time whether it still is the current one.
 */
function toCacheControl(val: Val, isPinned: boolean): string {
  const scope = val.privacy === "private" ? "private" : "public"
  return isPinned ? `${scope}, max-age=31536000, immutable` : `${scope}, no-cache`
}
