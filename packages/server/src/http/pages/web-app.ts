import { randomBytes } from "node:crypto"
import { routes } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import { summarizeReadme } from "../../domain/vals/summary.ts"
import type { ApiParts, Nouns } from "../nouns.ts"
import { type ApiResponse, content } from "../response/api-response.ts"
import { docPageNames } from "./doc-pages.ts"
import { acceptsEncoding, type PageFacts, toScriptSources, type WebFile } from "./page-files.ts"

const assetsPath = "/assets/"
const nonceBytes = 16

/** The first path segments of the pages of the app. */
const pages: ReadonlySet<string> = new Set([
  "account",
  "data",
  "embed",
  "guide",
  "invitation",
  "join",
  "mail",
  "new",
  "nodes",
  "notifications",
  "orgs",
  "people",
  "runs",
  "schedules",
  "search",
  "sign-in",
  "templates",
  "u",
  "webhooks",
  "x",
])

/** The others below `/oauth/` are endpoints: a client that guesses one must not get a page. */
const wholePages: ReadonlySet<string> = new Set(["/", "/oauth/authorize", "/oauth/device"])

/** Whether a path belongs to the web app, which routes in the browser. */
export function isWebAppPath(path: string): boolean {
  if (wholePages.has(path) || path.startsWith(assetsPath)) return true
  // Beside the pages of the documentation are the API reference and texts for programs.
  if (path.startsWith("/docs/")) return docPageNames.has(path.slice("/docs/".length))
  return pages.has(path.split("/", 2)[1] ?? "")
}

/**
 * Serves a page of the web app, or a file that it loads. Clients of `/v2` know the page of a val, and
 * the pages of its files and branches, as `/x/{username}/{val_name}/…`.
 */
export async function serveWebApp(
  nouns: Pick<Nouns, "vals" | "api">,
  path: string,
  request: Request,
): Promise<ApiResponse> {
  const { api } = nouns
  const [, folder] = /^\/x(\/[^/]+\/[^/]+)/.exec(path) ?? []
  if (folder !== undefined)
    return { status: 302, headers: { location: `${api.links.baseUrl}/u${folder}` }, body: null }
  const app = await api.webApp().catch((cause: unknown) => {
    throw new AppError(
      "web_app_unavailable",
      "Cannot show the web app: building it failed; the log of the server has the reason",
      { cause },
    )
  })
  if (!path.startsWith(assetsPath)) {
    const nonce = randomBytes(nonceBytes).toString("base64url")
    const { valsDomain, version, providerName } = api
    // No notice on a server for several users: its operator has chosen weak isolation explicitly.
    const notice = api.isForOneUser() ? `${api.isolationWarnings().join(". ")}.` : null
    const facts = await findPageFacts(nouns, path)
    const html = app.html({ nonce, valsDomain, version, notice, providerName, facts })
    return content("text/html; charset=utf-8", html, {
      ...pageHeaders(api, request, nonce, path.startsWith("/embed/")),
      ...(facts?.isUnlisted ? { "x-robots-tag": "noindex" } : {}),
    })
  }
  const file = app.findFile(path.slice(assetsPath.length))
  if (!file) throw new AppError("route_not_found", `Cannot find ${path}`)
  return serveFile(file, request)
}

async function serveFile(file: WebFile, request: Request): Promise<ApiResponse> {
  const encoding = file.encodings.find((it) => acceptsEncoding(request, it))
  const bytes = await Bun.file(
    encoding ? `${file.path}.${encoding === "gzip" ? "gz" : encoding}` : file.path,
  ).bytes()
  return content(file.contentType, bytes, {
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
    ...(encoding ? { "content-encoding": encoding } : {}),
  })
}

/**
 * Scripts come from the files of the app only. The editor adds styles with the nonce. Frames show
 * vals on their own host names. Other sites may frame only `/embed/`, which never uses the session.
 */
function pageHeaders(
  { links, valsDomain }: ApiParts,
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
    `font-src ${scripts}`,
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

/**
 * The facts of the page of a val, undefined for other pages. They are the same for all viewers, so
 * those of a private val are left out: a preview is fetched without a session.
 */
async function findPageFacts(
  { vals, api }: Pick<Nouns, "vals" | "api">,
  path: string,
): Promise<PageFacts | undefined> {
  const [, username = "", val_name = ""] = /^\/(?:u|embed)\/([^/]+)\/([^/]+)/.exec(path) ?? []
  const names = routes.getValByName.params.safeParse({ username, val_name })
  if (!names.success) return undefined
  try {
    const val = await vals.getByName(undefined, names.data.username, names.data.val_name)
    return {
      title: `${val.ownerName}/${val.name}`,
      description: summarizeReadme(val.readme) ?? `A val of ${val.ownerName}`,
      url: `${api.links.baseUrl}/u/${val.ownerName}/${val.name}`,
      isUnlisted: val.privacy === "unlisted",
    }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
