import { AppError } from "../../domain/app-error.ts"
import type { ApiParts } from "../nouns.ts"
import { type ApiResponse, content } from "../response/api-response.ts"
import { gzip, toScriptSources } from "./page-files.ts"

const assetsPath = "/docs/assets/"

/** Whether a path is that of a file of the page. */
export function isDocsFilePath(path: string): boolean {
  return path.startsWith(assetsPath)
}

/** Serves the page at `/docs`. */
export async function serveDocsPage(
  { docsPage, links }: ApiParts,
  request: Request,
): Promise<ApiResponse> {
  const scripts = toScriptSources(links.baseUrl, request, assetsPath)
  return content("text/html; charset=utf-8", (await docsPage()).html, {
    "content-security-policy": `default-src 'none'; script-src ${scripts}; style-src 'self'; font-src ${scripts}; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
  })
}

/** Serves a file of the page. Its name contains a hash of its content. */
export async function serveDocsFile(
  { docsPage }: ApiParts,
  path: string,
  request: Request,
): Promise<ApiResponse> {
  const asset = (await docsPage()).assets.get(path)
  if (!asset) throw new AppError("route_not_found", `Cannot find ${path}`)
  const headers = { "cache-control": "public, max-age=31536000, immutable" }
  return gzip(content(asset.contentType, asset.body, headers), request)
}
