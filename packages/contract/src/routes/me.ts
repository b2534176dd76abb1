import { commentsQuery, pageQuery, periodQuery, runsQuery } from "../inputs.ts"
import { comment, page, profile, reference, run, usage, val } from "../records.ts"
import { route } from "../route.ts"

/** What belongs to the caller. */
export const meRoutes = {
  getMe: route({
    method: "get",
    path: "/v1/me",
    tag: "Me",
    summary: "The caller's profile",
    auth: "required",
    scope: "user:read",
    answers: { 200: profile },
  }),
  getMyUsage: route({
    method: "get",
    path: "/v1/me/usage",
    tag: "Me",
    summary: "What the caller uses of runs, outgoing traffic and storage, and how much of each they may",
    auth: "required",
    scope: "user:read",
    answers: { 200: usage },
  }),
  listMyRuns: route({
    method: "get",
    path: "/v1/me/runs",
    tag: "Me",
    summary: "Runs on the caller's account, newest first",
    auth: "required",
    scope: "run:read",
    query: runsQuery,
    answers: { 200: page(run) },
  }),
  listMyLikes: route({
    method: "get",
    path: "/v1/me/likes",
    tag: "Me",
    summary: "Vals that the caller likes, latest like first",
    auth: "required",
    scope: "val:read",
    query: pageQuery,
    answers: { 200: page(val) },
  }),
  listMyComments: route({
    method: "get",
    path: "/v1/me/comments",
    tag: "Me",
    summary: "Comments that the caller gave, or that others gave on the caller's vals",
    auth: "required",
    scope: "val:read",
    query: commentsQuery,
    answers: { 200: page(comment) },
  }),
  listMyReferences: route({
    method: "get",
    path: "/v1/me/references",
    tag: "Me",
    summary: "Vals that import one of the caller's vals",
    auth: "required",
    scope: "val:read",
    query: periodQuery,
    answers: { 200: page(reference) },
  }),
}
