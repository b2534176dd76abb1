import { randomBytes } from "node:crypto"
import { AppError } from "../../domain/app-error.ts"
import type { HttpDeps, WebFile } from "../deps.ts"
import { type ApiResponse, content } from "../response/api-response.ts"
import { toScriptSources } from "./script-sources.ts"

const assetsPath = "/assets/"
const nonceBytes = 16

/** The first part of the paths that the app shows something at. */
const pages: ReadonlySet<string> = new Set([
  "account",
  "embed",
  "invitation",
  "new",
  "runs",
  "search",
  "sign-in",
  "u",
])

/** Whether the web app answers at a path. What it shows there is decided in the browser. */
export function isWebAppPath(path: string): boolean {
  return path === "/" || path.startsWith(assetsPath) || pages.has(path.split("/", 2)[1] ?? "")
}

/** A page of the web app, or a file that it loads. */
export async function serveWebApp(
  deps: HttpDeps,
  path: string,
  request: Request,
): Promise<ApiResponse> {
  const app = await deps.webApp().catch((cause: unknown) => {
    throw new AppError(
      "web_app_unavailable",
      "Cannot show the web app: it could not be built, and the server's log says why",
      { cause },
    )
  })
  if (!path.startsWith(assetsPath)) {
    const nonce = randomBytes(nonceBytes).toString("base64url")
    const { valsDomain, version } = deps
    // An operator who has chosen weak isolation knows about it.
    const notice = deps.isForOneUser() ? `${deps.isolationWarnings().join(". ")}.` : null
    const html = app.html({ nonce, valsDomain, version, notice })
    return content(
      "text/html; charset=utf-8",
      html,
      pageHeaders(deps, request, nonce, path.startsWith("/embed/")),
    )
  }
  const file = app.findFile(path.slice(assetsPath.length))
  if (!file) throw new AppError("route_not_found", `Cannot find ${path}`)
  return answerFile(file, request)
}

async function answerFile(file: WebFile, request: Request): Promise<ApiResponse> {
  const accepted = request.headers.get("accept-encoding") ?? ""
  const encoding = file.encodings.find((encoding) => isAccepted(encoding, accepted))
  const bytes = await Bun.file(
    encoding ? `${file.path}.${encoding === "gzip" ? "gz" : encoding}` : file.path,
  ).bytes()
  return content(file.contentType, bytes, {
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
    ...(encoding ? { "content-encoding": encoding } : {}),
  })
}

function isAccepted(encoding: string, accepted: string): boolean {
  return new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)
}

/**
 * Scripts are our files and nothing else. Styles may also be put in by the editor, which knows the
 * nonce. Frames are vals, at addresses of their own. Only the view that is made for it may be
 * framed by others: it never says who is signed in, so it acts for nobody.
 */
function pageHeaders(
  { links, valsDomain }: HttpDeps,
  request: Request,
  nonce: string,
  isEmbedded: boolean,
): Record<string, string> {
  const scripts = toScriptSources(links.baseUrl, request, assetsPath)
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    `worker-src ${scripts}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    `frame-src ${new URL(links.baseUrl).protocol}//*.${valsDomain}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${isEmbedded ? "*" : "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types dompurify hamlet",
  ]
  return {
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ...(isEmbedded ? {} : { "x-frame-options": "DENY" }),
  }
}
