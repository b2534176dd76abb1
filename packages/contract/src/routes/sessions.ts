import { route } from "../route.ts"
import { pageQuery } from "../schemas/inputs.ts"
import { page } from "../schemas/records.ts"
import {
  createSessionBody,
  newSession,
  session,
  sessionParams,
  signInLink,
  signInLinkBody,
  signInLinkOwner,
} from "../schemas/sessions.ts"

/** Browser sessions. */
export const sessionRoutes = {
  createSession: route({
    method: "post",
    path: "/v1/sessions",
    tag: "Sessions",
    summary: "Sign a browser in with a token or the code of a sign-in link; sets a session cookie",
    auth: "none",
    isSignIn: true,
    body: createSessionBody,
    responses: { 200: newSession },
    errors: ["invalid_token", "invalid_sign_in_code"],
  }),
  findSignInLinkOwner: route({
    method: "post",
    path: "/v1/sign-in-links/owner",
    tag: "Sessions",
    summary: "The account of a sign-in link, without using it; for confirmation before signing in",
    auth: "none",
    isSignIn: true,
    body: signInLinkBody,
    responses: { 200: signInLinkOwner },
    errors: ["invalid_sign_in_code"],
  }),
  listSessions: route({
    method: "get",
    path: "/v1/me/sessions",
    tag: "Sessions",
    summary: "The caller's browser sessions, latest sign-in first",
    auth: "required",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(session) },
  }),
  deleteSession: route({
    method: "delete",
    path: "/v1/me/sessions/{session_id}",
    tag: "Sessions",
    summary: "Sign one browser out",
    auth: "required",
    scope: "user:write",
    params: sessionParams,
    responses: { 204: null },
    errors: ["session_not_found"],
  }),
  deleteAllSessions: route({
    method: "delete",
    path: "/v1/me/sessions",
    tag: "Sessions",
    summary:
      "Sign out everywhere: ends all sessions and revokes all unused sign-in links of the caller",
    auth: "required",
    scope: "user:write",
    responses: { 204: null },
  }),
  // Every signed-in caller may sign out, whatever their scopes.
  signOut: route({
    method: "delete",
    path: "/v1/me/session",
    tag: "Sessions",
    summary: "Sign this browser out; does nothing for a token",
    auth: "required",
    responses: { 204: null },
  }),
  createSignInLink: route({
    method: "post",
    path: "/v1/me/sign-in-links",
    tag: "Sessions",
    summary:
      "Create a link that signs a browser in once, within 15 minutes, with the caller's scopes",
    auth: "required",
    scope: "user:write",
    responses: { 200: signInLink },
  }),
}
