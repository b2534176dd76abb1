import { AppError } from "../../domain/app-error.ts"
import type { ApiParts } from "../nouns.ts"
import { type ApiResponse, content } from "../response/api-response.ts"
import { toLlmsText } from "./llms-text.ts"

const pagePattern = /^\/docs\/([a-z-]{1,60})\.md$/

/** The documentation as text: `/llms.txt`, and each page as Markdown. */
export function findDocText(api: ApiParts, path: string) {
  const methods = ["GET", "HEAD", "OPTIONS"]
  if (path === "/llms.txt")
    return { methods, respond: async () => toText(toLlmsText(api.links, await api.docs.list())) }
  const name = pagePattern.exec(path)?.[1]
  return name === undefined ? undefined : { methods, respond: () => respondPage(api, path, name) }
}

async function respondPage({ docs }: ApiParts, path: string, name: string): Promise<ApiResponse> {
  const page = (await docs.list()).find((it) => it.name === name)
  if (!page) throw new AppError("route_not_found", `Cannot find ${path}: no page has this name`)
  return toText(page.text)
}

function toText(text: string): ApiResponse {
  return content("text/markdown; charset=utf-8", text, { "cache-control": "public, no-cache" })
}
