import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import { toFolderView } from "../../response/file-views.ts"
import { listOf } from "../../response/page.ts"

/** Vals as folders. */
export function folderHandlers({ organisations, vals, valLists, api: { links } }: Nouns) {
  return {
    createFolder: async ({ caller, body: { orgId, description = null, ...input } }) => {
      const owner =
        orgId === undefined ? caller : await organisations.actFor(caller, orgId, "member")
      const val = await vals.createEmpty(owner, { ...input, description })
      return json(201, toFolderView(val, links))
    },
    listFolders: listOf(
      links,
      ({ caller, query: { user_id: ownerId, privacy, ...page } }) =>
        valLists.list(caller, { ownerId, privacy }, { ...page, omit: ["code", "readme"] }),
      toFolderView,
    ),
    getFolder: async ({ caller, params }) =>
      json(200, toFolderView(await vals.get(caller, params.val_id), links)),
    deleteFolder: done(({ caller, params }) => vals.delete(caller, params.val_id, undefined)),
    listMyFolders: listOf(
      links,
      ({ caller, query }) =>
        valLists.listOwn(caller, { sort: "created" }, { ...query, omit: ["code", "readme"] }),
      toFolderView,
    ),
    getFolderByName: async ({ caller, params }) =>
      json(
        200,
        toFolderView(await vals.getByName(caller, params.username, params.val_name), links),
      ),
  } satisfies Partial<Handlers>
}
