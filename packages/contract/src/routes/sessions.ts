import { route } from "../route.ts"
import { pageQuery } from "../schemas/inputs.ts"
import { page } from "../schemas/records.ts"
import {
  authorization,
  authorizationRedirect,
  authorizationRequest,
  checkAuthorizationBody,
  createAuthorizationBody,
  createSessionBody,
  newSession,
  session,
  signInLink,
  signInLinkBody,
  signInLinkOwner,
} from "../schemas/sessions.ts"

/** Browser sessions. */
export const sessionRoutes = {
  createSession: route("Sessions", "post /v1/sessions", {
    summary: "Sign a browser in with a token or the code of a sign-in link; sets a session cookie",
    auth: "none",
    isSignIn: true,
    body: createSessionBody,
    responses: { 200: newSession },
    errors: ["invalid_token", "invalid_sign_in_code"],
  }),
  findSignInLinkOwner: route("Sessions", "post /v1/sign-in-links/owner", {
    summary: "The account of a sign-in link, without using it; for confirmation before signing in",
    auth: "none",
    isSignIn: true,
    body: signInLinkBody,
    responses: { 200: signInLinkOwner },
    errors: ["invalid_sign_in_code"],
  }),
  listSessions: route("Sessions", "get /v1/me/sessions", {
    summary: "The caller's browser sessions, latest sign-in first",
    isPersonal: true,
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(session) },
  }),
  deleteSession: route("Sessions", "delete /v1/me/sessions/{session_id}", {
    summary: "Sign one browser out",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
  }),
  deleteAllSessions: route("Sessions", "delete /v1/me/sessions", {
    summary:
      "Sign out everywhere: ends all sessions and revokes all unused sign-in links of the caller",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
  }),
  // Every signed-in caller may sign out, whatever their scopes.
  signOut: route("Sessions", "delete /v1/me/session", {
    summary: "Sign this browser out; does nothing for a token",
    responses: { 204: null },
  }),
  createSignInLink: route("Sessions", "post /v1/me/sign-in-links", {
    summary:
      "Create a link that signs a browser in once, within 15 minutes, with the caller's scopes",
    isPersonal: true,
    scope: "user:write",
    responses: { 200: signInLink },
  }),
}

/** Programs that the caller has authorized by OAuth. */
export const authorizationRoutes = {
  listAuthorizations: route("Authorizations", "get /v1/me/authorizations", {
    summary: "Programs that may act for the caller, newest first",
    isPersonal: true,
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(authorization) },
  }),
  createAuthorization: route("Authorizations", "post /v1/me/authorizations", {
    summary: "Allow a program to act for the caller; returns where to send the browser",
    isPersonal: true,
    scope: "user:write",
    body: createAuthorizationBody,
    responses: { 200: authorizationRedirect },
    errors: ["scope_escalation"],
  }),
  deleteAuthorization: route("Authorizations", "delete /v1/me/authorizations/{authorization_id}", {
    summary: "End what a program may do; all of its tokens stop working at once",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
  }),
  checkAuthorization: route("Authorizations", "post /v1/me/authorization-requests", {
    summary: "The request of a program to act for the caller, before it is allowed",
    isPersonal: true,
    scope: "user:write",
    body: checkAuthorizationBody,
    responses: { 200: authorizationRequest },
  }),
}
