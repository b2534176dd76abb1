import { getVersionLockfile, resolveAgain } from "../../domain/modules/version-lockfiles.ts"
import { getVersionTypes } from "../../domain/modules/version-types.ts"
import { saveVersion } from "../../domain/vals/vals.ts"
import { deleteVersion, getVersion, listVersions } from "../../domain/vals/versions.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toValResponse } from "../response/val-response.ts"
import { toVersionTypesResponse } from "../response/version-types.ts"
import { toValView, toVersionLockView, toVersionView } from "../response/views.ts"

/** The versions of a val. */
export function versionHandlers({ vals, modules, api: { links } }: Nouns) {
  return {
    listVersions: async ({ caller, params, query, request }) =>
      page(
        links,
        request,
        query,
        await listVersions(vals, caller, params.val_id, query),
        toVersionView,
      ),
    createVersion: async ({ caller, params, body, ifMatch }) => {
      const saved = await saveVersion(vals, caller, params.val_id, body, ifMatch)
      return json(saved.isNewVersion ? 201 : 200, toValView(saved.val, links, caller))
    },
    getVersion: async ({ caller, params }) =>
      toValResponse(await getVersion(vals, caller, params.val_id, params.version), links, caller),
    deleteVersion: async ({ caller, params, ifMatch }) => {
      await deleteVersion(vals, caller, params.val_id, params.version, ifMatch)
      return noContent()
    },
    getVersionLock: async ({ caller, params }) =>
      json(
        200,
        toVersionLockView(await getVersionLockfile(modules, caller, params.val_id, params.version)),
      ),
    getVersionTypes: async ({ caller, params, request }) =>
      toVersionTypesResponse(
        await getVersionTypes(modules, caller, params.val_id, params.version),
        params.version,
        request,
      ),
    resolveVersion: async ({ caller, params }) => {
      const lock = await resolveAgain(modules, caller, params.val_id, params.version)
      return json(lock?.state === "pending" ? 202 : 200, toVersionLockView(lock))
    },
  } satisfies Partial<Handlers>
}
