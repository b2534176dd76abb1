import { getUsage } from "../../domain/usage.ts"
import { getMe } from "../../domain/users.ts"
import { json } from "../answer.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { page } from "../pages.ts"
import { toCommentView, toProfileView, toReferenceView, toRunView, toUsageView, toValView } from "../views.ts"
import { toRunFilter } from "./runs.ts"

/** What belongs to the caller. */
export function meHandlers(deps: HttpDeps) {
  const { links } = deps
  return {
    getMe: async ({ caller }) => json(200, toProfileView(await getMe(deps, caller), links)),
    getMyUsage: async ({ caller }) => json(200, toUsageView(await getUsage(deps, caller))),
    listMyRuns: async ({ caller, query, request }) =>
      page(links, request, query, await deps.runs.listOfAccount(caller.userId, toRunFilter(query), query), toRunView),
    listMyLikes: async ({ caller, query, request }) => page(links, request, query, await deps.likes.list(caller.userId, query), toValView),
    listMyComments: async ({ caller, query, request }) => {
      const period = { since: query.since, until: query.until }
      return page(links, request, query, await deps.comments.listOfUser(caller.userId, query.relationship, period, query), toCommentView)
    },
    listMyReferences: async ({ caller, query, request }) => {
      const period = { since: query.since, until: query.until }
      return page(links, request, query, await deps.references.listToUser(caller.userId, period, query), toReferenceView)
    },
  } satisfies Partial<Handlers>
}
