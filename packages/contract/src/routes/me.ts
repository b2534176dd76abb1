import { route } from "../route.ts"
import {
  commentsQuery,
  myRunsQuery,
  myValsQuery,
  periodQuery,
  updateMeBody,
  valPageQuery,
} from "../schemas/inputs.ts"
import { comment, me, page, profile, reference, usage, val, valStates } from "../schemas/records.ts"
import { accountLogs, run } from "../schemas/runs/run-records.ts"

/** The caller's own data. */
export const meRoutes = {
  getMe: route("Me", "get /v1/me", {
    summary: "The caller's profile",
    scope: "user:read",
    responses: { 200: me },
  }),
  updateMe: route("Me", "put /v1/me", {
    summary: "Change the bio or email of the caller's profile",
    scope: "user:write",
    body: updateMeBody,
    responses: { 200: profile },
  }),
  getMyUsage: route("Me", "get /v1/me/usage", {
    summary: "The caller's usage and limits: runs, outgoing traffic and storage",
    scope: "user:read",
    responses: { 200: usage },
  }),
  listMyVals: route("Me", "get /v1/me/vals", {
    summary:
      "The caller's vals, filtered and sorted; sorting by anything but name or creation covers the newest 10,000",
    scope: "val:read",
    query: myValsQuery,
    responses: { 200: page(val) },
  }),
  listMyValStates: route("Me", "get /v1/me/val-states", {
    summary:
      "The state of all the caller's vals in one response, sorted by name, without code; for detecting changes",
    scope: "val:read",
    hasEtag: true,
    responses: { 200: valStates },
  }),
  listMyRuns: route("Me", "get /v1/me/runs", {
    summary: "Runs on the caller's account, of all vals or of one, newest first",
    scope: "run:read",
    query: myRunsQuery,
    responses: { 200: page(run) },
  }),
  listMyLogs: route("Me", "get /v1/me/logs", {
    summary:
      "The log lines of the latest runs on the caller's account; as a stream of events, all new ones",
    scope: "run:read",
    hasEvents: true,
    responses: { 200: accountLogs },
  }),
  listMyLikes: route("Me", "get /v1/me/likes", {
    summary: "Vals that the caller likes, latest like first",
    scope: "val:read",
    query: valPageQuery,
    responses: { 200: page(val) },
  }),
  listMyComments: route("Me", "get /v1/me/comments", {
    summary: "Comments by the caller, or by others on the caller's vals",
    scope: "val:read",
    query: commentsQuery,
    responses: { 200: page(comment) },
  }),
  listMyReferences: route("Me", "get /v1/me/references", {
    summary: "Vals that import one of the caller's vals",
    scope: "val:read",
    query: periodQuery,
    responses: { 200: page(reference) },
  }),
}
