import { promisify } from "node:util"
import { constants, gzip } from "node:zlib"
import type { versionTypes } from "@hamlet/contract"
import type { z } from "zod"
import type { VersionTypes } from "../../domain/modules/version-types.ts"
import { acceptsEncoding } from "../pages/page-files.ts"
import { withEtag } from "../request/preconditions.ts"
import { type ApiResponse, json } from "./api-response.ts"
import { toVersionLockView } from "./views.ts"

/** The types of a version. They may be megabytes, so they are compressed, in another thread. */
export async function toVersionTypesResponse(
  types: VersionTypes,
  version: number,
  request: Request,
): Promise<ApiResponse> {
  const response = withEtag(json(200, toView(types)), version)
  const headers = { ...response.headers, vary: "accept-encoding" }
  if (types.files.length === 0 || !acceptsEncoding(request, "gzip")) return { ...response, headers }
  const body = await compress(response.body ?? "", { level: constants.Z_BEST_SPEED })
  return { ...response, headers: { ...headers, "content-encoding": "gzip" }, body }
}

const compress = promisify<string | Uint8Array, { level: number }, Buffer>(gzip)

function toView(it: VersionTypes): z.infer<typeof versionTypes> {
  const { state, imports } = toVersionLockView(it.lockfile)
  return {
    state,
    imports: imports.map(({ specifier, resolved }) => ({ specifier, resolved })),
    files: it.files.map(({ path, text }) => ({ path, text })),
    links: it.links.map(({ path, target }) => ({ path, target })),
  }
}
