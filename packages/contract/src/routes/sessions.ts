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

/** Browsers that are signed in. */
export const sessionRoutes = {
  createSession: route({
    method: "post",
    path: "/v1/sessions",
    tag: "Sessions",
    summary:
      "Sign a browser in with a token or the code of a sign-in link; the session comes as a cookie",
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
    summary:
      "Whose account a sign-in link opens, without using it: a page says it before it signs in",
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
    summary: "The browsers in which the caller is signed in, latest sign-in first",
    auth: "required",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(session) },
  }),
  deleteSession: route({
    method: "delete",
    path: "/v1/me/sessions/{session_id}",
    tag: "Sessions",
    summary: "Sign one browser out, at once",
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
      "Sign out everywhere: ends all sessions of the caller, and sign-in links that were not used yet",
    auth: "required",
    scope: "user:write",
    responses: { 204: null },
  }),
  // Whoever is signed in may sign out, whatever else they may do.
  signOut: route({
    method: "delete",
    path: "/v1/me/session",
    tag: "Sessions",
    summary: "Sign this browser out; with a token there is nothing to end",
    auth: "required",
    responses: { 204: null },
  }),
  createSignInLink: route({
    method: "post",
    path: "/v1/me/sign-in-links",
    tag: "Sessions",
    summary:
      "Make a link that signs a browser in once, within 15 minutes, with the scopes of whoever made it",
    auth: "required",
    scope: "user:write",
    responses: { 200: signInLink },
  }),
}
