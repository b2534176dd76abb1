import { scope } from "@hamlet/contract"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { withEtag } from "../../request/preconditions.ts"
import { json } from "../../response/api-response.ts"
import { listOf } from "../../response/page.ts"
import { listValsOf } from "../../response/val-response.ts"
import {
  toCommentView,
  toProfileView,
  toReferenceView,
  toRunView,
  toUsageView,
  toValStateView,
} from "../../response/views.ts"
import { toRunFilter } from "../runs.ts"

/** The caller's profile, usage, vals, runs, likes, comments and references. */
export function meHandlers(nouns: Nouns) {
  const { users, usage, valLists, runs, likes, comments, references } = nouns
  const { links } = nouns.api
  return {
    getMe: async ({ caller }) => {
      const scopes = scope.options.filter((it) => caller.scopes.has(it))
      const { actorId: id, actorName: username, ownerId } = caller
      const profile = toProfileView(await users.get(ownerId), links)
      return json(200, {
        ...profile,
        scopes,
        ...(id === ownerId ? {} : { actor: { id, username } }),
      })
    },
    updateMe: async ({ caller, body }) =>
      json(200, toProfileView(await users.updateMe(caller, body), links)),
    getMyUsage: async ({ caller }) => json(200, toUsageView(await usage.get(caller))),
    listMyValStates: async ({ caller }) => {
      const { items, hasMore } = await valLists.listOwnStates(caller)
      return withEtag(
        json(200, { data: items.map((it) => toValStateView(it)), hasMore }),
        items.length,
      )
    },
    listMyRuns: listOf(
      links,
      ({ caller, query }) => runs.listMine(caller, query.val_id, toRunFilter(query), query),
      toRunView,
    ),
    listMyVals: listValsOf(links, ({ caller, query }) => valLists.listOwn(caller, query, query)),
    listMyLikes: listValsOf(links, ({ caller, query }) => likes.list(caller, query)),
    listMyComments: listOf(
      links,
      ({ caller, query }) => comments.listMine(caller, query.relationship, query, query),
      toCommentView,
    ),
    listMyReferences: listOf(
      links,
      ({ caller, query }) => references.listMine(caller, query, query),
      toReferenceView,
    ),
  } satisfies Partial<Handlers>
}
