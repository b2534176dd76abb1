import { toCursorText } from "@hamlet/contract"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import { toBranchView } from "../../response/file-views.ts"
import { listOf, toLink, writeList } from "../../response/page.ts"

/** The branches of a val. */
export function branchHandlers({ branches, differences, merges, api: { links } }: Nouns) {
  return {
    listBranches: listOf(
      links,
      ({ caller, params, query }) => branches.list(caller, params.val_id, query),
      toBranchView,
    ),
    createBranch: async ({ caller, params, body }) =>
      json(201, toBranchView(await branches.create(caller, params.val_id, body), links)),
    getBranch: async ({ caller, params }) =>
      json(200, toBranchView(await branches.get(caller, params.val_id, params.branch_id), links)),
    deleteBranch: done(({ caller, params }) =>
      branches.delete(caller, params.val_id, params.branch_id),
    ),
    getBranchDifference: async ({ caller, params, query, request, room }) => {
      const { val_id, branch_id } = params
      const { version, other_branch_id: otherId, cursor } = query
      const of = { version, otherId, cursor }
      const found = await differences.list(caller, val_id, branch_id, of)
      const list = await writeList(found, ({ difference }) => difference, room)
      const next = list.last?.toCursor()
      return list.end({
        links: {
          self: toLink(links, request, {}),
          ...(list.isCut && next
            ? { next: toLink(links, request, { cursor: toCursorText(next) }) }
            : {}),
        },
      })
    },
    mergeBranch: async ({ caller, params, body, ifMatch }) => {
      const { val_id, branch_id } = params
      const { version, isNewVersion } = await merges.merge(caller, val_id, branch_id, {
        ...body,
        ifMatch,
      })
      return json(200, { version, isNewVersion })
    },
  } satisfies Partial<Handlers>
}
