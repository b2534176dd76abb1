import { scope } from "@hamlet/contract"
import { getMe, updateMe } from "../../../domain/accounts/users.ts"
import { getUsage } from "../../../domain/limits/usage.ts"
import { listMyRuns } from "../../../domain/runs/runs.ts"
import { listValStates } from "../../../domain/vals/vals.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { withEtag } from "../../request/preconditions.ts"
import { json } from "../../response/api-response.ts"
import { page } from "../../response/page.ts"
import { toRunView } from "../../response/run-views.ts"
import { toValPage } from "../../response/val-response.ts"
import {
  toCommentView,
  toProfileView,
  toReferenceView,
  toUsageView,
  toValStatesView,
} from "../../response/views.ts"
import { toRunFilter } from "../runs.ts"

/** The caller's profile, usage, vals, runs, likes, comments and references. */
export function meHandlers({ accounts, vals, runs, api: { links } }: Nouns) {
  return {
    getMe: async ({ caller }) => {
      const scopes = scope.options.filter((it) => caller.scopes.has(it))
      return json(200, { ...toProfileView(await getMe(accounts, caller), links), scopes })
    },
    updateMe: async ({ caller, body }) =>
      json(200, toProfileView(await updateMe(accounts, caller, body), links)),
    getMyUsage: async ({ caller }) => json(200, toUsageView(await getUsage(accounts, caller))),
    listMyValStates: async ({ caller }) => {
      const states = toValStatesView(await listValStates(vals, caller))
      return withEtag(json(200, states), states.data.length)
    },
    listMyRuns: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await listMyRuns(runs, caller, query.val_id, toRunFilter(query), query),
        toRunView,
      ),
    listMyVals: async ({ caller, query, request }) =>
      toValPage(
        links,
        request,
        query,
        await vals.ownVals.list(caller.userId, query, query),
        caller,
      ),
    listMyLikes: async ({ caller, query, request }) =>
      toValPage(links, request, query, await vals.likes.list(caller.userId, query), caller),
    listMyComments: async ({ caller, query, request }) => {
      const period = { since: query.since, until: query.until }
      return page(
        links,
        request,
        query,
        await vals.comments.listOfUser(caller.userId, query.relationship, period, query),
        toCommentView,
      )
    },
    listMyReferences: async ({ caller, query, request }) => {
      const period = { since: query.since, until: query.until }
      return page(
        links,
        request,
        query,
        await vals.references.listToUser(caller.userId, period, query),
        toReferenceView,
      )
    },
  } satisfies Partial<Handlers>
}
