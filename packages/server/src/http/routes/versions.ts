import { saveVersion } from "../../domain/vals.ts"
import { deleteVersion, getVersion, listVersions } from "../../domain/versions.ts"
import { json, noContent } from "../answer.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { page } from "../pages.ts"
import { createValAnswer } from "../val-answer.ts"
import { toValView, toVersionView } from "../views.ts"

/** The versions of a val. */
export function versionHandlers(deps: HttpDeps) {
  const { links } = deps
  const answerVal = createValAnswer(links)
  return {
    listVersions: async ({ caller, params, query, request }) =>
      page(links, request, query, await listVersions(deps, caller, params.val_id, query), toVersionView),
    createVersion: async ({ caller, params, body, ifMatch }) => {
      const saved = await saveVersion(deps, caller, params.val_id, body, ifMatch)
      return json(saved.isNewVersion ? 201 : 200, toValView(saved.val, links))
    },
    getVersion: async ({ caller, params }) => answerVal(await getVersion(deps, caller, params.val_id, params.version)),
    deleteVersion: async ({ caller, params, ifMatch }) => {
      await deleteVersion(deps, caller, params.val_id, params.version, ifMatch)
      return noContent()
    },
  } satisfies Partial<Handlers>
}
