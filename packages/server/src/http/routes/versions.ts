import { promisify } from "node:util"
import type { versionTypes } from "@hamlet/contract"
import type { z } from "zod"
import type { VersionTypes } from "../../domain/modules/version-lockfiles.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { acceptsEncoding } from "../pages/page-files.ts"
import { withEtag } from "../request/preconditions.ts"
import { type ApiResponse, done, json } from "../response/api-response.ts"
import { listOf } from "../response/page.ts"
import { toValResponse } from "../response/val-response.ts"
import { toValView, toVersionLockView, toVersionView } from "../response/views.ts"

/** The versions of a val. */
export function versionHandlers({ versions, versionLockfiles, api: { links } }: Nouns) {
  return {
    listVersions: listOf(
      links,
      ({ caller, params, query }) => versions.list(caller, params.val_id, query),
      toVersionView,
    ),
    createVersion: async ({ caller, params, body, ifMatch }) => {
      const saved = await versions.save(caller, params.val_id, body, ifMatch)
      return json(saved.isNewCode ? 201 : 200, toValView(saved.val, links, caller))
    },
    getVersion: async ({ caller, params }) =>
      toValResponse(await versions.get(caller, params.val_id, params.version), links, caller),
    deleteVersion: done(({ caller, params, ifMatch }) =>
      versions.delete(caller, params.val_id, params.version, ifMatch),
    ),
    getVersionLock: async ({ caller, params }) =>
      json(
        200,
        toVersionLockView(await versionLockfiles.get(caller, params.val_id, params.version)),
      ),
    getVersionTypes: async ({ caller, params, request }) =>
      toVersionTypesResponse(
        await versionLockfiles.getTypes(caller, params.val_id, params.version),
        params.version,
        request,
      ),
    resolveVersion: async ({ caller, params }) => {
      const lock = await versionLockfiles.resolveAgain(caller, params.val_id, params.version)
      return json(lock?.state === "pending" ? 202 : 200, toVersionLockView(lock))
    },
  } satisfies Partial<Handlers>
}

/** The types of a version. They may be megabytes, so they are compressed, in another thread. */
async function toVersionTypesResponse(
  types: VersionTypes,
  version: number,
  request: Request,
): Promise<ApiResponse> {
  const response = withEtag(json(200, toTypesView(types)), version)
  const headers = { ...response.headers, vary: "accept-encoding" }
  if (types.files.length === 0 || !acceptsEncoding(request, "gzip")) return { ...response, headers }
  const { constants, gzip } = await import("node:zlib")
  const compress = promisify<string | Uint8Array, { level: number }, Buffer>(gzip)
  const body = await compress(response.body ?? "", { level: constants.Z_BEST_SPEED })
  return { ...response, headers: { ...headers, "content-encoding": "gzip" }, body }
}

function toTypesView(it: VersionTypes): z.infer<typeof versionTypes> {
  const { state, imports } = toVersionLockView(it.lockfile)
  return {
    state,
    imports: imports.map(({ specifier, resolved }) => ({ specifier, resolved })),
    files: it.files.map(({ path, text }) => ({ path, text })),
    links: it.links.map(({ path, target }) => ({ path, target })),
  }
}
